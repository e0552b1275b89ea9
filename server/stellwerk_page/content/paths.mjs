// Which ways are still open on the map.
//
// Law: a way costs the trains that have to be placed for it. Routes of the seat, and of its team, cost nothing; a
// route that another has claimed is not open, nor is a track of a double or triple route that the rules have closed.
// A station that is built lends one claimed route at its city, at no cost, as if no other ticket needed it (EUR-12).
// Not counted: stations that could still be built, Right of Way, and the technologies that a route needs.

import { partNamed, partsOf } from "../../../protocol/verifiers/javascript/games.mjs";

/** @typedef {import("./types.mjs").Board} Board */
/** @typedef {import("./types.mjs").Route} Route */
/** @typedef {import("./types.mjs").Ticket} Ticket */
/** @typedef {import("./types.mjs").View} View */
/**
 * `routes`: all routes of the way; `missing`: those of them that are still to be claimed; `borrowed`: those that a
 * station lends; `trains`: what the missing ones cost, 0 if the ticket is completed.
 * @typedef {{routes: string[], missing: string[], borrowed: string[], cities: string[], trains: number}} Way
 */

const A_TRAIN = 1000; // in steps: of two ways with as many trains, the one with fewer routes

/** @typedef {Record<number, number>} Limits how many tracks of a double and of a triple route can be claimed; all, where it has nothing */

/**
 * Returns the limits of a match (USA-11, EUR-06, UK-03, ASIA-12, ASIA-13).
 * @param {import("./types.mjs").Header} header
 * @returns {Limits}
 */
export function limitsOf(header) {
  const parts = partsOf(header);
  return (parts && partNamed(parts, "claim_route"))?.open_tracks?.[header.seats.length] ?? {};
}

/**
 * Returns the tracks that nobody has claimed and nobody can claim any more.
 * @param {Board} board
 * @param {View} view
 * @param {Limits} limits
 * @returns {Set<string>}
 */
export function closedTracks(board, view, limits) {
  const claimed = new Set(view.players.flatMap(({ routes = [] }) => routes));
  const closed = new Set();
  for (const tracks of sideBySide(board)) {
    const limit = tracks[0]?.always_open ? undefined : limits[tracks.length];
    if (limit === undefined || tracks.filter(({ id }) => claimed.has(id)).length < limit) continue;
    for (const { id } of tracks) if (!claimed.has(id)) closed.add(id);
  }
  return closed;
}

/**
 * Returns the cheapest way that is left for a ticket, or null if there is none.
 * @param {Board} board with routes
 * @param {View} view
 * @param {number} seat
 * @param {string} ticket its id
 * @param {Limits} limits
 * @returns {Way | null}
 */
export function shortestLeft(board, view, seat, ticket, limits) {
  const record = board.tickets.find(({ id }) => id === ticket);
  if (record === undefined) return null;
  const { steps, stations } = stepsFor(board, view, seat, limits);
  const goal = new Set(citiesOf(board, record.b));
  /** @typedef {{city: string, used: number, cost: number, from: Node | null, step: Step | null}} Node */
  /** @type {Node[]} */
  const open = citiesOf(board, record.a).map((city) => ({ city, used: 0, cost: 0, from: null, step: null }));
  const reached = new Set();
  for (;;) {
    let nearest = -1;
    for (const [index, node] of open.entries()) if (nearest < 0 || node.cost < (open[nearest]?.cost ?? 0)) nearest = index;
    const [node] = nearest < 0 ? [] : open.splice(nearest, 1);
    if (node === undefined) return null;
    // A city that is reached with fewer stations used is worth more, so it is another place.
    const key = `${node.city} ${node.used}`;
    if (reached.has(key)) continue;
    reached.add(key);
    if (goal.has(node.city)) return wayTo(node);
    for (const step of steps.get(node.city) ?? []) {
      if (step.kind !== "borrowed") {
        open.push({ city: step.to, used: node.used, cost: node.cost + step.cost, from: node, step });
        continue;
      }
      for (const [bit, city] of stations.entries()) {
        const isFree = (node.used & (1 << bit)) === 0 && (city === node.city || city === step.to);
        if (isFree) open.push({ city: step.to, used: node.used | (1 << bit), cost: node.cost + 1, from: node, step });
      }
    }
  }
}

/** @typedef {{to: string, route: Route, cost: number, kind: "own" | "missing" | "borrowed"}} Step */

/**
 * Returns where a seat can go from each city, and the cities of its stations.
 * @param {Board} board
 * @param {View} view
 * @param {number} seat
 * @param {Limits} limits
 */
function stepsFor(board, view, seat, limits) {
  const team = view.players[seat]?.team;
  const own = new Set(view.players.flatMap(({ team: other, routes = [] }) => (other === team ? routes : [])));
  const taken = new Set(view.players.flatMap(({ routes = [] }) => routes));
  const closed = closedTracks(board, view, limits);
  const stations = view.players[seat]?.stations ?? [];
  /** @type {Map<string, Step[]>} */
  const steps = new Map(board.cities.map(({ id }) => [id, []]));
  for (const route of board.routes ?? []) {
    const isLent = taken.has(route.id) && (stations.includes(route.a) || stations.includes(route.b));
    /** @type {Step["kind"]} */
    const kind = own.has(route.id) ? "own" : isLent ? "borrowed" : "missing";
    if (kind === "missing" && (taken.has(route.id) || closed.has(route.id))) continue;
    const cost = kind === "missing" ? route.length * A_TRAIN + 1 : 0;
    steps.get(route.a)?.push({ to: route.b, route, cost, kind });
    steps.get(route.b)?.push({ to: route.a, route, cost, kind });
  }
  return { steps, stations };
}

/**
 * @param {{city: string, from: any, step: Step | null} | null} node
 * @returns {Way}
 */
function wayTo(node) {
  /** @type {Way} */
  const way = { routes: [], missing: [], borrowed: [], cities: [], trains: 0 };
  for (; node !== null; node = node.from) {
    way.cities.unshift(node.city);
    if (node.step === null) continue;
    const { route, kind } = node.step;
    way.routes.unshift(route.id);
    if (kind === "missing") way.missing.unshift(route.id);
    if (kind === "missing") way.trains += route.length;
    if (kind === "borrowed") way.borrowed.unshift(route.id);
  }
  return way;
}

/**
 * Returns the cities that a ticket names at one end: several for a group, any of which will do.
 * @param {Board} board
 * @param {string} place
 */
export const citiesOf = (board, place) => board.city_groups?.[place] ?? [place];

/**
 * Returns the tracks of each double and triple route.
 * @param {Board} board
 */
export function sideBySide(board) {
  /** @type {Map<string, Route[]>} */
  const groups = new Map();
  for (const route of board.routes ?? []) {
    if ((route.parallel ?? 1) < 2) continue;
    const key = [route.a, route.b].sort().join(" ");
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  return [...groups.values()];
}
