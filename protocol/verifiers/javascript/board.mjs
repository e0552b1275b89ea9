// Board files and their digest (BOARDS.md). This program does not check whether a board is valid: one with a digest
// that you trust is.

import { canonical, digits, UntrueError } from "./canonical.mjs";

/** @typedef {{ id: string, name: string, region?: string, junction?: boolean }} City */
/**
 * @typedef {object} Route
 * @property {string} id
 * @property {string} a
 * @property {string} b
 * @property {number} length
 * @property {string} color
 * @property {number} locomotives the symbols of a ferry
 * @property {number} tunnel how many cards a tunnel reveals
 * @property {boolean} always_open
 * @property {readonly string[]} tracks of a double or triple route: the ids of all its tracks; else none
 */
/** @typedef {{ id: string, a: string, b: string, points: number, cards?: Record<string, number>, long: boolean }} Ticket */
/**
 * @typedef {object} Board
 * @property {string} id
 * @property {string} digest
 * @property {any} file its content, without fields that only repeat a default
 * @property {{ each: number, locomotives: number }} deck
 * @property {number} trains
 * @property {Record<string, number>} points of a route, by its length
 * @property {Map<string, City>} cities
 * @property {Record<string, string[]>} groups of cities
 * @property {Map<string, Route>} routes
 * @property {Map<string, Ticket>} tickets
 */

const DEFAULTS = { junction: false, locomotives: 0, tunnel: 0, parallel: 1, always_open: false, long: false, doubtful: false };

/**
 * Returns a board from the text of its file.
 * @param {string} text
 * @returns {Board}
 */
export function readBoard(text) {
  const file = JSON.parse(text);
  for (const record of [...file.cities, ...(file.routes ?? []), ...file.tickets]) {
    for (const [name, value] of Object.entries(DEFAULTS)) {
      if (record[name] === value) {
        delete record[name];
      }
    }
  }
  return {
    id: file.id,
    digest: digits(canonical(file, Number.isFinite)),
    file,
    deck: { each: file.cards_each_color, locomotives: file.locomotives },
    trains: file.trains,
    points: file.route_points,
    cities: byId(file.cities),
    groups: file.city_groups ?? {},
    routes: byId(routesOf(file.routes ?? [])),
    tickets: byId(file.tickets.map((/** @type {any} */ ticket) => ({ long: false, ...ticket }))),
  };
}

/**
 * @template {{ id: string }} T
 * @param {T[]} records
 * @returns {Map<string, T>}
 */
function byId(records) {
  return new Map(records.map((record) => [record.id, record]));
}

/**
 * @param {any[]} records
 * @returns {Route[]}
 */
function routesOf(records) {
  const cities = (/** @type {any} */ { a, b }) => [a, b].sort().join(" ");
  /** @type {Map<string, string[]>} */
  const tracks = new Map();
  for (const record of records.filter(({ parallel }) => parallel !== undefined)) {
    tracks.set(cities(record), [...(tracks.get(cities(record)) ?? []), record.id]);
  }
  return records.map(({ parallel, ...record }) => ({
    locomotives: 0,
    tunnel: 0,
    always_open: false,
    ...record,
    tracks: parallel === undefined ? [] : tracks.get(cities(record)),
  }));
}

/**
 * Returns the known board that a header names, or the one that it contains.
 * @param {any} header
 * @param {Board[]} boards
 * @returns {Board}
 */
export function boardOf(header, boards) {
  const { id, digest, content } = header.board;
  let board = boards.find((each) => each.digest === digest && each.id === id);
  if (content !== undefined) {
    if (digits(content) !== digest) {
      throw new UntrueError("the board's digest is not that of its content");
    }
    try {
      board = readBoard(content);
    } catch {
      throw new UntrueError("the board's content is no board");
    }
    if (board.digest !== digest) {
      throw new UntrueError("the board's content is not canonical");
    }
  }
  if (board === undefined) {
    throw new UntrueError(`the board ${id} with the digest ${digest} is not at hand`, false);
  }
  if (board.id !== id) {
    throw new UntrueError(`expected the board ${board.id}`);
  }
  return board;
}
