// Where things lie on a map, out of the layout that the program has made (stellwerk_page/layout.py).
//
// Law: nothing is laid out here. Bends, spaces, names and marks are where the layout has them.

import { short } from "./markup.mjs";

/** @typedef {{x: number, y: number}} Point */
/** @typedef {[number, number, number, number]} Frame left, top, right and bottom */
/**
 * Where the text of a name is written, its anchor, and the box that it takes.
 * @typedef {[number, number, string, number, number, number, number]} Name
 */
/**
 * The layout in the page's data; `made_up` if the board's file has no places of cities. Lists of points are flat: x, y, x, y.
 * @typedef {{
 *   frame: Frame,
 *   made_up?: number,
 *   cities: Record<string, [number, number]>,
 *   names: Record<string, Name>,
 *   large_names: Record<string, Name>,
 *   grounds: ["water" | "rock", number, number[]][],
 *   routes: Record<string, {spaces: number[][], marks: ["locomotive" | "tunnel" | "doubtful", number, number][]}>,
 * }} Layout
 */
const ROOM = 14;

/** @typedef {{outline: Point[], middle: Point[], at: Point, angle: number, half: number}} Space */
/** @typedef {{spaces: Space[], line: Point[], at: Point, marks: {kind: string, at: Point}[]}} Track */

/**
 * @param {Layout} layout
 * @returns {Map<string, Track>} by the id of the route
 */
export function tracksOf(layout) {
  return new Map(Object.entries(layout.routes).map(([id, { spaces, marks }]) => [id, trackOf(spaces, marks)]));
}

/**
 * @param {number[][]} outlines
 * @param {[string, number, number][]} marks
 * @returns {Track}
 */
function trackOf(outlines, marks) {
  const spaces = outlines.map(spaceOf);
  const line = spaces.flatMap((space) => space.middle);
  return { spaces, line, at: placeAlong(line, 0.5), marks: marks.map(([kind, x, y]) => ({ kind, at: { x, y } })) };
}

/**
 * Returns the frame that has room for the large names, too.
 * @param {Layout} layout
 * @returns {Frame}
 */
export function largeFrame({ frame, large_names: names }) {
  const boxes = Object.values(names).map(([, , , ...box]) => box);
  const [left, top, right, bottom] = [0, 1, 2, 3].map((side) => boxes.map((box) => box[side] ?? 0));
  return [
    Math.min(frame[0], ...(left ?? []).map((x) => x - ROOM)),
    Math.min(frame[1], ...(top ?? []).map((y) => y - ROOM)),
    Math.max(frame[2], ...(right ?? []).map((x) => x + ROOM)),
    Math.max(frame[3], ...(bottom ?? []).map((y) => y + ROOM)),
  ];
}

/**
 * The outline goes along one side and back along the other, so the middle lies between its first and last points.
 * @param {number[]} flat
 * @returns {Space}
 */
function spaceOf(flat) {
  const outline = pointsOf(flat);
  const middle = outline.slice(0, outline.length / 2).map((one, index) => between(one, at(outline, -1 - index), 0.5));
  const [begin, end] = [at(middle, 0), at(middle, -1)];
  const [x, y] = [end.x - begin.x, end.y - begin.y];
  return { outline, middle, at: placeAlong(middle, 0.5), angle: Math.atan2(y, x), half: Math.hypot(x, y) / 2 };
}

/**
 * Returns the part of a space that one of several owners has: a lane along it.
 * @param {Space} space
 * @param {number} lane
 * @param {number} lanes
 * @returns {Point[]}
 */
export function laneOf({ outline }, lane, lanes) {
  if (lanes === 1) return outline;
  const one = outline.slice(0, outline.length / 2);
  const other = outline.slice(outline.length / 2).reverse();
  const side = (/** @type {number} */ part) => one.map((point, index) => between(point, at(other, index), part));
  return [...side(lane / lanes), ...side((lane + 1) / lanes).reverse()];
}

/**
 * Returns the point at a part of the way along a line.
 * @param {Point[]} line
 * @param {number} part
 * @returns {Point}
 */
export function placeAlong(line, part) {
  const lengths = line.slice(1).map((point, index) => distance(at(line, index), point));
  let left = part * lengths.reduce((sum, length) => sum + length, 0);
  for (const [index, length] of lengths.entries()) {
    if (left <= length && length > 0) return between(at(line, index), at(line, index + 1), left / length);
    left -= length;
  }
  return at(line, -1);
}

/** @param {Space} space @returns {(along: number, across: number) => [number, number]} */
export function inSpace({ at: { x, y }, angle }) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return (along, across) => [x + along * cos - across * sin, y + along * sin + across * cos];
}

/**
 * Returns the angle in degrees at which letters along a track can be read.
 * @param {number} angle in radians
 */
export function readable(angle) {
  const degrees = (angle * 180) / Math.PI;
  return degrees > 90 ? degrees - 180 : degrees < -90 ? degrees + 180 : degrees;
}

/** @param {Point} one @param {Point} other */
export const distance = (one, other) => Math.hypot(other.x - one.x, other.y - one.y);

/** @param {Point[]} points */
export const openPath = (points) => points.map(({ x, y }, index) => `${index > 0 ? "L" : "M"}${short(x)} ${short(y)}`).join("");

/** @param {Point[]} points */
export const closedPath = (points) => `${openPath(points)}Z`;

/** @param {number[]} flat @returns {Point[]} */
export function pointsOf(flat) {
  return Array.from({ length: flat.length / 2 }, (_, index) => ({ x: flat[2 * index] ?? 0, y: flat[2 * index + 1] ?? 0 }));
}

/** @param {Point} one @param {Point} other @param {number} part @returns {Point} */
function between(one, other, part) {
  return { x: one.x + (other.x - one.x) * part, y: one.y + (other.y - one.y) * part };
}

/** @param {Point[]} points @param {number} index @returns {Point} */
function at(points, index) {
  const point = points.at(index);
  if (point === undefined) throw new RangeError("a layout has a line without points");
  return point;
}
