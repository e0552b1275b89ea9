// The market, the piles, and what is for sale.

import { cardFaces } from "./card_faces.mjs";
import { html } from "./markup.mjs";
import { cardCount, counted, title } from "./names.mjs";
import { technologyPlates } from "./pieces.mjs";
import { redraw } from "./redraw.mjs";
import { cardChips } from "./said.mjs";

/** @typedef {import("./types.mjs").View} View */

/** @param {import("./match.mjs").Match} match */
export function createPiles(match) {
  const list = html("dl", { class: "piles" });
  const plates = html("div", {});
  const count = html("summary", {});
  const forSale = html("details", { class: "for-sale" }, count, plates);
  forSale.hidden = true;
  let sold = "";
  const element = html("section", { class: "pane piles-pane", "aria-labelledby": "piles-title" }, html("h2", { id: "piles-title" }, "Market and piles"), list, forSale);

  /** @param {number} _n @param {View} view */
  function show(_n, view) {
    /** @type {[string, Node | string][]} */
    const rows = [["Market", cardCount(view.market) === 0 ? "empty" : html("span", { class: "market" }, ...cardFaces(view.market))]];
    rows.push(["Pile", counted(view.pile, "card")]);
    if (view.pile > 0) rows.push(["Pile may hold", cardChips(view.pile_may_hold)]);
    rows.push(["Discards", cardCount(view.discards) === 0 ? "none" : cardChips(view.discards)]);
    const removed = view.removed_tickets === undefined ? "" : `, ${view.removed_tickets} out of the game`;
    rows.push(["Tickets", `${view.ticket_pile} in the pile${removed}`]);
    if (view.half !== undefined) rows.push(["Half", view.half === 1 ? "first" : "second"]);
    if (view.turns_left !== undefined) rows.push(["Last round", `${counted(view.turns_left, "turn")} left`]);
    if (match.replay.header !== null && match.replay.header.options.length > 0) {
      rows.push(["Options", match.replay.header.options.map(title).join(", ")]);
    }
    if (view.supply !== undefined) showSupply(view.supply);
    redraw(list, ...rows.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value))));
  }
  /** Shows what is for sale, in a list of its own that stays open. @param {Record<string, number>} supply */
  function showSupply(supply) {
    const state = JSON.stringify(supply);
    if (state === sold) return;
    sold = state;
    const names = Object.keys(supply);
    forSale.hidden = false;
    count.textContent = names.length === 0 ? "Nothing is for sale" : `${names.length} technologies for sale`;
    redraw(plates, technologyPlates(names, supply));
  }
  return { element, show };
}
