// The check of a replay (REPLAYS.md): is it intact, and was the game played as it says?
//
// The law: whatever the bytes are, the answer is a verdict with a sentence, and never an exception.

import { boardOf } from "./board.mjs";
import { BoardError, expectBoard, expectFit } from "./board_form.mjs";
import { canonical, chainedLines, digits, lastLine } from "./canonical.mjs";
import { RefusedError, UntrueError } from "./errors.mjs";
import { Game } from "./game.mjs";
import { partsOf, SHIPPED } from "./games.mjs";
import { isParts, lackOf } from "./parts_form.mjs";
import { rulesOf } from "./rules.mjs";
import { fromDigits } from "./sha256.mjs";

const FORMATS = "stellwerk-replay/";
export const FORMAT = `${FORMATS}1`;
const COMMITMENT_LABEL = "stellwerk-commitment/1";
const LONGEST_FILE = 67_108_864; // bytes
const LATEST_RULES = 1_000_000;

/** @typedef {Record<string, any>} Json */
/**
 * @typedef {object} Verdict
 * @property {"good" | "untrue" | "unjudged"} verdict `unjudged`: nobody can tell whether the rest is true
 * @property {number} line the first line that is not true or cannot be judged; of a good replay the last one
 * @property {string | null} reason null for a good replay
 * @property {number} moves how many moves are true, from the first one on
 */
/**
 * @typedef {object} Progress
 * @property {"read" | "play"} phase
 * @property {number} line the line that comes next
 * @property {number} share how much of the work is done, from 0 to 1
 */

/** @typedef {(value: any) => boolean} Test */
/** @typedef {{must: Record<string, Test>, may: Record<string, Test>}} Fields */

/** @type {Record<string, Test>} */
const is = {
  digits: (value) => is.string(value) && /^[0-9a-f]{64}$/.test(value),
  string: (value) => typeof value === "string",
  integer: (value) => Number.isSafeInteger(value) && value >= 0,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  reason: (value) => is.string(value) && /^[a-z][a-z0-9_.]{0,63}$/.test(value),
  note: (value) => is.string(value) && [...value].length >= 1 && [...value].length <= 200,
  name: (value) => is.string(value) && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/.test(value),
  match: (value) => is.string(value) && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value),
  ids: (value) => Array.isArray(value) && value.every(is.string),
  list: Array.isArray,
  id: (value) => is.string(value) && /^[a-z0-9][a-z0-9_]{0,31}$/.test(value),
  version: (value) => is.integer(value) && value >= 1 && value <= LATEST_RULES,
  fallback: (value) => value === "fallback",
  type: () => true,
};

/**
 * The fields of each kind of line.
 * @type {Record<string, Fields>}
 */
const LINES = {
  header: {
    must: {
      type: is.type,
      format: is.string,
      game: is.id,
      rules_version: is.version,
      options: is.ids,
      board: is.object,
      seats: is.list,
    },
    may: { match: is.match, commitment: is.digits, parts: is.object },
  },
  reveal: { must: { type: is.type, seed: is.digits }, may: { salt: is.digits } },
  set_up: { must: { type: is.type, events: is.list }, may: {} },
  move: {
    must: { type: is.type, seat: is.integer, move: is.object, events: is.list },
    may: { by: is.fallback, reason: is.reason, note: is.note },
  },
  end: { must: { type: is.type, result: is.object }, may: {} },
};
/** @type {Fields} */
const BOARD = { must: { id: is.id, digest: is.digits }, may: { content: is.string } };
/** @type {Fields} */
const SEAT = { must: {}, may: { name: is.name } };

/**
 * Returns the verdict on a replay.
 * @param {Uint8Array} bytes the file
 * @param {any[]} boards the boards that are known, from `readBoard`
 * @returns {Verdict}
 */
