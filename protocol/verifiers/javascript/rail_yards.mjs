// Rail yards and on-track stacks (CARD-04, CARD-05, CARD-08 to CARD-10), the tickets that a stack completes (CARD-13),
// and the second half of a game (CARD-15).

import { add, addAll, COLORS, count, has, LOCOMOTIVE, removeAll } from "./cards.mjs";
import { bestCompletions, canComplete } from "./completion.mjs";
import { RefusedError } from "./errors.mjs";
import { expectTickets, subsets } from "./tickets.mjs";

/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./game.mjs").Action} Action */
/** @typedef {import("./game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Player} Player */
/** @typedef {{ cards: number, locomotives: number }} Lying a color in a rail yard, with the locomotives on top */

const DEALT_AGAIN = 4; // CARD-15
const MOST_SETS = 512; // of `legal`
const MOST_COMPLETIONS = 64;

/**
 * Moves a card of each color from the yard to the stack (CARD-04).
 * @param {Game} game
 * @param {Player} player
 */
export function sendCards(game, { seat, yard, stack }) {
  if (yard.size === 0) return;
  /** @type {Cards} */
  const cards = {};
  for (const [color, lying] of yard) {
    if (lying.locomotives > 0) {
      lying.locomotives--;
      add(cards, LOCOMOTIVE);
    } else {
      lying.cards--;
      add(cards, color);
      if (lying.cards === 0) yard.delete(color);
    }
  }
  addAll(stack, cards);
  game.tell("cards_sent", { seat, cards });
}

// -- laying cards

/** @type {Action} */
export const layingCards = {
  moves: {
    lay_cards: {
      check(game, player, { cards }) {
        const colors = COLORS.filter((color) => color in cards);
        const isSet = colors.length === 1 && count(cards) >= 2;
        const areThree = colors.length === 3 && count(cards) === 3;
        if (!has(player.hand, cards)) throw new RefusedError("game.not_enough_cards", "/cards", "the hand has fewer");
        if (!isSet && !areThree) throw new RefusedError("game.wrong_cards", "/cards", "a set, or three colors");
        const barred = colors.find((color) => !canLay(game, player, color, count(cards) / colors.length));
        if (barred !== undefined) throw new RefusedError("game.wrong_cards", `/cards/${barred}`, "more cards than lie there");
      },
      play: layCards,
    },
  },
  list(game, player) {
    const { sets, complete } = setsOf(game, player);
    return { moves: sets.map((cards) => ({ type: "lay_cards", cards })), complete };
  },
  isAvailable: (game, player) => setsOf(game, player).sets.length > 0,
};

/**
 * Tests whether a player may lay a number of cards, with the locomotives, as this color.
 * @param {Game} game
 * @param {Player} player
 * @param {string} color
 * @param {number} number
 */
function canLay({ players }, { seat }, color, number) {
  return players.every(({ seat: owner, yard }) => {
    const lying = yard.get(color);
    return lying === undefined || (owner !== seat && number > lying.cards + lying.locomotives);
  });
}

/** @type {NonNullable<import("./game.mjs").MovePart["play"]>} */
function layCards(game, player, { cards }) {
  game.spend(player, cards);
  game.tell("cards_laid", { seat: player.seat, cards: { ...cards } });
  for (const color of COLORS.filter((each) => each in cards)) {
    for (const { seat, yard } of game.players) {
      const lying = yard.get(color);
      if (lying === undefined) continue;
      yard.delete(color);
      const raided = { [color]: lying.cards, ...(lying.locomotives > 0 && { [LOCOMOTIVE]: lying.locomotives }) };
      game.tell("raided", { seat, color, cards: raided });
      game.cards.discard(raided);
    }
    player.yard.set(color, { cards: cards[color], locomotives: cards[LOCOMOTIVE] ?? 0 });
  }
  game.endTurn();
}

/**
 * Returns the cards that a player may lay, sets before threes, and whether these are all.
 * @param {Game} game
 * @param {Player} player
 */
