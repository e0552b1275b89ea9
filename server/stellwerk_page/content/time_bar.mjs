// The bar of time: the slider with its marks, the steps, the number of the turn, the speed.
//
// Law: the slider stays one element for as long as the match is open, so it keeps the focus while it moves. In the
// mode without spoilers nothing here shows how long the match is.

import { SPEEDS } from "./address.mjs";
import { moveInWords } from "./caption.mjs";
import { icon } from "./icons.mjs";
import { html } from "./markup.mjs";
import { createMarks } from "./marks.mjs";

/** @typedef {import("./actions.mjs").ActionName} ActionName */

/** @type {[ActionName, string][]} */
const STEPS = [
  ["first", "first"],
  ["roundBack", "roundBack"],
  ["turnBack", "turnBack"],
  ["moveBack", "moveBack"],
  ["play", "play"],
  ["moveOn", "moveOn"],
  ["turnOn", "turnOn"],
  ["roundOn", "roundOn"],
  ["last", "last"],
  ["markBack", "markBack"],
  ["markOn", "markOn"],
];

/**
 * @param {import("./match.mjs").Match} match
 * @param {import("./clock.mjs").Clock} clock
 * @param {import("./actions.mjs").Actions} actions
 */
export function createTimeBar(match, clock, actions) {
  const marks = createMarks(match);
  const slider = /** @type {HTMLInputElement} */ (
    html("input", { type: "range", min: 0, max: match.count, step: 1, value: 0, "aria-label": "Move", class: "slider" })
  );
  const turn = /** @type {HTMLInputElement} */ (
    html("input", { type: "text", inputmode: "numeric", pattern: "[0-9]*", size: 4, maxlength: 5, id: "turn", autocomplete: "off" })
  );
  const of = html("span", { class: "of-turns" });
  const speed = /** @type {HTMLSelectElement} */ (
    html("select", { id: "speed" }, ...SPEEDS.map((each) => html("option", { value: each }, `${each}×`)))
  );
  const buttons = new Map(
    STEPS.map(([name, sign]) => {
      const { label, keys } = actions.describe(name);
      const button = html("button", { type: "button", class: `step ${name}`, "aria-label": label, title: `${label} (${keys})` }, icon(sign));
      button.addEventListener("click", () => actions.run(name));
      return [name, button];
    }),
  );
  const element = html(
    "section",
    { class: "time", "aria-label": "Time" },
    html("div", { class: "rail" }, marks.element, slider),
    html(
      "div",
      { class: "time-row" },
      html("div", { class: "steps", role: "group", "aria-label": "Steps" }, ...buttons.values()),
      html("div", { class: "time-field" }, html("label", { for: "turn" }, "Turn"), turn, of),
      html("div", { class: "time-field" }, html("label", { for: "speed" }, "Speed"), speed),
    ),
  );

  slider.addEventListener("input", () => {
    clock.pause();
    match.go(Number(slider.value));
  });
  turn.addEventListener("focus", () => turn.select());
  turn.addEventListener("change", goToTurn);
  turn.addEventListener("keydown", (event) => {
    if (event.key === "Enter") goToTurn();
    else if (event.key === "Escape") turn.value = String(match.timeline.at(match.n).turn);
  });
  speed.addEventListener("change", () => clock.setSpeed(Number(speed.value)));

  function goToTurn() {
    const wanted = turn.value.trim();
    if (/^\d+$/.test(wanted)) {
      clock.pause();
      match.go(match.timeline.after(Number(wanted)));
    }
    turn.value = String(match.timeline.at(match.n).turn);
  }

  function show() {
    const { turn: number, move, isWhole } = match.timeline.at(match.n);
    const steps = isWhole || number === 0 ? "" : `, move ${move}`;
    slider.max = String(match.horizon);
    slider.value = String(match.n);
    slider.setAttribute("aria-valuetext", `Turn ${number}${steps}. ${moveInWords(match, match.n)}`);
    if (document.activeElement !== turn) turn.value = String(number);
    of.textContent = `${match.hides ? "" : `of ${match.timeline.lastTurn}${match.isRunning ? " so far" : ""}`}${steps}`;
    marks.show();
    showClock();
  }

  function showClock() {
    const button = buttons.get("play");
    if (button !== undefined && button.dataset.running !== String(clock.isRunning)) {
      button.dataset.running = String(clock.isRunning);
      button.setAttribute("aria-label", clock.isRunning ? "Pause" : "Play");
      button.replaceChildren(icon(clock.isRunning ? "pause" : "play"));
    }
    if (speed.value !== String(clock.speed)) speed.value = String(clock.speed);
  }
  clock.on(showClock);
  return { element, show, focusTurn: () => turn.focus() };
}
