// Canonical JSON, the lines of a replay and their chain (REPLAYS.md).

import { createHash } from "node:crypto";

export const CHAIN_LABEL = "stellwerk-replay/1";

const LONGEST_LINE = 1_048_576; // bytes, with the newline
const DEEPEST = 64; // levels of brackets; a replay has eight
const SEAL = 76; // bytes: `,"hash":"`, 64 digits, `"}` and the newline

/** A wrong line of a replay. `judged` is false if nobody can tell whether it is true. */
export class UntrueError extends Error {
  constructor(message, judged = true) {
    super(message);
    this.judged = judged;
  }
}

/** SHA-256 over texts (as UTF-8) and bytes, joined. */
export function sha256(...parts) {
  const hash = createHash("sha256");
  parts.forEach((part) => hash.update(part));
  return hash.digest();
}

export function digits(...parts) {
  return sha256(...parts).toString("hex");
}

/** Returns the text of a value. Numbers that are not integers have none, except the coordinates of a board. */
export function canonical(value, isNumber = Number.isSafeInteger) {
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonical(item, isNumber)).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.keys(value).sort();
    return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name], isNumber)}`).join(",")}}`;
  }
  if (typeof value === "number" && !isNumber(value)) {
    throw new UntrueError(`not an integer of at most 2^53-1: ${value}`);
  }
  return JSON.stringify(value);
}

/** Yields the values of JSON lines, each with its hash. Throws UntrueError for the first line with a wrong hash. */
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
    if (line.subarray(-67, -3).toString("latin1") !== previous) {
      throw new UntrueError(`expected the hash ${previous}`);
    }
    yield valueOf(body);
    begin = newline + 1;
  }
}

/** Returns the line without its hash. */
function bodyOf(line) {
  const seal = line.subarray(-SEAL).toString("latin1");
  if (line.length > LONGEST_LINE || !/^,"hash":"[0-9a-f]{64}"\}\n$/.test(seal)) {
    throw new UntrueError("a line is an object that ends with its hash");
  }
  return Buffer.concat([line.subarray(0, -SEAL), Buffer.from("}")]);
}

function valueOf(body) {
  expectShallow(body);
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw new UntrueError("a line is JSON in UTF-8");
  }
  // Duplicate names, blanks, escapes, fractions: everything that is not canonical is lost, so the text differs.
  if (!Buffer.from(canonical(value)).equals(body)) {
    throw new UntrueError("a line is canonical JSON");
  }
  return value;
}

/** Checks the depth before a recursive function sees the text. */
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
