// Every position of a match as every viewer may know it, from the events of the replay.
//
// Law: a view is made from nothing but the events as the viewer gets them (README.md, Keeping a view), so the page
// can show no more than the seat could know. A copy every 20 moves makes each jump short.

import { redact, startOf } from "../../../protocol/verifiers/javascript/redact.mjs";
import { firstView, fold } from "../../../protocol/verifiers/javascript/view.mjs";
import { faultOf } from "./event_forms.mjs";
import { excerpt, isResult } from "./replay_file.mjs";

const APART = 20; // moves between two copies

/** @typedef {import("./types.mjs").View} View */
/** @typedef {import("./types.mjs").Event} Event */
/** @typedef {import("./types.mjs").Viewer} Viewer */
/** @typedef {{start: any, copies: View[], n: number, view: View}} Track */

export class Positions {
  /** How many moves can be shown. */
  count = 0;
  /** For each position the turn whose last move so far was made; 0 in the set-up. @type {number[]} */
  turns = [0];
  /** What keeps a part of the match from being shown, as sentences. @type {string[]} */
  problems = [];
  #header;
  #board;
  /** The events of each position: those of the set-up, then those of each move. @type {Event[][]} */
  #events;
  /** @type {Map<Viewer, Track>} */
  #tracks = new Map();

  /**
   * @param {import("./types.mjs").Replay} replay with a header
   * @param {import("./types.mjs").Board} board
   */
  constructor(replay, board) {
    if (replay.header === null) throw new Error("a replay without a header has no positions");
    this.#header = replay.header;
    this.#board = board;
    this.#events = [replay.setUp, ...replay.moves.map((move) => move.events)];
    this.#readAll();
  }

  /**
   * Returns the view after n moves. Nobody may change it.
   * @param {Viewer} viewer
   * @param {number} n
   * @returns {View}
   */
  view(viewer, n) {
    const track = this.#trackOf(viewer);
    if (track.n === n) return track.view;
    const at = Math.min(Math.floor(n / APART), track.copies.length - 1);
    // Going on is cheaper than beginning at the last copy.
    const isAhead = track.n < n && track.n >= at * APART;
    if (!isAhead) track.n = at * APART;
    // Whoever got a view keeps it as it is.
    track.view = structuredClone(isAhead ? track.view : /** @type {View} */ (track.copies[at]));
    while (track.n < n) this.#step(track);
    return track.view;
  }

  /**
   * Returns the events of move n, as the viewer gets them; for 0 those of the set-up.
   * @param {Viewer} viewer
   * @param {number} n
   * @returns {Event[]}
   */
  events(viewer, n) {
    const { start } = this.#trackOf(viewer);
    const seen = (this.#events[n] ?? []).map((event) => redact(event, viewer, start));
    return /** @type {Event[]} */ (seen.filter((event) => event !== null));
  }

  /**
   * Returns the message that begins the match for a viewer, as far as a replay has it.
   * @param {Viewer} viewer
   */
  start(viewer) {
    return this.#trackOf(viewer).start;
  }

  /** Finds out how many moves can be shown, and the turn of each. */
  #readAll() {
    const seatCount = this.#header.seats.length;
    let turn = 0;
    for (let n = 0; n < this.#events.length; n++) {
      const events = this.#events[n] ?? [];
      const fault = events.map((event) => faultOf({ ...event }, seatCount, isResult)).find((each) => each !== null);
      if (fault !== undefined || !this.#folds(n)) {
        this.#stop(n, fault ?? "events that do not fit to those before");
        return;
      }
      if (n > 0) this.turns.push(turn);
      for (const event of events) if (event.type === "turn_started") turn = event.turn ?? turn;
      this.count = n;
    }
  }

  /** @param {number} n */
  #folds(n) {
    try {
      const track = this.#trackOf("all_hands");
      if (n > 0) this.#step(track);
      const { view } = track;
      return [view.pile, view.ticket_pile, ...view.players.map(({ hand_count: count }) => count)].every(
        (count) => Number.isSafeInteger(count) && count >= 0,
      );
    } catch {
      return false;
    }
  }

  /**
   * @param {number} n
   * @param {string} fault
   */
  #stop(n, fault) {
    this.#tracks.clear();
    this.#events.length = Math.max(n, 1);
    if (n === 0) this.#events = [[]];
    this.problems.push(
      n === 0
        ? `The set-up cannot be shown: it has ${excerpt(fault)}.`
        : `Move ${n} cannot be shown: it has ${excerpt(fault)}. The match is shown up to move ${n - 1}.`,
    );
  }

  /**
   * @param {Viewer} viewer
   * @returns {Track}
   */
  #trackOf(viewer) {
    const known = this.#tracks.get(viewer);
    if (known !== undefined) return known;
    const start = startOf(this.#header, { file: this.#board }, viewer);
    const view = /** @type {View} */ (firstView(start));
    /** @type {Track} */
    const track = { start, copies: [], n: 0, view };
    this.#fold(track, 0);
    track.copies.push(structuredClone(view));
    this.#tracks.set(viewer, track);
    return track;
  }

  /**
   * Brings the view of a track to the next position.
   * @param {Track} track
   */
  #step(track) {
    this.#fold(track, ++track.n);
    if (track.n === track.copies.length * APART) track.copies.push(structuredClone(track.view));
  }

  /**
   * @param {Track} track
   * @param {number} n
   */
  #fold({ start, view }, n) {
    const viewer = /** @type {Viewer} */ (view.seat ?? view.viewer);
    for (const event of this.#events[n] ?? []) {
      const seen = redact(event, viewer, start);
      if (seen !== null) fold(start, view, seen);
    }
  }
}
