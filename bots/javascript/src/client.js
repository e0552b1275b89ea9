// A client: it logs in, takes a seat, and asks a player for the answers, match by match.
//
// The law: no action of the server ends in a stack trace. The client ignores unknown messages and fields, because
// servers gain new ones. If an answer is refused, it sends a harmless one. If the connection is lost, it connects again
// and resumes the session. If it cannot continue, it returns a ClientError of one line. It does not catch errors of the
// player, because the author wants to see them.

import { setTimeout as sleep } from "node:timers/promises";

import { WrongLineError } from "./codec.js";
import { AddressError, STDIO, connect } from "./connection.js";

/** @import { Answer, Ask, Bye, End, ErrorMessage, Join, Player, ServerMessage, Start } from "./protocol.js" */

/**
 * @typedef {object} Options
 * @property {string} address
 * @property {string} name
 * @property {(start: Start, seed: string) => Player} newPlayer returns the player of a match
 * @property {string} seed for the player's random choices
 * @property {Join | undefined} [wish] the match to join; without one it plays wherever the server seats it, until bye
 * @property {string | undefined} [token]
 * @property {boolean} [events] whether `player.event` gets the events
 * @property {(text: string) => void} print prints the result of a match
 * @property {(text: string) => void} log
 */

/** @typedef {{ start: Start, player: Player, lastEvent: number, ask?: Ask | undefined, answers: Answer[] }} Match */

export const EXIT = { refused: 1, usage: 2, noServer: 4 };

const PROTOCOL = 1;
const ATTEMPTS = 12; // to connect, in a row, without an accepted answer: more than half a minute
const FIRST_PAUSE_MS = 100; // between two of them, doubled each time
const LONGEST_PAUSE_MS = 5_000;
const BUSY_PAUSE_MS = 1_000;
const COME_BACK = ["server.shutting_down", "server.too_slow", "server.full", "server.busy"];
const NEEDS_NO_ANSWER = [
  "protocol.stale_ask",
  "protocol.too_fast",
  "protocol.out_of_phase", // already ready, or in the room: an earlier connection did it
  "protocol.too_many_matches", // the same
];

/** The reason why the client cannot continue, in one line. */
export class ClientError extends Error {
  /** @param {string} text */
  constructor(text, exitCode = EXIT.refused) {
    super(text);
    this.exitCode = exitCode;
  }
}

/** The connection is gone, and another may help: after `pauseMs`, if the server named a time. */
class LostError extends ClientError {
  /** @param {string} text @param {number} [pauseMs] */
  constructor(text, pauseMs) {
    super(text, EXIT.noServer);
    this.pauseMs = pauseMs;
  }
}

export class Client {
  /** @type {Options} */ #options;
  /** @type {import("./connection.js").Connection | undefined} */ #connection;
  /** @type {{ session: string, key: string } | undefined} */ #session;
  /** @type {Map<string, Match>} */ #matches = new Map();
  /** @type {Set<string>} */ #over = new Set();
  /** @type {Match | undefined} */ #acted; // the match whose act was sent last
  #name;
  #phase = "greeting"; // of the connection: "greeting", "login", "in"
  #joining = false;
  #settled = true; // nothing is still to come of what an earlier connection began
  #done = false;
  #attempts = 0;

  /** @param {Options} options */
  constructor(options) {
    this.#options = options;
    this.#name = options.name;
  }

