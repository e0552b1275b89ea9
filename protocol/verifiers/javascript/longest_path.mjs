// The longest continuous path (USA-16): the most trains on a walk over a player's routes that uses none of them twice.
//
// Such a walk is a connected set of routes with at most two cities where an odd number of them meet. The search adds
// the routes one by one. For each city with routes before and after this point, it keeps whether an odd number of the
// chosen ones meet there, and the other such cities that they connect it with.

import { UntrueError } from "./errors.mjs";

// No player's routes on a shipped board need a tenth of this. Whoever sends a board of their own could think of some
// that need years.
const MOST_STATES = 50_000;

/**
 * Returns the length of the longest path.
 * @param {readonly {a: string, b: string, length: number}[]} routes
 * @returns {number}
 */
export function longestPath(routes) {
  const effort = { states: 0 };
  let best = 0;
  for (const order of components(routes)) {
    const total = order.reduce((sum, { length }) => sum + length, 0);
    // Most often a few routes are left out: so the search first looks only at walks that leave out little.
    for (let leftOut = 1, found = 0; found === 0 && total > best; leftOut *= 2) {
      found = longestWalk(order, total, leftOut, effort);
      best = Math.max(best, found);
    }
  }
  return best;
}

/**
 * Returns the length of the longest walk over connected routes that leaves out at most so much of them; 0 if there is none.
 * @param {{a: string, b: string, length: number}[]} order
 * @param {number} total
 * @param {number} leftOut
 * @param {{ states: number }} effort
 */
function longestWalk(order, total, leftOut, effort) {
  const last = new Map();
  order.forEach((route, at) => [route.a, route.b].forEach((city) => last.set(city, at)));
  let best = 0;
  let fewest = -leftOut; // what a walk must have of the routes so far
  let states = new Map([["", { odd: 0, cities: [], length: 0 }]]);
  order.forEach((route, at) => {
    effort.states += states.size;
    if (effort.states > MOST_STATES) throw new UntrueError("the longest path of a player takes too long to find", false);
    fewest += route.length;
    const next = new Map();
    for (const state of states.values()) {
      for (const chosen of [state, withRoute(state, route)]) {
        if (chosen.length < fewest) continue;
        const left = withoutCities(chosen, (city) => last.get(city) === at);
        if (left === null) continue;
        if (left.whole) {
          if (left.length >= total - leftOut) best = Math.max(best, left.length);
          continue;
        }
        const same = key(left);
        if ((next.get(same)?.length ?? -1) < left.length) next.set(same, left);
      }
    }
    states = next;
  });
  return best;
}

/** `cities`: those touched so far that still have routes to come, as [city, part, is odd]; `odd`: of those that have none. */
function withRoute(state, route) {
  const found = new Map(state.cities.map(([city, part, odd]) => [city, [part, odd]]));
  const [partA, oddA] = found.get(route.a) ?? [route.a, false];
  const [partB, oddB] = found.get(route.b) ?? [route.b, false];
  found.set(route.a, [partA, !oddA]);
  found.set(route.b, [partB, !oddB]);
  const cities = [...found].map(([city, [part, odd]]) => [city, part === partB ? partA : part, odd]);
  return { odd: state.odd, cities, length: state.length + route.length };
}

/** Drops the cities that no route will touch again. Null: it cannot become a walk. `whole`: it is one, and ends here. */
function withoutCities(state, isDone) {
  const rest = state.cities.filter(([city]) => !isDone(city));
  const done = state.cities.filter(([city]) => isDone(city));
  const odd = state.odd + done.filter(([, , isOdd]) => isOdd).length;
  if (odd > 2) return null;
  const going = new Set(rest.map(([, part]) => part));
  const ended = new Set(done.map(([, part]) => part).filter((part) => !going.has(part)));
  if (ended.size + going.size > 1 && ended.size > 0) return null;
  return { odd, cities: rest, length: state.length, whole: ended.size > 0 };
}

/** Of states with the same future, keeps only the longest. The numbers of parts have no meaning. */
function key(state) {
  const cities = [...state.cities].sort(([a], [b]) => (a < b ? -1 : 1));
  const first = new Map();
  cities.forEach(([city, part]) => first.has(part) || first.set(part, city));
  return JSON.stringify([state.odd, cities.map(([city, part, odd]) => [city, first.get(part), odd])]);
}

/**
 * Returns the routes that hang together, each time in an order in which few cities are unfinished at a time.
 * @template {{a: string, b: string}} T
 * @param {readonly T[]} routes
 * @returns {T[][]}
 */
function components(routes) {
  const seen = new Set();
  return [...new Set(routes.flatMap(({ a, b }) => [a, b]))].flatMap((start) => {
    if (seen.has(start)) return [];
    const order = new Set();
    const queue = [start];
    seen.add(start);
    for (const city of queue) {
      for (const route of routes.filter((each) => each.a === city || each.b === city)) {
        order.add(route);
        const other = route.a === city ? route.b : route.a;
        if (!seen.has(other)) {
          seen.add(other);
          queue.push(other);
        }
      }
    }
    return [[...order]];
  });
}
