// Whether a board keeps the form and the bounds of BOARDS.md, and whether a game can be played on it.

import { CARDS, COLORS, isCards } from "./cards.mjs";
import { id, isFlag, isRecord, list, whole, wrongField } from "./forms.mjs";
import { partNamed } from "./games.mjs";
import { OPEN } from "./piles.mjs";

/** @typedef {Record<string, any>} Json */
/** @typedef {import("./forms.mjs").Test} Test */

/** A board that cannot be used, with the reason. */
export class BoardError extends Error {}

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
const isCoordinate = (value) => Number.isFinite(value) && value >= 0 && value <= 1000 && Number(value.toFixed(2)) === value;

/**
 * The fields of a board and of its records.
 * @type {Record<string, import("./forms.mjs").Form>}
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
 * Throws BoardError if a game cannot be played on a board (BOARDS.md, Which game takes which board).
 * @param {string} game its id
 * @param {import("./games.mjs").Parts} parts
 * @param {number} seats the most that the game has
 * @param {Json} file a board, as `expectBoard` demands it
 */
export function expectFit(game, parts, seats, file) {
  const { board_features: features, train_cards: dealt } = parts;
  const { routes = [], tickets, big_cities: bigCities = {} } = file;
  const hasMap = features.includes("map");
  expect(hasMap === routes.length > 0, game, hasMap ? "a map" : "no map");
  for (const route of routes) {
    expect(features.includes("ferries") || !route.locomotives, route.id, `no ferry in ${game}`);
    expect(features.includes("tunnels") || !route.tunnel, route.id, `no tunnel in ${game}`);
  }
  expect(features.includes("big_cities") || Object.keys(bigCities).length === 0, game, "no big cities");
  const long = tickets.filter((/** @type {Json} */ ticket) => ticket.long).length;
  const longNeeded = seats * (partNamed(parts, "long_tickets")?.number ?? 0);
  expect(features.includes("long_tickets") ? long >= longNeeded : long === 0, game, `${longNeeded} long tickets`);
  const needed = seats * (partNamed(parts, "first_tickets")?.number ?? 0);
  expect(tickets.length - long >= needed, game, `${needed} tickets for the largest number of players`);
  const locomotives = seats * (dealt.locomotives_dealt ?? 0);
  expect(file.locomotives >= locomotives, game, `${locomotives} locomotives`);
  const cards = COLORS.length * file.cards_each_color + file.locomotives;
  const least = seats * dealt.dealt + locomotives + OPEN + 1;
  expect(cards >= least, game, `${least} train cards`);
  const sale = partNamed(parts, "buy_technology");
  if (sale !== undefined) expectOpened(sale, file);
}

/**
 * Throws BoardError for a route that nothing opens: its regions and its length have to be known (UK-08, UK-11 to UK-15).
 * @param {import("./games.mjs").Part} sale the part `buy_technology`
 * @param {Json} file
 */
function expectOpened({ technologies, home_regions = [], home_lengths = [], overseas_regions = [] }, { cities, routes }) {
  const opened = (/** @type {string} */ field) => technologies.flatMap((/** @type {Json} */ technology) => technology[field] ?? []);
  const known = [...home_regions, ...overseas_regions, ...opened("opens_regions")];
  const lengths = [...home_lengths, ...opened("opens_lengths")];
  const regions = new Map(cities.map((/** @type {Json} */ city) => [city.id, city.region]));
  for (const [city, region] of regions) expect(known.includes(region), city, `one of the regions ${known.join(", ")}`);
  for (const { id: name, a, b, length } of routes) {
    const isOverseas = [a, b].some((city) => overseas_regions.includes(regions.get(city)));
    expect(isOverseas || lengths.includes(length), name, "a length that a technology opens");
  }
}

/**
 * @param {any} value
 * @param {string} kind
 * @param {string} where
 */
function expectFields(value, kind, where) {
  expect(isRecord(value), where, "an object");
  const wrong = wrongField(value, FIELDS[kind]);
  expect(wrong === null, `${where}.${wrong}`, "a value within its bounds, of a field that boards have");
}

/**
 * @param {boolean} holds
 * @param {string} where
 * @param {string} expected
 */
function expect(holds, where, expected) {
  if (!holds) throw new BoardError(`${where}: expected ${expected}`);
}
