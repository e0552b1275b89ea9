// What seats and routes look like: colors, stripes, digits and letters.
//
// Law: nothing is told by color alone. Every seat has a digit and stripes of its own, every color of a route or card a
// letter; a gray route, which takes any color, has none. The colors of seats keep their distance from one another for
// eyes with each of the three kinds of color blindness, and text on them has a contrast of 4.5 at least
// (`paints.test.mjs` computes both).

import { short, svg } from "./markup.mjs";

/** @typedef {{fill: string, ink: string}} Paint a color, and that of text on it */
/** @typedef {[number, number][]} Line points: along the track, and across */
/** @typedef {{lines: (half: number) => Line[], width: number}} Stripes for a box so many pixels long from its middle */

const DARK = "#14161a";
const LIGHT = "#ffffff";

/** @type {Paint[]} */
export const SEATS = [
  { fill: "#2b65eb", ink: LIGHT },
  { fill: "#ce2623", ink: LIGHT },
  { fill: "#72b77a", ink: DARK },
  { fill: "#ecde46", ink: DARK },
  { fill: "#84518d", ink: LIGHT },
  { fill: "#3be2ec", ink: DARK },
];
/** Partners have one hue. @type {Paint[]} */
export const PARTNERS = [
  { fill: "#285be1", ink: LIGHT },
  { fill: "#60a8ff", ink: DARK },
  { fill: "#d15e31", ink: DARK },
  { fill: "#f5a42d", ink: DARK },
  { fill: "#8f4c97", ink: LIGHT },
  { fill: "#f1bcf9", ink: DARK },
];

/** Half of the width on which stripes are drawn. */
const ASIDE = 5;

/** What is on the boxes of each seat. @type {Stripes[]} */
export const STRIPES = [
  { lines: () => [], width: 0 },
  { lines: (half) => [[[3 - half, 0], [half - 3, 0]]], width: 3 },
  { lines: (half) => everywhere(half, 13, (x) => [[x, -ASIDE], [x, ASIDE]]), width: 2.6 },
  { lines: (half) => everywhere(half, 12, (x) => [[x - 4, ASIDE], [x + 4, -ASIDE]]), width: 2.4 },
  { lines: (half) => everywhere(half, 10, (x) => [[x, 0], [x, 0]]), width: 5 },
  { lines: (half) => everywhere(half, 12, (x) => [[x - 3, -ASIDE], [x + 2, 0], [x - 3, ASIDE]]), width: 2.2 },
];

/** The dashes of each seat's line in a chart. */
export const DASHES = ["", "10 3", "5 3", "10 3 2 3", "3 2.5", "7 3 2 3 2 3"];

/** @type {Record<string, string>} */
export const LETTERS = {
  purple: "P",
  blue: "B",
  orange: "O",
  white: "W",
  green: "G",
  yellow: "Y",
  black: "K",
  red: "R",
  locomotive: "L",
  gray: "",
};
/** Cards, and what is said of routes. @type {Record<string, Paint>} */
export const COLORS = {
  gray: { fill: "#b4b8bf", ink: DARK },
  purple: { fill: "#8d52a6", ink: LIGHT },
  blue: { fill: "#2a6ab2", ink: LIGHT },
  orange: { fill: "#ef8b2c", ink: DARK },
  white: { fill: "#ffffff", ink: DARK },
  green: { fill: "#46994a", ink: DARK },
  yellow: { fill: "#f4d03f", ink: DARK },
  black: { fill: "#303238", ink: LIGHT },
  red: { fill: "#c8332d", ink: LIGHT },
  locomotive: { fill: "#efe9dc", ink: DARK },
};
/** The spaces of routes that nobody owns: calmer, so that what is owned stands out. @type {Record<string, {light: Paint, dark: Paint}>} */
export const SPACES = {
  gray: { light: { fill: "#d0d1d0", ink: DARK }, dark: { fill: "#4b4f58", ink: LIGHT } },
  purple: { light: { fill: "#cfa8de", ink: DARK }, dark: { fill: "#673f7a", ink: LIGHT } },
  blue: { light: { fill: "#8fbcea", ink: DARK }, dark: { fill: "#22528a", ink: LIGHT } },
  orange: { light: { fill: "#ffb870", ink: DARK }, dark: { fill: "#97540f", ink: LIGHT } },
  white: { light: { fill: "#ffffff", ink: DARK }, dark: { fill: "#d9dadb", ink: DARK } },
  green: { light: { fill: "#93cf97", ink: DARK }, dark: { fill: "#2b6631", ink: LIGHT } },
  yellow: { light: { fill: "#ffe57a", ink: DARK }, dark: { fill: "#bfa21f", ink: DARK } },
  black: { light: { fill: "#5b5e66", ink: LIGHT }, dark: { fill: "#08090b", ink: LIGHT } },
  red: { light: { fill: "#f2958d", ink: DARK }, dark: { fill: "#93282a", ink: LIGHT } },
};

