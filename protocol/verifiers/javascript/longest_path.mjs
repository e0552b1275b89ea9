// The longest continuous path (USA-16): the most trains on a walk over a player's routes that uses none of them twice.
//
// Such a walk is a connected set of routes with at most two cities where an odd number of them meet. The search adds
// the routes one by one. For each city with routes before and after this point, it keeps whether an odd number of the
// chosen ones meet there, and the other such cities that they connect it with.

import { UntrueError } from "./errors.mjs";

// No player's routes on a shipped board need a tenth of this. Whoever sends a board of their own could think of some
// that need years.
const MOST_STATES = 50_000;

/** `routes` have `a`, `b` and `length`. */
export function longestPath(routes) {
  const cities = [...new Set(routes.flatMap((route) => [route.a, route.b]))];
  const order = breadthFirst(routes, cities);
  const last = new Map();
  order.forEach((route, at) => [route.a, route.b].forEach((city) => last.set(city, at)));

  let best = 0;
  let effort = 0;
  let states = new Map([[key({ odd: 0, cities: [] }), { odd: 0, cities: [], length: 0 }]]);
  order.forEach((route, at) => {
    effort += states.size;
    if (effort > MOST_STATES) throw new UntrueError("the longest path of a player takes too long to find", false);
    const next = new Map();
    for (const state of states.values()) {
      for (const chosen of [state, withRoute(state, route)]) {
        const left = withoutCities(chosen, (city) => last.get(city) === at);
        if (left === null) continue;
        if (left.whole) {
          best = Math.max(best, left.length);
        } else if ((next.get(key(left))?.length ?? -1) < left.length) {
          next.set(key(left), left);
        }
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

/** Returns the routes in an order in which few cities are unfinished at a time. */
function breadthFirst(routes, cities) {
  const order = new Set();
  const seen = new Set();
  for (const start of cities) {
    const queue = seen.has(start) ? [] : [start];
    queue.forEach((city) => seen.add(city));
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
  }
  return [...order];
}
