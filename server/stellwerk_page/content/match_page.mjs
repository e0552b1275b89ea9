// The page of one match, put together of its parts.
//
// Law: a part that fails says so in its own place, and costs no other part anything.

import { actionsOf } from "./actions.mjs";
import { createBoardView } from "./board_view.mjs";
import { createCaption } from "./caption.mjs";
import { createCharts } from "./charts.mjs";
import { Clock } from "./clock.mjs";
import { computeHistory, withTimes } from "./history.mjs";
import { createKeyList, isForPage } from "./keys.mjs";
import { copy, createLink } from "./link.mjs";
import { html } from "./markup.mjs";
import { Match } from "./match.mjs";
import { usePaints } from "./paints.mjs";
import { createPiles } from "./piles.mjs";
import { createProof } from "./proof.mjs";
import { redraw } from "./redraw.mjs";
import { createResult } from "./result.mjs";
import { createRoutesTable } from "./routes_table.mjs";
import { createSeats } from "./seats.mjs";
import { createStage } from "./stage.mjs";
import { createStory } from "./story.mjs";
import { createTickets } from "./tickets.mjs";
import { createTimeBar } from "./time_bar.mjs";
import { createViewers } from "./viewers.mjs";

const PROOF_AFTER_MS = 400; // the match comes first

/** @typedef {import("./types.mjs").Pane} Pane */
/** @typedef {import("./history.mjs").Series} Series */

/**
 * @param {{replay: import("./types.mjs").Replay, board: import("./types.mjs").Board, bytes: Uint8Array, name: string,
 *   data: import("./data.mjs").PageData, opener: HTMLElement, times: any}} given
 */
export function createMatchPage({ replay, board, bytes, name, data, opener, times }) {
  const match = new Match(replay, board);
  const clock = new Clock(match);
  const stage = createStage(match, clock);
  const link = createLink(match, clock, stage);
  const told = html("p", { class: "told", role: "status" });
  const actions = actionsOf(match, clock, {
    goToTurn: () => time.focusTurn(),
    copyLink,
    stage: () => showStage(!stage.isOn()),
    keys: () => keys.toggle(),
    closed: () => (stage.isOn() ? showStage(false) : match.choose({})),
  });
  const keys = createKeyList(actions);
  const viewers = createViewers(match);
  const time = createTimeBar(match, clock, actions);
  const caption = createCaption(match, clock);
  const boardView = createBoardView(match, clock, data.layouts.get(replay.header?.board.digest ?? ""));
  const story = createStory(match);
  const proof = createProof(match, bytes, data.boards);
  const chartsPlace = html("section", { class: "pane charts-pane", "aria-labelledby": "charts-title" }, html("h2", { id: "charts-title" }, "Charts"));
  /** @type {ReturnType<typeof createCharts> | null} */
  let charts = null;
  let isStopped = false;
  const panes = {
    board: boardView,
    caption,
    time,
    piles: createPiles(match),
    seats: createSeats(match),
    tickets: createTickets(match),
    result: createResult(match),
    routes: createRoutesTable(match),
    story, // the last one, since it looks where its entries stand
  };
  const shown = Object.entries(panes).map(([part, pane]) => guarded(part, pane));

  const problems = [...replay.problems, ...match.positions.problems];
  const element = html(
    "div",
    { class: "page" },
    html(
      "header",
      { class: "top" },
      html("div", { class: "titles" }, html("h1", {}, match.players.map((player) => player.name).join(" · ")), html("p", { class: "game-name" }, match.gameName)),
      viewers.element,
      html(
        "div",
        { class: "tools" },
        opener,
        button("Copy link", () => actions.run("copyLink"), "Copy a link to this moment (C)"),
        button("Stage", () => actions.run("stage"), "Large, without controls, for a projector (S)"),
        button("Keys ?", () => actions.run("keys"), "All keys (?)"),
        told,
      ),
    ),
    html(
      "main",
      {},
      ...(problems.length === 0 ? [] : [html("div", { class: "problems", role: "alert" }, ...problems.map((problem) => html("p", {}, problem)))]),
      html(
        "div",
        { class: "watch" },
        stage.element,
        html("div", { class: "middle" }, boardView.element, caption.element, time.element),
        html("div", { class: "side first" }, panes.piles.element, panes.seats.element, panes.tickets.element),
        html("div", { class: "side second" }, story.element, chartsPlace),
      ),
      html("div", { class: "below" }, panes.result.element, proof.element, panes.routes.element),
    ),
    html("footer", { class: "muted" }, `${name}. Page made by Stellwerk ${data.version}.`),
    keys.element,
  );
  usePaints(element, match.players);

  function show() {
    const { n, view } = match;
    for (const part of shown) part(n, view);
    showCharts();
    stage.show();
    viewers.show();
  }
  match.on("go", show);
  match.on("viewer", () => {
    story.rebuild();
    show();
    void writeHistory();
  });
  match.on("hides", () => {
    story.rebuild();
    proof.show();
    show();
  });
  match.on("select", () => {
    panes.seats.show(match.n, match.view);
    panes.tickets.show(match.n, match.view);
  });

  /** @type {Series | null} of the viewer */
  let series = null;
  let chartsUpTo = -1;

  /** Computes what the charts show: for each viewer it is something else. */
  async function writeHistory() {
    const { viewer } = match;
    const isOver = () => isStopped || match.viewer !== viewer;
    const computed = await computeHistory(match.positions, board, match.players, { viewer, isOver });
    if (computed === null || isOver()) return;
    series = secondsOf(times, replay).length === 0 ? computed : withTimes(computed, secondsOf(times, replay), replay.moves.map(({ seat }) => seat));
    chartsUpTo = -1;
    showCharts();
  }

  function showCharts() {
    if (series === null) return;
    if (chartsUpTo !== match.horizon) {
      chartsUpTo = match.horizon;
      charts = createCharts(upTo(series, match.horizon), { onTurn: (/** @type {number} */ n) => match.go(n) });
      redraw(chartsPlace, html("h2", { id: "charts-title" }, "Charts"), charts.element);
    }
    charts?.show(match.n, { hideLater: match.hides });
  }

  async function copyLink() {
    const text = link.now();
    const isCopied = await copy(text);
    if (isCopied) redraw(told, document.createTextNode("Link copied."));
    else {
      const field = html("input", { type: "text", readonly: "", "aria-label": "Link to this moment", value: text });
      redraw(told, document.createTextNode("Copy it from here: "), field);
      /** @type {HTMLInputElement} */ (field).select();
    }
  }

  /** @param {boolean} isOn */
  function showStage(isOn) {
    stage.set(isOn);
    link.later();
    dispatchEvent(new Event("resize"));
  }

  // One listener for all references to routes, in whatever part they are.
  /** @param {globalThis.Event} event */
  const refOf = (event) => (event.target instanceof Element ? (event.target.closest(".ref[data-route]")?.getAttribute("data-route") ?? null) : null);
  element.addEventListener("pointerover", (event) => {
    const route = refOf(event);
    if (route !== null) boardView.look(route);
  });
  element.addEventListener("pointerout", (event) => {
    if (refOf(event) !== null) boardView.look(null);
  });
  element.addEventListener("focusin", (event) => {
    const route = refOf(event);
    if (route !== null) boardView.look(route);
  });
  element.addEventListener("focusout", (event) => {
    if (refOf(event) !== null) boardView.look(null);
  });
  element.addEventListener("click", (event) => {
    const route = refOf(event);
    if (route !== null) match.choose(route === match.select.route ? {} : { route });
  });

  /** @param {KeyboardEvent} event */
  function press(event) {
    const dialog = document.querySelector("dialog[open]");
    if (dialog !== null && event.key !== "?") return;
    if (!isForPage(event)) return;
    if (actions.runKey(event)) event.preventDefault();
  }
  addEventListener("keydown", press);

  function start() {
    link.follow();
    story.rebuild();
    show();
    setTimeout(() => proof.start(), PROOF_AFTER_MS);
    void writeHistory();
  }

  function stop() {
    isStopped = true;
    clock.pause();
    stage.stop();
    link.stop();
    proof.stop();
    removeEventListener("keydown", press);
  }
  return { element, start, stop };
}

