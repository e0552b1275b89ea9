#!/usr/bin/env node
// Plays the games of vectors/rules (conformance/README.md) by the rules of this folder, and compares every point of them.
// See README.md beside the folder.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { readBoard } from "./board.mjs";
import { canonical } from "./canonical.mjs";
import { RefusedError } from "./errors.mjs";
import { Game } from "./game.mjs";
import { partsOf, SHIPPED } from "./games.mjs";
import { rulesOf } from "./rules.mjs";
import { fromDigits } from "./sha256.mjs";

const USAGE = "usage: node check_rules.mjs --board BOARD.json ... VECTORS.jsonl ...";
const [GOOD, DIFFERENT, WRONG_USAGE] = [0, 1, 2];

/** A value that is not the one in the file. */
class Difference extends Error {}

for (const stream of [process.stdout, process.stderr]) stream.on("error", endQuietly);
process.exitCode = main();

function main() {
  let given;
  try {
    given = parseArgs({ allowPositionals: true, options: { board: { type: "string", multiple: true, default: [] } } });
  } catch (error) {
    return refuse(/** @type {Error} */ (error).message);
  }
  const { values, positionals } = given;
  if (positionals.length === 0) return refuse("no file is named");
  let boards;
  let texts;
  try {
    boards = values.board.map((file) => readBoard(readFileSync(file, "utf-8")));
    texts = positionals.map((file) => readFileSync(file, "utf-8"));
  } catch (error) {
    return refuse(/** @type {Error} */ (error).message);
  }
  const codes = positionals.map((file, at) => judge(file, texts[at], boards));
  return Math.max(...codes);
}

/**
 * @param {string} file
 * @param {string} text
 * @param {import("./board.mjs").Board[]} boards
 */
function judge(file, text, boards) {
  let number = 0;
  /** @type {Match | null} */
  let match = null;
  let moves = 0;
  let points = 0;
  try {
    for (const line of text.split("\n").slice(0, -1)) {
      number++;
      const value = JSON.parse(line);
      if (value.type === "match") match = begin(value, boards);
      else moves += advance(/** @type {Match} */ (match), value);
      if (value.type === "point") points++;
    }
  } catch (error) {
    if (!(error instanceof Difference || error instanceof RefusedError)) throw error;
    process.stdout.write(`${file}:${number}: ${error.message}\n`);
    return DIFFERENT;
  }
  process.stdout.write(`${file}: ok, ${moves} moves, ${points} points\n`);
  return GOOD;
}

/** @typedef {{ game: Game }} Match */

/**
 * @param {any} line
 * @param {import("./board.mjs").Board[]} boards
 * @returns {Match}
 */
function begin(line, boards) {
  const parts = partsOf(line);
  if (parts === undefined) throw new Difference(`there is no game ${line.game}`);
  const version = SHIPPED.get(line.game)?.rules_version ?? line.rules_version;
  if (version !== line.rules_version) throw new Difference(`the rules version is ${version}`);
  const board = boards.find(({ digest }) => digest === line.board_digest);
  if (board === undefined) throw new Difference(`the board ${line.board} is not at hand: name it with --board`);
  return { game: new Game(rulesOf(parts), board, { seats: line.players, seed: fromDigits(line.seed) }) };
}

/**
 * Goes through one line. Returns how many moves it made.
 * @param {Match} match
 * @param {any} line
 */
function advance({ game }, line) {
  switch (line.type) {
    case "set_up":
      expectSame("events", game.setUp(), line.events);
      return 0;
    case "moves":
      for (const { seat, move } of line.moves) game.play(seat, move);
      return line.moves.length;
    case "point":
      expectPoint(game, line);
      return 1;
    case "end":
      expectSame("over", game.over, true);
      expectSame("result", game.result, line.result);
      return 0;
    default:
      throw new Difference(`there is no line of the type ${line.type}`);
  }
}

/**
 * @param {Game} game
 * @param {any} point
 */
function expectPoint(game, point) {
  const { seat } = point;
  expectSame("owing", game.owing.includes(seat), true);
  expectSame("decision", game.decision(seat), point.decision);
  const { moves, complete } = game.legal(seat);
  expectSame("legal", moves, point.legal);
  expectSame("legal_complete", complete, point.legal_complete);
  expectSame("fallback", game.fallback(seat), point.fallback);
  for (const move of [...point.legal, ...point.accepted]) {
    const refused = refusalOf(game, seat, move);
    if (refused !== null) throw new Difference(`accepted: ${canonical(move)} is refused: ${canonical(refused)}`);
  }
  for (const { move, code, pointer } of point.refused) {
    expectSame(`refused: ${canonical(move)}`, refusalOf(game, seat, move), { code, pointer });
  }
  const twin = game.copy();
  expectSame("events", game.play(seat, point.move), point.events);
  expectSame("events of a copy", twin.play(seat, point.move), point.events);
}

/**
 * @param {Game} game
 * @param {number} seat
 * @param {any} move
 */
function refusalOf(game, seat, move) {
  try {
    game.check(seat, move);
    return null;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { code: error.code, pointer: error.pointer };
  }
}

/**
 * @param {string} what
 * @param {any} mine
 * @param {any} theirs
 */
function expectSame(what, mine, theirs) {
  if (canonical(mine) === canonical(theirs)) return;
  const isList = Array.isArray(mine) && Array.isArray(theirs);
  const at = isList ? firstDifference(mine, theirs) : -1;
  const [one, other, place] = isList ? [mine[at], theirs[at], ` ${at}`] : [mine, theirs, ""];
  throw new Difference(`${what}${place}: expected ${textOf(other)}, found ${textOf(one)}`);
}

/**
 * @param {any[]} some
 * @param {any[]} others
 */
function firstDifference(some, others) {
  let at = 0;
  while (at < some.length && at < others.length && canonical(some[at]) === canonical(others[at])) at++;
  return at;
}

/** @param {any} value */
function textOf(value) {
  return value === undefined ? "nothing" : canonical(value).slice(0, 1000);
}

/**
 * The reader of the output, such as `head`, may stop reading.
 * @param {Error & { code?: string }} error
 */
function endQuietly(error) {
  if (error.code !== "EPIPE") throw error;
}

/** @param {string} message */
function refuse(message) {
  process.stderr.write(`check_rules: ${message} (${USAGE})\n`);
  return WRONG_USAGE;
}