export function verify(bytes, boards) {
  const steps = check(bytes, boards);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Checks a replay in small steps: yields before each line, and returns the verdict.
 * @param {Uint8Array} bytes the file
 * @param {any[]} boards the boards that are known, from `readBoard`
 * @returns {Generator<Progress, Verdict, void>}
 */
export function* check(bytes, boards) {
  const { lines, line, fault } = yield* read(bytes);
  const seed = fault === null ? null : committedSeed(lines, lastLine(bytes));
  if (seed !== null) lines.push(seed);
  let moves = 0;
  let number = 1;
  try {
    const judge = new Judge(lines, boards);
    for (number of seedFirst(lines)) {
      yield { phase: "play", line: number, share: 0.25 + (0.75 * number) / lines.length };
      judge.judge(lines[number - 1]);
      if (lines[number - 1].type === "move") moves++;
    }
  } catch (error) {
    const found = faultOf(error);
    // A line that cannot be judged is no reason to be silent about one that is wrong, such as one with a wrong hash.
    if (found.judged || !fault?.judged) return verdictOf(number, found, moves);
  }
  return verdictOf(line, fault, moves);
}

/**
 * Returns the commitment to a deal (REPLAYS.md). Compare it with the one that was published before the match.
 * @param {Json} header the line
 * @param {Json} reveal the line: `seed` and, if there is one, `salt`
 */
export function commitmentOf(header, reveal) {
  const { game, match, options, parts, seats } = header;
  const committed = {
    board: header.board.digest,
    game,
    options,
    seats,
    seed: reveal.seed,
    ...(match !== undefined && { match }),
    ...(parts !== undefined && { parts }),
    ...(reveal.salt !== undefined && { salt: reveal.salt }),
  };
  return digits(COMMITMENT_LABEL, "\n", canonical(committed));
}

/**
 * @param {number} line
 * @param {UntrueError | null} fault
 * @param {number} moves
 * @returns {Verdict}
 */
function verdictOf(line, fault, moves) {
  if (fault === null) return { verdict: "good", line, reason: null, moves };
  return { verdict: fault.judged ? "untrue" : "unjudged", line, reason: fault.message, moves };
}

/**
 * Returns what an error says of a line. An error of this program is no proof against a replay.
 * @param {unknown} error
 */
function faultOf(error) {
  if (error instanceof UntrueError) return error;
  if (error instanceof BoardError) return new UntrueError(`the board: ${error.message}`);
  if (error instanceof RefusedError) return new UntrueError(`the move is not legal: ${error.message}`);
  return new UntrueError(`this program failed: ${error instanceof Error ? error.message : error}`, false);
}

/**
 * Returns all lines that are well formed and in the right order, and what is wrong with the next line; with the last
 * one, if the file was cut off.
 * @param {Uint8Array} bytes
 * @returns {Generator<Progress, {lines: Json[], line: number, fault: UntrueError | null}, void>}
 */
function* read(bytes) {
  /** @type {Json[]} */
  const lines = [];
  try {
    if (bytes.length > LONGEST_FILE) throw new UntrueError("a replay has at most 64 MiB");
    const order = new Order();
    for (const { value, end } of chainedLines(bytes)) {
      order.expect(value);
      // The page does not define the lines of other formats.
      if (value.type === "header" && is.string(value.format) && value.format !== FORMAT) {
        throw new UntrueError(`the format is ${value.format}`, !value.format.startsWith(FORMATS));
      }
      expectFields(value, LINES[value.type]);
      if (value.type === "move" && "reason" in value && !("by" in value)) {
        throw new UntrueError("a reason comes only with `by`");
      }
      lines.push(value);
      yield { phase: "read", line: lines.length + 1, share: (0.25 * end) / bytes.length };
    }
    return { lines, line: Math.max(lines.length, 1), fault: order.lack() };
  } catch (error) {
    return { lines, line: lines.length + 1, fault: faultOf(error) };
  }
}

/** The order of the lines (REPLAYS.md, The file). */
class Order {
  #last = "";
  #isRevealed = false;
  #isOver = false;

  /** Returns the kinds of lines that can come next. */
  #next() {
    switch (this.#last) {
      case "":
        return ["header"];
      case "header":
        return ["reveal", "set_up"];
      case "set_up":
      case "move":
        return ["move", "end"];
      case "end":
        return this.#isRevealed ? [] : ["reveal"];
      default:
        return this.#isOver ? [] : ["set_up"];
    }
  }

  /** @param {any} value */
  expect(value) {
    const kinds = this.#next();
    if (!is.object(value) || !kinds.includes(value.type)) {
      throw new UntrueError(`expected ${kinds.join(" or ") || "no more line"}`);
    }
    this.#last = value.type;
    this.#isRevealed ||= value.type === "reveal";
    this.#isOver ||= value.type === "end";
  }

  /** Returns what is wrong if there are no more lines. */
  lack() {
    const kinds = this.#next();
    if (kinds.length === 0) return null;
    const isUnrevealed = kinds.length === 1 && kinds[0] === "reveal";
    return new UntrueError(isUnrevealed ? "the seed has not been revealed" : "the file breaks off", false);
  }
}

/**
 * Returns the seed at the end of a file with a broken line before it. It counts only if it is the one to which the
 * header commits: then the moves up to the broken line can be judged.
 * @param {Json[]} lines those before the broken one
 * @param {any} last
 * @returns {Json | null}
 */
function committedSeed(lines, last) {
  const [header] = lines;
  if (header?.commitment === undefined || lines.some(({ type }) => type === "reveal") || last?.type !== "reveal") return null;
  try {
    expectFields(last, LINES.reveal);
    return commitmentOf(header, last) === header.commitment ? last : null;
  } catch {
    return null;
  }
}

/**
 * Returns the numbers of the lines in the order in which they can be judged. Without the seed that is the header only.
 * @param {Json[]} lines
 */
