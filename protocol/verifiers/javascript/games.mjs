// The games that this program knows, by their ids.
//
// A module of a game has ID, RULES_VERSION, SEAT_COUNTS, OPTIONS, and Game: a class with `over`, `result`, `owing` (the
// seats that owe a move), `mover` (the first of them), `decision(seat)`, `setUp()`, `check(seat, move)`, `legal(seat)`,
// `fallback(seat)` and `play(seat, move)`. Boards come from `readBoard`, moves and events are those of the wire, and
// events have everything that is hidden from players.

import * as cardGame from "./card_game.mjs";
import * as europe from "./europe.mjs";
import * as teamAsia from "./team_asia.mjs";
import * as unitedKingdom from "./united_kingdom.mjs";
import * as usa from "./usa.mjs";

/**
 * @typedef {object} Conditions
 * @property {number} seats
 * @property {string[]} options
 * @property {Uint8Array} seed
 */
/**
 * @typedef {object} PlayedGame
 * @property {boolean} over
 * @property {any} result null before the end
 * @property {number[]} owing
 * @property {number | undefined} mover
 * @property {(seat: number) => any} decision
 * @property {() => any[]} setUp
 * @property {(seat: number, move: any) => void} check
 * @property {(seat: number) => {moves: any[], complete: boolean}} legal
 * @property {(seat: number) => any} fallback
 * @property {(seat: number, move: any) => any[]} play
 * @property {() => PlayedGame} [copy] a game in the same state
 */
/**
 * @typedef {object} GameModule
 * @property {string} ID
 * @property {number} RULES_VERSION
 * @property {number[]} SEAT_COUNTS
 * @property {string[]} OPTIONS
 * @property {new (board: any, conditions: Conditions) => PlayedGame} Game
 */

/** @type {Map<string, GameModule>} */
export const GAMES = new Map([usa, europe, teamAsia, unitedKingdom, cardGame].map((module) => [module.ID, module]));
