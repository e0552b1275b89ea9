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
      html("option", { value: "all_hands" }, "all hands"),
      html("option", { value: "public" }, "the public"),
      ...match.players.map(({ seat, name }) => html("option", { value: seat }, name === `seat ${seat}` ? name : `seat ${seat}: ${name}`)),
    )
  );
  const hide = /** @type {HTMLInputElement} */ (html("input", { type: "checkbox", id: "hide" }));
  const element = html(
    "div",
    { class: "viewers" },
    html("label", { for: "viewer" }, "Seen by"),
    select,
    html("label", { class: "hide", for: "hide", title: "Without spoilers: hides the result, the marks ahead and the length of the match" }, hide, "no spoilers"),
  );
  select.addEventListener("change", () =>
    match.look(/^\d+$/.test(select.value) ? Number(select.value) : select.value === "public" ? "public" : "all_hands"),
  );
  hide.addEventListener("change", () => match.hide(hide.checked));
  function show() {
    select.value = String(match.viewer);
    hide.checked = match.hides;
  }
  return { element, show };
}
