// The game `europe` (rules/europe.md, games/europe.md).

import { claiming, priceOf } from "./claims.mjs";
import { drawing, firstToHand, secondCard } from "./draws.mjs";
import { MapGame } from "./map_game.mjs";
import { bonusForMost } from "./scoring.mjs";
import { bestUse, buildingStations, STATIONS } from "./stations.mjs";
import { askToKeep, drawingTickets, goOn, keepingTickets, offer, shuffleTickets } from "./tickets.mjs";
import { claimOrTry, payTunnel } from "./tunnels.mjs";
import { turnOf } from "./turns.mjs";
import { openTracks } from "./usa.mjs";

export const ID = "europe";
export const RULES_VERSION = 1;
export const SEAT_COUNTS = [2, 3, 4, 5];
/** @type {string[]} */
export const OPTIONS = [];

const STATION_POINTS = 4; // EUR-14

/** @type {import("./map_game.mjs").Rules} */
const RULES = {
  partners: 1,
  locomotivesDealt: 0,
  exchanged: 3,
  fewTrains: 2, // EUR-11
  decisions: {
    keep_tickets: keepingTickets({ firstLeave: true }),
    take_turn: turnOf([drawing(firstToHand), claiming(claimOrTry, true), drawingTickets(3), buildingStations]),
    second_card: secondCard,
    pay_tunnel: payTunnel,
  },
  offerFirst,
  afterKept: goOn,
  openTracks,
  priceOf: (player, route) => priceOf(route),
  mayClaim: () => true,
  pointsOf: ({ board }, player, { length }) => board.points[length],
  scoring: {
    bonuses: [
      bonusForMost("longest_path", "longest_path", 10),
      (game, { seats: [seat] }) => {
        const left = STATIONS - game.players[seat].stations.length;
        return left > 0 ? { bonus: "stations_left", points: left * STATION_POINTS } : null;
      },
    ],
    stations: bestUse,
    tieBreaks: ["completed_tickets", "stations", "longest_path"], // EUR-16
  },
};

/**
 * Deals a long ticket to each player, then regular ones (EUR-03).
 * @param {import("./map_game.mjs").MapGame} game
 */
function offerFirst(game) {
  shuffleTickets(game, ({ long }) => long);
  for (const player of game.players) offer(game, player, 1);
  const tickets = game.ticketPile.reverse();
  if (tickets.length > 0) game.tell("tickets_removed", { count: tickets.length, tickets });
  shuffleTickets(game, ({ long }) => !long);
  for (const player of game.players) offer(game, player, 3);
  askToKeep(game, game.players, 2);
}

export class Game extends MapGame {
  /**
   * @param {import("./board.mjs").Board} board
   * @param {{ seats: number, options: string[], seed: Uint8Array }} setting
   */
  constructor(board, setting) {
    super(RULES, board, setting);
  }
}
