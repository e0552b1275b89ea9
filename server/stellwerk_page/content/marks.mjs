// What happens when, along the slider: claims in the color of their seat, and signs for the rest.
//
// Law: marks are for the eye only. Who cannot see them steps from mark to mark with keys, and hears each move.

import { html, svg } from "./markup.mjs";
import { applySeat } from "./paints.mjs";
import { MARK_NAMES } from "./timeline.mjs";

/** @typedef {import("./timeline.mjs").MarkKind} MarkKind */

const HEIGHT = 24;
const SCALE = 1000; // units from the first to the last position

/** Signs around (0, 0), in pixels. @type {Record<Exclude<MarkKind, "claim">, string>} */
const SIGNS = {
  ticket: "M-3.5 -3H3.5V3H-3.5Z",
  tunnel: "M-4 4V0A4 4 0 0 1 4 0V4H1.5V0.5A1.5 1.5 0 0 0 -1.5 0.5V4Z",
  station: "M-4 4V-1L0 -4L4 -1V4Z",
  technology: "M0 -4.5L4.5 0L0 4.5L-4.5 0Z",
  fault: "M-4 -3L-3 -4L0 -1L3 -4L4 -3L1 0L4 3L3 4L0 1L-3 4L-4 3L-1 0Z",
  last_round: "M-1 -12H1V12H-1ZM1 -12H9L6 -8.5L9 -5H1Z",
  half: "M-1 -12H1V12H-1Z",
};

/** @param {Exclude<MarkKind, "claim">} kind */
const signOf = (kind) =>
  svg("svg", { class: `mark-sign sign-${kind}`, viewBox: "-5 -5 10 10", width: 9, height: 9 }, svg("path", { d: SIGNS[kind] }));

/** Returns what each mark means. */
export function markLegend() {
  const kinds = /** @type {MarkKind[]} */ (Object.keys(MARK_NAMES));
  return html(
    "ul",
    { class: "mark-legend" },
    ...kinds.map((kind) => {
      const sign = kind === "claim" ? html("span", { class: "bar" }) : signOf(kind);
      return html("li", {}, html("span", { class: "sign-place", "aria-hidden": "true" }, sign), MARK_NAMES[kind]);
    }),
  );
}

/** @param {import("./match.mjs").Match} match */
export function createMarks(match) {
  const element = html("div", { class: "marks", "aria-hidden": "true" });
  let drawn = "";

  function show() {
    const horizon = match.horizon;
    const state = `${horizon} ${match.timeline.marks.length}`;
    if (state === drawn) return;
    drawn = state;
    const last = Math.max(horizon, 1);
    const seen = match.timeline.marks.filter(({ n }) => n <= horizon);
    // Bars stretch with the slider; signs must not, so they are elements of their own.
    const bars = svg(
      "svg",
      { class: "mark-bars", viewBox: `0 0 ${SCALE} ${HEIGHT}`, preserveAspectRatio: "none" },
      ...seen.filter(({ kind }) => kind === "claim").map(({ n, seat }) => {
        const x = (n / last) * SCALE;
        const bar = svg("path", { class: "mark-claim", d: `M${x.toFixed(1)} 13V${HEIGHT}` });
        if (seat !== null) applySeat(bar, seat);
        return bar;
      }),
    );
    const signs = seen.flatMap(({ n, kind, seat }) => {
      if (kind === "claim" || (kind === "ticket" && match.timeline.turns[n] === 0)) return [];
      const sign = signOf(kind);
      sign.style.left = `${(n / last) * 100}%`;
      if (seat !== null) applySeat(sign, seat);
      return [sign];
    });
    element.replaceChildren(bars, ...signs);
  }
  return { element, show };
}
