// The signs on buttons, drawn: fonts differ.

import { svg } from "./markup.mjs";

/** In a box of 16 by 16. @type {Record<string, string>} */
const PATHS = {
  first: "M2 3H4V13H2ZM14 3V13L5 8Z",
  last: "M14 3H12V13H14ZM2 3V13L11 8Z",
  roundBack: "M15 3V13L10 8ZM9.5 3V13L4.5 8ZM4 3V13L0 8Z",
  roundOn: "M1 3V13L6 8ZM6.5 3V13L11.5 8ZM12 3V13L16 8Z",
  turnBack: "M14 3V13L8 8ZM8 3V13L2 8Z",
  turnOn: "M2 3V13L8 8ZM8 3V13L14 8Z",
  moveBack: "M11 3V13L5 8Z",
  moveOn: "M5 3V13L11 8Z",
  play: "M3 2V14L14 8Z",
  pause: "M3 2H6.5V14H3ZM9.5 2H13V14H9.5Z",
  markBack: "M6 2H14L11 5.5L14 9H7.5V14H6ZM4.5 4V12L0 8Z",
  markOn: "M2 2H10L7 5.5L10 9H3.5V14H2ZM11.5 4V12L16 8Z",
};

/** @param {string} name */
export const icon = (name) =>
  svg("svg", { class: "icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: PATHS[name] ?? "" }));
