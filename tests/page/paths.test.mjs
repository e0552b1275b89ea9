// The way that lights up for a ticket is the cheapest one that the rules leave open.

import assert from "node:assert/strict";
import { test } from "node:test";

import { SHIPPED } from "../../protocol/verifiers/javascript/games.mjs";
import { closedTracks, limitsOf, shortestLeft as waysLeft } from "../../server/stellwerk_page/content/paths.mjs";
import { boardOf } from "./golden.mjs";

const route = (id, length, more = {}) => {
  const [a, b] = id.split("-");
  return { id, a, b, length, color: "red", ...more };
};
const DOUBLE = { parallel: 2 };

/** A view in which each seat has the routes given. */
const view = (routes, { teamSize = 1, more = () => ({}) } = {}) => ({
  players: routes.map((own, seat) => ({ seat, team: Math.floor(seat / teamSize), routes: own, ...more(seat) })),
});
const shortestLeft = (board, view, seat, ticket, limits = {}) => waysLeft(board, view, seat, ticket, limits);
const board = (routes, more = {}) => ({
  cities: [...new Set(routes.flatMap(({ a, b }) => [a, b]))].map((id) => ({ id, name: id })),
  routes,
  tickets: [{ id: "t", a: "a", b: "d", points: 1 }],
  ...more,
});

const SQUARE = [route("a-b", 2), route("b-d", 2), route("a-c", 1), route("c-d", 2)];

test("the way takes the fewest trains", () => {
  const way = shortestLeft(board(SQUARE), view([[], []]), 0, "t");
  assert.deepEqual(way, { routes: ["a-c", "c-d"], missing: ["a-c", "c-d"], borrowed: [], cities: ["a", "c", "d"], trains: 3 });
});

test("own routes cost nothing, and a way of them is a completed ticket", () => {
  const way = shortestLeft(board(SQUARE), view([["a-b"], []]), 0, "t");
  assert.deepEqual([way.routes, way.missing, way.trains], [["a-b", "b-d"], ["b-d"], 2]);
  assert.equal(shortestLeft(board(SQUARE), view([["a-b", "b-d"], []]), 0, "t").trains, 0);
});

test("routes of others are not open", () => {
  assert.deepEqual(shortestLeft(board(SQUARE), view([[], ["c-d"]]), 0, "t").routes, ["a-b", "b-d"]);
  assert.equal(shortestLeft(board(SQUARE), view([[], ["c-d", "b-d"]]), 0, "t"), null);
});

test("a partner's routes are those of the team", () => {
  const way = shortestLeft(board(SQUARE), view([[], ["a-b", "b-d"], [], []], { teamSize: 2 }), 0, "t");
  assert.equal(way.trains, 0);
});

test("of two ways with as many trains it is the one with fewer routes", () => {
  const routes = [route("a-b", 1), route("b-c", 1), route("c-d", 1), route("a-d", 3)];
  assert.deepEqual(shortestLeft(board(routes), view([[], []]), 0, "t").routes, ["a-d"]);
});

const TWO = [{ ...route("a-d", 1, DOUBLE), id: "a-d-1" }, { ...route("a-d", 1, DOUBLE), id: "a-d-2" }];
const THREE = [1, 2, 3].map((at) => ({ ...route("a-d", 1, { parallel: 3 }), id: `a-d-${at}` }));

for (const [tracks, limit, claimed, isOpen] of [
  [TWO, 1, 1, false],
  [TWO, undefined, 1, true],
  [THREE, 1, 1, false],
  [THREE, 2, 1, true],
  [THREE, 2, 2, false],
  [THREE, undefined, 2, true],
]) {
  test(`with ${limit ?? "all"} of ${tracks.length} tracks for the taking and ${claimed} claimed, the rest is ${isOpen ? "open" : "closed"}`, () => {
    const shown = view([[], ...tracks.slice(0, claimed).map(({ id }) => [id])]);
    const limits = limit === undefined ? {} : { [tracks.length]: limit };
    assert.equal(shortestLeft(board(tracks), shown, 0, "t", limits) !== null, isOpen);
    assert.equal(closedTracks(board(tracks), shown, limits).size, isOpen ? 0 : tracks.length - claimed);
  });
}

test("the limits of a match are those of its game's parts, for its number of seats", () => {
  const { parts } = [...SHIPPED.values()].find(({ parts }) => parts.menu.some(({ open_tracks: tracks }) => tracks?.[4]?.[3] === 2));
  const header = (seats, more = {}) => ({ game: "made_up", options: [], seats: Array(seats).fill({}), ...more });
  assert.deepEqual(limitsOf(header(4, { parts })), { 2: 1, 3: 2 });
  assert.deepEqual(limitsOf(header(6, { parts })), {});
  assert.deepEqual(limitsOf(header(4)), {}, "nobody knows the game");
});

test("ASIA-12: a route that is always open is never closed", () => {
  const tracks = TWO.map((each) => ({ ...each, always_open: true }));
  assert.equal(closedTracks(board(tracks), view([[], [], ["a-d-1"], []]), { 2: 1 }).size, 0);
});

test("UK-33: a ticket to a group of cities ends at any of them, and none leads to another", () => {
  const routes = [route("a-x", 5), route("a-b", 1), route("b-y", 1), route("x-d", 1)];
  const groups = { city_groups: { france: ["x", "y"] }, tickets: [{ id: "t", a: "a", b: "france", points: 1 }, { id: "u", a: "b", b: "d", points: 1 }] };
  assert.deepEqual(shortestLeft(board(routes, groups), view([[], []]), 0, "t").routes, ["a-b", "b-y"]);
  assert.equal(shortestLeft(board(routes, groups), view([["b-y"], []]), 0, "u").trains, 7);
});

test("EUR-12: a station lends one route of another player at its city", () => {
  const taken = [[], ["a-b", "b-d", "c-d"]];
  const built = (stations) => view(taken, { more: (seat) => ({ stations: seat === 0 ? stations : [] }) });
  assert.equal(shortestLeft(board(SQUARE), built([]), 0, "t"), null);
  const way = shortestLeft(board(SQUARE), built(["d"]), 0, "t");
  assert.deepEqual([way.routes, way.borrowed, way.trains], [["a-c", "c-d"], ["c-d"], 1]);
  const lent = [route("a-b", 1), route("b-d", 1)];
  const one = view([[], ["a-b", "b-d"]], { more: (seat) => (seat === 0 ? { stations: ["b"] } : {}) });
  assert.equal(shortestLeft(board(lent), one, 0, "t"), null, "one station lends one route, not two");
  const two = view([[], ["a-b", "b-d"]], { more: (seat) => (seat === 0 ? { stations: ["b", "a"] } : {}) });
  assert.equal(shortestLeft(board(lent), two, 0, "t").trains, 0);
});

test("no way and no ticket is null, not an error", () => {
  assert.equal(shortestLeft(board(SQUARE), view([[], []]), 0, "strange"), null);
  assert.equal(shortestLeft(board([route("a-b", 1), route("c-d", 1)]), view([[], []]), 0, "t"), null);
});

test("every ticket of the shipped boards has a way on the empty board", () => {
  for (const { board: id } of SHIPPED.values()) {
    const shipped = boardOf(id);
    if (shipped.routes === undefined) continue;
    for (const ticket of shipped.tickets) assert.ok(shortestLeft(shipped, view([[], [], [], []]), 0, ticket.id).trains > 0);
  }
});
