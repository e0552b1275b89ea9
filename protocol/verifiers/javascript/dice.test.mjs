import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { below, Dice, seedFromText, shuffled, stream } from "./dice.mjs";
import { fromDigits, toDigits } from "./sha256.mjs";

const VECTORS = new URL("../../conformance/vectors/dice/", import.meta.url);
const cases = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, VECTORS), "utf-8"));

/** A stream that counts its words. */
function counted({ seed, label }) {
  const words = stream(fromDigits(seed), label);
  const counting = { taken: 0, next: () => (counting.taken++, words.next()) };
  return counting;
}

test("a text has its seed, or is refused", () => {
  const { cases: seeds, refused } = cases("seeds");
  assert.ok(seeds.length > 5 && refused.length > 3);
  for (const { text, seed } of seeds) {
    assert.equal(toDigits(seedFromText(text)), seed, text);
  }
  for (const { text } of refused) {
    assert.throws(() => seedFromText(text), RangeError);
  }
});

test("a copy of dice shuffles as they do, and each goes on alone", () => {
  const items = [...Array(50).keys()];
  const dice = new Dice(seedFromText("copy"));
  dice.shuffle("tickets", items);
  const copy = dice.copy();
  assert.deepEqual(copy.shuffle("tickets", items), dice.shuffle("tickets", items));
  assert.notDeepEqual(copy.shuffle("tickets", items), new Dice(seedFromText("copy")).shuffle("tickets", items));
  assert.deepEqual(copy.shuffle("train_cards", items), dice.shuffle("train_cards", items));
});

test("a stream gives its words", () => {
  for (const given of cases("words").cases) {
    const words = counted(given);
    for (let skipped = 0; skipped < given.from; skipped++) words.next();
    assert.deepEqual(given.words.map(() => words.next().value), given.words);
  }
});

test("numbers below n come from fair words alone", () => {
  for (const given of cases("below").cases) {
    const words = counted(given);
    assert.deepEqual(given.n.map((n) => below(words, n)), given.results);
    assert.equal(words.taken, given.n.length + given.rejected);
  }
});

test("a list is shuffled as everywhere", () => {
  for (const given of cases("shuffles").cases) {
    const words = counted(given);
    assert.deepEqual(shuffled(given.items, words), given.shuffled, given.about);
    assert.equal(words.taken, Math.max(0, given.items.length - 1) + given.rejected, given.about);
  }
});