function setsOf(game, player) {
  const { hand } = player;
  const held = COLORS.filter((color) => color in hand);
  const locomotives = hand[LOCOMOTIVE] ?? 0;
  /** @type {Cards[]} */
  const sets = [];
  for (const color of held) {
    for (let cards = 1; cards <= hand[color]; cards++) {
      for (let extra = 0; extra <= locomotives; extra++) {
        if (cards + extra < 2 || !canLay(game, player, color, cards + extra)) continue;
        sets.push(extra > 0 ? { [color]: cards, [LOCOMOTIVE]: extra } : { [color]: cards });
      }
    }
  }
  const single = held.filter((color) => canLay(game, player, color, 1));
  const threes = subsets(single, 3).map((colors) => Object.fromEntries(colors.map((color) => [color, 1])));
  const complete = sets.length <= MOST_SETS;
  const listed = complete ? sets : sets.filter((cards) => {
    const [color] = Object.keys(cards);
    return !(LOCOMOTIVE in cards) || cards[color] === hand[color];
  });
  return { sets: [...listed, ...threes], complete };
}

// -- the tickets that a stack completes, and the second half

/**
 * Lets all players take up their stacks, and asks which tickets they complete.
 * @param {Game} game
 * @param {string} reason why the turns ended
 */
export function askToComplete(game, reason) {
  for (const { seat, stack } of game.players) game.tell("stack_taken_up", { seat, count: count(stack), cards: { ...stack } });
  game.ask({ type: "complete_tickets", reason }, [...game.players.keys()]);
}

/** @type {DecisionPart} */
export const completingTickets = {
  moves: {
    complete_tickets: {
      check(game, player, { tickets }) {
        expectTickets(game, tickets, player.tickets);
        if (!canComplete(ticketsOf(game, tickets), player.stack)) {
          throw new RefusedError("game.wrong_tickets", "/tickets", "the stack does not pay for them (CARD-13)");
        }
      },
      normal: (game, player, { type, tickets }) => ({ type, tickets: [...tickets].sort() }),
    },
  },
  list(game, player) {
    const moves = completionsOf(game, player, MOST_COMPLETIONS);
    return { moves, complete: moves.length === 1 && moves[0].tickets.length === 0 };
  },
  fallback: (game, player) => completionsOf(game, player, 1)[0],
  settle(game, answers) {
    const reason = game.pending?.reason;
    for (const [player, { tickets }] of answers) {
      const points = ticketsOf(game, tickets).reduce((sum, ticket) => sum + ticket.points, 0);
      player.tickets = player.tickets.filter((id) => !tickets.includes(id));
      player.completed.push(...tickets);
      game.tell("tickets_completed", { seat: player.seat, tickets, points });
    }
    const halves = game.rules.halves[game.players.length] ?? 1;
    if (reason === "pile" && game.half < halves) startHalf(game);
    else game.end(reason);
  },
};

/**
 * @param {Game} game
 * @param {string[]} ids
 * @returns {any[]}
 */
const ticketsOf = ({ board }, ids) => ids.map((id) => board.tickets.get(id));

/**
 * @param {Game} game
 * @param {Player} player
 * @param {number} most
 */
function completionsOf(game, { tickets, stack }, most) {
  const sets = bestCompletions(ticketsOf(game, tickets), stack, most);
  return sets.map((set) => ({ type: "complete_tickets", tickets: set }));
}

/** @param {Game} game */
function startHalf(game) {
  const { cards, players } = game;
  game.half++;
  game.turnsLeft = null;
  game.tell("half_started", { half: game.half });
  const shuffled = cards.discards;
  cards.discards = {};
  for (const player of players) {
    addAll(shuffled, player.stack);
    for (const [color, lying] of player.yard) {
      add(shuffled, color, lying.cards);
      add(shuffled, LOCOMOTIVE, lying.locomotives);
    }
    player.stack = {};
    player.yard = new Map();
  }
  const mayHold = game.deck(); // cards that nobody has seen in a hand may be in the pile, for all that others know
  for (const seen of [cards.market, ...players.map(({ known }) => known)]) removeAll(mayHold, seen);
  cards.shuffle(shuffled, mayHold);
  const beginner = game.turn % players.length; // no turn is ever left out, so the seats follow from the turns
  /** @type {Cards[]} */
  const hands = players.map(() => ({}));
  const number = Math.min(DEALT_AGAIN * players.length, cards.pile.length);
  for (let dealt = 0; dealt < number; dealt++) addAll(hands[(beginner + dealt) % players.length], cards.take(1));
  for (const player of players) game.deal(player, hands[player.seat]);
  cards.fill();
  if (cards.pile.length === 0) game.beginLastRound();
  game.startTurn(beginner);
}
