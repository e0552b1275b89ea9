// The keyboard: keys for all that the page can do, and the list of them.
//
// Law: keys are ignored where somebody types or chooses, and where an element has its own use for them; and nothing
// is taken from the browser.

import { html } from "./markup.mjs";
import { markLegend } from "./marks.mjs";

const TYPING = "input:not([type=range]), textarea, select, [contenteditable]";
/** What the slider, scrolling panes and buttons do with these keys themselves. */
const OF_SLIDER = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);
const OF_SCROLLING = new Set([" ", "Home", "End", "PageUp", "PageDown", "ArrowUp", "ArrowDown"]);
const OF_BUTTONS = new Set([" ", "Enter"]);

/**
 * Returns whether a key pressed there is the page's.
 * @param {KeyboardEvent} event
 */
export function isForPage(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  const target = event.target instanceof Element ? event.target : null;
  if (target === null) return true;
  if (target.closest(TYPING) !== null) return false;
  if (target.matches("input[type=range]")) return !OF_SLIDER.has(event.key) || event.shiftKey;
  if (target.closest("button, summary, a, [role=button]") !== null) return !OF_BUTTONS.has(event.key);
  if (target.closest("[data-scrolls]") !== null) return !OF_SCROLLING.has(event.key);
  return true;
}

/**
 * Returns the list of keys, which opens as a dialog.
 * @param {import("./actions.mjs").Actions} actions
 */
export function createKeyList(actions) {
  const close = html("button", { type: "button", class: "button" }, "Close");
  const rows = actions.all.map(({ label, keys }) => html("tr", {}, html("th", { scope: "row" }, html("kbd", {}, keys)), html("td", {}, label)));
  const dialog = /** @type {HTMLDialogElement} */ (
    html(
      "dialog",
      { class: "key-list", "aria-labelledby": "key-list-title" },
      html("div", { class: "pane-head" }, html("h2", { id: "key-list-title" }, "Keys"), close), // the focus begins at the top
      html("table", {}, html("tbody", {}, ...rows)),
      html("p", { class: "muted" }, "On the map, Tab and the arrow keys go from track to track. In the story, Tab goes to the move that is shown."),
      html("h2", {}, "Marks on the slider"),
      markLegend(),
    )
  );
  close.addEventListener("click", () => dialog.close());
  return { element: dialog, toggle: () => (dialog.open ? dialog.close() : dialog.showModal()) };
}
