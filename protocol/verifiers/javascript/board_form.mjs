// Whether a board keeps the form and the bounds of BOARDS.md, and whether a game can be played on it.

import { CARDS, COLORS, isCards } from "./cards.mjs";

/** @typedef {Record<string, any>} Json */
/** @typedef {(value: any) => boolean} Test */

/** A board that cannot be used, with the reason. */
export class BoardError extends Error {}

/** @type {(from: number, to: number) => Test} */
const whole = (from, to) => (value) => Number.isSafeInteger(value) && value >= from && value <= to;
/** @type {(most: number) => Test} */
const id = (most) => (value) => typeof value === "string" && value.length <= most && /^[a-z0-9][a-z0-9_]*$/.test(value);
/** @type {(most: number) => Test} */
const dashedId = (most) => (value) => typeof value === "string" && value.length <= most && /^[a-z0-9][a-z0-9_-]*$/.test(value);
/** @type {(most: number) => Test} */
const text = (most) => (value) =>
  typeof value === "string" &&
  value === value.trim() &&
  value !== "" &&
  [...value].length <= most &&
  !/[\p{Cc}\p{Surrogate}]/u.test(value);
/** @type {Test} */
const isFlag = (value) => typeof value === "boolean";
/** @type {Test} */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @type {(from: number, to: number) => Test} */
const list = (from, to) => (value) => Array.isArray(value) && value.length >= from && value.length <= to;
/** @type {Test} */
const isCoordinate = (value) => Number.isFinite(value) && value >= 0 && value <= 1000 && Number(value.toFixed(2)) === value;

/**
 * The fields of a board and of its records; those that end in `?` are optional.
 * @type {Record<string, Record<string, Test>>}
 */
const FIELDS = {
  board: {
    format: (value) => value === "stellwerk-board/1",
    id: id(32),
    title: text(40),
    provenance: text(400),
    cards_each_color: whole(1, 60),
    locomotives: whole(0, 60),
    "trains?": whole(1, 100),
    "route_points?": isRecord,
    cities: list(2, 128),
    "city_groups?": isRecord,
    "routes?": list(1, 256),
    tickets: list(1, 128),
    "big_cities?": isRecord,
  },
  city: { id: id(32), name: text(40), "x?": isCoordinate, "y?": isCoordinate, "region?": id(32), "junction?": isFlag },
  route: {
    id: dashedId(72),
    a: id(32),
    b: id(32),
    length: whole(1, 12),
    color: (value) => value === "gray" || COLORS.includes(value),
    "locomotives?": whole(0, 12),
    "tunnel?": whole(0, 10),
    "parallel?": whole(1, 3),
    "always_open?": isFlag,
    "doubtful?": isFlag,
  },
  ticket: {
    id: dashedId(72),
    a: id(32),
    b: id(32),
    points: whole(1, 200),
    "cards?": isCards,
    "long?": isFlag,
    "doubtful?": isFlag,
  },
};

/**
 * Throws BoardError if a value is no board.
 * @param {any} file
 */
export function expectBoard(file) {
  expectFields(file, "board", "the board");
  const { cities, routes, tickets, city_groups: groups = {} } = file;
  cities.forEach((/** @type {any} */ city, /** @type {number} */ index) => expectFields(city, "city", `cities[${index}]`));
  (routes ?? []).forEach((/** @type {any} */ route, /** @type {number} */ index) => expectFields(route, "route", `routes[${index}]`));
  tickets.forEach((/** @type {any} */ ticket, /** @type {number} */ index) => expectFields(ticket, "ticket", `tickets[${index}]`));
  for (const [name, records] of Object.entries({ cities, routes: routes ?? [], tickets })) {
    expect(new Set(records.map((/** @type {Json} */ each) => each.id)).size === records.length, name, "ids that differ");
  }
  const drawn = cities.filter((/** @type {Json} */ city) => "x" in city && "y" in city).length;
  const halfDrawn = cities.filter((/** @type {Json} */ city) => "x" in city !== "y" in city).length;
  expect(halfDrawn === 0 && (drawn === 0 || drawn === cities.length), "cities", "x and y for all cities or for none");
  const known = new Map(cities.map((/** @type {Json} */ city) => [city.id, city]));
  expectGroups(groups, known);
  for (const ticket of tickets) {
    for (const place of [ticket.a, ticket.b]) {
      const isPlace = Object.hasOwn(groups, place) || (known.has(place) && !known.get(place).junction);
      expect(isPlace, ticket.id, "a city or a group of cities, and no junction");
    }
    expect(ticket.a !== ticket.b, ticket.id, "two different places");
  }
  if (routes !== undefined) expectMap(file, known);
  else expectCards(file, known);
}

