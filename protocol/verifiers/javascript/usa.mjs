// The game `usa` (rules/usa.md, games/usa.md).

import { claiming, priceOf } from "./claims.mjs";
import { drawing, firstToHand, secondCard } from "./draws.mjs";
import { MapGame } from "./map_game.mjs";
import { bonusForMost } from "./scoring.mjs";
import { drawingTickets, firstTickets, goOn, keepingTickets } from "./tickets.mjs";
import { turnOf } from "./turns.mjs";

export const ID = "usa";
export const RULES_VERSION = 1;
export const SEAT_COUNTS = [2, 3, 4, 5];
/** @type {string[]} */
export const OPTIONS = [];

/**
 * Double and triple routes (USA-11).
 * @param {number} tracks
 * @param {number} seats
 */
export function openTracks(tracks, seats) {
  return seats > 3 ? tracks : 1;
}

/** @type {import("./map_game.mjs").Rules} */
const RULES = {
  partners: 1,
  locomotivesDealt: 0,
  exchanged: 3, // USA-06
  fewTrains: 2, // USA-14
  decisions: {
    keep_tickets: keepingTickets(),
    take_turn: turnOf([drawing(firstToHand), claiming(), drawingTickets(3)]),
    second_card: secondCard,
  },
  offerFirst: firstTickets(3, 2),
  afterKept: goOn,
  openTracks,
  priceOf: (player, route) => priceOf(route),
  mayClaim: () => true,
  pointsOf: ({ board }, player, { length }) => board.points[length],
  scoring: { bonuses: [bonusForMost("longest_path", "longest_path", 10)] },
};

export class Game extends MapGame {
  /**
   * @param {import("./board.mjs").Board} board
   * @param {{ seats: number, options: string[], seed: Uint8Array }} setting
   */
  constructor(board, setting) {
    super(RULES, board, setting);
  }
}
