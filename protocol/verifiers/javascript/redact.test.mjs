import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { redact, startOf } from "./redact.mjs";
import { firstView, fold } from "./view.mjs";

const VECTORS = new URL("../../conformance/vectors/", import.meta.url);
const lines = (file) => readFileSync(new URL(file, VECTORS), "utf-8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const matches = readdirSync(new URL("rules/", VECTORS)).map((name) => name.replace(".jsonl", ""));

/** The header of a replay of a match of the vectors. */
function headerOf(match) {
  const [{ game, options, players }] = lines(`rules/${match}.jsonl`);
  return { game, options, seats: Array.from({ length: players }, () => ({})) };
}

const EMPTY = { file: { tickets: [] } };

test("every viewer gets the events of the vectors", () => {
  let count = 0;
  for (const match of matches) {
    const points = grouped(lines(`views/${match}.jsonl`));
    for (const point of points.values()) {
      const { events } = point.find((each) => each.viewer === "all_hands");
      for (const each of point) {
        const viewer = each.seat ?? each.viewer;
        const start = startOf(headerOf(match), EMPTY, viewer);
        assert.deepEqual(events.map((event) => redact(event, viewer, start)), each.events, each.id);
        count += events.length;
      }
    }
  }
  assert.ok(count > 1000);
});

function grouped(points) {
  const groups = new Map();
  for (const point of points) groups.set(point.after, [...(groups.get(point.after) ?? []), point]);
  return groups;
}

test("every viewer has the start of the vectors", () => {
  for (const vector of lines("folds/first_view.jsonl")) {
    const viewer = vector.start.seat ?? vector.start.viewer;
    const start = startOf(headerOf(vector.match), { file: vector.start.board }, viewer);
    assert.deepEqual(start, vector.start, vector.id);
  }
});

test("an event that nobody knows is shown to nobody", () => {
  const start = startOf({ game: "usa", options: [], seats: [{}, {}] }, EMPTY, "all_hands");
  assert.equal(redact({ type: "constructor", seat: 0, cards: { red: 1 } }, "all_hands", start), null);
  assert.throws(() => fold(start, firstView(start), { type: "constructor" }), /no event/);
});
