// The stage: for a projector. Large, without controls; the match plays by itself, rests on its result, and begins again.

import { html } from "./markup.mjs";
import { signed } from "./names.mjs";
import { redraw } from "./redraw.mjs";
import { pointsByKind } from "./result.mjs";
import { seatChip } from "./said.mjs";

const REST_MS = 20_000; // on the result

/**
 * @param {import("./match.mjs").Match} match
 * @param {import("./clock.mjs").Clock} clock
 */
export function createStage(match, clock) {
  const heading = html("p", { class: "stage-title" });
  const scores = html("div", { class: "stage-scores" });
  const element = html("section", { class: "stage-only", "aria-label": "The match" }, heading, scores);
  let isOn = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let rest;

  /** @param {boolean} on */
  function set(on) {
    if (on === isOn) return;
    isOn = on;
    document.documentElement.classList.toggle("stage", on);
    clearTimeout(rest);
    if (on && !match.isRunning) clock.play();
    else clock.pause();
    show();
  }

  function show() {
    if (!isOn) return;
    const { turn } = match.timeline.at(match.n);
    heading.textContent = `${match.gameName} · turn ${turn}${match.hides || match.isRunning ? "" : ` of ${match.timeline.lastTurn}`}`;
    const { result } = match.view;
    const isOver = match.n === match.count && result !== undefined;
    redraw(scores, ...(isOver ? [ranking(match, result)] : []));
    document.documentElement.classList.toggle("over", isOver);
    clearTimeout(rest);
    if (match.n === match.count && match.count > 0 && !match.isRunning) {
      rest = setTimeout(() => {
        match.go(0);
        clock.play();
      }, REST_MS);
    }
  }
  return { element, show, set, isOn: () => isOn, stop: () => clearTimeout(rest) };
}

/**
 * Returns the teams by rank, each with its points and what they are made of.
 * @param {import("./match.mjs").Match} match
 * @param {import("./types.mjs").Result} result
 */
function ranking(match, { teams }) {
  const items = [...teams]
    .sort((one, other) => one.rank - other.rank)
    .map((team) =>
      html(
        "li",
        {},
        html("span", { class: "rank" }, `${team.rank}.`),
        html("span", { class: "ranked" }, ...team.seats.map((seat) => seatChip(match, seat))),
        html("b", {}, signed(team.points)),
        html("span", { class: "kinds" }, pointsByKind(match, team).map(([kind, points]) => `${kind} ${signed(points)}`).join(" · ")),
      ),
    );
  return html("ol", { class: "ranking" }, ...items);
}
