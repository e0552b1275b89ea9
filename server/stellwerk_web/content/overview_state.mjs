// What the overview knows: the state of the stream, with its changes.
//
// Law: what the server no longer lists is forgotten, so a page that is open for a week knows as much as a new one.

/** @typedef {{seat: number, team: number, name: string}} Player */
/**
 * A match in one line.
 * @typedef {{match: string, state: "running" | "ended" | "failed" | "due", game: string, options?: string[],
 *   players: Player[], turn?: number, points?: number[], ranks?: number[], block?: string, round?: number,
 *   began_ms_ago?: number, page?: boolean}} Head
 */
/**
 * `low` and `high` are null where the matches set no limit; `group` is there if not all bots can be compared.
 * @typedef {{bot: string, matches: number, score: number, points: number, elo?: number, low?: number | null,
 *   high?: number | null, faults?: number, forfeits?: number, out?: string, group?: number}} RankingRow
 */
/** @typedef {{rows: RankingRow[], over: string, note?: string}} Ranking */
/**
 * @typedef {{title: string, kind: string, source: string, connected: boolean, counts: Record<string, number>,
 *   ranking: Ranking | null, tournament: Record<string, any> | null}} Summary
 */

export class Overview {
  /** @type {Summary} */
  summary = { title: "", kind: "", source: "", connected: false, counts: {}, ranking: null, tournament: null };
  /** In the order in which they came. @type {Map<string, Head>} */
  #matches = new Map();

  /** @param {any} state */
  begin(state) {
    const { matches = [], ...summary } = state;
    this.summary = summary;
    this.#matches = new Map(inTime(matches).map((head) => [head.match, head]));
  }

  /** @param {any} change */
  change({ matches = [], gone = [], ...parts }) {
    for (const head of inTime(matches)) {
      // Another state is another place in the lists.
      if (this.#matches.get(head.match)?.state !== head.state) this.#matches.delete(head.match);
      this.#matches.set(head.match, head);
    }
    for (const name of gone) this.#matches.delete(name);
    this.summary = { ...this.summary, ...parts };
  }

  /** Those that run, the newest last. */
  get running() {
    return [...this.#matches.values()].filter(({ state }) => state === "running");
  }

  /** Those that are over, the newest first. */
  get over() {
    return [...this.#matches.values()].filter(({ state }) => state === "ended" || state === "failed").reverse();
  }
}

/**
 * The server lists running matches from the oldest on, and those that are over from the newest on.
 * @param {Head[]} matches
 */
const inTime = (matches) => [...matches.filter(({ state }) => state === "running"), ...matches.filter(({ state }) => state !== "running").reverse()];
