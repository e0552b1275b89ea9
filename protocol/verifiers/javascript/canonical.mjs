// Canonical JSON, the lines of a replay and their chain (REPLAYS.md). Runs in a browser as well as in Node.js.

import { UntrueError } from "./errors.mjs";
import { digits, sha256 } from "./sha256.mjs";

export { digits, sha256, UntrueError };

export const CHAIN_LABEL = "stellwerk-replay/1";

const LONGEST_LINE = 1_048_576; // bytes, with the newline
const DEEPEST = 64; // levels of brackets; a replay has eight
const SEAL = 76; // bytes: `,"hash":"`, 64 digits, `"}` and the newline

const ENCODER = new TextEncoder();
const LATIN = new TextDecoder("latin1");
const CLOSED = Uint8Array.of(125);

/**
 * Returns the text of a value. Numbers that are not integers have none, except the coordinates of a board.
 * @param {unknown} value
 * @param {(value: unknown) => boolean} isNumber
 * @returns {string}
 */
export function canonical(value, isNumber = Number.isSafeInteger) {
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonical(item, isNumber)).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const record = /** @type {Record<string, unknown>} */ (value);
    const members = Object.keys(record).sort();
    return `{${members.map((name) => `${canonical(name)}:${canonical(record[name], isNumber)}`).join(",")}}`;
  }
  if (typeof value === "number" && !isNumber(value)) {
    throw new UntrueError(`not an integer of at most 2^53-1: ${value}`);
  }
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new UntrueError("a text with half of a surrogate pair");
  }
  return JSON.stringify(value);
}

/**
 * Yields the values of JSON lines, each with the number of bytes up to its end. Throws UntrueError for the first line
 * with a wrong hash.
 * @param {Uint8Array} bytes
 * @returns {Generator<{value: any, end: number}, void, void>}
 */
export function* chainedLines(bytes) {
  let previous = CHAIN_LABEL;
  for (let begin = 0; begin < bytes.length; ) {
    const newline = bytes.indexOf(10, begin);
    if (newline < 0) {
      throw new UntrueError("the file breaks off within a line", false);
    }
    const line = bytes.subarray(begin, newline + 1);
    const body = bodyOf(line);
    previous = digits(previous, "\n", body);
    if (LATIN.decode(line.subarray(-67, -3)) !== previous) {
      throw new UntrueError(`expected the hash ${previous}`);
    }
    begin = newline + 1;
    yield { value: valueOf(body), end: begin };
  }
}

/**
 * Returns the line without its hash.
 * @param {Uint8Array} line
 */
function bodyOf(line) {
  const seal = LATIN.decode(line.subarray(-SEAL));
  if (line.length > LONGEST_LINE || !/^,"hash":"[0-9a-f]{64}"\}\n$/.test(seal)) {
    throw new UntrueError("a line is an object that ends with its hash");
  }
  const body = new Uint8Array(line.length - SEAL + 1);
  body.set(line.subarray(0, -SEAL));
  body.set(CLOSED, line.length - SEAL);
  return body;
}

/**
 * Returns the last line of a file, whatever is before it; null if it is none. Its hash is not checked.
 * @param {Uint8Array} bytes
 * @returns {unknown}
 */
export function lastLine(bytes) {
  try {
    return valueOf(bodyOf(bytes.subarray(bytes.lastIndexOf(10, bytes.length - 2) + 1)));
  } catch {
    return null;
  }
}

/**
 * @param {Uint8Array} body
 * @returns {unknown}
 */
function valueOf(body) {
  expectShallow(body);
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw new UntrueError("a line is JSON in UTF-8");
  }
  // Duplicate names, blanks, escapes, fractions: everything that is not canonical is lost, so the text differs.
  if (!areEqual(ENCODER.encode(canonical(value)), body)) {
    throw new UntrueError("a line is canonical JSON");
  }
  return value;
}

/**
 * @param {Uint8Array} some
 * @param {Uint8Array} others
 */
function areEqual(some, others) {
  return some.length === others.length && some.every((byte, at) => byte === others[at]);
}

/**
 * Checks the depth before a recursive function sees the text.
 * @param {Uint8Array} body
 */
function expectShallow(body) {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (quoted) {
      if (byte === 92) at++;
      else if (byte === 34) quoted = false;
    } else if (byte === 34) {
      quoted = true;
    } else if (byte === 91 || byte === 123) {
      if (++depth > DEEPEST) throw new UntrueError("too many levels of brackets");
    } else if (byte === 93 || byte === 125) {
      depth--;
    }
  }
}
