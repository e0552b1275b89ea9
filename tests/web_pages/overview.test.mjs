// What the overview knows, and how it is written: lists in their order, nothing kept for ever, intervals on a scale.

import assert from "node:assert/strict";
import { test } from "node:test";

import { scaleOf, ticksOf } from "../../server/stellwerk_web/content/interval.mjs";
import { factsOf, sidesOf } from "../../server/stellwerk_web/content/match_row.mjs";
import { Overview } from "../../server/stellwerk_web/content/overview_state.mjs";
import { clockOf, durationOf } from "../../server/stellwerk_web/content/progress.mjs";
import { limits } from "../../server/stellwerk_web/content/ranking.mjs";

const players = [
  { seat: 0, team: 0, name: "ann" },
  { seat: 1, team: 1, name: "bob" },
];
const head = (match, state, more = {}) => ({ match, state, game: "usa", options: [], players, ...more });
const names = (heads) => heads.map(({ match }) => match).join(" ");

test("running matches are listed as they began, results from the newest on", () => {
  const known = new Overview();
  known.begin({ title: "t", counts: {}, matches: [head("a", "running"), head("b", "running"), head("z", "ended"), head("y", "ended")] });
  assert.deepEqual([names(known.running), names(known.over)], ["a b", "z y"]);
  known.change({ matches: [head("c", "running"), head("b", "ended"), head("a", "ended")] });
  assert.deepEqual([names(known.running), names(known.over)], ["c", "b a z y"]);
  known.change({ matches: [head("c", "running", { turn: 3 })], counts: { running: 1 } });
  assert.equal(known.running[0].turn, 3);
  assert.deepEqual(known.summary.counts, { running: 1 });
  assert.equal(known.summary.title, "t");
});

test("what is gone is forgotten, and a state begins anew", () => {
  const known = new Overview();
  known.begin({ matches: [head("a", "running")] });
  for (let number = 0; number < 1000; number++) {
    known.change({ matches: [head(`m${number}`, "ended")], gone: number >= 100 ? [`m${number - 100}`] : [] });
  }
  assert.equal(known.over.length, 100);
  known.begin({ matches: [head("b", "failed")] });
  assert.deepEqual([names(known.running), names(known.over)], ["", "b"]);
});

test("sides are in the order of their ranks when the match is over, and teams are one side", () => {
  const four = [0, 1, 2, 3].map((seat) => ({ seat, team: Math.floor(seat / 2), name: `p${seat}` }));
  const running = sidesOf({ match: "m", state: "running", game: "team_asia", players: four, points: [3, 4, 10, 1] });
  assert.deepEqual(running.map(({ names, points }) => [names.join("+"), points]), [["p0+p1", 7], ["p2+p3", 11]]);
  const over = sidesOf({ match: "m", state: "ended", game: "team_asia", players: four, points: [90, 90, 120, 120], ranks: [2, 2, 1, 1] });
  assert.deepEqual(over.map(({ names, points, rank }) => [names.join("+"), points, rank]), [["p2+p3", 120, 1], ["p0+p1", 90, 2]]);
  assert.deepEqual(factsOf(head("m", "running", { turn: 3, block: "7", round: 2 })), ["North America, the base game", "turn 3", "block 7, round 2"]);
  assert.deepEqual(factsOf(head("m", "failed")), ["North America, the base game", "failed: no result"]);
});

test("a scale has room for every estimate, and far limits do not make the rest small", () => {
  const scale = scaleOf([{ middle: 0, low: -50, high: 50 }, { middle: 200, low: -10_000, high: null }]);
  assert.ok(scale.low < 0 && scale.low > -150);
  assert.ok(scale.high > 200);
  assert.ok(ticksOf(scale).length >= 2 && ticksOf(scale).length <= 8);
  assert.ok(ticksOf(scale).includes(0));
  assert.deepEqual([limits({ low: -12.4, high: 30 }), limits({ low: null, high: -30 }), limits({ low: 5 }), limits({})], ["−12 to 30", "below −30", "above 5", "not known"]);
});

test("times are short", () => {
  assert.deepEqual([0, 59.6, 75, 3600, 5400, 200_000].map(durationOf), ["0 s", "1 min", "1 min", "1 h 0 min", "1 h 30 min", "2 days"]);
  assert.deepEqual([0, 9.9, 75, 3675].map(clockOf), ["0:00", "0:09", "1:15", "1:01:15"]);
});
