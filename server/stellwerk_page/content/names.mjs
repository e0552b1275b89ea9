// Names for people: of seats, cities, routes, tickets, technologies and bonuses.
//
// Law: what a board does not know keeps its id, so a strange file is still readable. Ids and names from a file pass
// through `excerpt`, which takes out what would disturb the text around them.

import { partsOf, SHIPPED } from "../../../protocol/verifiers/javascript/games.mjs";
import { excerpt } from "./replay_file.mjs";

/** @typedef {import("./types.mjs").Board} Board */
/** @typedef {import("./types.mjs").Player} Player */

export const COLORS = ["purple", "blue", "orange", "white", "green", "yellow", "black", "red"];
export const CARDS = [...COLORS, "locomotive"];

/**
 * Returns the players of a match, with a name for each seat.
 * @param {import("./types.mjs").Header} header
 * @returns {Player[]}
 */
export function playersOf(header) {
  const { seats } = header;
  const teamSize = partsOf(header)?.team_size ?? 1; // neighbors are partners
  const names = seats.map(({ name }, seat) => (name === undefined || name === "" ? `seat ${seat}` : excerpt(name)));
  return names.map((name, seat) => ({
    seat,
    team: Math.floor(seat / teamSize),
    // One bot may sit at several seats.
    name: names.filter((other) => other === name).length > 1 ? `${name}/${seat}` : name,
  }));
}

/**
 * Writes `boiler_lagging` as Boiler Lagging.
 * @param {string} id
 */
export const title = (id) => excerpt(id).replace(/_/g, " ").replace(/(^|\s)\S/g, (letter) => letter.toUpperCase());

/** @param {string} game */
export const gameName = (game) => SHIPPED.get(game)?.title ?? title(game);

/** @typedef {{cities: Map<string, import("./types.mjs").City>, routes: Map<string, import("./types.mjs").Route>, tickets: Map<string, import("./types.mjs").Ticket>}} Index */
/** @type {WeakMap<Board, Index>} */
const indexes = new WeakMap();

/**
 * Returns what is on a board by its id: names are looked up thousands of times.
 * @param {Board} board
 * @returns {Index}
 */
function indexOf(board) {
  const index = indexes.get(board) ?? { cities: byId(board.cities), routes: byId(board.routes ?? []), tickets: byId(board.tickets) };
  indexes.set(board, index);
  return index;
}

/**
 * @template {{id: string}} T
 * @param {T[]} records
 * @returns {Map<string, T>}
 */
const byId = (records) => new Map(records.map((record) => [record.id, record]));

/**
 * Returns the name of a city, or of a group of cities.
 * @param {Board} board
 * @param {string} id
 */
export function placeName(board, id) {
  const city = indexOf(board).cities.get(id);
  return city === undefined ? title(id) : excerpt(city.name);
}

/**
 * @param {Board} board
 * @param {string} id
 */
export function routeName(board, id) {
  const route = indexOf(board).routes.get(id);
  return route === undefined ? excerpt(id) : `${placeName(board, route.a)} – ${placeName(board, route.b)}`;
}

/**
 * @param {Board} board
 * @param {string} id
 */
export function ticketName(board, id) {
  const ticket = indexOf(board).tickets.get(id);
  return ticket === undefined ? excerpt(id) : `${placeName(board, ticket.a)} – ${placeName(board, ticket.b)}`;
}

/**
 * @param {Board} board
 * @param {string} id
 */
export const ticketPoints = (board, id) => indexOf(board).tickets.get(id)?.points;

/**
 * @param {Board} board
 * @param {string} id
 */
export function bonusName(board, id) {
  const [kind = "", city] = id.split(":");
  return city === undefined ? sentenceCase(kind) : `Bonus ${placeName(board, city)}`;
}

/** @param {string} id */
export function sentenceCase(id) {
  const words = excerpt(id).replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Writes `1 card`, `2 cards`.
 * @param {number} number
 * @param {string} noun
 */
export const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Writes a number with a minus that is as wide as its digits. @param {number} number */
export const signed = (number) => (number < 0 ? `\u2212${-number}` : String(number));

/**
 * Returns the colors of a set of cards with their numbers, in the order of the protocol.
 * @param {import("./types.mjs").Cards} cards
 * @returns {[string, number][]}
 */
export const inOrder = (cards) => CARDS.flatMap((card) => (cards[card] ? [/** @type {[string, number]} */ ([card, cards[card]])] : []));

/** @param {import("./types.mjs").Cards} cards */
export const cardCount = (cards) => Object.values(cards).reduce((sum, number) => sum + number, 0);

/**
 * Writes `3 red, 2 locomotives`.
 * @param {import("./types.mjs").Cards} cards
 */
export function cardWords(cards) {
  const words = inOrder(cards).map(([card, number]) => (card === "locomotive" ? counted(number, card) : `${number} ${card}`));
  return words.join(", ") || "no cards";
}

/** @type {Record<string, string>} */
const ENDS = {
  trains: "a player ran low on trains",
  pile: "the pile ran out",
  all_passed: "everybody passed",
  idle: "no player made progress",
};
/** @type {Record<string, string>} */
const FAULTS = {
  time: "out of time",
  tries: "no tries left",
  disconnected: "connection lost",
  by_default: "plays by default",
  left: "has left",
};

/** @param {string} reason */
export const endReason = (reason) => (Object.hasOwn(ENDS, reason) ? ENDS[reason] : undefined) ?? excerpt(reason);

/** @param {string | undefined} reason */
export const faultReason = (reason) =>
  reason === undefined ? "fallback" : ((Object.hasOwn(FAULTS, reason) ? FAULTS[reason] : undefined) ?? excerpt(reason));
