// Lines and messages. A line is one JSON object in UTF-8, which ends with "\n" and nothing else: node:readline would
// also split at U+2028, which a text may contain. This module checks the fields that a message needs, so that another
// program than a Stellwerk server causes an error message and not a stack trace.

/** @import { ClientMessage, ServerMessage } from "./protocol.js" */

const NEWLINE = 10;
const LONGEST_LINE = 1 << 20; // a server's lines stay below 60,000 bytes

/** The fields that the client relies on. Other messages and fields may have any form. */
const NEEDED = new Map(
  Object.entries({
    hello: { protocols: "array" },
    welcome: { session: "string", resume_key: "string", name: "string" },
    start: { match: "string", game: "string", players: "array", board: "object" },
    event: { match: "string", number: "number", event: "object" },
    ask: { match: "string", ask: "number", fallback: "object" },
    ok: { match: "string", ask: "number" },
    default: { match: "string", ask: "number", reason: "string" },
    end: { match: "string", result: "object" },
    error: { code: "string" },
    bye: { code: "string" },
  }),
);

/** The line is not a message. */
export class WrongLineError extends Error {}

/**
 * Returns the message's line, to be written at once.
 * @param {ClientMessage} message
 */
export function encode(message) {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Returns the message of a line without its newline.
 * @param {Uint8Array} line
 * @returns {ServerMessage}
 */
export function decode(line) {
  const message = parsed(line);
  if (form(message) !== "object" || typeof message.type !== "string") {
    throw new WrongLineError(`no object with a type: ${Buffer.from(line).toString("latin1", 0, 80)}`);
  }
  for (const [name, needed] of Object.entries(NEEDED.get(message.type) ?? {})) {
    if (form(message[name]) !== needed) {
      throw new WrongLineError(`${message.type} without a valid ${name}`);
    }
  }
  return message;
}

/**
 * Yields the lines of a stream of bytes, each without its newline. A cut connection leaves half a line at the end,
 * which is dropped.
 * @param {AsyncIterable<Uint8Array>} chunks
 */
export async function* lines(chunks) {
  /** @type {Uint8Array[]} */
  let pieces = [];
  let length = 0;
  for await (const chunk of chunks) {
    let begin = 0;
    for (let end; (end = chunk.indexOf(NEWLINE, begin)) >= 0; begin = end + 1) {
      yield Buffer.concat([...pieces, chunk.subarray(begin, end)]);
      pieces = [];
      length = 0;
    }
    pieces.push(chunk.subarray(begin));
    length += chunk.length - begin;
    if (length > LONGEST_LINE) {
      throw new WrongLineError("a line that does not end");
    }
  }
}

/** @param {Uint8Array} line @returns {any} */
function parsed(line) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch {
    return undefined;
  }
}

/** @param {unknown} value */
function form(value) {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}
