// A match in one line: who plays, what they have, and where the match is.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { gameName, signed, title } from "../../stellwerk_page/content/names.mjs";
import { excerpt } from "../../stellwerk_page/content/replay_file.mjs";

/** @typedef {import("./overview_state.mjs").Head} Head */
/** @typedef {{names: string[], seats: number[], points: number | null, rank: number | null}} Side a player, or a team */

/**
 * Returns who plays for themselves: by rank when the match is over, else by seat.
 * @param {Head} head
 * @returns {Side[]}
 */
export function sidesOf({ players, points, ranks, state }) {
  /** @type {Map<number, Side>} */
  const sides = new Map();
  for (const { seat, team, name } of players) {
    const side = sides.get(team) ?? { names: [], seats: [], points: null, rank: ranks?.[seat] ?? null };
    side.names.push(excerpt(name));
    side.seats.push(seat);
    // A result counts for the team; until then each partner has points of their own.
    const own = points?.[seat];
    if (own !== undefined) side.points = state === "running" ? (side.points ?? 0) + own : own;
    sides.set(team, side);
  }
  const all = [...sides.values()];
  return state === "running" ? all : all.sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
}

/** @param {Head} head */
export function factsOf({ state, game, options = [], turn, block, round }) {
  return [
    gameName(game),
    ...options.map(title),
    ...(turn === undefined ? [] : [state === "running" ? `turn ${turn}` : `${turn} turns`]),
    ...(block === undefined ? [] : [`block ${excerpt(String(block))}${round === undefined ? "" : `, round ${round}`}`]),
    ...(state === "failed" ? ["failed: no result"] : []),
  ];
}

/** @param {string} match */
export const matchAddress = (match) => `/match/${encodeURIComponent(match)}`;
/** @param {string} bot */
export const botAddress = (bot) => `/bot/${encodeURIComponent(bot)}`;
/** @param {string} one @param {string} other */
export const pairAddress = (one, other) => `/pair/${encodeURIComponent(one)}/${encodeURIComponent(other)}`;

/** @param {Head} head */
export function makeRow(head) {
  return html("li", { class: "match-row" }, html("a", { href: matchAddress(head.match) }));
}

/**
 * Writes what a row says now.
 * @param {HTMLElement} row
 * @param {Head} head
 */
export function changeRow(row, head) {
  const link = row.firstElementChild;
  row.dataset.state = head.state;
  link?.replaceChildren(
    html("span", { class: "standings" }, ...sidesOf(head).map((side) => sideElement(side, head.state))),
    html("span", { class: "facts" }, factsOf(head).join(" · ")),
  );
}

/**
 * @param {Side} side
 * @param {string} state
 */
function sideElement({ names, points, rank }, state) {
  const isFirst = state === "ended" && rank === 1;
  return html(
    "span",
    { class: `standing${isFirst ? " first" : ""}` },
    ...(rank === null || state !== "ended" ? [] : [html("span", { class: "rank" }, `${rank}.`), " "]),
    html("span", { class: "name" }, names.join(" + ")),
    ...(points === null ? [] : [" ", html("b", { class: "points" }, signed(points)), html("span", { class: "unseen" }, " points,")]),
    " ",
  );
}
