// The check of a replay (REPLAYS.md): is it intact, and was the game played as it says?

import { boardOf } from "./board.mjs";
import { canonical, chainedLines, digits, UntrueError } from "./canonical.mjs";
import { fromDigits } from "./sha256.mjs";
import * as usa from "./usa.mjs";

export const FORMAT = "stellwerk-replay/1";
const COMMITMENT_LABEL = "stellwerk-commitment/1";
const LONGEST_FILE = 67_108_864; // bytes

const isDigits = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isString = (value) => typeof value === "string";
const isInteger = (value) => Number.isSafeInteger(value) && value >= 0;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isReason = (value) => isString(value) && /^[a-z][a-z0-9_.]{0,63}$/.test(value);
const isNote = (value) => isString(value) && [...value].length >= 1 && [...value].length <= 200;
const isName = (value) => isString(value) && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/.test(value);
const isMatch = (value) => isString(value) && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(value);
const isIds = (value) => Array.isArray(value) && value.every(isString);

/** The fields of each kind of line, besides its type. */
const LINES = {
  header: {
    must: { format: isString, game: isString, rules_version: isInteger, options: isIds, board: isObject, seats: Array.isArray },
    may: { match: isMatch, commitment: isDigits },
  },
  reveal: { must: { seed: isDigits }, may: { salt: isDigits } },
  set_up: { must: { events: Array.isArray }, may: {} },
  move: {
    must: { seat: isInteger, move: isObject, events: Array.isArray },
    may: { by: (value) => value === "fallback", reason: isReason, note: isNote },
  },
  end: { must: { result: isObject }, may: {} },
};
const BOARD = { must: { id: isString, digest: isDigits }, may: { content: isString } };
const SEAT = { must: {}, may: { name: isName } };

/** Returns the first line that is not true or cannot be judged, with the reason; for a good replay the last line and null. */
export function verify(bytes, boards) {
  const { lines, line, fault } = read(bytes);
  let judged;
  try {
    for (judged of played(lines, boards));
  } catch (error) {
    if (!(error instanceof UntrueError)) throw error;
    return { line: lines.indexOf(judged) + 1, fault: error };
  }
  return { line, fault };
}

/**
 * Returns all lines that are well formed and in the right order, and what is wrong with the next line; with the last
 * one, if the file was cut off.
 */
function read(bytes) {
  const lines = [];
  try {
    if (bytes.length > LONGEST_FILE) throw new UntrueError("a replay has at most 64 MiB");
    for (const value of chainedLines(bytes)) {
      const kinds = expected(lines);
      if (!isObject(value) || !kinds.includes(value.type)) {
        throw new UntrueError(`expected ${kinds.join(" or ") || "no more line"}`);
      }
      // The page does not define the lines of other formats.
      if (value.type === "header" && isString(value.format) && value.format !== FORMAT) {
        throw new UntrueError(`the format is ${value.format}`, false);
      }
      expectFields(value, LINES[value.type]);
      if (value.type === "move" && "reason" in value && !("by" in value)) {
        throw new UntrueError("a reason comes only with `by`");
      }
      lines.push(value);
    }
  } catch (error) {
    if (!(error instanceof UntrueError)) throw error;
    return { lines, line: lines.length + 1, fault: error };
  }
  const line = Math.max(lines.length, 1);
  const rest = expected(lines);
  if (rest.length === 0) return { lines, line, fault: null };
  const unrevealed = rest.length === 1 && rest[0] === "reveal";
  const message = unrevealed ? "the seed has not been revealed" : "the file breaks off";
  return { lines, line, fault: new UntrueError(message, false) };
}

/** Returns the kinds of lines that can come next. */
function expected(lines) {
  const revealed = lines.some(({ type }) => type === "reveal");
  switch (lines.at(-1)?.type) {
    case undefined:
      return ["header"];
    case "header":
      return ["reveal", "set_up"];
    case "set_up":
    case "move":
      return ["move", "end"];
    case "end":
      return revealed ? [] : ["reveal"];
    default:
      return lines.some(({ type }) => type === "end") ? [] : ["set_up"];
  }
}

/** Plays the game again, and yields each line before it is judged. */
function* played(lines, boards) {
  let game = null;
  let board = null;
  let header = null;
  let reveal = null;
  for (const line of seedFirst(lines)) {
    yield line;
    switch (line.type) {
      case "header":
        header = line;
        board = expectHeader(line, boards);
        break;
      case "reveal":
        reveal = line;
        expectCommitment(header, line);
        break;
      case "set_up":
        game = new usa.Game(board, header.seats.length, fromDigits(reveal.seed));
        expectSame(line.events, game.setUp(), "events");
        break;
      case "move":
        expectMove(game, line);
        break;
      default:
        if (!game.over) throw new UntrueError(`seat ${game.mover} is to move`);
        expectSame(line.result, game.result, "the result");
    }
  }
}

/** Returns the lines in the order in which they can be judged. Without the seed that is the header only. */
function seedFirst(lines) {
  const reveal = lines.find(({ type }) => type === "reveal");
  const [header, ...others] = lines;
  return reveal === undefined ? lines.slice(0, 1) : [header, reveal, ...others.filter((line) => line !== reveal)];
}

function expectHeader(header, boards) {
  expectFields(header.board, BOARD);
  header.seats.forEach((seat) => expectFields(seat, SEAT));
  if (header.game !== usa.ID) throw new UntrueError(`the game is ${header.game}`, false);
  if (header.rules_version !== usa.RULES_VERSION) {
    throw new UntrueError(`the rules version is ${header.rules_version}`, false);
  }
  if (header.options.length > 0) throw new UntrueError("usa has no options");
  if (!usa.SEAT_COUNTS.includes(header.seats.length)) throw new UntrueError("usa has 2 to 5 seats");
  return boardOf(header, boards);
}

function expectCommitment(header, reveal) {
  if (header.commitment === undefined) return;
  const { game, match, options, seats } = header;
  const committed = { board: header.board.digest, game, options, seats, seed: reveal.seed };
  if (match !== undefined) committed.match = match;
  if (reveal.salt !== undefined) committed.salt = reveal.salt;
  const commitment = digits(COMMITMENT_LABEL, "\n", canonical(committed));
  if (commitment !== header.commitment) throw new UntrueError("seed and salt are not those of the commitment");
}

function expectMove(game, line) {
  if (line.seat !== game.mover) {
    throw new UntrueError(game.over ? "the game is over" : `expected a move of seat ${game.mover}`);
  }
  if (line.by !== undefined) {
    expectSame(line.move, game.fallback(line.seat), "the fallback");
  }
  expectSame(line.events, game.play(line.seat, line.move), "events");
}

function expectSame(found, wanted, what) {
  if (canonical(found) !== canonical(wanted)) {
    throw new UntrueError(`expected ${what} ${canonical(wanted)}`);
  }
}

function expectFields(value, { must, may }) {
  const name = isObject(value) ? value.type ?? "an object" : "a value";
  if (!isObject(value)) throw new UntrueError("expected an object");
  for (const field of Object.keys(must)) {
    if (!(field in value)) throw new UntrueError(`${name} lacks ${field}`);
  }
  for (const [field, content] of Object.entries(value)) {
    const isRight = must[field] ?? may[field];
    if (isRight === undefined && !(field === "type" && must !== SEAT.must && must !== BOARD.must)) {
      throw new UntrueError(`${name} has a field ${field}`);
    }
    if (isRight !== undefined && !isRight(content)) throw new UntrueError(`${field} is wrong`);
  }
}
