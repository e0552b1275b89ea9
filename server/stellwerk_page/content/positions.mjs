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
  /** The result, if the game has ended. @type {import("./types.mjs").Result | undefined} */
  result;
  /** What keeps a part of the match from being shown, as sentences. @type {string[]} */
  problems = [];
  #replay;
  #header;
  #board;
  /** The viewer who knows all that the replay has: what can be shown to that one can be shown to all. @type {Viewer} */
  #witness;
  /** The events of each position: those of the set-up, then those of each move. @type {Event[][]} */
  #events = [];
  #turn = 0;
  /** The witness at the last position; null if nobody may rely on it. @type {Track | null} */
  #newest = null;
  /** @type {Map<Viewer, Track>} */
  #tracks = new Map();

  /**
   * @param {import("./types.mjs").Replay} replay with a header
   * @param {import("./types.mjs").Board} board
   */
  constructor(replay, board) {
    if (replay.header === null) throw new Error("a replay without a header has no positions");
    this.#replay = replay;
    this.#header = replay.header;
    this.#board = board;
    this.#witness = replay.isPublic === true ? "public" : "all_hands";
    this.grow();
  }

  /**
   * Reads what the replay has got since: more moves, and more events of its last move. Returns the first position that
   * is another one now, or null if nothing is new.
   */
  grow() {
    if (this.problems.length > 0) return null;
    // Whoever got a view keeps it as it is.
    if (this.#newest !== null) this.#newest.view = structuredClone(this.#newest.view);
    let first = null;
    for (let n = this.count; n <= this.#replay.moves.length; n++) {
      const events = (n === 0 ? this.#replay.setUp : this.#replay.moves[n - 1]?.events) ?? [];
      const known = this.#events[n];
      const later = events.slice(known?.length ?? 0);
      if (known !== undefined && later.length === 0) continue;
      const fault = later.map((event) => faultOf({ ...event }, this.#header.seats.length, isResult)).find((each) => each !== null);
      if (fault !== undefined || !this.#folds(n, later)) {
        this.#stop(n, fault ?? "events that do not fit to those before");
        return first;
      }
      if (known === undefined) {
        this.#events.push(later);
        if (n > 0) this.turns.push(this.#turn);
      } else {
        known.push(...later);
        for (const viewer of this.#tracks.keys()) if (viewer !== this.#witness) this.#tracks.delete(viewer);
      }
      for (const event of later) {
        if (event.type === "turn_started") this.#turn = event.turn ?? this.#turn;
        if (event.type === "game_ended") this.result = event.result;
      }
      this.count = n;
      first ??= n;
    }
    return first;
  }

  /**
   * Returns the view after n moves. Nobody may change it.
   * @param {Viewer} viewer
   * @param {number} n
   * @returns {View}
   */
  view(viewer, n) {
    if (viewer === this.#witness && n === this.count && this.#newest !== null) return this.#newest.view;
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

  /**
   * Lets the witness see more events of position n. Returns whether they fit.
   * @param {number} n
   * @param {Event[]} events
   */
  #folds(n, events) {
    try {
      const newest = (this.#newest ??= this.#begun(this.#witness));
      newest.n = n;
      foldAll(newest, events);
      const { view, copies } = newest;
      if (n % APART === 0) copies[n / APART] = structuredClone(view);
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
    this.#newest = null;
    this.#tracks.clear();
    if (this.#events.length === 0) {
      this.#events.push([]);
      this.problems.push(`The set-up cannot be shown: it has ${excerpt(fault)}.`);
      return;
    }
    const what = n > this.count ? `Move ${n}` : `The rest of move ${n}`;
    this.problems.push(`${what} cannot be shown: it has ${excerpt(fault)}. The match is shown up to move ${this.count}.`);
  }

  /**
   * @param {Viewer} viewer
   * @returns {Track}
   */
  #trackOf(viewer) {
    const known = this.#tracks.get(viewer);
    if (known !== undefined) return known;
    const track = this.#begun(viewer);
    if (viewer === this.#witness && this.#newest !== null) {
      track.copies = this.#newest.copies;
      track.view = structuredClone(/** @type {View} */ (track.copies[0]));
    } else {
      foldAll(track, this.#events[0] ?? []);
      track.copies.push(structuredClone(track.view));
    }
    this.#tracks.set(viewer, track);
    return track;
  }

  /**
   * @param {Viewer} viewer
   * @returns {Track} before the set-up
   */
  #begun(viewer) {
    const start = startOf(this.#header, { file: this.#board }, viewer);
    return { start, copies: [], n: 0, view: /** @type {View} */ (firstView(start)) };
  }

  /**
   * Brings the view of a track to the next position.
   * @param {Track} track
   */
  #step(track) {
    foldAll(track, this.#events[++track.n] ?? []);
    if (track.n === track.copies.length * APART) track.copies.push(structuredClone(track.view));
  }
}

/**
 * @param {Track} track
 * @param {Event[]} events
 */
function foldAll({ start, view }, events) {
  const viewer = /** @type {Viewer} */ (view.seat ?? view.viewer);
  for (const event of events) {
    const seen = redact(event, viewer, start);
    if (seen !== null) fold(start, view, seen);
  }
}
