// Small drawings for panes: what a seat or a team has that lies on no map.
//
// Law: a drawing has words for those who do not see it.

import { cardShape } from "./card_faces.mjs";
import { html, svg } from "./markup.mjs";
import { placeName, title } from "./names.mjs";
import { COLORS, LETTERS } from "./paints.mjs";

/** @typedef {import("./types.mjs").Board} Board */
/** @typedef {import("./types.mjs").YardSet} YardSet */

/** What technologies are for, as two letters and a kind. @type {Record<string, [string, "land" | "length" | "pay" | "points" | "once"]>} */
const TECHNOLOGIES = {
  wales_concession: ["Wa", "land"],
  ireland_france_concession: ["IF", "land"],
  scotland_concession: ["Sc", "land"],
  mechanical_stoker: ["3", "length"],
  superheated_steam_boiler: ["4\u20136", "length"],
  propellers: ["\u2693\ufe0e", "length"],
  booster: ["3:1", "pay"],
  diesel_power: ["\u22121", "pay"],
  water_tenders: ["+1", "pay"],
  boiler_lagging: ["+1", "points"],
  steam_turbines: ["+2", "points"],
  double_heading: ["2\u00d7", "points"],
  risky_contracts: ["\u00b120", "points"],
  equalising_beam: ["\u00b115", "points"],
  right_of_way: ["RW", "once"],
  thermocompressor: ["2", "once"],
};

/**
 * Draws technologies as small plates.
 * @param {string[]} technologies
 * @param {Record<string, number>} [supply] how many of each are left, if that is what is shown
 */
export function technologyPlates(technologies, supply) {
  return html(
    "ul",
    { class: "technologies" },
    ...technologies.map((id) => {
      const [sign, kind] = TECHNOLOGIES[id] ?? ["?", "once"];
      const left = supply?.[id];
      return html(
        "li",
        { class: `technology ${kind}` },
        html("span", { class: "sign", "aria-hidden": "true" }, sign),
        html("span", { class: "name" }, ` ${title(id)}${left === undefined ? "" : ` (${left})`}`),
      );
    }),
  );
}

/**
 * Draws a rail yard: for each color its cards, the locomotives on top, as they will move to the track.
 * @param {YardSet[]} yard
 * @param {(color: string) => boolean} [isNew]
 */
export function yardSets(yard, isNew = () => false) {
  return html(
    "div",
    { class: "yard" },
    ...(yard.length > 0
      ? yard.map((set) => yardSet(set, isNew(set.color)))
      : [html("span", { class: "none" }, "The yard is empty.")]),
  );
}

/**
 * @param {YardSet} set
 * @param {boolean} isNew
 */
function yardSet({ color, cards, locomotives }, isNew) {
  const pile = [...Array(cards).fill(color), ...Array(locomotives).fill("locomotive")];
  const height = 54 + (pile.length - 1) * LAP;
  const words = `${cards} ${color}${locomotives > 0 ? ` and ${locomotives} ${locomotives > 1 ? "locomotives" : "locomotive"}` : ""}`;
  return svg(
    "svg",
    { class: isNew ? "set new" : "set", viewBox: `-21 -27 48 ${height}`, width: 48, height, role: "img", "aria-label": words, "data-color": color },
    ...pile.map((card, at) => svg("g", { transform: `translate(0 ${at * LAP})` }, cardShape(card))),
    svg("circle", { class: "count", cx: 15, cy: height - 45, r: 10 }),
    svg("text", { class: "count", x: 15, y: height - 40.2, "font-size": 13.5 }, String(pile.length)),
  );
}

/**
 * Draws what a ticket of the card game demands.
 * @param {Board} board
 * @param {string} id
 */
export function ticketLine(board, id) {
  const ticket = board.tickets.find((each) => each.id === id);
  if (ticket === undefined) return html("li", { class: "card-ticket" }, id);
  return html(
    "li",
    { class: "card-ticket", "data-ticket": id },
    html("span", { class: "cities" }, `${placeName(board, ticket.a)} \u2013 ${placeName(board, ticket.b)}`),
    " ",
    html("b", {}, String(ticket.points)),
    ...Object.entries(ticket.cards ?? {}).map(([card, count]) => colorDots(card, count)),
  );
}

/**
 * @param {string} card
 * @param {number} count
 */
function colorDots(card, count) {
  const { fill, ink } = COLORS[card] ?? { fill: "#b4b8bf", ink: "#14161a" };
  const dot = html("span", { class: "color", title: `${count} ${card}` }, `${count > 1 ? count : ""}${LETTERS[card] ?? "?"}`);
  dot.style.setProperty("--color", fill);
  dot.style.setProperty("--color-ink", ink);
  return dot;
}

const LAP = 9; // of a card that another one lies on
