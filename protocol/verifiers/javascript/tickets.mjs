// Tickets that are offered and kept (USA-03, USA-13, GEN-04, EUR-03, CARD-03, CARD-11).

import { RefusedError } from "./errors.mjs";

/** @typedef {import("./game.mjs").Action} Action */
/** @typedef {import("./game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Player} Player */
/** @typedef {import("./board.mjs").Ticket} Ticket */
/**
 * The numbers of a part that offers tickets.
 * @typedef {object} Offer
 * @property {number} number
 * @property {number} [keep]
 * @property {"remove_tickets"} [reject] absent: what is not kept stays in the game
 * @property {"ask_to_share"} [share]
 * @property {boolean} [shuffle_returned] absent: what is not kept goes under the pile
 */

/**
 * Shuffles tickets into the ticket pile.
 * @param {Game} game
 * @param {(ticket: Ticket) => boolean} isIn
 */
function shuffleTickets(game, isIn) {
  const ids = [...game.board.tickets.values()].filter(isIn).map(({ id }) => id);
  game.ticketPile = game.dice.shuffle("tickets", ids);
  game.tell("ticket_pile_shuffled", { count: ids.length });
}

/**
 * Offers the top tickets to a player, as many as there are.
 * @param {Game} game
 * @param {Player} player
 * @param {number} number
 */
function offer(game, player, number) {
  const tickets = game.ticketPile.splice(Math.max(0, game.ticketPile.length - number)).reverse();
  player.offered.push(...tickets);
  game.tell("tickets_offered", { seat: player.seat, count: tickets.length, tickets });
}

/**
 * Asks which of the tickets offered are kept.
 * @param {Game} game
 * @param {Player[]} players
 * @param {number} keep
 */
function askToKeep(game, players, keep) {
  const most = Math.max(...players.map(({ offered }) => offered.length));
  game.ask({ type: "keep_tickets", offered_count: most, keep: Math.min(keep, most) }, players.map(({ seat }) => seat));
}

/**
 * Deals long tickets, so many to each player. Those that are left leave the game (EUR-03).
 * @param {{ number: number }} part
 * @returns {(game: Game) => void}
 */
export function longTickets({ number }) {
  return (game) => {
    shuffleTickets(game, ({ long }) => long);
    for (const player of game.players) offer(game, player, number);
    const tickets = game.ticketPile.reverse();
    game.ticketPile = [];
    if (tickets.length > 0) game.tell("tickets_removed", { count: tickets.length, tickets });
  };
}

/**
 * The first tickets: all players choose at once.
 * @param {Offer} part
 * @returns {(game: Game) => void}
 */
export function firstTickets({ number, keep = 0 }) {
  return (game) => {
    shuffleTickets(game, ({ long }) => !long);
    for (const player of game.players) offer(game, player, number);
    askToKeep(game, game.players, keep);
  };
}

/**
 * The action of drawing tickets.
 * @param {Offer} part
 * @returns {Action}
 */
export function drawingTickets({ number, keep = 0 }) {
  return {
    moves: {
      draw_tickets: {
        check(game) {
          if (game.ticketPile.length === 0) throw new RefusedError("game.not_available", "/type", "no ticket is left");
        },
        play(game, player) {
          offer(game, player, number);
          askToKeep(game, [player], keep);
        },
      },
    },
    list: (game) => ({ moves: game.ticketPile.length > 0 ? [{ type: "draw_tickets" }] : [], complete: true }),
    isAvailable: (game) => game.ticketPile.length > 0,
  };
}

/**
 * The choice of tickets to keep.
 * @type {DecisionPart}
 */
