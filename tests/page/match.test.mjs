import assert from "node:assert/strict";
import { test } from "node:test";

import { boardFor } from "../../server/stellwerk_page/content/boards.mjs";
import { noteOf } from "../../server/stellwerk_page/content/caption.mjs";
import { Match } from "../../server/stellwerk_page/content/match.mjs";
import { isForPage } from "../../server/stellwerk_page/content/keys.mjs";
import { readReplay } from "../../server/stellwerk_page/content/replay_file.mjs";
import { boardOf, boardText, bytesOf } from "./golden.mjs";

const opened = () => new Match(readReplay(bytesOf("usa-3")), boardOf("usa"));

test("every change is heard once, and nothing is heard where nothing changed", () => {
  const match = opened();
  const heard = [];
  for (const change of ["go", "viewer", "hides", "select"]) match.on(change, () => heard.push(change));
  match.go(5);
  match.go(5);
  match.look(1);
  match.look(9); // there is no such seat
  match.hide(false);
  match.hide(true);
  match.choose({ seat: 0 });
  match.choose({ seat: 0 });
  assert.deepEqual(heard, ["go", "viewer", "hides", "select"]);
  assert.equal(match.viewer, 1);
});

test("without spoilers the horizon is what was seen since", () => {
  const match = opened();
  match.go(match.count);
  match.go(10);
  assert.equal(match.horizon, match.count);
  match.hide(true);
  assert.equal(match.horizon, 10);
  match.go(14);
  match.go(3);
  assert.equal(match.horizon, 14);
});

test("a position beyond an end is that end", () => {
  const match = opened();
  match.go(1e9);
  assert.equal(match.n, match.count);
  match.go(-1);
  assert.equal(match.n, 0);
});

test("a note is shown to its seat and to all hands, to nobody else", () => {
  const match = opened();
  const move = match.replay.moves[4];
  move.note = "I bluff";
  const readers = ["all_hands", "public", 0, 1, 2].filter((viewer) => {
    match.look(viewer);
    return noteOf(match, 5) === "I bluff";
  });
  assert.deepEqual(readers, ["all_hands", move.seat]);
});

test("a board comes from the page, or from the file, or a sentence says that there is none", () => {
  const { header } = readReplay(bytesOf("usa-3"));
  const known = new Map([[header.board.digest, boardText("usa")]]);
  assert.equal(boardFor(header, known).id, "usa");
  assert.match(boardFor(header, new Map()), /^The board usa of this file is not in this page/);
  const own = (content) => boardFor({ ...header, board: { ...header.board, content } }, new Map());
  assert.equal(own(boardText("europe")).id, "europe");
  assert.equal(own("{"), "The board in this file is not JSON.");
  for (const content of ["[]", "{}", '{"id":"x","title":"x","cities":[{"id":1}],"routes":[],"tickets":[]}']) {
    assert.equal(own(content), "The board in this file is no board.");
  }
});

test("a key with a modifier, or one that somebody took, is not the page's", () => {
  const key = (fields) => ({ key: "n", defaultPrevented: false, target: null, ...fields });
  globalThis.Element ??= class {};
  assert.equal(isForPage(key({})), true);
  for (const fields of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { defaultPrevented: true }, { isComposing: true }]) {
    assert.equal(isForPage(key(fields)), false);
  }
});
