// The way that lights up for a ticket is the cheapest one that the rules leave open.

import assert from "node:assert/strict";
import { test } from "node:test";

import { closedTracks, shortestLeft } from "../../server/stellwerk_page/content/paths.mjs";
import { boardOf } from "./golden.mjs";

const route = (id, length, more = {}) => {
  const [a, b] = id.split("-");
  return { id, a, b, length, color: "red", ...more };
};
const DOUBLE = { parallel: 2 };

/** A view in which each seat has the routes given. */
const view = (game, routes, more = () => ({})) => ({
  game,
  players: routes.map((own, seat) => ({ seat, team: game === "team_asia" ? seat >> 1 : seat, routes: own, ...more(seat) })),
});
const board = (routes, more = {}) => ({
  cities: [...new Set(routes.flatMap(({ a, b }) => [a, b]))].map((id) => ({ id, name: id })),
  routes,
  tickets: [{ id: "t", a: "a", b: "d", points: 1 }],
  ...more,
});

const SQUARE = [route("a-b", 2), route("b-d", 2), route("a-c", 1), route("c-d", 2)];

test("the way takes the fewest trains", () => {
  const way = shortestLeft(board(SQUARE), view("usa", [[], []]), 0, "t");
  assert.deepEqual(way, { routes: ["a-c", "c-d"], missing: ["a-c", "c-d"], borrowed: [], cities: ["a", "c", "d"], trains: 3 });
});

test("own routes cost nothing, and a way of them is a completed ticket", () => {
  const way = shortestLeft(board(SQUARE), view("usa", [["a-b"], []]), 0, "t");
  assert.deepEqual([way.routes, way.missing, way.trains], [["a-b", "b-d"], ["b-d"], 2]);
  assert.equal(shortestLeft(board(SQUARE), view("usa", [["a-b", "b-d"], []]), 0, "t").trains, 0);
});

test("routes of others are not open", () => {
  assert.deepEqual(shortestLeft(board(SQUARE), view("usa", [[], ["c-d"]]), 0, "t").routes, ["a-b", "b-d"]);
  assert.equal(shortestLeft(board(SQUARE), view("usa", [[], ["c-d", "b-d"]]), 0, "t"), null);
});

test("a partner's routes are those of the team", () => {
  const way = shortestLeft(board(SQUARE), view("team_asia", [[], ["a-b", "b-d"], [], []]), 0, "t");
  assert.equal(way.trains, 0);
});

test("of two ways with as many trains it is the one with fewer routes", () => {
  const routes = [route("a-b", 1), route("b-c", 1), route("c-d", 1), route("a-d", 3)];
  assert.deepEqual(shortestLeft(board(routes), view("usa", [[], []]), 0, "t").routes, ["a-d"]);
});

const TWO = [{ ...route("a-d", 1, DOUBLE), id: "a-d-1" }, { ...route("a-d", 1, DOUBLE), id: "a-d-2" }];
const THREE = [1, 2, 3].map((at) => ({ ...route("a-d", 1, { parallel: 3 }), id: `a-d-${at}` }));

for (const [game, seats, tracks, claimed, isOpen, rule] of [
  ["usa", 3, TWO, 1, false, "USA-11"],
  ["usa", 4, TWO, 1, true, "USA-11"],
  ["europe", 2, TWO, 1, false, "EUR-06"],
  ["europe", 4, TWO, 1, true, "EUR-06"],
  ["united_kingdom", 2, TWO, 1, false, "UK-03"],
  ["united_kingdom", 3, TWO, 1, true, "UK-03"],
  ["team_asia", 4, TWO, 1, false, "ASIA-12"],
  ["team_asia", 6, TWO, 1, true, "ASIA-12"],
  ["team_asia", 4, THREE, 1, true, "ASIA-13"],
  ["team_asia", 4, THREE, 2, false, "ASIA-13"],
  ["team_asia", 6, THREE, 2, true, "ASIA-13"],
]) {
  test(`${rule}: in ${game} with ${seats} players, ${claimed} of ${tracks.length} tracks claimed: ${isOpen ? "open" : "closed"}`, () => {
    const others = tracks.slice(0, claimed).map(({ id }) => [id]);
    const owners = Array.from({ length: seats }, (_, seat) => others[seat - 2] ?? (seats === 2 && seat === 1 ? (others[0] ?? []) : []));
    if (seats === 3) owners[1] = others[0];
    if (seats === 3) owners[2] = [];
    const shown = view(game, owners);
    const way = shortestLeft(board(tracks), shown, 0, "t");
    assert.equal(way !== null, isOpen);
    assert.equal(closedTracks(board(tracks), shown).size, isOpen ? 0 : tracks.length - claimed);
  });
}

test("ASIA-12: a route that is always open is never closed", () => {
  const tracks = TWO.map((each) => ({ ...each, always_open: true }));
  assert.equal(closedTracks(board(tracks), view("team_asia", [[], [], ["a-d-1"], []])).size, 0);
});

test("UK-33: a ticket to a group of cities ends at any of them, and none leads to another", () => {
  const routes = [route("a-x", 5), route("a-b", 1), route("b-y", 1), route("x-d", 1)];
  const groups = { city_groups: { france: ["x", "y"] }, tickets: [{ id: "t", a: "a", b: "france", points: 1 }, { id: "u", a: "b", b: "d", points: 1 }] };
  assert.deepEqual(shortestLeft(board(routes, groups), view("united_kingdom", [[], []]), 0, "t").routes, ["a-b", "b-y"]);
  assert.equal(shortestLeft(board(routes, groups), view("united_kingdom", [["b-y"], []]), 0, "u").trains, 7);
});

test("EUR-12: a station lends one route of another player at its city", () => {
  const taken = [[], ["a-b", "b-d", "c-d"]];
  const built = (stations) => view("europe", taken, (seat) => (seat === 0 ? { stations } : { stations: [] }));
  assert.equal(shortestLeft(board(SQUARE), built([]), 0, "t"), null);
  const way = shortestLeft(board(SQUARE), built(["d"]), 0, "t");
  assert.deepEqual([way.routes, way.borrowed, way.trains], [["a-c", "c-d"], ["c-d"], 1]);
  const lent = [route("a-b", 1), route("b-d", 1)];
  const one = view("europe", [[], ["a-b", "b-d"]], (seat) => (seat === 0 ? { stations: ["b"] } : {}));
  assert.equal(shortestLeft(board(lent), one, 0, "t"), null, "one station lends one route, not two");
  const two = view("europe", [[], ["a-b", "b-d"]], (seat) => (seat === 0 ? { stations: ["b", "a"] } : {}));
  assert.equal(shortestLeft(board(lent), two, 0, "t").trains, 0);
});

test("no way and no ticket is null, not an error", () => {
  assert.equal(shortestLeft(board(SQUARE), view("usa", [[], []]), 0, "strange"), null);
  assert.equal(shortestLeft(board([route("a-b", 1), route("c-d", 1)]), view("usa", [[], []]), 0, "t"), null);
});

test("every ticket of the shipped boards has a way on the empty board", () => {
  for (const id of ["usa", "team_asia", "united_kingdom", "europe"]) {
    const shipped = boardOf(id);
    for (const ticket of shipped.tickets) assert.ok(shortestLeft(shipped, view(id, [[], [], [], []]), 0, ticket.id).trains > 0);
  }
});