  /** Plays the match of the wish, or all that come. ClientError if that cannot be. */
  async run() {
    while (!this.#done) {
      try {
        await this.#playUntilTheEnd();
      } catch (error) {
        if (error instanceof WrongLineError) {
          throw new ClientError(`this is not a Stellwerk server: ${error.message}`);
        }
        this.#attempts += 1;
        if (!(error instanceof LostError) || this.#isStdio || this.#attempts >= ATTEMPTS) {
          throw error;
        }
        this.#options.log(`${error.message}; trying again`);
        await sleep(error.pauseMs ?? Math.min(FIRST_PAUSE_MS * 2 ** (this.#attempts - 1), LONGEST_PAUSE_MS));
      }
    }
  }

  /** Plays until the end of the match of the wish, or of the connection. */
  async #playUntilTheEnd() {
    const connection = await this.#connect();
    this.#connection = connection;
    this.#phase = "greeting";
    this.#joining = false;
    try {
      for await (const message of connection.messages()) {
        await this.#take(message);
        if (this.#done) {
          return;
        }
        this.#joinIfFree();
      }
    } finally {
      connection.close();
    }
    this.#done = this.#isStdio && this.#phase === "in" && !this.#options.wish && this.#matches.size === 0;
    if (!this.#done) {
      throw new LostError("the connection is lost");
    }
  }

  async #connect() {
    try {
      return await connect(this.#options.address);
    } catch (error) {
      if (error instanceof AddressError) {
        throw new ClientError(error.message, EXIT.usage);
      }
      const cause = error instanceof AggregateError ? error.errors[0] : error;
      const text = `cannot connect to ${this.#options.address}: ${cause.message}`;
      throw this.#session ? new LostError(text) : new ClientError(text, EXIT.noServer);
    }
  }

  get #isStdio() {
    return this.#options.address === STDIO;
  }

  /** @param {ServerMessage} message */
  async #take(message) {
    if (this.#phase === "greeting" && message.type !== "hello" && message.type !== "bye") {
      throw new WrongLineError("it sent no hello");
    }
    const match = "match" in message ? this.#matches.get(message.match ?? "") : undefined;
    switch (message.type) {
      case "hello":
        return this.#greet(message.protocols);
      case "welcome":
        this.#phase = "in";
        this.#session = { session: message.session, key: message.resume_key };
        this.#name = message.name; // with a seat token the server uses the seat's name
        return this.#settled || this.#connection?.send({ type: "ping" });
      case "pong": // behind all that the session is in
        this.#settled = true;
        return;
      case "start":
        return this.#start(message, match);
      case "event":
        return match && this.#note(match, message.number, message.event);
      case "ask":
        return match && this.#answer(match, message);
      case "ok":
        this.#attempts = 0;
        return match && (match.ask = undefined);
      case "default":
        this.#options.log(`the server moved for this seat: ${message.reason}`);
        return match && (match.ask = undefined);
      case "error":
        return this.#phase === "in" ? this.#mend(message) : this.#mendLogin(message);
      case "end":
        return match && this.#finish(match, resultLine(match.start, message));
      case "bye":
        return this.#leave(message);
    }
  }

  // -- login and goodbye