/**
 * Returns the style of a space that nobody owns.
 * @param {string} color
 */
export function spaceStyle(color) {
  const { light, dark } = SPACES[color] ?? /** @type {{light: Paint, dark: Paint}} */ (SPACES.gray);
  return `--space: light-dark(${light.fill}, ${dark.fill}); --space-ink: light-dark(${light.ink}, ${dark.ink})`;
}

/** @typedef {import("./types.mjs").Player} Player */

/** @param {Player[]} players */
export const areInTeams = (players) => new Set(players.map(({ team }) => team)).size < players.length;

/**
 * Returns the color of a seat. Partners have one hue.
 * @param {Player[]} players
 * @param {number} seat
 * @returns {Paint}
 */
export function seatPaint(players, seat) {
  const paints = areInTeams(players) ? PARTNERS : SEATS;
  return /** @type {Paint} */ (paints[seat % paints.length]);
}

/**
 * Gives an element and all in it the colors of the seats, which styles name `--seat-0` and `--seat-0-ink`.
 * @param {HTMLElement | SVGElement} root
 * @param {Player[]} players
 */
export function usePaints(root, players) {
  for (const { seat } of players) {
    const { fill, ink } = seatPaint(players, seat);
    root.style.setProperty(`--seat-${seat}`, fill);
    root.style.setProperty(`--seat-${seat}-ink`, ink);
  }
}

/**
 * Gives an element the colors of one seat, which styles name `--seat` and `--seat-ink`.
 * @param {HTMLElement | SVGElement} element within one that has those of all (`usePaints`)
 * @param {number} seat
 */
export function applySeat(element, seat) {
  element.dataset.seat = String(seat);
  element.style.setProperty("--seat", `var(--seat-${seat})`);
  element.style.setProperty("--seat-ink", `var(--seat-${seat}-ink)`);
}

/**
 * Returns the stripes of a seat on a box as the path of an SVG.
 * @param {number} seat
 * @param {number} half of the box's length
 * @param {(along: number, across: number) => [number, number]} place where a point of the box lies
 */
export function stripesPath(seat, half, place = (along, across) => [along, across]) {
  const { lines } = /** @type {Stripes} */ (STRIPES[seat % STRIPES.length]);
  return lines(half)
    .map((line) => line.map(([along, across], at) => `${at > 0 ? "L" : "M"}${place(along, across).map(short).join(" ")}`).join(""))
    .join("");
}

/** @param {number} seat */
export const stripesWidth = (seat) => STRIPES[seat % STRIPES.length]?.width ?? 0;

/**
 * Draws a seat as a small wagon with its stripes and its digit. Texts beside it say whose it is.
 * @param {number} seat
 */
export function seatMark(seat) {
  const mark = svg(
    "svg",
    { class: "seat-mark", viewBox: "-21 -9 42 18", width: 42, height: 18, "aria-hidden": "true" },
    svg("rect", { class: "wagon", x: -20, y: -7, width: 40, height: 14, rx: 2 }),
    svg("path", { class: "stripes", d: stripesPath(seat, 19), "stroke-width": stripesWidth(seat) }),
    seatDigit(seat, 0, 0),
  );
  applySeat(mark, seat);
  return mark;
}

/**
 * Draws the digit of a seat on a disk in its color.
 * @param {number} seat
 * @param {number} x
 * @param {number} y
 */
export function seatDigit(seat, x, y) {
  const digit = svg(
    "g",
    { class: "digit", transform: `translate(${short(x)} ${short(y)})` },
    svg("circle", { r: 8 }),
    svg("text", { y: 4.3, "font-size": 12 }, String(seat)),
  );
  applySeat(digit, seat);
  return digit;
}

/**
 * Puts lines side by side on a box, the same on either side of its middle.
 * @param {number} half
 * @param {number} apart
 * @param {(x: number) => Line} line
 */
function everywhere(half, apart, line) {
  const room = Math.max(0, Math.floor((half - 4) / apart));
  return Array.from({ length: 2 * room + 1 }, (_, at) => line((at - room) * apart));
}