/**
 * @param {Json} groups
 * @param {Map<string, Json>} cities
 */
function expectGroups(groups, cities) {
  const names = Object.keys(groups);
  expect(names.length <= 32, "city_groups", "at most 32 groups");
  for (const name of names) {
    const members = groups[name];
    expect(id(32)(name) && !cities.has(name), `city_groups.${name}`, "an id that no city has");
    const isGroup = list(1, 32)(members) && new Set(members).size === members.length;
    expect(isGroup && members.every((/** @type {any} */ each) => cities.has(each)), `city_groups.${name}`, "1 to 32 cities");
  }
}

/**
 * @param {Json} file
 * @param {Map<string, Json>} cities
 */
function expectMap(file, cities) {
  expect("trains" in file && "route_points" in file && !("big_cities" in file), "the board", "trains and route_points, and no big_cities");
  for (const [length, points] of Object.entries(file.route_points)) {
    expect(/^([1-9]|1[0-2])$/.test(length) && whole(1, 200)(points), `route_points.${length}`, "points of a length");
  }
  /** @type {Map<string, Json[]>} */
  const doubles = new Map();
  for (const route of file.routes) {
    expect(cities.has(route.a) && cities.has(route.b) && route.a !== route.b, route.id, "two different cities");
    expect(Object.hasOwn(file.route_points, route.length), route.id, "a length with points");
    expect((route.locomotives ?? 0) <= route.length, route.id, "no more locomotives than spaces");
    const ends = [route.a, route.b].sort().join(" ");
    if ((route.parallel ?? 1) > 1) doubles.set(ends, [...(doubles.get(ends) ?? []), route]);
    else expect(route.always_open !== true, route.id, "always_open on double routes alone");
  }
  for (const tracks of doubles.values()) {
    const [first] = tracks;
    const areAlike = tracks.every(
      (track) => track.parallel === tracks.length && track.length === first.length && (track.always_open ?? false) === (first.always_open ?? false),
    );
    expect(areAlike, first.id, "as many tracks as `parallel` says, all of one length");
  }
  for (const ticket of file.tickets) expect(!("cards" in ticket), ticket.id, "no cards on a map");
  const reached = new Set([file.routes[0].a]);
  for (let before = 0; before < reached.size; ) {
    before = reached.size;
    for (const { a, b } of file.routes) {
      if (reached.has(a) || reached.has(b)) reached.add(a).add(b);
    }
  }
  expect(reached.size === cities.size, "routes", "routes that connect all cities");
}

/**
 * @param {Json} file
 * @param {Map<string, Json>} cities
 */
function expectCards(file, cities) {
  const isForeign = ["trains", "route_points", "city_groups"].some((name) => name in file);
  expect(!isForeign, "the board", "no trains, route_points or city_groups without routes");
  for (const [city, points] of Object.entries(file.big_cities ?? {})) {
    expect(cities.has(city) && whole(1, 200)(points), `big_cities.${city}`, "points of a city");
  }
  const inDeck = (/** @type {string} */ card) => (card === CARDS[CARDS.length - 1] ? file.locomotives : file.cards_each_color);
  for (const { id: name, cards } of file.tickets) {
    const numbers = Object.entries(cards ?? {});
    const fits = numbers.length > 0 && numbers.every(([card, number]) => number <= inDeck(card));
    expect(fits, name, "cards that the deck has");
  }
}

