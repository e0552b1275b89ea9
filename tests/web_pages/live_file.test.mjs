// A match that is watched from its public messages looks as its replay does for the public.

import assert from "node:assert/strict";
import { test } from "node:test";

import { redact, startOf } from "../../protocol/verifiers/javascript/redact.mjs";
import { computeHistory } from "../../server/stellwerk_page/content/history.mjs";
import { Match } from "../../server/stellwerk_page/content/match.mjs";
import { readReplay } from "../../server/stellwerk_page/content/replay_file.mjs";
import { LiveFile } from "../../server/stellwerk_web/content/live_file.mjs";
import { boardOf, bytesOf, names } from "../page/golden.mjs";

/** What a spectator gets of a recorded match, with the events of each move apart. */
function watched(name) {
  const replay = readReplay(bytesOf(name));
  const { header } = replay;
  const board = boardOf(header.board.id);
  const of = startOf(header, { file: board }, "public");
  const start = { type: "start", match: "m", ...of, rules_version: header.rules_version, board_digest: header.board.digest };
  const moves = [replay.setUp, ...replay.moves.map(({ events }) => events)].map((events) => events.map((event) => redact(event, "public", of)));
  return { replay, board, start, of, moves };
}

for (const name of names) {
  test(`${name} grows as it was recorded, event by event`, () => {
    const { replay, board, start, of, moves } = watched(name);
    const recorded = new Match(replay, board).positions;
    const file = new LiveFile(start);
    const match = new Match(file.replay, board);
    let n = 0;
    for (const [move, events] of moves.entries()) {
      for (const event of events) {
        assert.deepEqual(redact(event, "public", of), event);
        file.take([event]);
        match.grow();
      }
      if (move > 0 && events.length > 0) n += 1;
      // Moves that nobody hears of yet, such as the first choices of tickets, are no positions.
      assert.equal(match.count, n);
      assert.equal(match.n, n);
      assert.deepEqual(match.view, recorded.view("public", move));
      if (events.length > 0) assert.equal(match.positions.turns[n], recorded.turns[move]);
      // Of choices that several made, the first in the order of seats gives the move its color.
      if (move > 0 && events.length > 0 && moves[move - 1].length > 0) assert.equal(file.replay.moves[n - 1].seat, replay.moves[move - 1].seat);
    }
    assert.deepEqual(match.positions.problems, []);
    assert.equal(match.isRunning, false);
    assert.deepEqual(match.result, replay.end);
    // Going back shows what was.
    const told = moves.flatMap((events, move) => (move === 0 || events.length > 0 ? [move] : []));
    for (const at of [0, 1, 19, 20, 21, 40, n - 1, n].filter((each) => each >= 0 && each <= n)) {
      const last = (told[at + 1] ?? moves.length) - 1; // silent moves follow
      assert.deepEqual(match.positions.view("public", at), recorded.view("public", last), `position ${at}`);
    }
  });
}

test("whoever went back stays where they are, and whoever is at the newest move follows", () => {
  const { board, start, moves } = watched("usa-3");
  const file = new LiveFile(start);
  file.take(moves.slice(0, 40).flat());
  const match = new Match(file.replay, board);
  assert.equal(match.n, match.count); // a visit begins at the newest move
  const heard = [];
  for (const change of ["go", "grow"]) match.on(change, () => heard.push(change));
  match.go(10);
  const before = match.view;
  const kept = structuredClone(before);
  file.take(moves.slice(40, 60).flat());
  match.grow();
  assert.deepEqual(heard, ["go", "grow"]);
  assert.equal(match.n, 10);
  assert.deepEqual(match.view, kept);
  match.go(match.count);
  const newest = match.view;
  const asIs = structuredClone(newest);
  file.take(moves.slice(60, 61).flat());
  match.grow();
  assert.equal(match.n, match.count);
  assert.deepEqual(newest, asIs); // a view that somebody got never changes
});

test("the public match can be seen by the public alone", () => {
  const { board, start, moves } = watched("usa-2");
  const file = new LiveFile(start);
  file.take(moves[0]);
  const match = new Match(file.replay, board);
  for (const viewer of ["all_hands", 0, 1]) match.look(viewer);
  assert.equal(match.viewer, "public");
  assert.deepEqual(match.viewers, ["public"]);
});

test("after a gap only what is new is taken, however many pieces it comes in", () => {
  const { start, moves } = watched("europe-2");
  const events = moves.flat();
  const whole = new LiveFile(start);
  whole.take(events.slice(0, 80));
  const file = new LiveFile(start);
  file.take(events.slice(0, 50));
  for (const pieces of [[0, 30, 50, 80], [0, 80], [0, 0, 7]]) {
    file.hearAgain();
    for (const [at, begin] of pieces.slice(0, -1).entries()) assert.equal(file.take(events.slice(begin, pieces[at + 1])), null);
    assert.deepEqual(file.replay, whole.replay);
  }
});

test("another course of the match is noticed where it parts", () => {
  const { start, moves } = watched("europe-2");
  const events = moves.flat();
  const file = new LiveFile(start);
  file.take(events.slice(0, 80));
  const lines = structuredClone(file.replay.moves);
  const other = [...events.slice(0, 70), { type: "passed", seat: 0 }, ...events.slice(71, 75)];
  file.hearAgain();
  assert.equal(file.take(other.slice(0, 60)), null);
  assert.deepEqual(file.take(other.slice(60)), other);
  assert.deepEqual(file.replay.moves, lines);
});

test("an event that the page does not know ends what is shown with a sentence, and nothing breaks later", () => {
  const { board, start, moves } = watched("usa-2");
  const file = new LiveFile(start);
  file.take(moves.slice(0, 10).flat());
  const match = new Match(file.replay, board);
  const { count } = match;
  file.take([{ type: "route_danced", seat: 0 }]);
  match.grow();
  file.take(moves.slice(11, 20).flat());
  match.grow();
  assert.equal(match.count, count);
  assert.match(match.positions.problems[0], /an event that this page does not know/);
  match.go(3);
  match.go(count);
  assert.equal(match.view.turn > 0, true);
});

test("an end without a result that can be read is a sentence", () => {
  const { start } = watched("usa-2");
  const file = new LiveFile(start);
  file.end({ type: "end", result: { reason: 1 } });
  assert.equal(file.replay.end, null);
  assert.match(file.replay.problems[0], /cannot read/);
  assert.match(new LiveFile({}).replay.problems[0], /cannot read/);
});

test("charts that grow with a match are those of the whole match", async () => {
  for (const name of ["usa-3", "card_game-4"]) {
    const { board, start, moves } = watched(name);
    const file = new LiveFile(start);
    const match = new Match(file.replay, board);
    let before = null;
    for (let at = 0; at < moves.length; at += 7) {
      file.take(moves.slice(at, at + 7).flat());
      match.grow();
      before = await computeHistory(match.positions, board, match.players, { before, since: match.grown });
      assert.deepEqual(before, await computeHistory(match.positions, board, match.players));
    }
    assert.ok(before.positions.length > 50);
  }
});
