// Sentences (`words.mjs`) as elements: seats with their digit, cards with their letters, routes and tickets to click.
//
// Law: a route in a sentence and the route on the map point at each other: over the one, the other lights up.

import { html } from "./markup.mjs";
import { cardWords, inOrder, placeName, routeName, ticketName } from "./names.mjs";
import { applySeat, COLORS, LETTERS } from "./paints.mjs";

/** @typedef {import("./words.mjs").Part} Part */
/** @typedef {import("./match.mjs").Match} Match */

/**
 * Returns the parts of a sentence as elements and texts.
 * @param {Part[]} parts
 * @param {Match} match
 * @returns {(Node | string)[]}
 */
export const said = (parts, match) => parts.map((part) => partOf(part, match));

/**
 * @param {Part} part
 * @param {Match} match
 * @returns {Node | string}
 */
function partOf(part, match) {
  switch (part.kind) {
    case "text":
      return part.text;
    case "seat":
      return seatChip(match, part.seat);
    case "city":
      return html("b", {}, placeName(match.board, part.city));
    case "route":
      return html(
        "button",
        { type: "button", class: "ref", "data-route": part.route, "data-key": `route ${part.route}` },
        routeName(match.board, part.route),
      );
    case "ticket":
      return html("i", { class: "ticket-name" }, ticketName(match.board, part.ticket));
    default:
      return cardChips(part.cards);
  }
}

/**
 * Returns the name of a seat with its digit on its color.
 * @param {Match} match
 * @param {number} seat
 */
export function seatChip(match, seat) {
  const chip = html(
    "span",
    { class: "seat-chip" },
    html("span", { class: "seat-digit", "aria-hidden": "true" }, String(seat)),
    match.players[seat]?.name ?? `seat ${seat}`,
  );
  applySeat(chip, seat);
  return chip;
}

/**
 * Returns cards as small faces, each color with its letter and number; said as words.
 * @param {import("./types.mjs").Cards} cards
 * @param {string} [none] what stands there if there are no cards
 */
export function cardChips(cards, none = "no cards") {
  const faces = inOrder(cards).map(([card, number]) => {
    const face = html("span", { class: "card-chip", "data-card": card }, `${number > 1 ? number : ""}${LETTERS[card] ?? ""}`);
    const { fill, ink } = COLORS[card] ?? { fill: "#888", ink: "#fff" };
    face.style.setProperty("--card", fill);
    face.style.setProperty("--card-ink", ink);
    return face;
  });
  if (faces.length === 0) return html("span", { class: "muted" }, none);
  const chips = html("span", { class: "card-chips", title: cardWords(cards) });
  chips.append(
    html("span", { class: "unseen" }, cardWords(cards)),
    html("span", { "aria-hidden": "true" }, ...faces),
  );
  return chips;
}
