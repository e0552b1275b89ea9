import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";

import { digits, fromDigits, sha256, toDigits } from "./sha256.mjs";

test("known texts have their known hashes", () => {
  const known = {
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    abc: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  };
  for (const [text, hash] of Object.entries(known)) assert.equal(digits(text), hash, text);
  assert.equal(digits("a".repeat(1_000_000)), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
});

test("bytes of every length have the hashes of node:crypto", () => {
  const lengths = [...Array(301).keys(), 511, 512, 513, 4095, 4096, 4097, 65_535, 65_536, 65_537];
  for (const length of lengths) {
    const bytes = randomBytes(length);
    assert.equal(digits(bytes), createHash("sha256").update(bytes).digest("hex"), bytes.toString("hex"));
  }
});

test("parts have the hash of what they make together", () => {
  for (let length = 0; length <= 300; length += 7) {
    const bytes = randomBytes(length);
    for (const cut of [0, 1, 55, 56, 63, 64, 65, length].filter((each) => each <= length)) {
      const parts = [bytes.subarray(0, cut), "é\n", bytes.subarray(cut)];
      const expected = createHash("sha256");
      parts.forEach((part) => expected.update(part));
      assert.equal(digits(...parts), expected.digest("hex"));
    }
  }
});

test("digits spell bytes", () => {
  const bytes = sha256("a");
  assert.deepEqual(fromDigits(toDigits(bytes)), bytes);
  assert.deepEqual(fromDigits("00FFa0"), Uint8Array.of(0, 255, 160));
});
