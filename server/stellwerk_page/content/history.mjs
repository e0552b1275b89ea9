// What has been over the whole match, for the charts.
//
// Law: the numbers are those of the views, and a chart of a viewer has nothing that its views do not have. They are
// computed in pieces, so that the page answers in between.

/** @typedef {import("./types.mjs").Board} Board */
/** @typedef {import("./types.mjs").Player} Player */
/** @typedef {import("./types.mjs").View} View */
/** @typedef {import("./types.mjs").Viewer} Viewer */
/** What history needs of the positions of a match. @typedef {{count: number, turns: number[], view: (viewer: Viewer, n: number) => View}} Past */
/**
 * One chart: for each seat a number at each of the positions, or null where there is none.
 * @typedef {{id: string, title: string, note?: string | undefined, values: (number | null)[][]}} Chart
 */
/**
 * `positions`: the last one of each turn; `values`: what was measured there, also what makes no chart.
 * @typedef {{players: Player[], positions: number[], turns: number[], values: (number | null)[][][], charts: Chart[]}} Series
 */

const PIECE_MS = 12;
const SHORT = 10; // seconds in a whole match

/**
 * Computes the series of a match.
 * @param {Past} past
 * @param {Board} board
 * @param {Player[]} players
 * @param {{viewer?: Viewer, isOver?: () => boolean, before?: Series | null, since?: number}} [options] `isOver`: nobody
 *   waits for the series any more. `before`: what was computed when the match was shorter, and holds for all positions
 *   before `since`
 * @returns {Promise<Series | null>} null if nobody waited
 */
export async function computeHistory(past, board, players, { viewer = "public", isOver = () => false, before = null, since = 0 } = {}) {
  const measures = measuresOf(board);
  const all = lastOfTurns(past.turns, past.count);
  const known = before === null ? 0 : before.positions.filter((n, at) => n < since && n === all[at]).length;
  const values = measures.map((_, index) => players.map((_, seat) => before?.values[index]?.[seat]?.slice(0, known) ?? []));
  let began = performance.now();
  for (const n of all.slice(known)) {
    const view = past.view(viewer, n);
    for (const [index, { of }] of measures.entries()) {
      for (const { seat } of players) values[index]?.[seat]?.push(of(view, seat));
    }
    if (performance.now() - began < PIECE_MS) continue;
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (isOver()) return null;
    began = performance.now();
  }
  const charts = measures.map(({ id, title, note }, index) => ({ id, title, note, values: values[index] ?? [] }));
  return {
    players,
    positions: all,
    turns: all.map((n) => past.turns[n] ?? 0),
    values,
    // A line of nothing says nothing.
    charts: charts.filter(({ values }) => values.some((of) => of.some((value) => value !== null && value !== 0))),
  };
}

/**
 * @param {Board} board
 * @returns {{id: string, title: string, note?: string | undefined, of: (view: View, seat: number) => number | null}[]}
 */
function measuresOf(board) {
  const hasMap = (board.routes ?? []).length > 0;
  return [
    { id: "points", title: "Points", of: (view, seat) => view.players[seat]?.points ?? null },
    hasMap
      ? { id: "trains", title: "Trains left", of: (view, seat) => view.players[seat]?.trains ?? null }
      : { id: "stack", title: "Cards on the track", of: (view, seat) => view.players[seat]?.stack_count ?? null },
    { id: "hand", title: "Cards in hand", of: (view, seat) => view.players[seat]?.hand_count ?? null },
    { id: "tickets", title: "Tickets held", of: (view, seat) => view.players[seat]?.ticket_count ?? null },
    { id: "done", title: "Tickets completed", note: hasMap ? "by routes alone" : undefined, of: (view, seat) => ticketsDone(board, view, seat) },
  ];
}

/**
 * Returns the series with a chart of how long each seat has thought, summed up.
 * @param {Series} series
 * @param {(number | null)[]} times seconds for each move, of which nobody knows whether they are true
 * @param {number[]} seats who made each move
 * @returns {Series}
 */
export function withTimes(series, times, seats) {
  const sums = series.players.map(() => 0);
  /** @type {number[][]} */
  const values = series.players.map(() => []);
  let move = 0;
  for (const n of series.positions) {
    for (; move < n; move++) {
      const seat = seats[move] ?? 0;
      sums[seat] = (sums[seat] ?? 0) + (times[move] ?? 0);
    }
    for (const [seat, sum] of sums.entries()) values[seat]?.push(sum);
  }
  const areShort = Math.max(...sums) < SHORT;
  const chart = {
    id: "times",
    title: `Thinking time, ${areShort ? "milliseconds" : "seconds"}`,
    note: "not verified: no replay has it",
    values: values.map((of) => of.map((sum) => (areShort ? Math.round(sum * 1000) : Math.round(sum * 10) / 10))),
  };
  return { ...series, charts: [...series.charts, chart] };
}

/**
 * Returns the last position of each turn, and the one before anybody has chosen anything.
 * @param {number[]} turns of each position
 * @param {number} count
 */
export function lastOfTurns(turns, count) {
  return Array.from({ length: count + 1 }, (_, n) => n).filter((n) => n === 0 || n === count || turns[n] !== turns[n + 1]);
}

/**
 * Counts the tickets of a seat that its own routes, and those of its partner, complete; null if the viewer does not
 * know the tickets. In the card game everybody knows which are completed.
 * @param {Board} board
 * @param {View} view
 * @param {number} seat
 */
export function ticketsDone(board, view, seat) {
  const player = view.players[seat];
  if (player?.completed !== undefined) return player.completed.length;
  if (player?.tickets === undefined) return null;
  const held = new Set([...player.tickets, ...(view.teams?.[player.team]?.shared_tickets ?? [])]);
  const own = new Set(view.players.flatMap(({ team, routes = [] }) => (team === player.team ? routes : [])));
  /** @type {Map<string, string>} */
  const parents = new Map();
  const root = (/** @type {string} */ city) => {
    let top = city;
    for (let next = parents.get(top); next !== undefined; next = parents.get(top)) top = next;
    return top;
  };
  for (const { id, a, b } of board.routes ?? []) {
    if (own.has(id) && root(a) !== root(b)) parents.set(root(a), root(b));
  }
  const places = (/** @type {string} */ place) => board.city_groups?.[place] ?? [place];
  return board.tickets.filter(
    ({ id, a, b }) => held.has(id) && places(a).some((one) => places(b).some((other) => root(one) === root(other))),
  ).length;
}
