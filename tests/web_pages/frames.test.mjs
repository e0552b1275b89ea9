// Drawings of what streams bring: together, and not never.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { drawnTogether } from "../../server/stellwerk_web/content/frames.mjs";

/** @type {(() => void)[]} */
let frames = [];
const globals = /** @type {any} */ (globalThis);
globals.requestAnimationFrame = (/** @type {() => void} */ run) => frames.push(run);

test("what comes within the same moment is drawn once, in the next frame", () => {
  frames = [];
  let drawn = 0;
  const draw = drawnTogether(() => void drawn++);
  draw();
  draw();
  for (const run of frames.splice(0)) run();
  assert.equal(drawn, 1);
  draw();
  for (const run of frames.splice(0)) run();
  assert.equal(drawn, 2);
});

test("a page that gets no frames is drawn after a second, once", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  frames = [];
  let drawn = 0;
  const draw = drawnTogether(() => void drawn++);
  draw();
  mock.timers.tick(999);
  assert.equal(drawn, 0);
  mock.timers.tick(1);
  assert.equal(drawn, 1);
  for (const run of frames.splice(0)) run();
  assert.equal(drawn, 1);
  mock.timers.reset();
});
