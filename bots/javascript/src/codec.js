// Lines and messages. A line is one JSON object in UTF-8, ended by "\n" and by nothing else: node:readline would
// cut at U+2028 too, which may stand inside a text. What a message must not lack is looked at here, so that a
// peer which is no Stellwerk server ends in one sentence and not in a stack trace.

/** @import { ClientMessage, ServerMessage } from "./protocol.js" */

const NEWLINE = 10;
const LONGEST_LINE = 1 << 20; // a server's lines stay below 60,000 bytes

/** What the client relies upon. Other messages, and other fields, may be whatever they are. */
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

/** What came is no message. */
export class WrongLineError extends Error {}

/**
 * The message's line, to be written at once.
 * @param {ClientMessage} message
 */
export function encode(message) {
  return `${JSON.stringify(message)}\n`;
}

/**
 * The message of a line without its newline.
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
      throw new WrongLineError(`${message.type} without a right ${name}`);
    }
  }
  return message;
}

/**
 * The lines of a stream of bytes, each without its newline. Half a line at the end is what a cut leaves.
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
      throw new WrongLineError("a line without an end");
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
