// Sets of train cards: on the wire an object from color to count, without zeros (README.md, Framing).

export const LOCOMOTIVE = "locomotive";
export const COLORS = ["purple", "blue", "orange", "white", "green", "yellow", "black", "red"];
export const CARDS = [...COLORS, LOCOMOTIVE];

export const count = (cards) => Object.values(cards).reduce((sum, number) => sum + number, 0);
export const has = (cards, others) => Object.entries(others).every(([card, number]) => (cards[card] ?? 0) >= number);

export function add(cards, card, number = 1) {
  cards[card] = (cards[card] ?? 0) + number;
  if (cards[card] === 0) {
    delete cards[card];
  }
}

export function addAll(cards, others) {
  Object.entries(others).forEach(([card, number]) => add(cards, card, number));
}

export function removeAll(cards, others) {
  Object.entries(others).forEach(([card, number]) => add(cards, card, -number));
}

/** Returns one item for each card, sorted by color (DICE.md). */
export function sorted(cards) {
  return CARDS.flatMap((card) => Array(cards[card] ?? 0).fill(card));
}

/** Tests whether a value is a set of cards in the form of the wire. */
export function isCards(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(([card, number]) => CARDS.includes(card) && Number.isInteger(number) && number > 0)
  );
}
