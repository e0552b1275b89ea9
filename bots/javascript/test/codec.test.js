// Tests of lines and messages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { WrongLineError, decode, encode, lines } from "../src/codec.js";

/** @param {string} text */
const bytes = (text) => Buffer.from(text);

/** The lines of these chunks. @param {Uint8Array[]} chunks */
async function linesOf(...chunks) {
  async function* stream() {
    yield* chunks;
  }
  const found = [];
  for await (const line of lines(stream())) {
    found.push(line.toString());
  }
  return found;
}

test("a message is one line with its newline", () => {
  assert.equal(encode({ type: "ready", match: "m1" }), '{"type":"ready","match":"m1"}\n');
});

test("a line break inside a text does not end the line", () => {
  const line = encode({ type: "act", match: "m", ask: 1, index: 0, note: "a\nb\u2028c" });
  assert.equal(line.indexOf("\n"), line.length - 1);
  assert.equal(JSON.parse(line).note, "a\nb\u2028c");
});

test("what is undefined is not sent", () => {
  assert.equal(encode(/** @type {any} */ ({ type: "ping", echo: undefined })), '{"type":"ping"}\n');
});

test("a line is decoded, whatever else it holds", () => {
  const line = '{"season":[1,{}],"type":"ok","match":"m","ask":3,"took_ms":0,"bank_ms":9007199254740991}\r';
  assert.deepEqual(decode(bytes(line)), {
    season: [1, {}],
    type: "ok",
    match: "m",
    ask: 3,
    took_ms: 0,
    bank_ms: Number.MAX_SAFE_INTEGER,
  });
});

test("a message of an unknown type is one too, even if it is called like something in JavaScript", () => {
  for (const type of ["weather", "constructor", "__proto__"]) {
    assert.equal(decode(bytes(JSON.stringify({ type }))).type, type);
  }
});

for (const line of [
  "",
  "{",
  "[1]",
  "null",
  '"hello"',
  "{}",
  '{"type":1}',
  '{"type":"hello"}',
  '{"type":"hello","protocols":{}}',
  '{"type":"ask","match":"m","ask":"1","fallback":{}}',
  '{"type":"end","match":"m","result":null}',
]) {
  test(`no message: ${line || "an empty line"}`, () => {
    assert.throws(() => decode(bytes(line)), WrongLineError);
  });
}

test("what is not UTF-8 is no message, in a field that nobody reads either", () => {
  const line = Buffer.concat([bytes('{"type":"pong","x":"'), Buffer.from([0xff]), bytes('"}')]);
  assert.throws(() => decode(line), WrongLineError);
});

test("lines come out whole, however they were cut", async () => {
  const whole = bytes('{"a":"ä"}\n\n{"b":"\u2028"}\n');
  const expected = ['{"a":"ä"}', "", '{"b":"\u2028"}'];
  for (let size = 1; size <= whole.length; size += 1) {
    const chunks = [];
    for (let begin = 0; begin < whole.length; begin += size) {
      chunks.push(whole.subarray(begin, begin + size));
    }
    assert.deepEqual(await linesOf(...chunks), expected);
  }
});

test("half a line at the end is dropped", async () => {
  assert.deepEqual(await linesOf(bytes('{"a":1}\n{"b"')), ['{"a":1}']);
});

test("a line of 60,000 bytes is read, and one without an end refused", async () => {
  const long = "x".repeat(60_000);
  assert.deepEqual(await linesOf(bytes(`${long}\n`)), [long]);
  await assert.rejects(linesOf(...Array(20).fill(bytes(long))), WrongLineError);
});
