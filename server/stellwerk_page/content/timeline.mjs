// Where a match has what: the moves of each turn and round, and what is marked on the slider.
//
// Law: plain functions of the replay, without a page. Position 0 is after the set-up, position n after n moves.

/** @typedef {"claim" | "ticket" | "tunnel" | "station" | "technology" | "fault" | "last_round" | "half"} MarkKind */
/** @typedef {{n: number, kind: MarkKind, seat: number | null}} Mark */

/** @type {Record<string, MarkKind>} */
const KINDS = {
  route_claimed: "claim",
  tickets_kept: "ticket",
  tickets_completed: "ticket",
  tunnel_tried: "tunnel",
  station_built: "station",
  technology_bought: "technology",
  cards_laid: "claim", // what builds up a player's points in the card game
  raided: "fault",
  last_round: "last_round",
  half_started: "half",
};

/** @type {Record<MarkKind, string>} */
export const MARK_NAMES = {
  claim: "claims (in the card game: cards laid)",
  ticket: "tickets kept or completed",
  tunnel: "tunnels tried",
  station: "stations",
  technology: "technologies",
  fault: "faults and defaults, raids",
  last_round: "the last round",
  half: "the second half",
};

export class Timeline {
  /** For each position the turn whose last move so far was made. */
  turns;
  /** @type {Mark[]} */
  marks = [];
  #positions;
  #replay;
  #seatCount;

  /**
   * @param {{count: number, turns: number[]}} positions
   * @param {import("./types.mjs").Replay} replay
   */
  constructor(positions, replay) {
    this.turns = positions.turns;
    this.#positions = positions;
    this.#replay = replay;
    this.#seatCount = replay.header?.seats.length ?? 1;
    this.grow(0);
  }

  /** The number of moves. */
  get count() {
    return this.#positions.count;
  }

  /**
   * Marks what is new since the positions have grown.
   * @param {number} first the first position that is another one now
   */
  grow(first) {
    this.marks = [...this.marks.filter(({ n }) => n < first), ...marksOf(this.#replay, first, this.count)];
  }

  /** The number of the last turn. */
  get lastTurn() {
    return this.turns[this.count] ?? 0;
  }

  /**
   * Returns the turn of position n, and which of its moves was the last; move 0 of turn 0 is the set-up.
   * @param {number} n
   * @returns {{turn: number, move: number, isWhole: boolean}}
   */
  at(n) {
    const turn = this.turns[n] ?? 0;
    const first = this.turns.indexOf(turn);
    const isWhole = n === this.count || this.turns[n + 1] !== turn;
    return { turn, move: turn === 0 ? n : n - first + 1, isWhole };
  }

  /**
   * Returns the position after a turn, or after one of its moves. What is beyond an end is that end.
   * @param {number} turn
   * @param {number | null} move
   */
  after(turn, move = null) {
    const last = this.turns.lastIndexOf(turn);
    if (last < 0) return this.#beyond(turn);
    if (move === null) return last;
    const first = this.turns.indexOf(turn);
    return Math.min(turn === 0 ? move : first + Math.max(move, 1) - 1, last);
  }

  /**
   * Returns the position one turn on or back: turns are looked at when they are complete.
   * @param {number} n
   * @param {1 | -1} direction
   */
  byTurn(n, direction) {
    const { turn, isWhole } = this.at(n);
    if (direction > 0) return isWhole ? this.after(turn + 1) : this.after(turn);
    return turn === 0 ? 0 : this.after(turn - 1);
  }

  /**
   * Returns the position one round on or back: rounds are looked at when every seat has had its turn.
   * @param {number} n
   * @param {1 | -1} direction
   */
  byRound(n, direction) {
    const { turn, isWhole } = this.at(n);
    const rounds = turn / this.#seatCount;
    if (direction > 0) return this.after((Math.floor(isWhole ? rounds : rounds - 1 / this.#seatCount) + 1) * this.#seatCount);
    return turn === 0 ? 0 : this.after((Math.ceil(rounds) - 1) * this.#seatCount);
  }

  /**
   * Returns the next marked position, or null.
   * @param {number} n
   * @param {1 | -1} direction
   */
  byMark(n, direction) {
    const beyond = this.marks.filter((mark) => (direction > 0 ? mark.n > n : mark.n < n && mark.n > 0));
    return (direction > 0 ? beyond[0] : beyond.at(-1))?.n ?? null;
  }

  /** @param {number} turn */
  #beyond(turn) {
    if (turn >= this.lastTurn) return this.count;
    const later = this.turns.findIndex((each) => each > turn); // a file without this turn
    return Math.max(later - 1, 0);
  }
}

/**
 * @param {import("./types.mjs").Replay} replay
 * @param {number} first position
 * @param {number} last position
 * @returns {Mark[]}
 */
function marksOf({ moves }, first, last) {
  const before = Math.max(first - 1, 0);
  return moves.slice(before, last).flatMap((move, at) => {
    const n = before + at + 1;
    /** @type {Mark[]} */
    const marks = move.by === undefined ? [] : [{ n, kind: "fault", seat: move.seat }];
    for (const event of move.events) {
      const kind = Object.hasOwn(KINDS, event.type) ? KINDS[event.type] : undefined;
      // The first tickets are kept by all seats at once, before the first turn.
      if (kind !== undefined) marks.push({ n, kind, seat: event.seat ?? null });
    }
    return marks;
  });
}

/**
 * Counts the moves that the server made for a seat, up to position n, by reason.
 * @param {import("./types.mjs").Replay} replay
 * @param {number} seat
 * @param {number} n
 * @returns {Map<string | undefined, number>}
 */
export function faultsOf({ moves }, seat, n) {
  /** @type {Map<string | undefined, number>} */
  const counts = new Map();
  for (const move of moves.slice(0, n)) {
    if (move.seat === seat && move.by !== undefined) counts.set(move.reason, (counts.get(move.reason) ?? 0) + 1);
  }
  return counts;
}
