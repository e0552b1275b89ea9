// Tickets that are offered and kept (USA-03, USA-13, GEN-04, EUR-03).

import { RefusedError } from "./errors.mjs";

/** @typedef {import("./map_game.mjs").Action} Action */
/** @typedef {import("./map_game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./map_game.mjs").MapGame} MapGame */
/** @typedef {import("./map_game.mjs").Move} Move */
/** @typedef {import("./map_game.mjs").Player} Player */
/** @typedef {import("./board.mjs").Ticket} Ticket */

/**
 * Shuffles tickets into the ticket pile.
 * @param {MapGame} game
 * @param {(ticket: Ticket) => boolean} isIn
 */
export function shuffleTickets(game, isIn = () => true) {
  const ids = [...game.board.tickets.values()].filter(isIn).map(({ id }) => id);
  game.ticketPile = game.dice.shuffle("tickets", ids);
  game.tell("ticket_pile_shuffled", { count: ids.length });
}

/**
 * Offers the top tickets to a player, as many as there are.
 * @param {MapGame} game
 * @param {Player} player
 * @param {number} number
 */
export function offer(game, player, number) {
  const tickets = game.ticketPile.splice(Math.max(0, game.ticketPile.length - number)).reverse();
  player.offered.push(...tickets);
  game.tell("tickets_offered", { seat: player.seat, count: tickets.length, tickets });
}

/**
 * Asks which of the tickets offered are kept.
 * @param {MapGame} game
 * @param {Player[]} players
 * @param {number} keep
 */
export function askToKeep(game, players, keep) {
  const decision = { type: "keep_tickets", offered_count: players[0].offered.length, keep };
  game.ask(decision, players.map(({ seat }) => seat));
}

/**
 * The first tickets: all players choose at once.
 * @param {number} offered
 * @param {number} keep
 * @returns {(game: MapGame) => void}
 */
export function firstTickets(offered, keep) {
  return (game) => {
    shuffleTickets(game);
    game.players.forEach((player) => offer(game, player, offered));
    askToKeep(game, game.players, keep);
  };
}

/**
 * The action of drawing so many tickets, of which one is kept.
 * @param {number} drawn
 * @returns {Action}
 */
export function drawingTickets(drawn) {
  return {
    moves: {
      draw_tickets: {
        check(game) {
          if (game.ticketPile.length === 0) throw new RefusedError("game.not_available", "/type", "no ticket is left");
        },
        play(game, player) {
          offer(game, player, drawn);
          askToKeep(game, [player], 1);
        },
      },
    },
    list: (game) => ({ moves: game.ticketPile.length > 0 ? [{ type: "draw_tickets" }] : [], complete: true }),
    isAvailable: (game) => game.ticketPile.length > 0,
  };
}

/**
 * The choice of tickets to keep.
 * @param {object} [variant]
 * @param {boolean} [variant.firstLeave] whether the first tickets that nobody keeps leave the game (EUR-03)
 * @param {(game: MapGame, player: Player, kept: string[]) => void} [variant.whenKept] what follows at once for each player
 * @returns {DecisionPart}
 */
export function keepingTickets({ firstLeave = false, whenKept } = {}) {
  return {
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
      const sizes = offered.map((_, at) => at + 1).filter((size) => size >= game.pending?.keep);
      const sets = sizes.flatMap((size) => subsets(offered, size));
      return { moves: sets.map((tickets) => ({ type: "keep_tickets", tickets })), complete: true };
    },
    fallback(game, { offered }) {
      const kept = cheapestFirst(game, offered).slice(0, game.pending?.keep);
      return { type: "keep_tickets", tickets: offered.filter((id) => kept.includes(id)) };
    },
    settle(game, answers) {
      for (const [player, { tickets }] of answers) {
        const returned = player.offered.filter((id) => !tickets.includes(id));
        const leave = firstLeave && game.turn === 0;
        player.offered = [];
        player.tickets.push(...tickets);
        for (const id of leave ? [] : returned) game.ticketPile.unshift(id); // the last one lies lowest
        const back = leave ? [] : returned;
        const counts = { count: tickets.length, returned_count: back.length };
        game.tell("tickets_kept", { seat: player.seat, ...counts, tickets, returned: back });
        if (leave && returned.length > 0) {
          game.tell("tickets_removed", { count: returned.length, seat: player.seat, tickets: returned });
        }
        whenKept?.(game, player, tickets);
      }
      game.rules.afterKept(game, answers);
    },
  };
}

/**
 * Goes on after a choice of tickets.
 * @param {MapGame} game
 */
export function goOn(game) {
  if (game.turn === 0) game.startTurn(0);
  else game.endTurn();
}

/**
 * Refuses tickets that nobody knows, then those that are not among the ones to choose from.
 * @param {MapGame} game
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
 * @param {MapGame} game
 * @param {readonly string[]} tickets
 */
export function cheapestFirst({ board }, tickets) {
  const worth = (/** @type {string} */ id) => board.tickets.get(id)?.points ?? 0;
  return [...tickets].sort((one, other) => worth(one) - worth(other));
}

/**
 * Returns tickets in the order of the board file.
 * @param {MapGame} game
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
