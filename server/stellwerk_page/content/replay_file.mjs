// A replay file as far as it can be read (REPLAYS.md): torn, changed, or of a future version.
//
// Law: reading never throws. What can be read is there, and each problem is a sentence for the visitor. Whether the
// file is true is not judged here but in `proof.mjs`; here is only looked at what the page needs in order to draw.

import { isParts } from "../../../protocol/verifiers/javascript/parts_form.mjs";

const FORMAT = "stellwerk-replay/1";
export const LONGEST_FILE = 67_108_864; // bytes (REPLAYS.md, The file)
const LONGEST_LINE = 1_048_576;
const DEEPEST = 16; // brackets within brackets; the longest lines of the format need 7
const MOST_SEATS = 12;
const MOST_MOVES = 10_000; // ten times the longest match that was ever seen
const LONGEST_TEXT = 200; // characters of a note (REPLAYS.md, `move`), and of what the page repeats of a file

/** @typedef {import("./types.mjs").Replay} Replay */

/**
 * Reads a replay.
 * @param {Uint8Array} bytes
 * @returns {Replay}
 */
export function readReplay(bytes) {
  /** @type {Replay} */
  const replay = { header: null, reveal: null, setUp: [], moves: [], end: null, problems: [] };
  if (bytes.length === 0) {
    replay.problems.push("The file is empty.");
    return replay;
  }
  if (bytes.length > LONGEST_FILE) {
    replay.problems.push("The file is longer than the 64 MiB of a replay. Nothing of it is shown.");
    return replay;
  }
  const reader = new LineReader(replay);
  for (const { number, line, whole } of linesOf(bytes)) {
    const problem = reader.read(line);
    if (problem === null) {
      if (!whole) replay.problems.push(`Line ${number} has no line end: the file may have been cut off there.`);
      continue;
    }
    replay.problems.push(
      `Line ${number} ${whole ? "" : "is torn off: it "}${problem}.${replay.header === null ? " Nothing can be shown." : shownUpTo(replay)}`,
    );
    return replay;
  }
  addWhatIsMissing(replay);
  return replay;
}

/**
 * Yields the lines of a file, and whether each has its line end.
 * @param {Uint8Array} bytes
 * @returns {Generator<{number: number, line: Uint8Array, whole: boolean}>}
 */
function* linesOf(bytes) {
  let begin = 0;
  for (let number = 1; begin < bytes.length; number++) {
    const end = bytes.indexOf(10, begin);
    const whole = end >= 0;
    yield { number, line: bytes.subarray(begin, whole ? end : bytes.length), whole };
    begin = whole ? end + 1 : bytes.length;
  }
}

class LineReader {
  #hasSetUp = false;
  #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** @type {Replay} */
  #replay;

  /** @param {Replay} replay */
  constructor(replay) {
    this.#replay = replay;
  }

  /**
   * Takes one line in. Returns what is wrong with it as the end of a sentence, or null.
   * @param {Uint8Array} line
   * @returns {string | null}
   */
  read(line) {
    const value = this.#valueOf(line);
    if (typeof value === "string") return value;
    const replay = this.#replay;
    if (replay.header === null) return this.#readHeader(value);
    switch (value.type) {
      case "reveal":
        if (typeof value.seed !== "string") return "lacks the seed";
        replay.reveal = /** @type {import("./types.mjs").Reveal} */ (value);
        return null;
      case "set_up":
        if (this.#hasSetUp) return "is a second set-up";
        if (!areEvents(value.events)) return "has no list of events";
        this.#hasSetUp = true;
        replay.setUp = value.events;
        return null;
      case "move":
        if (!this.#hasSetUp) return "is a move before the set-up";
        if (replay.end !== null) return "is a move after the end";
        return this.#readMove(value);
      case "end":
        if (!isResult(value.result, replay.header.seats.length)) return "has no result that can be read";
        replay.end = value.result;
        return null;
      case "header":
        return "is a second header";
      default:
        return `is of a kind that this page does not know${typeof value.type === "string" ? `: ${excerpt(value.type)}` : ""}`;
    }
  }

  /**
   * @param {Uint8Array} line
   * @returns {string | Record<string, any>}
   */
  #valueOf(line) {
    if (line.length > LONGEST_LINE) return "is longer than a line of a replay can be";
    if (isDeep(line)) return "has too many levels of brackets";
    /** @type {unknown} */
    let value;
    try {
      value = JSON.parse(this.#decoder.decode(line));
    } catch {
      return "is not JSON";
    }
    return isRecord(value) ? value : "is no object";
  }

  /** @param {Record<string, any>} value */
  #readHeader(value) {
    if (value.type !== "header" || typeof value.format !== "string") return "is not the header of a replay";
    if (!isHeader(value)) {
      return value.format === FORMAT
        ? "is a header with a game, parts, a board or seats that this page cannot read"
        : `has the format ${excerpt(value.format)}, which this page cannot read`;
    }
    if (value.format !== FORMAT) {
      this.#replay.problems.push(
        `The format of this file is ${excerpt(value.format)}; this page knows ${FORMAT}. What it can read is shown.`,
      );
    }
    this.#replay.header = value;
    return null;
  }

