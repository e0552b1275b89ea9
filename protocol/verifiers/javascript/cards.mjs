// Sets of train cards: on the wire an object from color to count, without zeros (README.md, Framing).

/** @typedef {Record<string, number>} Cards */

export const LOCOMOTIVE = "locomotive";
export const COLORS = ["purple", "blue", "orange", "white", "green", "yellow", "black", "red"];
export const CARDS = [...COLORS, LOCOMOTIVE];

/** @param {Cards} cards */
export function count(cards) {
  let sum = 0;
  for (const card in cards) sum += cards[card];
  return sum;
}

/**
 * Tests whether cards contain others.
 * @param {Cards} cards
 * @param {Cards} others
 */
export function has(cards, others) {
  for (const card in others) {
    if ((cards[card] ?? 0) < others[card]) return false;
  }
  return true;
}

/**
 * @param {Cards} cards
 * @param {string} card
 */
export function add(cards, card, number = 1) {
  const sum = (cards[card] ?? 0) + number;
  if (sum === 0) delete cards[card];
  else cards[card] = sum;
}

/**
 * @param {Cards} cards
 * @param {Cards} others
 */
export function addAll(cards, others) {
  for (const card in others) add(cards, card, others[card]);
}

/**
 * @param {Cards} cards
 * @param {Cards} others
 */
export function removeAll(cards, others) {
  for (const card in others) add(cards, card, -others[card]);
}

/**
 * Returns the cards of several sets together.
 * @param {...Cards} sets
 * @returns {Cards}
 */
export function together(...sets) {
  /** @type {Cards} */
  const sum = {};
  for (const cards of sets) addAll(sum, cards);
  return sum;
}

/**
 * Returns what is left of cards when others are taken out.
 * @param {Cards} cards
 * @param {Cards} others
 * @returns {Cards}
 */
export function without(cards, others) {
  const rest = { ...cards };
  removeAll(rest, others);
  return rest;
}

/**
 * Returns one item for each card, sorted by color (DICE.md).
 * @param {Cards} cards
 */
export function sorted(cards) {
  return CARDS.flatMap((card) => Array(cards[card] ?? 0).fill(card));
}

/**
 * Tests whether a value is a set of cards in the form of the wire.
 * @param {unknown} value
 * @returns {value is Cards}
 */
export function isCards(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(([card, number]) => CARDS.includes(card) && Number.isSafeInteger(number) && number > 0)
  );
}
