// The dice (DICE.md): all chance in a game is shuffling, and every shuffle follows from the seed.

import { fromDigits, sha256 } from "./sha256.mjs";

const WORDS = 2 ** 32;

/** A match's shuffles. They are counted by kind, each with its own stream. */
export class Dice {
  #seed;
  /** @type {Map<string, number>} */
  #shuffles = new Map();

  /** @param {Uint8Array} seed 32 bytes */
  constructor(seed) {
    this.#seed = seed;
  }

  /**
   * Returns the list shuffled; its last item is the top of the pile.
   * @template T
   * @param {string} kind `train_cards` or `tickets`
   * @param {readonly T[]} list
   * @returns {T[]}
   */
  shuffle(kind, list) {
    const count = this.#shuffles.get(kind) ?? 0;
    this.#shuffles.set(kind, count + 1);
    return shuffled(list, stream(this.#seed, `${kind}/${count}`));
  }

  /** Returns dice that will shuffle as these will. */
  copy() {
    const twin = new Dice(this.#seed);
    twin.#shuffles = new Map(this.#shuffles);
    return twin;
  }
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {Iterator<number>} words
 * @returns {T[]}
 */
export function shuffled(items, words) {
  const list = [...items];
  for (let i = list.length - 1; i >= 1; i--) {
    const j = below(words, i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

/**
 * Yields the words of a label, endlessly.
 * @param {Uint8Array} seed
 * @param {string} label
 * @returns {Generator<number, never, void>}
 */
export function* stream(seed, label) {
  const key = sha256("stellwerk/dice/1\n", seed, label);
  const counter = new DataView(new ArrayBuffer(4));
  for (let i = 0; ; i++) {
    counter.setUint32(0, i);
    const block = new DataView(sha256(key, new Uint8Array(counter.buffer)).buffer);
    for (let at = 0; at < block.byteLength; at += 4) {
      yield block.getUint32(at);
    }
  }
}

/**
 * Returns a number from 0 to n - 1, each equally likely.
 * @param {Iterator<number>} words
 * @param {number} n
 */
export function below(words, n) {
  const fair = Math.floor(WORDS / n) * n; // exact: a double holds every integer up to 2^53
  for (;;) {
    const { value: word } = words.next();
    if (word < fair) {
      return word % n;
    }
  }
}

/**
 * Returns the 32 bytes of a seed text.
 * @param {string} text
 */
export function seedFromText(text) {
  const characters = [...text].length;
  if (characters < 1 || characters > 200 || /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/u.test(text)) {
    throw new RangeError("a seed has 1 to 200 characters, none of them a control character");
  }
  return /^[0-9a-fA-F]{64}$/.test(text) ? fromDigits(text) : sha256("stellwerk/seed/1\n", text);
}
