// What pays for a claim, a station or a technology (USA-10, EUR-07, EUR-10, UK-30), and which payments `legal` lists.
//
// Games differ only in the fields of a price. In a payment some cards are played as themselves: one color, and
// locomotives. In the United Kingdom the others form groups, each of which is played as one locomotive (UK-04).

import { add, CARDS, COLORS, count, LOCOMOTIVE, together, without } from "./cards.mjs";

/** @typedef {import("./cards.mjs").Cards} Cards */

/**
 * @typedef {object} Price
 * @property {number} units how many cards pay it, if no group is among them
 * @property {readonly string[]} colors the plain colors of which one may be laid
 * @property {number} locomotives how many of the units must be locomotives, or groups
 * @property {number} group how many cards can be played as one locomotive; 0 if none can
 * @property {number} discount so many units less pay it too (UK-27)
 */

/**
 * Returns the number of units that a payment can have, small ones first.
 * @param {Price} price
 */
function unitsOf({ units, locomotives, discount }) {
  const fewer = units - discount;
  return discount > 0 && fewer >= Math.max(1, locomotives) ? [fewer, units] : [units];
}

/**
 * Tests whether exactly these cards pay a price.
 * @param {Price} price
 * @param {Cards} cards
 */
export function pays(price, cards) {
  const size = count(cards);
  return unitsOf(price).some((units) => {
    const groups = price.group === 0 ? size - units : (size - units) / (price.group - 1);
    if (!Number.isInteger(groups) || groups < 0 || groups > units || (price.group === 0 && groups > 0)) return false;
    const locomotives = Math.min(cards[LOCOMOTIVE] ?? 0, units - groups);
    const others = units - groups - locomotives;
    const isColored = others === 0 || price.colors.some((color) => (cards[color] ?? 0) >= others);
    return isColored && locomotives + groups >= price.locomotives;
  });
}

/**
 * Tests whether cards can pay a price and, out of the rest, as many locomotives and cards of any kind as are reserved.
 * @param {Price} price
 * @param {Cards} held
 */
export function canPay(price, held, reserved = { locomotives: 0, cards: 0 }) {
  const [units] = unitsOf(price);
  const size = count(held) - reserved.locomotives - reserved.cards;
  const locomotives = (held[LOCOMOTIVE] ?? 0) - reserved.locomotives;
  const colored = Math.max(0, ...price.colors.map((color) => held[color] ?? 0));
  for (let groups = 0; groups <= (price.group === 0 ? 0 : units); groups++) {
    if (size < units + groups * (price.group - 1)) return false;
    const ofColor = Math.min(colored, units - groups - Math.max(0, price.locomotives - groups));
    if (units - groups - ofColor <= locomotives) return true;
  }
  return false;
}

/**
 * Returns how many payments of a price without colors there are.
 * @param {Price} price
 * @param {Cards} held
 */
export function numberOfWays(price, held) {
  let number = 0;
  for (let groups = 0; groups <= price.units; groups++) {
    const itself = price.units - groups;
    if ((held[LOCOMOTIVE] ?? 0) < itself) continue;
    number += numberOfChoices(without(held, { [LOCOMOTIVE]: itself }), groups * price.group);
  }
  return number;
}

/**
 * Returns how many sets of so many cards there are.
 * @param {Cards} held
 * @param {number} size
 */
function numberOfChoices(held, size) {
  let ways = [1, ...Array(size).fill(0)];
  for (const card in held) {
    ways = ways.map((_, at) => ways.slice(Math.max(0, at - held[card]), at + 1).reduce((sum, number) => sum + number, 0));
  }
  return ways[size];
}

/**
 * Returns the payment in a color with fewest groups, and of these the one with fewest locomotives; null if there is
 * none with so few groups.
 * @param {Price} price
 * @param {string} color
 * @param {Cards} held
 * @returns {{ cards: Cards, groups: number, colored: number } | null}
 */
export function cheapest(price, color, held, mostGroups = Infinity) {
  const [units] = unitsOf(price);
  const size = count(held);
  const most = price.group === 0 ? 0 : Math.min(units, mostGroups);
  for (let groups = 0; groups <= most; groups++) {
    if (size < units + groups * (price.group - 1)) return null;
    const itself = units - groups;
    const ofColor = color === LOCOMOTIVE ? 0 : held[color] ?? 0;
    const colored = Math.min(ofColor, itself - Math.max(0, price.locomotives - groups));
    if (itself - colored > (held[LOCOMOTIVE] ?? 0)) continue;
    /** @type {Cards} */
    const cards = {};
    add(cards, color, colored);
    add(cards, LOCOMOTIVE, itself - colored);
    return { cards: together(cards, fromSmallest(without(held, cards), groups * price.group)), groups, colored };
  }
  return null;
}

/**
 * Returns cards of the colors of which there are fewest, locomotives last.
 * @param {Cards} held
 * @param {number} number
 * @returns {Cards}
 */
export function fromSmallest(held, number) {
  /** @type {Cards} */
  const cards = {};
  let missing = number;
  const colors = COLORS.filter((color) => color in held).sort((a, b) => held[a] - held[b]);
  for (const card of [...colors, LOCOMOTIVE]) {
    const taken = Math.min(missing, held[card] ?? 0);
    add(cards, card, taken);
    missing -= taken;
  }
  return cards;
}

/**
 * Yields every payment of a price with the cards held, some of them more than once.
 * @param {Price} price
 * @param {Cards} held
 * @returns {Generator<Cards>}
 */
export function* payments(price, held) {
  for (const units of unitsOf(price)) {
    for (let groups = 0; groups <= (price.group === 0 ? 0 : units); groups++) {
      if (count(held) < units + groups * (price.group - 1)) break;
      for (const own of cardsThemselves(price, units - groups, price.locomotives - groups, held)) {
        for (const others of choices(without(held, own), groups * price.group)) yield together(own, others);
      }
    }
  }
}

/**
 * Yields the sets of cards of one color and locomotives, with at least so many locomotives.
 * @param {Price} price
 * @param {number} number
 * @param {number} fewest
 * @param {Cards} held
 * @returns {Generator<Cards>}
 */
function* cardsThemselves(price, number, fewest, held) {
  for (let locomotives = Math.max(0, fewest); locomotives <= Math.min(number, held[LOCOMOTIVE] ?? 0); locomotives++) {
    const colored = number - locomotives;
    const colors = colored === 0 ? [LOCOMOTIVE] : price.colors.filter((color) => (held[color] ?? 0) >= colored);
    for (const color of colors) {
      /** @type {Cards} */
      const cards = {};
      add(cards, LOCOMOTIVE, locomotives);
      add(cards, color, colored);
      yield cards;
    }
  }
}

/**
 * Yields every set of so many of the cards held.
 * @param {Cards} held
 * @param {number} number
 * @returns {Generator<Cards>}
 */
function* choices(held, number, from = 0) {
  if (number === 0) {
    yield {};
    return;
  }
  if (from === CARDS.length) return;
  const card = CARDS[from];
  for (let taken = Math.min(number, held[card] ?? 0); taken >= 0; taken--) {
    for (const rest of choices(held, number - taken, from + 1)) yield taken > 0 ? { ...rest, [card]: taken } : rest;
  }
}
