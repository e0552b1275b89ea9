// The dice (DICE.md): all chance in a game is shuffling, and every shuffle follows from the seed.

import { sha256 } from "./canonical.mjs";

const WORDS = 2 ** 32;

/** A match's shuffles. They are counted by kind, each with its own stream. */
export class Dice {
  #seed;
  #shuffles = new Map();

  constructor(seed) {
    this.#seed = seed;
  }

  /** Returns the list shuffled; its last item is the top of the pile. */
  shuffle(kind, list) {
    const count = this.#shuffles.get(kind) ?? 0;
    this.#shuffles.set(kind, count + 1);
    return shuffled(list, stream(this.#seed, `${kind}/${count}`));
  }
}

export function shuffled(items, words) {
  const list = [...items];
  for (let i = list.length - 1; i >= 1; i--) {
    const j = below(words, i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

/** Yields the words of a label, endlessly. */
export function* stream(seed, label) {
  const key = sha256("stellwerk/dice/1\n", seed, label);
  const counter = Buffer.alloc(4);
  for (let i = 0; ; i++) {
    counter.writeUInt32BE(i);
    const block = sha256(key, counter);
    for (let at = 0; at < block.length; at += 4) {
      yield block.readUInt32BE(at);
    }
  }
}

/** Returns a number from 0 to n - 1, each equally likely. */
export function below(words, n) {
  const fair = Math.floor(WORDS / n) * n; // exact: a double holds every integer up to 2^53
  for (;;) {
    const { value: word } = words.next();
    if (word < fair) {
      return word % n;
    }
  }
}

/** Returns the 32 bytes of a seed text. */
export function seedFromText(text) {
  const characters = [...text].length;
  if (characters < 1 || characters > 200 || /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/u.test(text)) {
    throw new RangeError("a seed has 1 to 200 characters, none of them a control character");
  }
  return /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, "hex") : sha256("stellwerk/seed/1\n", text);
}
