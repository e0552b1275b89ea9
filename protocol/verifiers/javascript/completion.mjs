// Which tickets a stack of cards can complete (CARD-13): a small packing problem.

import { CARDS, LOCOMOTIVE } from "./cards.mjs";
import { UntrueError } from "./errors.mjs";

/** @typedef {{id: string, points: number, cards?: Record<string, number>}} Ticket */
/** @typedef {{points: number, ids: string[]}} Choice */

const MOST_STEPS = 10_000_000; // of the search; a board of somebody's own could need years

const COLORS_COUNT = CARDS.length - 1; // the last card is the locomotive

/** The cards of a stack, and those that the tickets chosen so far use up. */
class Stack {
  /** @param {Record<string, number>} cards */
  constructor(cards) {
    this.left = CARDS.map((card) => cards[card] ?? 0); // below 0: locomotives replace the color
    this.locomotives = cards[LOCOMOTIVE] ?? 0;
    this.left[COLORS_COUNT] = 0; // a ticket that demands locomotives takes them like any that replace a color
  }

  /**
   * Takes the cards of a ticket. Returns whether the stack pays for it; otherwise it does not change.
   * @param {number[]} needed
   */
  take(needed) {
    let replaced = 0;
    for (let card = 0; card < needed.length; card++) {
      if (needed[card] > 0) replaced += Math.max(0, needed[card] - Math.max(0, this.left[card]));
    }
    if (replaced > this.locomotives) return false;
    this.locomotives -= replaced;
    for (let card = 0; card < needed.length; card++) {
      this.left[card] -= needed[card];
    }
    return true;
  }

  /** @param {number[]} needed cards that were taken last */
  giveBack(needed) {
    for (let card = 0; card < needed.length; card++) {
      if (needed[card] > 0) this.locomotives += Math.min(needed[card], Math.max(0, -this.left[card]));
      this.left[card] += needed[card];
    }
  }
}

/** @param {Ticket} ticket */
const neededFor = (ticket) => CARDS.map((card) => ticket.cards?.[card] ?? 0);

/**
 * Tests whether the cards pay for all these tickets.
 * @param {Ticket[]} tickets
 * @param {Record<string, number>} cards
 */
export function canComplete(tickets, cards) {
  const stack = new Stack(cards);
  return tickets.every((ticket) => stack.take(neededFor(ticket)));
}

/**
 * Returns the best sets of tickets that the cards pay for and that no other ticket can join, at most `most`: by value,
 * then by the number of tickets, then by the ids, sorted, that come first.
 * @param {Ticket[]} tickets
 * @param {Record<string, number>} cards
 * @param {number} most
 * @returns {string[][]} the ids of each set, sorted
 */
export function bestCompletions(tickets, cards, most) {
  const stack = new Stack(cards);
  const fits = (/** @type {number[]} */ needed) => stack.take(needed) && (stack.giveBack(needed), true);
  const payable = tickets.map((ticket) => ({ ticket, points: ticket.points, needed: neededFor(ticket) }));
  const { items, room } = priced(payable.filter(({ needed }) => fits(needed)), stack);
  /** @type {Choice[]} */
  const best = [];
  /** @type {string[]} */
  const chosen = [];
  /** @type {number[][]} */
  const excluded = [];

  let effort = 0;

  /** @type {(index: number, points: number, room: number) => void} */
  const search = (index, points, room) => {
    if (++effort > MOST_STEPS) throw new UntrueError("the best tickets for a stack take too long to find", false);
    if (best.length === most && points + boundOf(items, room, index) + ROUNDING < best[most - 1].points) return;
    if (index === items.length) {
      if (!excluded.some(fits)) insert(best, { points, ids: [...chosen].sort() }, most);
      return;
    }
    const { ticket, needed, price } = items[index];
    if (stack.take(needed)) {
      chosen.push(ticket.id);
      search(index + 1, points + ticket.points, room - price);
      chosen.pop();
      stack.giveBack(needed);
    }
    excluded.push(needed);
    search(index + 1, points, room);
    excluded.pop();
  };
  search(0, 0, room);
  return best.map(({ ids }) => ids);
}

/** @typedef {{ticket: Ticket, points: number, needed: number[], price: number}} Item */

const DEAREST = 8;
const ROUNDING = 1e-6; // more than the errors of fractions

/**
 * Gives each color a price, and each ticket that of its cards. Whatever the prices from 0 to that of a locomotive, the
 * tickets of a set cost no more than the room: each card comes from the stack, or is a locomotive. Good prices make the
 * bound of the search a narrow one. Returns the tickets that give most for their price first.
 * @param {Omit<Item, "price">[]} payable
 * @param {Stack} stack
 * @returns {{items: Item[], room: number}}
 */
function priced(payable, stack) {
  const prices = CARDS.map(() => DEAREST);
  const made = () => {
    const items = payable.map((item) => ({ ...item, price: dot(item.needed, prices) }));
    items.sort((one, other) => other.points * one.price - one.points * other.price);
    return { items, room: DEAREST * stack.locomotives + dot(stack.left, prices) };
  };
  const bound = () => {
    const { items, room } = made();
    return boundOf(items, room, 0);
  };
  let lowest = bound();
  for (let round = 0; round < 2; round++) {
    for (let color = 0; color < COLORS_COUNT; color++) {
      for (let price = 0; price <= DEAREST; price++) {
        const before = prices[color];
        prices[color] = price;
        const found = bound();
        if (found < lowest) lowest = found;
        else prices[color] = before;
      }
    }
  }
  return made();
}

/**
 * Returns points that no set of the items from `index` on exceeds: each may be cut in pieces.
 * @param {Item[]} items
 * @param {number} room
 * @param {number} index
 */
function boundOf(items, room, index) {
  let points = 0;
  for (; index < items.length; index++) {
    const item = items[index];
    if (item.price > room) return points + (item.points * Math.max(room, 0)) / item.price;
    room -= item.price;
    points += item.points;
  }
  return points;
}

const dot = (/** @type {number[]} */ some, /** @type {number[]} */ others) => some.reduce((sum, each, at) => sum + each * others[at], 0);

/**
 * @param {Choice[]} best
 * @param {Choice} choice
 * @param {number} most
 */
function insert(best, choice, most) {
  let place = best.length;
  while (place > 0 && isBetter(choice, best[place - 1])) place--;
  best.splice(place, 0, choice);
  if (best.length > most) best.pop();
}

/**
 * @param {Choice} one
 * @param {Choice} other
 */
function isBetter(one, other) {
  if (one.points !== other.points) return one.points > other.points;
  if (one.ids.length !== other.ids.length) return one.ids.length > other.ids.length;
  const differing = one.ids.findIndex((id, index) => id !== other.ids[index]);
  return differing >= 0 && one.ids[differing] < other.ids[differing];
}
