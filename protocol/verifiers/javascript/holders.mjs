// What partners share on their holder: the second of two drawn cards (ASIA-06, ASIA-07), and tickets (ASIA-09 to ASIA-11).

import { askForSecond } from "./draws.mjs";
import { RefusedError } from "./errors.mjs";
import { cheapestFirst, expectTickets, goOn, inOrder, subsets } from "./tickets.mjs";

/** @typedef {import("./game.mjs").Action} Action */
/** @typedef {import("./game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Player} Player */

const MOST_SHARED = 2; // ASIA-11
const MOST_PAIRED = 12; // games/team_asia.md: with more tickets `legal` has no pairs

/** @type {DecisionPart} */
export const placeCard = {
  moves: {
    place_card: {
      check: () => {},
      play(game, player, { place }) {
        const { card, open } = /** @type {import("./game.mjs").Decision} */ (game.pending);
        game.put(player, card, place, open);
        game.tell("card_placed", { seat: player.seat, place, open, card });
        askForSecond(game, player, place === "hand" ? "holder" : "hand");
      },
    },
  },
  list: () => ({ moves: ["hand", "holder"].map((place) => ({ type: "place_card", place })), complete: true }),
};

/** @type {DecisionPart} */
export const shareTicket = {
  moves: {
    share_tickets: {
      check(game, { offered }, { tickets }) {
        expectTickets(game, tickets, offered);
        if (tickets.length !== 1) throw new RefusedError("game.wrong_tickets", "/tickets", "exactly one ticket");
      },
    },
  },
  list: (game, { offered }) => ({ moves: offered.map((id) => ({ type: "share_tickets", tickets: [id] })), complete: true }),
  fallback: (game, { offered }) => ({ type: "share_tickets", tickets: cheapestFirst(game, offered).slice(0, 1) }),
  settle(game, answers) {
    for (const [player, { tickets }] of answers) share(game, player, tickets);
    goOn(game);
  },
};

/** @type {Action} */
export const sharingTickets = {
  moves: {
    share_tickets: {
      check(game, player, { tickets }) {
        if (player.tickets.length === 0) throw new RefusedError("game.not_available", "/type", "no secret ticket");
        expectTickets(game, tickets, player.tickets);
        if (tickets.length < 1 || tickets.length > MOST_SHARED) {
          throw new RefusedError("game.wrong_tickets", "/tickets", "one or two tickets");
        }
      },
      normal: (game, player, { type, tickets }) => ({ type, tickets: inOrder(game, tickets) }),
      play(game, player, { tickets }) {
        share(game, player, tickets);
        game.endTurn();
      },
    },
  },
  list(game, player) {
    const tickets = inOrder(game, player.tickets);
    const hasPairs = tickets.length <= MOST_PAIRED;
    const sets = [1, ...(hasPairs ? [MOST_SHARED] : [])].flatMap((size) => subsets(tickets, size));
    return { moves: sets.map((set) => ({ type: "share_tickets", tickets: set })), complete: hasPairs };
  },
  isAvailable: (game, player) => player.tickets.length > 0,
};

/**
 * @param {Game} game
 * @param {Player} player
 * @param {string[]} tickets
 */
function share(game, player, tickets) {
  player.offered = [];
  player.tickets = player.tickets.filter((id) => !tickets.includes(id));
  game.team(player).tickets.push(...tickets);
  game.tell("tickets_shared", { seat: player.seat, count: tickets.length, tickets });
}
