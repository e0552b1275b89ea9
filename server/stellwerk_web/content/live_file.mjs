// A match that is watched, in the form of a replay: public `start`, `event`s and `end`, as the server's streams have
// them. It grows while the match is played.
//
// Law: everything here is what every spectator knows. A public event that is redacted for the public again is the
// same event, so the parts of the page that show replays show this as it is.

import { excerpt, isHeader, isResult } from "../../stellwerk_page/content/replay_file.mjs";

/** @typedef {import("../../stellwerk_page/content/types.mjs").Replay} Replay */
/** @typedef {import("../../stellwerk_page/content/types.mjs").Event} Event */

/** After one of these the game waits; what comes next is another move. */
const WAITS = new Set(["turn_started", "asked", "game_ended"]);
/** What the rules do at the beginning of a turn, before anybody moves (CARD-04). */
const BEFORE_A_MOVE = new Set(["cards_sent"]);

export class LiveFile {
  /** @type {Replay} */
  replay = { header: null, reveal: null, setUp: [], moves: [], end: null, problems: [], isPublic: true, states: new Map() };
  #isWaiting = false;
  /** The events as text, by which those that come again are known. @type {string[]} */
  #known = [];
  /** How many events the stream has said since it last began. */
  #heard = 0;

  /** @param {any} start the message */
  constructor(start) {
    const header = {
      format: "stellwerk-replay/1",
      game: start.game,
      rules_version: start.rules_version,
      options: start.options,
      board: { id: start.board?.id ?? start.game, digest: start.board_digest },
      seats: start.players?.map((/** @type {any} */ { name }) => ({ name })),
      match: start.match,
      commitment: start.commitment,
      parts: start.parts,
    };
    if (isHeader(header)) this.replay.header = header;
    else this.replay.problems.push("The match began with a message that this page cannot read.");
  }

  /** Lets the stream say all events again from the first one on, as after a gap. */
  hearAgain() {
    this.#heard = 0;
  }

  /**
   * Takes the next events of the stream in. Those that are known already are compared. Returns null, or all events of
   * another course of the match, if that is what the stream says: of this one nothing more comes.
   * @param {Event[]} events
   */
  take(events) {
    for (const [at, event] of events.entries()) {
      const text = JSON.stringify(event);
      const known = this.#known[this.#heard];
      if (known !== undefined && known !== text) {
        const before = this.#known.slice(0, this.#heard).map((each) => /** @type {Event} */ (JSON.parse(each)));
        return [...before, ...events.slice(at)];
      }
      this.#heard += 1;
      if (known !== undefined) continue;
      this.#known.push(text);
      this.#add(event);
    }
    return null;
  }

  /** @param {Event} event */
  #add(event) {
    const isMove = this.#isWaiting && !BEFORE_A_MOVE.has(event.type);
    if (isMove) {
      this.replay.moves.push({ seat: event.seat ?? 0, move: { type: "unknown" }, events: [event] });
    } else {
      const last = this.replay.moves.at(-1);
      // A tunnel begins with the cards that are revealed, for which no seat is named.
      if (last?.events.every(({ seat }) => seat === undefined) === true) last.seat = event.seat ?? last.seat;
      (last?.events ?? this.replay.setUp).push(event);
    }
    this.#isWaiting = WAITS.has(event.type) || (this.#isWaiting && !isMove);
  }

  /** @param {any} end the message */
  end(end) {
    const seatCount = this.replay.header?.seats.length ?? 0;
    if (isResult(end?.result, seatCount)) this.replay.end = end.result;
    else this.replay.problems.push("The match ended with a message that this page cannot read.");
  }

  /**
   * @param {number} seat
   * @param {string} state
   */
  state(seat, state) {
    this.replay.states?.set(seat, excerpt(state));
  }
}
