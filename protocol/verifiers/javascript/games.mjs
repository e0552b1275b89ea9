// The parts of a game: of one that is shipped by its id, of any other as its own header and `start` have them.
//
// The law: whoever wants to know what a game has asks its parts; no other module knows the id of a game. A field that is
// left out is 0, false or empty.

import LIST from "./games.json.mjs";

/** @typedef {{ part: string } & Record<string, any>} Part a chapter of a rule book, with its numbers */
/**
 * A kind of technology (UK-11 to UK-27).
 * @typedef {object} Technology
 * @property {string} id
 * @property {number} supply
 * @property {number} cost in locomotives
 * @property {string[]} [opens_regions] routes to and from these need it
 * @property {number[]} [opens_lengths] routes of these lengths need it
 * @property {boolean} [opens_ferries] whether ferries need it
 * @property {number} [substitute] so many cards count as a locomotive
 * @property {number} [discount]
 * @property {boolean} [draws_three]
 * @property {boolean} [claims_taken] bought for a claim of a route that another player holds, then returned
 * @property {number} [claims] bought for so many claims, then returned
 * @property {number} [route_points]
 * @property {number} [ferry_points]
 * @property {boolean} [until_shuffle]
 * @property {Part} [bonus]
 */
/**
 * @typedef {object} Parts
 * @property {number} team_size
 * @property {string[]} board_features
 * @property {{ dealt: number, locomotives_dealt?: number, exchange_at?: number, reshuffled?: boolean }} train_cards
 * @property {Part[]} set_up
 * @property {Part[]} menu the actions of a turn, in the order of `legal`
 * @property {Part} last_round
 * @property {string[]} [start_of_turn]
 * @property {Part[]} [before_action]
 * @property {Part[]} [other_parts]
 * @property {Part[]} [bonuses]
 * @property {string[]} [tie_breaks]
 */
/**
 * @typedef {object} ShippedGame
 * @property {string} id
 * @property {string} title
 * @property {number} rules_version
 * @property {string} board
 * @property {number[]} seat_counts
 * @property {Parts} parts
 * @property {{ id: string, text: string, parts: Partial<Parts> }[]} options with the parts that they put in place of others
 */

/** @type {Map<string, ShippedGame>} */
export const SHIPPED = new Map(/** @type {ShippedGame[]} */ (LIST).map((game) => [game.id, game]));

/**
 * Returns the parts of a match, as its options change them; undefined for a game that nobody knows.
 * @param {Record<string, any>} match a header or a `start`
 * @returns {Parts | undefined}
 */
export function partsOf({ game, options, parts }) {
  const shipped = SHIPPED.get(game);
  if (shipped === undefined) return parts;
  const changes = shipped.options.filter(({ id }) => options.includes(id)).map((option) => option.parts);
  return Object.assign({}, shipped.parts, ...changes);
}

/**
 * Returns a part of a game, if it has it.
 * @param {Parts} parts
 * @param {string} name
 */
export function partNamed({ set_up, menu, before_action = [], other_parts = [] }, name) {
  return [...set_up, ...menu, ...before_action, ...other_parts].find(({ part }) => part === name);
}

/**
 * Returns the technologies of a game, in their order.
 * @param {Parts} parts
 * @returns {Technology[]}
 */
export const technologiesOf = (parts) => partNamed(parts, "buy_technology")?.technologies ?? [];
