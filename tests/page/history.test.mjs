// The charts have the numbers of the views, computed without keeping the page waiting.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ticksTo } from "../../server/stellwerk_page/content/charts.mjs";
import { computeHistory, lastOfTurns, ticketsDone, withTimes } from "../../server/stellwerk_page/content/history.mjs";
import { Positions } from "../../server/stellwerk_page/content/positions.mjs";
import { readReplay } from "../../server/stellwerk_page/content/replay_file.mjs";
import { boardOf, bytesOf } from "./golden.mjs";

const past = (name) => {
  const replay = readReplay(bytesOf(name));
  const board = boardOf(replay.header.board.id);
  const players = replay.header.seats.map((_, seat) => ({ seat, team: seat, name: `seat ${seat}` }));
  return { replay, board, players, positions: new Positions(replay, board) };
};
const values = (series, id) => series.charts.find((chart) => chart.id === id)?.values;

test("the series end with the numbers of the last view", async () => {
  const { board, players, positions } = past("usa-3");
  const series = await computeHistory(positions, board, players);
  const last = positions.view("public", positions.count);
  assert.equal(series.positions.at(-1), positions.count);
  for (const { seat, points, trains, hand_count: hand, ticket_count: tickets } of last.players) {
    const shown = ["points", "trains", "hand", "tickets"].map((id) => values(series, id)[seat].at(-1));
    assert.deepEqual(shown, [points, trains, hand, tickets]);
  }
});

test("there is one number for each turn and seat, and one from before the first choice", async () => {
  const { board, players, positions } = past("card_game-3");
  const series = await computeHistory(positions, board, players);
  assert.equal(series.positions[0], 0);
  assert.equal(new Set(series.turns.slice(1)).size, series.turns.length - 1);
  for (const chart of series.charts) assert.deepEqual(chart.values.map((of) => of.length), players.map(() => series.positions.length));
});

test("the public gets no chart of what it cannot know", async () => {
  const { board, players, positions } = past("usa-5");
  assert.equal(values(await computeHistory(positions, board, players), "done"), undefined);
});

test("a series that nobody waits for is given up", async () => {
  const { board, players, positions } = past("usa-5");
  let now = 0;
  const clock = performance.now;
  performance.now = () => (now += 1000);
  try {
    assert.equal(await computeHistory(positions, board, players, { isOver: () => true }), null);
  } finally {
    performance.now = clock;
  }
});

test("tickets are completed by the routes of a seat and its partner", () => {
  const board = {
    cities: [],
    routes: [{ id: "a-b", a: "a", b: "b" }, { id: "b-c", a: "b", b: "c" }],
    tickets: [{ id: "a-c", a: "a", b: "c" }, { id: "a-b", a: "a", b: "b" }],
  };
  const player = (seat, team, routes) => ({ seat, team, routes, tickets: ["a-c", "a-b"] });
  assert.equal(ticketsDone(board, { players: [player(0, 0, ["a-b"]), player(1, 1, ["b-c"])] }, 0), 1);
  assert.equal(ticketsDone(board, { players: [player(0, 0, ["a-b"]), player(1, 0, ["b-c"])] }, 0), 2);
  assert.equal(ticketsDone(board, { players: [{ seat: 0, team: 0, routes: [] }] }, 0), null);
});

test("thinking times add up for each seat, and say that nobody has verified them", () => {
  const series = { players: [{ seat: 0 }, { seat: 1 }], positions: [0, 2, 3], turns: [0, 1, 2], charts: [] };
  const [chart] = withTimes(series, [0.5, 0.25, null], [0, 0, 1]).charts;
  assert.deepEqual([chart.title, chart.values], ["Thinking time, milliseconds", [[0, 750, 750], [0, 0, 0]]]);
  assert.match(chart.note, /not verified/);
  const [slow] = withTimes(series, [30, 12.25, 1], [0, 0, 1]).charts;
  assert.deepEqual([slow.title, slow.values], ["Thinking time, seconds", [[0, 42.3, 42.3], [0, 0, 1]]]);
});

test("a turn is shown by its last position", () => {
  assert.deepEqual(lastOfTurns([0, 1, 1, 2, 3, 3], 5), [0, 2, 3, 5]);
});

test("the scale of a chart has round numbers, and room for all values", () => {
  assert.deepEqual(ticksTo(0, 1), [0, 1]);
  assert.deepEqual(ticksTo(0, 58), [0, 20, 40, 60]);
  assert.deepEqual(ticksTo(-13, 40), [-20, 0, 20, 40]);
});
