import assert from "node:assert/strict";
import { test } from "node:test";

import { readAddress, writeAddress } from "../../server/stellwerk_page/content/address.mjs";
import { readReplay } from "../../server/stellwerk_page/content/replay_file.mjs";
import { faultsOf, Timeline } from "../../server/stellwerk_page/content/timeline.mjs";
import { bytesOf } from "./golden.mjs";

// Two seats. Moves 1 and 2 are of the set-up, turn 1 has moves 3 and 4, turn 2 has 5, turn 3 has 6 and 7, turn 4 has 8.
const move = (seat, ...events) => ({ seat, move: { type: "pass" }, events });
const replay = {
  header: { seats: [{}, {}] },
  moves: [
    move(0),
    move(1),
    move(0),
    move(0, { type: "route_claimed", seat: 0 }),
    { ...move(1), by: "fallback", reason: "time" },
    move(0),
    move(0, { type: "last_round" }),
    move(1),
  ],
};
const timeline = new Timeline({ count: 8, turns: [0, 0, 0, 1, 1, 2, 3, 3, 4] }, replay);

test("a step by turns stops where a turn is complete", () => {
  const steps = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  assert.deepEqual(steps.map((n) => timeline.byTurn(n, 1)), [2, 2, 4, 4, 5, 7, 7, 8, 8]);
  assert.deepEqual(steps.map((n) => timeline.byTurn(n, -1)), [0, 0, 0, 2, 2, 4, 5, 5, 7]);
});

test("a step by rounds stops where every seat has had its turn", () => {
  const steps = [0, 2, 3, 4, 5, 6, 7, 8];
  assert.deepEqual(steps.map((n) => timeline.byRound(n, 1)), [2, 5, 5, 5, 8, 8, 8, 8]);
  assert.deepEqual(steps.map((n) => timeline.byRound(n, -1)), [0, 0, 2, 2, 2, 5, 5, 5]);
});

test("marks have the claims, the defaults and the last round, each with its position", () => {
  assert.deepEqual(timeline.marks, [
    { n: 4, kind: "claim", seat: 0 },
    { n: 5, kind: "fault", seat: 1 },
    { n: 7, kind: "last_round", seat: null },
  ]);
  assert.deepEqual([timeline.byMark(0, 1), timeline.byMark(4, 1), timeline.byMark(7, 1), timeline.byMark(7, -1)], [4, 5, null, 5]);
  assert.deepEqual([...faultsOf(replay, 1, 8)], [["time", 1]]);
  assert.deepEqual([...faultsOf(replay, 1, 4)], []);
});

test("each position has an address, which leads back to it", () => {
  for (const name of ["usa-2", "team_asia-4", "card_game-4"]) {
    const game = readReplay(bytesOf(name));
    const turns = [0];
    let turn = 0;
    for (const { events } of game.moves) {
      turns.push(turn);
      for (const event of events) turn = event.turn ?? turn;
    }
    const whole = new Timeline({ count: game.moves.length, turns }, game);
    for (let n = 0; n <= whole.count; n++) {
      const at = whole.at(n);
      const place = { turn: at.turn, move: at.isWhole && at.turn > 0 ? null : at.move, view: 1, speed: 4, hides: true, isStage: false, ticket: "a-b" };
      const read = readAddress(writeAddress(place));
      assert.deepEqual(read, place);
      assert.equal(whole.after(read.turn, read.move), n);
    }
  }
});

test("an address of the contract is read, and nonsense counts as nothing", () => {
  const { turn, move: step, view, speed } = readAddress("#turn=87&view=2&speed=4");
  assert.deepEqual([turn, step, view, speed], [87, null, 2, 4]);
  const start = readAddress("");
  assert.equal(writeAddress(start), "");
  assert.deepEqual([timeline.after(start.turn, start.move), start.view, start.speed], [0, null, 1]);
  assert.deepEqual(readAddress("#turn=-3&view=joe&speed=1e9&%E0%A4%A=1&ticket=%E0%A4"), { ...start, ticket: "%E0%A4" });
  assert.equal(timeline.after(99_999), 8);
});