function seedFirst(lines) {
  const numbers = lines.map((_, index) => index + 1);
  const reveal = lines.findIndex(({ type }) => type === "reveal") + 1;
  return reveal === 0 ? numbers.slice(0, 1) : [1, reveal, ...numbers.slice(1).filter((number) => number !== reveal)];
}

/** Plays the game of a replay again, line by line. */
class Judge {
  #lines;
  #boards;
  /** @type {any} */
  #board;
  /** @type {any} from the seed on */
  #game;

  /**
   * @param {Json[]} lines
   * @param {any[]} boards
   */
  constructor(lines, boards) {
    this.#lines = lines;
    this.#boards = boards;
  }

  /**
   * Throws UntrueError or RefusedError if the line is not true. The seed comes directly after the header.
   * @param {Json} line
   */
  judge(line) {
    const header = this.#lines[0];
    switch (line.type) {
      case "header":
        this.#board = expectHeader(line, this.#boards);
        break;
      case "reveal":
        if (header.commitment !== undefined && commitmentOf(header, line) !== header.commitment) {
          throw new UntrueError("seed and salt are not those of the commitment");
        }
        this.#game = new Game(rulesOf(/** @type {any} */ (partsOf(header))), this.#board, {
          seats: header.seats.length,
          seed: fromDigits(line.seed),
        });
        break;
      case "set_up":
        expectSame(line.events, this.#game.setUp(), "events");
        break;
      case "move":
        this.#expectMove(line);
        break;
      default:
        if (!this.#game.over) throw new UntrueError(`seat ${this.#game.mover} is to move`);
        expectSame(line.result, this.#game.result, "the result");
    }
  }

  /** @param {Json} line */
  #expectMove(line) {
    const game = this.#game;
    if (line.seat !== game.mover) {
      throw new UntrueError(game.over ? "the game is over" : `expected a move of seat ${game.mover}`);
    }
    if (line.by !== undefined) expectSame(line.move, game.fallback(line.seat), "the fallback");
    game.check(line.seat, line.move);
    const move = game.normal(line.seat, line.move);
    const events = game.play(line.seat, line.move);
    expectSame(line.move, move, "the move");
    expectSame(line.events, events, "events");
  }
}

/**
 * @param {Json} header
 * @param {any[]} boards
 */
function expectHeader(header, boards) {
  expectFields(header.board, BOARD);
  header.seats.forEach((/** @type {any} */ seat) => expectFields(seat, SEAT));
  const { game, seats } = header;
  const shipped = SHIPPED.get(game);
  if (shipped !== undefined && header.parts !== undefined) throw new UntrueError(`${game} has the parts of games.json, and no others`);
  const parts = partsOf(header);
  if (parts === undefined) throw new UntrueError(`the game is ${game}`, false);
  if (!isParts(parts)) throw new UntrueError(`${game} has parts that are unknown here`, false);
  if (header.rules_version !== (shipped ?? header).rules_version) {
    throw new UntrueError(`the rules version is ${header.rules_version}`, false);
  }
  const known = (shipped?.options ?? []).map(({ id }) => id);
  const options = [...new Set(header.options)].sort();
  const isKnown = shipped === undefined || options.every((id) => known.includes(id));
  if (canonical(header.options) !== canonical(options) || !isKnown) {
    throw new UntrueError(`${game} has ${known.length > 0 ? "the options" : "no options"} ${known.join()}`.trim());
  }
  const seatCounts = shipped?.seat_counts ?? [seats.length];
  if (!seatCounts.includes(seats.length)) throw new UntrueError(`${game} has ${seatCounts.join(" or ")} seats`);
  const lack = lackOf(parts, seats.length);
  if (lack !== null) throw new UntrueError(`the parts of ${game}: expected ${lack}`);
  const board = boardOf(header, boards);
  if (header.board.content !== undefined) expectBoard(board.file);
  expectFit(game, parts, Math.max(...seatCounts), board.file);
  return board;
}

/**
 * @param {any} found
 * @param {any} wanted
 * @param {string} what
 */
function expectSame(found, wanted, what) {
  if (canonical(found) !== canonical(wanted)) {
    throw new UntrueError(`expected ${what} ${canonical(wanted)}`);
  }
}

/**
 * @param {any} value
 * @param {Fields} fields
 */
function expectFields(value, { must, may }) {
  if (!is.object(value)) throw new UntrueError("expected an object");
  const name = is.string(value.type) ? value.type : "an object";
  for (const field of Object.keys(must)) {
    if (!Object.hasOwn(value, field)) throw new UntrueError(`${name} lacks ${field}`);
  }
  for (const [field, content] of Object.entries(value)) {
    const fields = [must, may].find((each) => Object.hasOwn(each, field));
    if (fields === undefined) throw new UntrueError(`${name} has a field ${field}`);
    if (!fields[field](content)) throw new UntrueError(`${field} is wrong`);
  }
}
