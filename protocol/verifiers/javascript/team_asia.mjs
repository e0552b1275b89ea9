// The game `team_asia` (rules/team_asia.md, games/team_asia.md).

import { claiming, priceOf } from "./claims.mjs";
import { drawing, secondCard } from "./draws.mjs";
import { askToShare, firstToPlace, offerToShare, placeCard, shareTicket, sharingTickets } from "./holders.mjs";
import { MapGame } from "./map_game.mjs";
import { bonusForMost } from "./scoring.mjs";
import { drawingTickets, firstTickets, keepingTickets } from "./tickets.mjs";
import { claimOrTry, payTunnel } from "./tunnels.mjs";
import { turnOf } from "./turns.mjs";

export const ID = "team_asia";
export const RULES_VERSION = 1;
export const SEAT_COUNTS = [4, 6];
/** @type {string[]} */
export const OPTIONS = [];

/** @type {import("./map_game.mjs").Rules} */
const RULES = {
  partners: 2,
  locomotivesDealt: 0,
  exchanged: 3,
  fewTrains: 4, // of both partners together: ASIA-18
  decisions: {
    keep_tickets: keepingTickets({ whenKept: offerToShare }),
    share_ticket: shareTicket,
    take_turn: turnOf([drawing(firstToPlace), claiming(claimOrTry, true), drawingTickets(4), sharingTickets]),
    place_card: placeCard,
    second_card: secondCard,
    pay_tunnel: payTunnel,
  },
  offerFirst: firstTickets(5, 3),
  afterKept: askToShare,
  openTracks: (tracks, seats) => (seats === 4 ? tracks - 1 : tracks), // ASIA-12, ASIA-13
  priceOf: (player, route) => priceOf(route),
  mayClaim: () => true,
  pointsOf: ({ board }, player, { length }) => board.points[length],
  scoring: {
    bonuses: [
      bonusForMost("asia_express", "longest_path", 10), // ASIA-20
      bonusForMost("asia_explorer", "completed_tickets", 10), // ASIA-21
    ],
  },
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