export const keepingTickets = {
  moves: {
    keep_tickets: {
      check(game, player, { tickets }) {
        expectTickets(game, tickets, player.offered);
        if (tickets.length < game.pending?.keep) {
          throw new RefusedError("game.wrong_tickets", "/tickets", `at least ${game.pending?.keep} are kept`);
        }
      },
      normal: (game, { offered }, { type, tickets }) => ({ type, tickets: offered.filter((id) => tickets.includes(id)) }),
    },
  },
  list(game, { offered }) {
    const sizes = [...offered.keys(), offered.length].filter((size) => size >= game.pending?.keep);
    const sets = sizes.flatMap((size) => subsets(offered, size));
    return { moves: sets.map((tickets) => ({ type: "keep_tickets", tickets })), complete: true };
  },
  fallback(game, { offered }) {
    const kept = cheapestFirst(game, offered).slice(0, game.pending?.keep);
    return { type: "keep_tickets", tickets: offered.filter((id) => kept.includes(id)) };
  },
  settle(game, answers) {
    const { firstOffer, laterOffer } = game.rules;
    const { reject, share, shuffle_returned: isShuffled } = /** @type {Offer} */ (game.turn === 0 ? firstOffer : laterOffer);
    for (const [player, { tickets }] of answers) {
      const others = player.offered.filter((id) => !tickets.includes(id));
      const [returned, removed] = reject === undefined ? [others, []] : [[], others];
      player.offered = [];
      player.tickets.push(...tickets);
      for (const id of returned) game.ticketPile.unshift(id); // the last one lies lowest
      const { seat } = player;
      game.tell("tickets_kept", { seat, count: tickets.length, returned_count: returned.length, tickets, returned });
      if (removed.length > 0) game.tell("tickets_removed", { count: removed.length, seat, tickets: removed });
      if (share === undefined) continue;
      player.offered = [...tickets];
      game.tell("tickets_to_share", { seat, count: tickets.length, tickets });
    }
    if (isShuffled) {
      const pile = new Set(game.ticketPile);
      shuffleTickets(game, ({ id }) => pile.has(id));
    }
    const counts = answers.map(([{ offered }]) => offered.length);
    if (counts[0] > 0) game.ask({ type: "share_ticket", offered_counts: counts }, answers.map(([{ seat }]) => seat));
    else goOn(game);
  },
};

/**
 * Goes on after a choice of tickets.
 * @param {Game} game
 */
export function goOn(game) {
  if (game.turn === 0) game.startTurn(0);
  else game.endTurn();
}

/**
 * Refuses tickets that nobody knows, then those that are not among the ones to choose from.
 * @param {Game} game
 * @param {string[]} tickets
 * @param {readonly string[]} from
 */
export function expectTickets(game, tickets, from) {
  const unknown = tickets.findIndex((id) => !game.board.tickets.has(id));
  if (unknown >= 0) throw new RefusedError("game.unknown_name", `/tickets/${unknown}`, "there is no such ticket");
  const wrong = tickets.findIndex((id, at) => !from.includes(id) || tickets.indexOf(id) < at);
  if (wrong >= 0) throw new RefusedError("game.wrong_tickets", `/tickets/${wrong}`, "this ticket cannot be chosen");
}

/**
 * Returns tickets with those of fewest points first, and equal ones as they were.
 * @param {Game} game
 * @param {readonly string[]} tickets
 */
export function cheapestFirst({ board }, tickets) {
  const worth = (/** @type {string} */ id) => board.tickets.get(id)?.points ?? 0;
  return [...tickets].sort((one, other) => worth(one) - worth(other));
}

/**
 * Returns tickets in the order of the board file.
 * @param {Game} game
 * @param {readonly string[]} tickets
 */
export function inOrder({ board }, tickets) {
  return [...board.tickets.keys()].filter((id) => tickets.includes(id));
}

/**
 * Returns all sets of so many items, in the order of the items.
 * @template T
 * @param {readonly T[]} items
 * @param {number} size
 * @returns {T[][]}
 */
export function subsets(items, size) {
  if (size === 0) return [[]];
  return items.flatMap((item, at) => subsets(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]));
}
