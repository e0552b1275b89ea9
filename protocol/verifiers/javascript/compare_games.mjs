#!/usr/bin/env node
// Plays the games of a stream by the rules of this folder, and names the first difference of each. The stream is that of
// protocol/tools/oracle.py, which describes its lines. It comes from standard input, and for each game one line goes to
// standard output.

import { createInterface } from "node:readline";

import { readBoard } from "./board.mjs";
import { CHAIN_LABEL, digits } from "./canonical.mjs";
import { differenceOf } from "./difference.mjs";
import { RefusedError } from "./errors.mjs";
import { Game } from "./game.mjs";
import { partsOf } from "./games.mjs";
import { redact, startOf } from "./redact.mjs";
import { verify } from "./replay.mjs";
import { rulesOf } from "./rules.mjs";
import { fromDigits } from "./sha256.mjs";
import { firstView, fold } from "./view.mjs";

/** @typedef {Record<string, any>} Json */

/** A difference between the two implementations. */
class DifferentError extends Error {}

async function main() {
  /** @type {Match | null} */
  let match = null;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const record = JSON.parse(line);
    if (record.type === "match") match = new Match(record);
    if (match?.difference === null) match.difference = differenceAt(match, record);
    if (record.type === "over") {
      process.stdout.write(`${JSON.stringify({ id: match?.id, difference: match?.difference, ...match?.counts })}\n`);
    }
  }
}

/**
 * @param {Match} match
 * @param {Json} record
 */
function differenceAt(match, record) {
  try {
    match.hear(record);
    return null;
  } catch (error) {
    const words = error instanceof DifferentError ? error.message : error instanceof Error ? error.stack : error;
    return `after ${match.counts.moves} moves: ${words}`;
  }
}

/** A game that is played by both implementations. */
class Match {
  /** @type {string | null} */
  difference = null;
  counts = { moves: 0, refused: 0, views: 0, replays: 0, forged: 0 };
  /** @type {Json[]} */
  #events = []; // of the last move
  /** @type {Map<any, {start: Json, view: Json}>} */
  #views = new Map();
  /** @type {any} */
  #game;
  /** @type {string[]} */
  #bodies = []; // of the replay
  /** @type {import("./board.mjs").Board[]} */
  #boards = [];

  /** @param {Json} record */
  constructor(record) {
    this.id = record.id;
  }

