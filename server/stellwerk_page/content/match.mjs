// The match that the page shows, and the state of the page: the position, the viewer, what is chosen, what is hidden.
//
// Law: this is the only state that parts of the page share. A part changes it by the methods here, and hears of every
// change; so each part shows the same moment, whoever asked for it.

import { gameName, playersOf } from "./names.mjs";
import { limitsOf } from "./paths.mjs";
import { Positions } from "./positions.mjs";
import { Timeline } from "./timeline.mjs";

/** @typedef {import("./types.mjs").Viewer} Viewer */
/** @typedef {import("./types.mjs").Selection} Selection */
/**
 * `go`: another position; `viewer`: another viewer; `hides`: the mode without spoilers; `select`: something else is
 * chosen, on the map, in the story or among the tickets; `grow`: more of the match is known, or its end.
 * @typedef {"go" | "viewer" | "hides" | "select" | "grow"} Change
 */

export class Match {
  board;
  replay;
  players;
  positions;
  timeline;
  game;
  gameName;
  /** How many tracks side by side can be claimed. */
  limits;
  /** The position that is shown. */
  n = 0;
  /** The furthest position that was shown: what lies beyond it is a spoiler. */
  reached = 0;
  /** Through whose eyes the match can be seen. @type {Viewer[]} */
  viewers;
  /** @type {Viewer} */
  viewer;
  /** The first position that was another one when the match last grew. */
  grown = 0;
  /** Whether nothing is shown of what comes. */
  hides = false;
  /** @type {Selection} */
  select = { seat: null, route: null, ticket: null };
  /** @type {Map<Change, Set<() => void>>} */
  #listeners = new Map();

  /**
   * @param {import("./types.mjs").Replay} replay with a header
   * @param {import("./types.mjs").Board} board
   */
  constructor(replay, board) {
    if (replay.header === null) throw new Error("a replay without a header is no match");
    this.replay = replay;
    this.board = board;
    this.game = replay.header.game;
    this.gameName = gameName(this.game);
    this.limits = limitsOf(replay.header);
    this.players = playersOf(replay.header);
    this.viewers = replay.isPublic === true ? ["public"] : ["all_hands", "public", ...this.players.map(({ seat }) => seat)];
    this.viewer = this.viewers[0] ?? "public";
    this.positions = new Positions(replay, board);
    this.timeline = new Timeline(this.positions, replay);
    if (this.isRunning) this.n = this.reached = this.count;
  }

  /** How many moves there are. */
  get count() {
    return this.positions.count;
  }

  /** Whether more moves may come. */
  get isRunning() {
    return this.replay.isPublic === true && this.result === undefined;
  }

  /** The result, as soon as it is known. */
  get result() {
    return this.replay.end ?? this.positions.result;
  }

  /** The last position that may be shown without being asked for. */
  get horizon() {
    return this.hides ? this.reached : this.count;
  }

  /** The view of the viewer at the position that is shown. */
  get view() {
    return this.positions.view(this.viewer, this.n);
  }

  /**
   * Calls a function at each change.
   * @param {Change} change
   * @param {() => void} listener
   */
  on(change, listener) {
    const listeners = this.#listeners.get(change) ?? new Set();
    this.#listeners.set(change, listeners.add(listener));
  }

  /**
   * Shows a position; one beyond an end is that end.
   * @param {number} n
   */
  go(n) {
    const wanted = Math.max(0, Math.min(Math.trunc(n), this.count));
    if (wanted === this.n) return;
    this.n = wanted;
    this.reached = Math.max(this.reached, wanted);
    this.#tell("go");
  }

  /**
   * Shows the match as somebody else sees it.
   * @param {Viewer} viewer
   */
  look(viewer) {
    if (viewer === this.viewer || !this.viewers.includes(viewer)) return;
    this.viewer = viewer;
    this.#tell("viewer");
  }

  /** Takes in what the replay has got since. Whoever saw the newest position goes on to what is the newest now. */
  grow() {
    const isAtNewest = this.n === this.count;
    this.grown = this.positions.grow() ?? this.count + 1;
    this.timeline.grow(this.grown);
    this.#tell("grow");
    if (isAtNewest && this.n < this.count) this.go(this.count);
    else if (this.grown <= this.n) this.#tell("go");
  }

  /** @param {boolean} hides */
  hide(hides) {
    if (hides === this.hides) return;
    this.hides = hides;
    if (hides) this.reached = this.n;
    this.#tell("hides");
  }

  /** @param {Partial<Selection>} part what is not named is chosen no more */
  choose(part) {
    const select = { seat: null, route: null, ticket: null, ...part };
    if (Object.entries(select).every(([name, value]) => this.select[/** @type {keyof Selection} */ (name)] === value)) return;
    this.select = select;
    this.#tell("select");
  }

  /** Whether the viewer may see what belongs to a seat. @param {number} seat */
  sees(seat) {
    return this.viewer === "all_hands" || this.viewer === seat;
  }

  /** @param {Change} change */
  #tell(change) {
    for (const listener of this.#listeners.get(change) ?? []) listener();
  }
}
