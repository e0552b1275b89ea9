// The board of a replay: from the page, or from the file itself.
//
// Law: a board that came with the page was checked by the program that made it. One out of a file opened here is
// looked through before anything is drawn of it.

import { excerpt } from "./replay_file.mjs";

/** @typedef {import("./types.mjs").Board} Board */

/**
 * Returns the board of a replay, or the sentence that says why there is none.
 * @param {import("./types.mjs").Header} header
 * @param {Map<string, string>} boards those of the page, from digest to text
 * @returns {Board | string}
 */
export function boardFor(header, boards) {
  const { id, digest, content } = header.board;
  const known = boards.get(digest);
  if (known !== undefined) return JSON.parse(known);
  if (content === undefined) {
    return `The board ${excerpt(id)} of this file is not in this page, nor in the file. Make a page of its own for it: stellwerk replay page FILE`;
  }
  /** @type {unknown} */
  let board;
  try {
    board = JSON.parse(content);
  } catch {
    return "The board in this file is not JSON.";
  }
  return isBoard(board) ? board : "The board in this file is no board.";
}

/** @param {unknown} value @returns {value is Record<string, any>} */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @param {unknown} value */
const isText = (value) => typeof value === "string" && value.length <= 400;
/** @param {unknown} value */
const isNumber = (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 1000;

/**
 * @param {unknown} value
 * @returns {value is Board}
 */
function isBoard(value) {
  if (!isRecord(value)) return false;
  const { cities, routes = [], tickets, city_groups: groups = {} } = value;
  return (
    isText(value.id) &&
    isText(value.title) &&
    areRecords(cities) &&
    areRecords(routes) &&
    areRecords(tickets) &&
    isRecord(groups) &&
    Object.values(groups).every((members) => Array.isArray(members) && members.every(isText)) &&
    cities.every(({ id, name }) => isText(id) && isText(name)) &&
    routes.every(({ id, a, b, color, length }) => [id, a, b, color].every(isText) && isNumber(length)) &&
    tickets.every(({ id, a, b, points, cards = {} }) => [id, a, b].every(isText) && isNumber(points) && isRecord(cards) && Object.values(cards).every(isNumber))
  );
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>[]}
 */
const areRecords = (value) => Array.isArray(value) && value.length <= 1000 && value.every(isRecord);