  /** @param {number[]} protocols */
  #greet(protocols) {
    if (!protocols.includes(PROTOCOL)) {
      throw new ClientError(`the server speaks protocol ${protocols}, not ${PROTOCOL}`);
    }
    this.#phase = "login";
    this.#settled = !this.#session && this.#options.token === undefined;
    this.#logIn();
  }

  #logIn() {
    const { token, events = false } = this.#options;
    const last_events = Object.fromEntries([...this.#matches].map(([id, match]) => [id, match.lastEvent]));
    this.#connection?.send({
      type: "login",
      protocol: PROTOCOL,
      name: this.#name,
      language: `JavaScript, Node.js ${process.versions.node}`,
      wants: { events },
      ...(token !== undefined && { token }),
      ...(this.#session && { resume: { ...this.#session, last_events } }),
    });
  }

  /** @param {ErrorMessage} error */
  #mendLogin(error) {
    if (error.code !== "auth.bad_resume_key" || !this.#session) {
      throw new ClientError(reason("the login was refused", error));
    }
    this.#session = undefined; // its matches are lost, unless the token brings them back with a new start
    this.#matches.clear();
    this.#logIn();
  }

  /** @param {Bye} bye */
  #leave(bye) {
    const text = reason("the server sent bye", bye);
    if (COME_BACK.includes(bye.code)) {
      throw new LostError(text, bye.retry_ms);
    }
    if (bye.code !== "done" || this.#matches.size > 0 || this.#options.wish) {
      throw new ClientError(text);
    }
    this.#done = true;
  }

  // -- matches

  #joinIfFree() {
    const { wish } = this.#options;
    if (wish && this.#phase === "in" && this.#settled && !this.#joining && this.#matches.size === 0) {
      this.#joining = true;
      this.#connection?.send(wish);
    }
  }

  /**
   * Begins a new match, or continues one of a resumed session. If nothing was asked yet, `ready` may have been lost.
   * @param {Start} start
   * @param {Match | undefined} match
   */
  #start(start, match) {
    if (this.#over.has(start.match)) {
      return;
    }
    this.#joining = false;
    if (!match) {
      match = { start, player: this.#options.newPlayer(start, this.#options.seed), lastEvent: 0, answers: [] };
      this.#matches.set(start.match, match);
    }
    if (match.answers.length === 0) {
      this.#connection?.send({ type: "ready", match: start.match });
    }
  }

  /** @param {Match} match @param {number} number @param {import("./protocol.js").GameEvent} event */
  #note(match, number, event) {
    match.lastEvent = number;
    match.player.event?.(event);
  }

  /**
   * Sends the player's answer. If the server refuses it, the first listed move follows, then the fallback.
   * @param {Match} match
   * @param {Ask} ask
   */
  async #answer(match, ask) {
    match.ask = ask;
    const answer = await match.player.answer(ask);
    const isFirst = "index" in answer && answer.index === 0;
    match.answers = [answer, ...(isFirst ? [] : [{ index: 0 }]), { move: ask.fallback }];
    this.#act(match);
  }

  /** @param {Match} match */
  #act(match) {
    const [answer] = match.answers;
    if (match.ask && answer) {
      this.#acted = match;
      this.#connection?.send({ type: "act", match: match.ask.match, ask: match.ask.ask, ...answer });
    }
  }

  /** @param {Match} match @param {string} result */
  #finish(match, result) {
    this.#matches.delete(match.start.match);
    this.#over.add(match.start.match);
    this.#done = this.#options.wish !== undefined;
    this.#options.print(result);
  }

  /**
   * Handles an error. Errors come in the order of the lines that they are about, so one without a match is about the
   * last act.
   * @param {ErrorMessage} error
   */
  async #mend(error) {
    const match = error.match === undefined ? this.#acted : this.#matches.get(error.match);
    const isOpen = match?.ask !== undefined && (error.ask ?? match.ask.ask) === match.ask.ask;
    if (NEEDS_NO_ANSWER.includes(error.code)) {
      return;
    }
    if (error.code === "server.failed" && match) {
      return this.#finish(match, `${match.start.game}: no result, server.failed`);
    }
    if (error.code === "server.busy" && match && isOpen) {
      await sleep(BUSY_PAUSE_MS);
      return this.#act(match);
    }
    if (this.#joining) {
      throw new ClientError(reason("the join was refused", error));
    }
    this.#options.log(reason(isOpen ? "the answer was refused" : "the server refused a message", error));
    if (match && isOpen) {
      match.answers.shift();
      this.#act(match);
    }
  }
}

/**
 * The result of a match, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their points.
 * @param {Start} start
 * @param {End} end
 */
function resultLine({ game, players }, { result: { teams } }) {
  if (!Array.isArray(teams)) {
    throw new WrongLineError("end without a valid result");
  }
  const places = [...teams].sort((one, other) => one.rank - other.rank);
  const names = /** @param {number[]} seats */ (seats) => seats.map((seat) => players[seat]?.name).join(" and ");
  return `${game}: ${places.map(({ rank, seats, points }) => `${rank}. ${names(seats)} ${points}`).join(", ")}`;
}

/** @param {string} what @param {ErrorMessage | Bye} message */
function reason(what, message) {
  const where = "pointer" in message ? ` at ${message.pointer}` : "";
  return `${what}: ${message.code}${where}: ${message.expected}`;
}
