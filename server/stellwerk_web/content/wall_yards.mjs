// The table of the card game on the wall: what lies in front of each seat, in one line for each.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { applySeat } from "../../stellwerk_page/content/paints.mjs";
import { cardChips } from "../../stellwerk_page/content/said.mjs";

/** @typedef {import("../../stellwerk_page/content/types.mjs").View} View */

/** @param {import("../../stellwerk_page/content/types.mjs").Player[]} players */
export function createYards(players) {
  const rows = players.map(({ seat }) => {
    const yard = html("span", { class: "yard" });
    const stack = html("b");
    const done = html("b");
    const row = html(
      "li",
      {},
      html("span", { class: "seat-digit", "aria-hidden": "true" }, String(seat)),
      yard,
      html("span", { class: "yard-count" }, stack, html("span", {}, " track")),
      html("span", { class: "yard-count" }, done, html("span", {}, " tickets")),
    );
    applySeat(row, seat);
    return { seat, row, yard, stack, done, drawn: "" };
  });
  const element = html("ol", { class: "wall-yards" }, ...rows.map(({ row }) => row));

  /** @param {View} view */
  function show(view) {
    for (const each of rows) {
      const { yard = [], stack_count: stack = 0, completed = [] } = view.players[each.seat] ?? {};
      const state = JSON.stringify(yard);
      if (state !== each.drawn) {
        each.drawn = state;
        const sets = yard.map(({ color, cards, locomotives }) => cardChips({ [color]: cards, ...(locomotives > 0 && { locomotive: locomotives }) }));
        each.yard.replaceChildren(...(sets.length > 0 ? sets : [html("span", { class: "muted" }, "empty")]));
      }
      if (each.stack.textContent !== String(stack)) each.stack.textContent = String(stack);
      if (each.done.textContent !== String(completed.length)) each.done.textContent = String(completed.length);
    }
  }
  return { element, show, zoom: null };
}
