import assert from "node:assert/strict";
import { test } from "node:test";

import { excerpt, readReplay } from "../../server/stellwerk_page/content/replay_file.mjs";
import { bytes, bytesOf, names } from "./golden.mjs";

const lines = (name) => new TextDecoder().decode(bytesOf(name)).split("\n").slice(0, -1);
const read = (...texts) => readReplay(bytes(texts.map((text) => `${text}\n`).join("")));
const usa = lines("usa-2");

test("every golden game is read without a problem", () => {
  for (const name of names) {
    const { header, setUp, moves, end, problems } = readReplay(bytesOf(name));
    assert.deepEqual(problems, []);
    assert.equal(header?.game, name.split("-")[0]);
    assert.ok(setUp.length > 3 && moves.length === lines(name).length - 4 && end !== null);
  }
});

test("a file that was cut off within a line is shown up to the line before", () => {
  const whole = bytesOf("usa-2");
  const at = usa.slice(0, 40).join("\n").length;
  const { moves, problems } = readReplay(whole.subarray(0, at - 3));
  assert.equal(moves.length, 40 - 3 - 1);
  assert.deepEqual(problems, ["Line 40 is torn off: it is not JSON. The match is shown up to move 36."]);
});

test("a file that ends between two lines says that it breaks off", () => {
  const { moves, problems } = read(...usa.slice(0, 40));
  assert.equal(moves.length, 37);
  assert.deepEqual(problems, ["The file breaks off before the end of the match. The match is shown up to move 37."]);
});

test("bytes that are no replay cost one sentence each", () => {
  const sentences = [
    [bytes(""), "The file is empty."],
    [bytes("hello\n"), "Line 1 is not JSON. Nothing can be shown."],
    [new Uint8Array([0xff, 0xfe, 10]), "Line 1 is not JSON. Nothing can be shown."],
    [bytes("[]\n"), "Line 1 is no object. Nothing can be shown."],
    [bytes(`${"[".repeat(100_000)}\n`), "Line 1 has too many levels of brackets. Nothing can be shown."],
    [bytes('{"type":"end"}\n'), "Line 1 is not the header of a replay. Nothing can be shown."],
    [bytes(`{"x":"${"y".repeat(1 << 20)}"}\n`), "Line 1 is longer than a line of a replay can be. Nothing can be shown."],
    [new Uint8Array(67_108_865), "The file is longer than the 64 MiB of a replay. Nothing of it is shown."],
  ];
  for (const [file, sentence] of sentences) assert.deepEqual(readReplay(file).problems, [sentence]);
});

test("a file of a future format is shown if it looks as today's do, else its format is named", () => {
  const future = usa.map((line) => line.replace("stellwerk-replay/1", "stellwerk-replay/9"));
  const { moves, problems } = read(...future);
  assert.equal(moves.length, usa.length - 4);
  assert.match(problems[0], /^The format of this file is stellwerk-replay\/9; this page knows stellwerk-replay\/1/);
  assert.match(read('{"type":"header","format":"stellwerk-replay/9"}').problems[0], /has the format stellwerk-replay\/9/);
});

test("a line that no replay has ends what is shown, with its number", () => {
  for (const [line, pattern] of [
    ['{"type":"move","seat":7,"move":{"type":"pass"},"events":[]}', /^Line 10 is a move of a seat that/],
    ['{"type":"move","seat":0,"move":{"type":"pass"},"events":[3]}', /^Line 10 has no list of events/],
    ['{"type":"dance"}', /^Line 10 is of a kind that this page does not know: dance/],
    [usa[0], /^Line 10 is a second header/],
    ['{"type":"end","result":{"teams":[]}}', /^Line 10 has no result that can be read/],
  ]) {
    const { moves, problems } = read(...usa.slice(0, 9), line, ...usa.slice(9));
    assert.equal(moves.length, 6);
    assert.match(problems[0], pattern);
    assert.match(problems[0], /The match is shown up to move 6\.$/);
  }
});

test("what is repeated of a file has no control characters, no turned text, and an end", () => {
  assert.equal(excerpt("a\u0000b\u001b[31m\u202ec"), "a\ufffdb\ufffd[31m\ufffdc");
  assert.equal([...excerpt("\u{1f682}".repeat(5000))].length, 201);
});
