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
import { usePaints } from "./paints.mjs";
import { createPiles } from "./piles.mjs";
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
 * `layout`: where the board's tracks and names lie, if anybody knows; `proof`: what checks the match, if anything can;
 * `tools`: the first of the buttons; `times`: of the moves, which nobody has verified.
 * @param {{match: import("./match.mjs").Match, layout: any, proof: ReturnType<typeof import("./proof.mjs").createProof> | null,
 *   tools: HTMLElement[], footer: string, times?: any}} given
 */
export function createMatchPage({ match, layout, proof, tools, footer, times }) {
  const { replay, board } = match;
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
  const boardView = createBoardView(match, clock, layout);
  const story = createStory(match);
  /** What was computed last, and up to where it still holds. @type {{viewer: import("./types.mjs").Viewer, series: Series, since: number} | null} */
  let measured = null;
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

  const problems = html("div", { class: "problems", role: "alert" });
  showProblems();
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
        ...tools,
        button("Copy link", () => actions.run("copyLink"), "Copy a link to this moment (C)"),
        button("Stage", () => actions.run("stage"), "Large, without controls, for a projector (S)"),
        button("Keys ?", () => actions.run("keys"), "All keys (?)"),
        told,
      ),
    ),
    html(
      "main",
      {},
      problems,
      html(
        "div",
        { class: "watch" },
        stage.element,
        html("div", { class: "middle" }, boardView.element, caption.element, time.element),
        html("div", { class: "side first" }, panes.piles.element, panes.seats.element, panes.tickets.element),
        html("div", { class: "side second" }, story.element, chartsPlace),
      ),
      html("div", { class: "below" }, panes.result.element, ...(proof === null ? [] : [proof.element]), panes.routes.element),
    ),
    html("footer", { class: "muted" }, footer),
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
    proof?.show();
    show();
  });
  match.on("grow", () => {
    showProblems();
    // What is shown of the position itself is told as "go", if it is another one.
    for (const part of [panes.time, panes.result]) part.show();
    void writeHistory();
  });
  match.on("select", () => {
    panes.seats.show(match.n, match.view);
    panes.tickets.show(match.n, match.view);
  });

  function showProblems() {
    const sentences = [...replay.problems, ...match.positions.problems];
    problems.hidden = sentences.length === 0;
    if (sentences.length !== problems.childElementCount) problems.replaceChildren(...sentences.map((problem) => html("p", {}, problem)));
  }

  /** @type {Series | null} of the viewer */
  let series = null;
  let chartsUpTo = -1;
  /** What is computed now, and holds as long as nobody wants something else. */
  let wanted = 0;

  /** Computes what the charts show: for each viewer it is something else, and a match can grow. */
  async function writeHistory() {
    const { viewer } = match;
    const mine = ++wanted;
    const isOver = () => isStopped || mine !== wanted;
    const before = measured?.viewer === viewer ? measured : null;
    const since = Math.min(before?.since ?? 0, match.grown);
    if (before !== null) before.since = since;
    const computed = await computeHistory(match.positions, board, match.players, { viewer, isOver, before: before?.series ?? null, since });
    if (computed === null || isOver()) return;
    measured = { viewer, series: computed, since: match.count + 1 };
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
    if (proof !== null) setTimeout(proof.start, PROOF_AFTER_MS);
    void writeHistory();
  }

  function stop() {
    isStopped = true;
    clock.pause();
    stage.stop();
    link.stop();
    proof?.stop();
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
