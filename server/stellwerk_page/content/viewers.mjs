// Through whose eyes the match is seen, and whether what comes is hidden.
//
// Law: the page shows a viewer what the server would have shown them (README.md, Views), and no more.

import { html } from "./markup.mjs";

/** @param {import("./match.mjs").Match} match */
export function createViewers(match) {
  const select = /** @type {HTMLSelectElement} */ (
    html(
      "select",
      { id: "viewer" },
      ...match.viewers.map((viewer) => html("option", { value: viewer }, nameOf(match, viewer))),
    )
  );
  const hide = /** @type {HTMLInputElement} */ (html("input", { type: "checkbox", id: "hide" }));
  const element = html(
    "div",
    { class: "viewers" },
    ...(match.viewers.length > 1 ? [html("label", { for: "viewer" }, "Seen by"), select] : []),
    html("label", { class: "hide", for: "hide", title: "Without spoilers: hides the result, the marks ahead and the length of the match" }, hide, "no spoilers"),
  );
  select.addEventListener("change", () => match.look(match.viewers[select.selectedIndex] ?? match.viewer));
  hide.addEventListener("change", () => match.hide(hide.checked));
  function show() {
    select.value = String(match.viewer);
    hide.checked = match.hides;
  }
  return { element, show };
}

/**
 * @param {import("./match.mjs").Match} match
 * @param {import("./types.mjs").Viewer} viewer
 */
function nameOf({ players }, viewer) {
  if (typeof viewer !== "number") return viewer === "public" ? "the public" : "all hands";
  const name = players[viewer]?.name ?? "";
  return name === `seat ${viewer}` ? name : `seat ${viewer}: ${name}`;
}