/**
 * What each game needs of a board (BOARDS.md, Which game takes which board).
 * @typedef {object} Needs
 * @property {boolean} map
 * @property {boolean} ferries
 * @property {boolean} tunnels
 * @property {number} long tickets
 * @property {number} tickets that are not long
 * @property {number} cards
 * @property {number} locomotives
 */
/** @type {Map<string, Needs>} */
const NEEDS = new Map(
  Object.entries({
    usa: { map: true, ferries: false, tunnels: false, long: 0, tickets: 15, cards: 26, locomotives: 0 },
    card_game: { map: false, ferries: false, tunnels: false, long: 0, tickets: 24, cards: 38, locomotives: 4 },
    team_asia: { map: true, ferries: false, tunnels: true, long: 0, tickets: 30, cards: 30, locomotives: 0 },
    united_kingdom: { map: true, ferries: true, tunnels: false, long: 0, tickets: 20, cards: 26, locomotives: 4 },
    europe: { map: true, ferries: true, tunnels: true, long: 5, tickets: 15, cards: 26, locomotives: 0 },
  }),
);

const LANDS = ["england", "france", "ireland", "overseas", "scotland", "wales"];
const LONGEST_OPENED = 6; // by a technology (UK-15)

/**
 * Throws BoardError if a game cannot be played on a board.
 * @param {string} game
 * @param {Json} file a board, as `expectBoard` demands it
 */
export function expectFit(game, file) {
  const needs = /** @type {Needs} */ (NEEDS.get(game));
  const { routes = [], tickets } = file;
  expect(needs.map === routes.length > 0, game, needs.map ? "a map" : "no map");
  for (const route of routes) {
    expect(needs.ferries || !route.locomotives, route.id, `no ferry in ${game}`);
    expect(needs.tunnels || !route.tunnel, route.id, `no tunnel in ${game}`);
  }
  const long = tickets.filter((/** @type {Json} */ ticket) => ticket.long).length;
  expect(needs.long > 0 ? long >= needs.long : long === 0, game, `${needs.long} long tickets`);
  expect(tickets.length - long >= needs.tickets, game, `${needs.tickets} tickets for the largest number of players`);
  expect(COLORS.length * file.cards_each_color + file.locomotives >= needs.cards, game, `${needs.cards} train cards`);
  expect(file.locomotives >= needs.locomotives, game, `${needs.locomotives} locomotives`);
  if (game === "united_kingdom") expectLands(file);
}

/** @param {Json} file */
function expectLands(file) {
  const lands = new Map(file.cities.map((/** @type {Json} */ city) => [city.id, city.region]));
  for (const [city, land] of lands) expect(LANDS.includes(land), city, `one of the regions ${LANDS.join(", ")}`);
  for (const { id: name, a, b, length } of file.routes) {
    const isOverseas = lands.get(a) === "overseas" || lands.get(b) === "overseas";
    expect(isOverseas || length <= LONGEST_OPENED, name, "a length that a technology opens");
  }
}

/**
 * @param {any} value
 * @param {string} kind
 * @param {string} where
 */
function expectFields(value, kind, where) {
  expect(isRecord(value), where, "an object");
  const fields = new Map(Object.entries(FIELDS[kind]).map(([name, isRight]) => [name.replace("?", ""), { isRight, must: !name.endsWith("?") }]));
  for (const [name, { isRight, must }] of fields) {
    if (must || Object.hasOwn(value, name)) expect(isRight(value[name]), `${where}.${name}`, "a value within its bounds");
  }
  for (const name of Object.keys(value)) expect(fields.has(name), `${where}.${name}`, "no such field");
}

/**
 * @param {boolean} holds
 * @param {string} where
 * @param {string} expected
 */
function expect(holds, where, expected) {
  if (!holds) throw new BoardError(`${where}: expected ${expected}`);
}
