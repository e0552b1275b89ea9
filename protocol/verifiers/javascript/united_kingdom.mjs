// The game `united_kingdom` (rules/united_kingdom.md, games/united_kingdom.md).

import { claiming } from "./claims.mjs";
import { drawing, firstToHand, secondCard } from "./draws.mjs";
import { MapGame } from "./map_game.mjs";
import { buying, claimByTechnology, hasTechnologies, priceWithTechnologies, withdraw } from "./purchases.mjs";
import { hasMost } from "./scoring.mjs";
import { technologiesFor } from "./technologies.mjs";
import { drawingTickets, firstTickets, goOn, keepingTickets } from "./tickets.mjs";
import { turnOf } from "./turns.mjs";

/** @typedef {import("./scoring.mjs").Bonus} Bonus */
/** @typedef {import("./scoring.mjs").Score} Score */

export const ID = "united_kingdom";
export const RULES_VERSION = 1;
export const SEAT_COUNTS = [2, 3, 4];
export const OPTIONS = ["advanced_technologies"];

const ACTIONS = [drawing(firstToHand), claiming(), drawingTickets(3)];

/** @type {import("./map_game.mjs").Rules} */
const RULES = {
  partners: 1,
  locomotivesDealt: 1, // UK-02
  exchanged: Infinity, // UK-05
  fewTrains: 2,
  decisions: {
    keep_tickets: keepingTickets(),
    take_turn: turnOf(ACTIONS, [buying]),
    take_action: turnOf(ACTIONS),
    second_card: secondCard,
    claim_route: claimByTechnology,
  },
  offerFirst: firstTickets(5, 3),
  afterKept: goOn,
  openTracks: (tracks, seats) => (seats === 2 ? 1 : tracks), // UK-03
  priceOf: priceWithTechnologies,
  mayClaim: hasTechnologies,
  pointsOf({ board }, { technologies }, { length, locomotives }) {
    const lagging = technologies.includes("boiler_lagging") ? 1 : 0; // UK-18
    const turbines = locomotives > 0 && technologies.includes("steam_turbines") ? 2 : 0; // UK-19
    return board.points[length] + lagging + turbines;
  },
  whenShuffled: withdraw,
  scoring: {
    bonuses: [
      ofOwner("double_heading", ({ completed_tickets: completed }) => 2 * completed), // UK-20
      ofOwner("risky_contracts", (score, scores) => (hasMost("completed_tickets", score, scores) ? 20 : -20)), // UK-24
      ofOwner("equalising_beam", (score, scores) => (hasMost("longest_path", score, scores) ? 15 : -15)), // UK-25
    ],
  },
};

/**
 * A bonus for the owner of a technology; none for no points.
 * @param {string} technology
 * @param {(score: Score, scores: Score[]) => number} pointsFor
 * @returns {Bonus}
 */
function ofOwner(technology, pointsFor) {
  return (game, { seats: [seat] }, score, scores) => {
    const points = game.players[seat].technologies.includes(technology) ? pointsFor(score, scores) : 0;
    return points === 0 ? null : { bonus: technology, points };
  };
}

export class Game extends MapGame {
  /**
   * @param {import("./board.mjs").Board} board
   * @param {{ seats: number, options: string[], seed: Uint8Array }} setting
   */
  constructor(board, setting) {
    super(RULES, board, setting);
    for (const { technology, supply } of technologiesFor(setting.options)) this.supply.set(technology, supply);
  }
}