/**
 * Returns the seconds of each move, out of the times that came with the replay (`stellwerk-times/1`); none if they
 * are those of another match.
 * @param {any} times
 * @param {import("./types.mjs").Replay} replay
 * @returns {(number | null)[]}
 */
function secondsOf(times, { header, moves }) {
  if (!Array.isArray(times?.seats) || (header?.match !== undefined && times.match !== header.match)) return [];
  const next = times.seats.map(() => 0);
  return moves.map(({ seat }) => {
    const took = times.seats[seat]?.[next[seat]++];
    return typeof took === "number" ? took / 1000 : null;
  });
}

/**
 * Returns what has been up to a position, as if there were no more.
 * @param {Series} series
 * @param {number} horizon
 * @returns {Series}
 */
function upTo({ positions, turns, charts, ...others }, horizon) {
  const count = positions.filter((n) => n <= horizon).length;
  const cut = charts.map((chart) => ({ ...chart, values: chart.values.map((values) => values.slice(0, count)) }));
  return { ...others, positions: positions.slice(0, count), turns: turns.slice(0, count), charts: cut };
}

/**
 * Returns a function that shows a pane, and puts a sentence into its place if that fails.
 * @param {string} part
 * @param {Pane} pane
 * @returns {(n: number, view: import("./types.mjs").View) => void}
 */
function guarded(part, pane) {
  let isBroken = false;
  return (n, view) => {
    if (isBroken) return;
    try {
      pane.show(n, view);
    } catch (error) {
      isBroken = true;
      pane.element.replaceChildren(html("p", { class: "failed", role: "alert" }, `This part of the page failed (${part}): ${error instanceof Error ? error.message : String(error)}`));
    }
  };
}

/**
 * @param {string} label
 * @param {() => void} press
 * @param {string} title
 */
function button(label, press, title) {
  const element = html("button", { type: "button", class: "button", title }, label);
  element.addEventListener("click", press);
  return element;
}
