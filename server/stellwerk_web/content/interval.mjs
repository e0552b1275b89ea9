// Estimates with their intervals, drawn on one scale.
//
// Law: a drawing shows what the figures beside it say, and nothing more; so it is hidden from screen readers. Places
// are shares of the width: a drawing is as wide as there is room, and its lines and marks keep their size.

import { svg } from "../../stellwerk_page/content/markup.mjs";
import { signed } from "../../stellwerk_page/content/names.mjs";

/**
 * A limit that is null is not known: the line goes on to the edge.
 * @typedef {{middle: number, low: number | null, high: number | null}} Estimate
 */
/** @typedef {{low: number, high: number}} Scale */

const LEAST_ROOM = 100;

/**
 * Chooses a scale that all estimates fit in. Limits far beyond them do not make the rest small.
 * @param {Estimate[]} estimates
 * @returns {Scale}
 */
export function scaleOf(estimates) {
  const middles = estimates.length === 0 ? [0] : estimates.map(({ middle }) => middle);
  const [least, most] = [Math.min(...middles), Math.max(...middles)];
  const room = Math.max(0.5 * (most - least), LEAST_ROOM);
  const low = Math.max(Math.min(least, ...estimates.map((each) => each.low ?? least)), least - room);
  const high = Math.min(Math.max(most, ...estimates.map((each) => each.high ?? most)), most + room);
  const margin = 0.06 * (high - low) || 50;
  return { low: low - margin, high: high + margin };
}

/**
 * Returns round figures to draw lines at.
 * @param {Scale} scale
 * @param {number} [about] how many
 */
export function ticksOf({ low, high }, about = 4) {
  const rough = (high - low) / about;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * ([1, 2, 5, 10].find((factor) => magnitude * factor >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => step * (first + at));
}

/** @param {Scale} scale @param {number} value */
const share = ({ low, high }, value) => (value - low) / (high - low);
/** @param {number} part */
const percent = (part) => `${(100 * part).toFixed(2)}%`;

/** @param {Scale} scale */
const lines = (scale) =>
  ticksOf(scale).map((tick) => {
    const x = percent(share(scale, tick));
    return svg("line", { class: tick === 0 ? "zero" : "tick", x1: x, x2: x, y1: 0, y2: "100%" });
  });

/**
 * @param {Estimate} estimate
 * @param {Scale} scale
 */
export function intervalDrawing({ middle, low, high }, scale) {
  const parts = lines(scale);
  if (low !== null || high !== null) {
    const [from, to] = [low === null ? 0 : share(scale, low), high === null ? 1 : share(scale, high)];
    const [left, right] = [Math.min(Math.max(from, 0), 1), Math.min(Math.max(to, 0), 1)];
    parts.push(
      svg("line", { class: "reach", x1: percent(left), x2: percent(right), y1: "50%", y2: "50%" }),
      mark(left, low === null || from < 0 ? "M6 -4L0 0L6 4" : "M0 -5V5", "end"),
      mark(right, high === null || to > 1 ? "M-6 -4L0 0L-6 4" : "M0 -5V5", "end"),
    );
  }
  parts.push(mark(share(scale, middle), "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", "point"));
  return svg("svg", { class: "interval", "aria-hidden": "true" }, ...parts);
}

/** Draws the figures of the ticks. @param {Scale} scale */
export function axisDrawing(scale) {
  const numbers = ticksOf(scale)
    .filter((tick) => share(scale, tick) > 0.05 && share(scale, tick) < 0.95)
    .map((tick) => svg("text", { x: percent(share(scale, tick)), y: "70%", "text-anchor": "middle" }, signed(tick)));
  return svg("svg", { class: "axis", "aria-hidden": "true" }, ...numbers);
}

/**
 * @param {number} place
 * @param {string} path
 * @param {string} kind
 */
const mark = (place, path, kind) => svg("svg", { x: percent(place), y: "50%", overflow: "visible", width: 1, height: 1 }, svg("path", { d: path, class: kind }));
