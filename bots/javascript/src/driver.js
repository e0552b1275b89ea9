#!/usr/bin/env node
// The driver of this library for `stellwerk kit codec -- node src/driver.js`: it reads one request a line from standard
// input, and writes each answer as a line to standard output. protocol/conformance/README.md describes both.

import { WrongLineError, decode, encode, lines } from "./codec.js";

/** @import { ServerMessage } from "./protocol.js" */

/** @typedef {{ op: string, message?: any, base64?: string, pieces?: string[] }} Request */

for await (const line of lines(process.stdin)) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line.toString("utf8"))))}\n`);
}

/** @param {Request} request */
async function answer({ op, message, base64 = "", pieces = [] }) {
  switch (op) {
    case "encode":
      return { base64: Buffer.from(encode(message)).toString("base64") };
    case "decode":
      return decoded(Buffer.from(base64, "base64"));
    case "stream":
      return { messages: await received(pieces.map((piece) => Buffer.from(piece, "base64"))) };
    default:
      return { unsupported: true };
  }
}

/** @param {Uint8Array} line */
function decoded(line) {
  try {
    return { message: decode(line) };
  } catch (error) {
    if (error instanceof WrongLineError) {
      return { error: error.message };
    }
    throw error;
  }
}

/** @param {Uint8Array[]} pieces */
async function received(pieces) {
  /** @type {ServerMessage[]} */
  const messages = [];
  for await (const line of lines(each(pieces))) {
    messages.push(decode(line));
  }
  return messages;
}

/** @param {Uint8Array[]} pieces */
async function* each(pieces) {
  yield* pieces;
}