  /** @param {Record<string, any>} value */
  #readMove(value) {
    const seats = this.#replay.header?.seats.length ?? 0;
    if (this.#replay.moves.length === MOST_MOVES) return "is one move more than this page shows";
    if (!isCount(value.seat) || value.seat >= seats) return "is a move of a seat that this match does not have";
    if (!isRecord(value.move) || typeof value.move.type !== "string") return "has no move";
    if (!areEvents(value.events)) return "has no list of events";
    const line = { seat: value.seat, move: value.move, events: value.events };
    this.#replay.moves.push(
      /** @type {import("./types.mjs").MoveLine} */ ({
        ...line,
        ...(typeof value.by === "string" && { by: excerpt(value.by) }),
        ...(typeof value.reason === "string" && { reason: excerpt(value.reason) }),
        ...(typeof value.note === "string" && { note: excerpt(value.note) }),
      }),
    );
    return null;
  }
}

/** @param {Replay} replay */
function addWhatIsMissing(replay) {
  if (replay.header === null) {
    replay.problems.push("The file has no header. Nothing can be shown.");
  } else if (replay.end === null) {
    replay.problems.push(`The file breaks off before the end of the match.${shownUpTo(replay)}`);
  }
}

/** @param {Replay} replay */
function shownUpTo({ moves }) {
  return moves.length === 0 ? " No move is shown." : ` The match is shown up to move ${moves.length}.`;
}

/**
 * Tests for brackets within too many brackets, before a recursive parser sees them. Those inside of strings count,
 * too: a line of a replay never has so many there.
 * @param {Uint8Array} line
 */
function isDeep(line) {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (inString) {
      if (byte === 92) at++; // a backslash
      else if (byte === 34) inString = false;
    } else if (byte === 34) inString = true;
    else if (byte === 91 || byte === 123) {
      if (++depth > DEEPEST) return true;
    } else if (byte === 93 || byte === 125) depth--;
  }
  return false;
}

/**
 * Returns the beginning of a text from a file, without control characters and without signs that turn the direction
 * of the text around them.
 * @param {string} text
 */
export function excerpt(text) {
  const cleared = text.replace(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "\ufffd");
  const characters = [...cleared];
  return characters.length > LONGEST_TEXT ? `${characters.slice(0, LONGEST_TEXT).join("")}…` : cleared;
}

// -- the forms that the page relies on ---------------------------------------------------------------

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @param {unknown} value */
const isCount = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * @param {Record<string, any>} value
 * @returns {value is import("./types.mjs").Header}
 */
export function isHeader(value) {
  const { game, rules_version, options, board, seats, parts } = value;
  return (
    typeof game === "string" &&
    isCount(rules_version) &&
    Array.isArray(options) &&
    options.every((option) => typeof option === "string") &&
    isRecord(board) &&
    typeof board.id === "string" &&
    typeof board.digest === "string" &&
    (board.content === undefined || typeof board.content === "string") &&
    Array.isArray(seats) &&
    seats.length >= 1 &&
    seats.length <= MOST_SEATS &&
    seats.every((seat) => isRecord(seat) && (seat.name === undefined || typeof seat.name === "string")) &&
    (parts === undefined || isParts(parts))
  );
}

/**
 * @param {unknown} value
 * @returns {value is import("./types.mjs").Event[]}
 */
function areEvents(value) {
  return Array.isArray(value) && value.every((event) => isRecord(event) && typeof event.type === "string");
}

/**
 * @param {unknown} value
 * @param {number} seatCount
 * @returns {value is import("./types.mjs").Result}
 */
export function isResult(value, seatCount) {
  return (
    isRecord(value) &&
    typeof value.reason === "string" &&
    isCount(value.turns) &&
    Array.isArray(value.ranks) &&
    value.ranks.length === seatCount &&
    value.ranks.every(isCount) &&
    Array.isArray(value.teams) &&
    value.teams.every((team) => isTeam(team, seatCount))
  );
}

/**
 * @param {unknown} team
 * @param {number} seatCount
 */
function isTeam(team, seatCount) {
  return (
    isRecord(team) &&
    Array.isArray(team.seats) &&
    team.seats.every((seat) => isCount(seat) && seat < seatCount) &&
    [team.team, team.rank, team.points, team.route_points, team.completed_tickets, team.longest_path].every(
      Number.isSafeInteger,
    ) &&
    Array.isArray(team.tickets) &&
    team.tickets.every((each) => isRecord(each) && typeof each.ticket === "string" && Number.isSafeInteger(each.points)) &&
    Array.isArray(team.bonuses) &&
    team.bonuses.every((each) => isRecord(each) && typeof each.bonus === "string" && Number.isSafeInteger(each.points)) &&
    (team.stations === undefined ||
      (Array.isArray(team.stations) && team.stations.every((each) => isRecord(each) && typeof each.city === "string")))
  );
}