  /** @param {Json} record */
  hear(record) {
    switch (record.type) {
      case "match":
        return this.#begin(record);
      case "set_up":
        return this.#happen(this.#game.setUp(), record.events);
      case "point":
        return this.#move(record);
      case "view":
        return this.#look(record);
      case "end":
        expectSame([...this.#game.owing], [], "owing");
        expectSame(this.#game.over, true, "over");
        return expectSame(this.#game.result, record.result, "result");
      case "replay":
        return this.#verify(record);
      case "forged":
        return this.#findForgery(record);
    }
  }

  /** @param {Json} record */
  #begin({ game, players, options, parts, seed, board }) {
    const header = { game, options, parts, seats: Array.from({ length: players }, () => ({})) };
    const chosen = readBoard(board);
    this.#boards = [chosen];
    const known = partsOf(header);
    if (known === undefined) throw new DifferentError(`the game ${game} is unknown`);
    this.#game = new Game(rulesOf(known), chosen, { seats: players, seed: fromDigits(seed) });
    for (const viewer of [...header.seats.keys(), /** @type {const} */ ("public"), /** @type {const} */ ("all_hands")]) {
      const start = startOf(header, chosen, viewer);
      this.#views.set(viewer, { start, view: firstView(start) });
    }
  }

  /** @param {Json} point */
  #move({ seat, owing, decision, legal, legal_complete, fallback, refused, accepted, move, events }) {
    const game = this.#game;
    expectSame(game.over, false, "over");
    expectSame([...game.owing], owing, "owing");
    expectSame(game.mover, owing[0], "mover");
    expectSame(game.decision(seat), decision, "decision");
    const listed = game.legal(seat);
    // A server may list fewer sets of tickets, but none that is not among the best (games/card_game.md).
    const isShort = decision.type === "complete_tickets" && legal.length > 0 && legal.length < listed.moves.length;
    expectSame(isShort ? listed.moves.slice(0, legal.length) : listed.moves, legal, "legal");
    expectSame(listed.complete, legal_complete, "legal_complete");
    expectSame(game.fallback(seat), fallback, "fallback");
    for (const each of [...legal, ...accepted]) {
      const error = refusalOf(game, seat, each);
      if (error !== null) throw new DifferentError(`${JSON.stringify(each)} is refused with ${error.code} at ${error.pointer}`);
    }
    for (const each of refused) {
      const error = refusalOf(game, seat, each.move);
      const found = error === null ? null : { code: error.code, pointer: error.pointer };
      expectSame(found, { code: each.code, pointer: each.pointer }, `the refusal of ${JSON.stringify(each.move)}`);
      this.counts.refused++;
    }
    this.#happen(game.play(seat, move), events);
    this.counts.moves++;
  }

  /**
   * @param {Json[]} events
   * @param {Json[]} expected
   */
  #happen(events, expected) {
    expectSame(events, expected, "events");
    this.#events = events;
    for (const [viewer, { start, view }] of this.#views) {
      for (const event of events) fold(start, view, /** @type {Json} */ (redact(event, viewer, start)));
    }
  }

  /** @param {Json} record */
  #look({ viewer, events, view }) {
    const known = /** @type {{start: Json, view: Json}} */ (this.#views.get(viewer));
    expectSame(this.#events.map((event) => redact(event, viewer, known.start)), events, `events of ${viewer}`);
    expectSame(known.view, view, `view of ${viewer}`);
    this.counts.views++;
  }

  /** @param {Json} record */
  #verify({ bodies, moves }) {
    this.#bodies = bodies;
    if (JSON.parse(bodies[0]).board.content !== undefined) this.#boards = []; // it is not one that comes with Stellwerk
    const verdict = verify(sealed(bodies), this.#boards);
    const expected = { verdict: "good", line: bodies.length, reason: null, moves };
    expectSame(verdict, expected, "the verdict");
    this.counts.replays++;
  }

  /** @param {Json} record */
  #findForgery({ at, body, verdict, line }) {
    const found = verify(sealed(this.#bodies.map((each, index) => (index === at - 1 ? body : each))), this.#boards);
    const isAlike = found.verdict === verdict && found.line === line && !found.reason?.startsWith("this program failed");
    if (!isAlike) {
      const expected = JSON.stringify({ verdict, line });
      throw new DifferentError(`line ${at} forged to ${body}: ${JSON.stringify(found)}, where the server has ${expected}`);
    }
    this.counts.forged++;
  }
}

/**
 * Returns the refusal of a move, or null if it is legal.
 * @param {any} game
 * @param {number} seat
 * @param {Json} move
 */
function refusalOf(game, seat, move) {
  try {
    game.check(seat, move);
    return null;
  } catch (error) {
    if (error instanceof RefusedError) return error;
    throw error;
  }
}

/**
 * Returns a replay with these lines, whose chain holds.
 * @param {string[]} bodies
 */
function sealed(bodies) {
  let hash = CHAIN_LABEL;
  const lines = bodies.map((body) => {
    hash = digits(`${hash}\n${body}`);
    return `${body.slice(0, -1)},"hash":"${hash}"}\n`;
  });
  return new TextEncoder().encode(lines.join(""));
}

/**
 * @param {any} found
 * @param {any} expected
 * @param {string} where
 */
function expectSame(found, expected, where) {
  const difference = differenceOf(found, expected, where);
  if (difference !== null) throw new DifferentError(difference);
}

await main();
