#!/usr/bin/env node
// Verifies replays, by the specification alone. See README.md beside the folder.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { readBoard } from "./board.mjs";
import { verify } from "./replay.mjs";

const USAGE = "usage: node verify.mjs [--board BOARD.json ...] REPLAY.jsonl ...";
const [GOOD, UNTRUE, WRONG_USAGE, UNJUDGED] = [0, 1, 2, 3];

for (const stream of [process.stdout, process.stderr]) stream.on("error", endQuietly);
process.exitCode = main();

function main() {
  let given;
  try {
    given = parseArgs({ allowPositionals: true, options: { board: { type: "string", multiple: true, default: [] } } });
  } catch (error) {
    return refuse(error.message);
  }
  if (given.positionals.length === 0) return refuse("no replay is named");
  let boards;
  try {
    boards = given.values.board.map((file) => readBoard(readFileSync(file, "utf-8")));
  } catch (error) {
    return refuse(error.message);
  }
  const codes = given.positionals.map((file) => judge(file, boards));
  return codes.includes(UNTRUE) ? UNTRUE : Math.max(...codes);
}

function judge(file, boards) {
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    process.stderr.write(`${file}: ${error.message}\n`);
    return UNTRUE;
  }
  const { verdict, line, reason } = verify(bytes, boards);
  if (reason === null) {
    process.stdout.write(`${file}: ok\n`);
    return GOOD;
  }
  const words = verdict === "untrue" ? "not true" : "cannot be judged";
  process.stdout.write(`${file}:${line}: ${words}: ${printable(reason)}\n`);
  return verdict === "untrue" ? UNTRUE : UNJUDGED;
}

/** Names in a replay are other people's text. */
function printable(text) {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);
}

/** The reader of the output, such as `head`, may stop reading. */
function endQuietly(error) {
  if (error.code !== "EPIPE") throw error;
}

function refuse(message) {
  process.stderr.write(`verify: ${printable(message)} (${USAGE})\n`);
  return WRONG_USAGE;
}
