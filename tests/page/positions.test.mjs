import assert from "node:assert/strict";
import { test } from "node:test";

import { redact, startOf } from "../../protocol/verifiers/javascript/redact.mjs";
import { firstView, fold } from "../../protocol/verifiers/javascript/view.mjs";
import { Positions } from "../../server/stellwerk_page/content/positions.mjs";
import { readReplay } from "../../server/stellwerk_page/content/replay_file.mjs";
import { boardOf, bytes, bytesOf } from "./golden.mjs";

const GAMES = ["usa-5", "europe-4-thrifty", "team_asia-6", "card_game-4", "card_game-3-open_stacks", "united_kingdom-4-advanced_technologies"];

function opened(name) {
  const replay = readReplay(bytesOf(name));
  const board = boardOf(replay.header.game);
  return { replay, board, positions: new Positions(replay, board) };
}

/** The view of every position, folded in one go from the beginning. */
function* foldedOnce({ replay, board }, viewer) {
  const start = startOf(replay.header, { file: board }, viewer);
  const view = firstView(start);
  for (const events of [replay.setUp, ...replay.moves.map((move) => move.events)]) {
    for (const event of events) fold(start, view, redact(event, viewer, start));
    yield structuredClone(view);
  }
}

/** Numbers that look random, the same in each run. */
function* numbers(below) {
  for (let state = 12345; ; ) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield Math.floor((state / 2147483648) * below);
  }
}

for (const name of GAMES) {
  test(`jumps back and forth in ${name} show each viewer what one fold shows`, () => {
    const game = opened(name);
    const { positions } = game;
    assert.equal(positions.count, game.replay.moves.length);
    for (const viewer of ["public", "all_hands", ...game.replay.header.seats.keys()]) {
      const views = [...foldedOnce(game, viewer)];
      const places = numbers(positions.count + 1);
      const jumps = Array.from({ length: 25 }, () => places.next().value);
      for (const n of [positions.count, 0, ...jumps, 19, 20, 21, 40, 39, positions.count - 1, positions.count]) {
        assert.deepEqual(positions.view(viewer, n), views[n], `position ${n} for ${viewer}`);
      }
    }
  });
}

test("each move has its turn", () => {
  const { positions, replay } = opened("usa-3");
  assert.equal(positions.turns.length, positions.count + 1);
  assert.equal(positions.turns.at(-1), replay.end.turns);
  for (let n = 1; n <= positions.count; n++) assert.equal(positions.turns[n], positions.view("public", n - 1).turn);
});

test("a viewer's events have nothing that is private to others", () => {
  const { positions, replay } = opened("usa-2");
  for (let n = 0; n <= positions.count; n++) {
    for (const event of positions.events("public", n)) assert.ok(event.type !== "card_drawn" || event.card === undefined);
    for (const event of positions.events(1, n)) assert.ok(event.type !== "tickets_kept" || event.seat === 1 || event.tickets === undefined);
    assert.deepEqual(positions.events("all_hands", n), n === 0 ? replay.setUp : replay.moves[n - 1].events);
  }
});

test("changed events end what is shown with a sentence", () => {
  const text = new TextDecoder().decode(bytesOf("usa-2")).split("\n");
  const changed = (n, from, to) => {
    const lines = [...text];
    lines[n + 2] = lines[n + 2].replace(from, to);
    assert.notEqual(lines[n + 2], text[n + 2]);
    const replay = readReplay(bytes(lines.join("\n")));
    return new Positions(replay, boardOf("usa"));
  };
  const at = text.findIndex((line) => line.includes('"type":"route_claimed"')) - 2;
  for (const [from, to, pattern] of [
    ['"type":"route_claimed"', '"type":"route_danced"', /an event that this page does not know/],
    ['"seat":', '"seat":8', /with a seat that no event has/],
    [/"cards":\{[^}]*\}/, '"cards":{"pink":3}', /with a cards that no event has/],
    [/"trains":\d/, '"trains":1e300', /with a trains that no event has/],
  ]) {
    const { count, problems, turns } = changed(at, from, to);
    assert.equal(count, at - 1);
    assert.equal(turns.length, at);
    assert.match(problems[0], pattern);
    assert.match(problems[0], new RegExp(`^Move ${at} cannot be shown: .* The match is shown up to move ${at - 1}\\.$`));
  }
});
