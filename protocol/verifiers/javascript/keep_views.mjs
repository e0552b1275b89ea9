#!/usr/bin/env node
// Keeps views from the events of recorded sessions and of vectors, and compares them with the server's views.
// See README.md beside the folder.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { differenceOf } from "./difference.mjs";
import { firstView, fold } from "./view.mjs";

const USAGE = "usage: node keep_views.mjs [--board BOARD.json ...] SESSION_OR_VECTORS.jsonl ...";
const [ALIKE, DIFFERENT, WRONG_USAGE] = [0, 1, 2];

/** A view that differs from the server's, or an unknown event. */
class DifferentError extends Error {}

process.exitCode = main();

function main() {
  let files, boards;
  try {
    const given = parseArgs({ allowPositionals: true, options: { board: { type: "string", multiple: true, default: [] } } });
    boards = new Map(given.values.board.map((file) => JSON.parse(readFileSync(file, "utf-8"))).map((board) => [board.id, board]));
    files = given.positionals.map((name) => ({ name, lines: readFileSync(name, "utf-8").split("\n").filter((line) => line) }));
    if (files.length === 0) throw new Error("no file is named");
  } catch (error) {
    process.stderr.write(`keep_views: ${error.message} (${USAGE})\n`);
    return WRONG_USAGE;
  }
  return Math.max(...files.map((file) => compare(file, boards)));
}

/** Prints how many views of a file are equal, or the first line at which one differs. */
function compare({ name, lines }, boards) {
  const matches = new Map();
  let compared = 0;
  for (const [index, text] of lines.entries()) {
    try {
      const record = JSON.parse(text);
      if ("before" in record) compared += compareVector(record, boards);
      else if (record.from === "server" && record.line !== undefined) compared += hear(matches, record.line);
    } catch (error) {
      process.stdout.write(`${name}:${index + 1}: ${error instanceof DifferentError ? error.message : error.stack}\n`);
      return DIFFERENT;
    }
  }
  process.stdout.write(`${name}: ${compared} views are alike\n`);
  return ALIKE;
}

function compareVector({ start, after, before, events, view }, boards) {
  const known = { ...start, board: boards.get(start.board) };
  if (known.board === undefined) throw new DifferentError(`the board ${start.board} is not at hand: --board`);
  const kept = after === 0 ? firstView(known) : structuredClone(before);
  expectAlike(kept, before, "before");
  events.forEach((event) => fold(known, kept, event));
  expectAlike(kept, view, "view");
  return 1;
}

/** Reads one line of a session. Returns how many views were compared. */
function hear(matches, line) {
  const match = matches.get(line.match);
  switch (line.type) {
    case "start":
      matches.set(line.match, { start: line, view: firstView(line), last: 0 });
      return 0;
    case "event":
      if (line.number !== match.last + 1) throw new DifferentError(`event ${line.number} after ${match.last}`);
      match.last = line.number;
      fold(match.start, match.view, line.event);
      return 0;
    case "ask":
      if (line.view === undefined) return 0;
      if (line.after_event > match.last) throw new DifferentError(`an ask after event ${line.after_event}, of which there is none`);
      expectAlike(match.view, line.view, "view");
      return 1;
    case "end":
      if (match.last === 0) return 0; // the client wanted no events
      expectAlike(match.view.result, line.result, "result");
      return 1;
    default:
      return 0;
  }
}

function expectAlike(kept, shown, where) {
  const difference = differenceOf(kept, shown, where);
  if (difference !== null) throw new DifferentError(difference);
}
