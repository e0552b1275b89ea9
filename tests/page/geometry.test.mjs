// The page reads the layout that the program has made, and adds nothing.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inSpace, laneOf, largeFrame, placeAlong, readable, tracksOf } from "../../server/stellwerk_page/content/geometry.mjs";

const LAYOUT = {
  frame: [0, 0, 100, 50],
  cities: {},
  names: {},
  large_names: { a: [0, 0, "start", -20, 5, 30, 20] },
  grounds: [],
  // Two spaces from left to right, 10 wide: along the upper side, back along the lower one.
  routes: { r: { spaces: [[0, 0, 40, 0, 40, 10, 0, 10], [50, 0, 90, 0, 90, 10, 50, 10]], marks: [["tunnel", 20, 5]] } },
};
const track = tracksOf(LAYOUT).get("r");

test("the middle of a space lies between its two sides", () => {
  assert.deepEqual(track.spaces.map(({ at, half, angle }) => [at, half, angle]), [[{ x: 20, y: 5 }, 20, 0], [{ x: 70, y: 5 }, 20, 0]]);
  assert.deepEqual(track.at, { x: 45, y: 5 });
  assert.deepEqual(track.marks, [{ kind: "tunnel", at: { x: 20, y: 5 } }]);
});

test("owners of one track have lanes that fill it without lying on one another", () => {
  const [one, other] = [0, 1].map((lane) => laneOf(track.spaces[0], lane, 2).map(({ y }) => y));
  assert.deepEqual([one, other], [[0, 0, 5, 5], [5, 5, 10, 10]]);
});

test("stripes lie in their space, whatever its direction", () => {
  const place = inSpace({ at: { x: 10, y: 10 }, angle: Math.PI / 2 });
  assert.deepEqual(place(3, 1).map(Math.round), [9, 13]);
});

test("a line is measured along its bends", () => {
  assert.deepEqual(placeAlong([{ x: 0, y: 0 }, { x: 10, y: 0 }, { x: 10, y: 30 }], 0.5), { x: 10, y: 10 });
});

test("no letter stands on its head", () => {
  for (let angle = -Math.PI; angle <= Math.PI; angle += 0.1) assert.ok(Math.abs(readable(angle)) <= 90);
});

test("the large names are within their frame", () => {
  const [left, , right] = largeFrame(LAYOUT);
  assert.ok(left < -20);
  assert.equal(right, 100);
});
