// The wall: a few tables for a hall, the one where most happens large.
//
// Law: nothing here has to be touched, and everything can be read from far away. The server chooses what is shown, and
// its pace; this page draws it.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { excerpt } from "../../stellwerk_page/content/replay_file.mjs";
import { createConnection, createReloadOffer } from "./connection.mjs";
import { drawnTogether } from "./frames.mjs";
import { signed } from "../../stellwerk_page/content/names.mjs";
import { durationOf } from "./progress.mjs";
import { follow } from "./stream.mjs";
import { createWallTable } from "./wall_table.mjs";

/** @typedef {ReturnType<typeof createWallTable>} WallTable */
/** @typedef {import("./overview_state.mjs").Summary} Summary */

const connection = createConnection({ retry: () => stream.now() });
const offer = createReloadOffer();
const heading = html("h1", {}, "Stellwerk");
const counts = html("p", { class: "wall-counts" });
const leaders = html("ol", { class: "wall-leaders", "aria-label": "Ranking" });
const home = html("a", { href: "/", class: "wall-home" }, "Overview");
const grid = html("main", { class: "wall-grid" });
const root = html("div", { class: "wall" }, html("header", {}, html("div", { class: "wall-top" }, heading, counts, connection.element, home), offer.element, leaders), grid);
document.documentElement.classList.add("is-wall");
document.getElementById("waiting")?.replaceWith(root);

/** @type {WallTable[]} */
let tables = [];
/** @type {Set<WallTable>} */
const changed = new Set();
/** @type {Partial<Summary>} */
let summary = {};
let main = 0;
let queue = { waiting: 0, not_shown: 0 };

// Each table in a task of its own: nine at once would stop the picture for a moment.
const draw = drawnTogether(() => {
  const [next] = changed;
  if (next === undefined) return;
  changed.delete(next);
  next.show();
  if (changed.size > 0) draw();
});
const drawTop = drawnTogether(showTop, 500);

const stream = follow("/stream/wall", {
  state(state) {
    summary = state.overview;
    queue = { waiting: state.waiting, not_shown: state.not_shown };
    if (tables.length !== state.tables.length) {
      tables = state.tables.map((/** @type {any} */ _, /** @type {number} */ number) => createWallTable(number));
      grid.replaceChildren(...tables.map(({ element }) => element));
      grid.dataset.tables = String(tables.length);
    }
    for (const table of state.tables) tables[table.table]?.put(table);
    choose(state.main);
    drawTop();
  },
  change(change) {
    if (change.overview !== undefined) summary = { ...summary, ...change.overview };
    for (const table of change.put ?? []) tables[table.table]?.put(table);
    for (const given of change.tables ?? []) {
      const table = tables[given.table];
      if (table === undefined) continue;
      table.change(given);
      changed.add(table);
    }
    if (change.main !== undefined) choose(change.main);
    if (change.waiting !== undefined) queue = { waiting: change.waiting, not_shown: change.not_shown };
    if (changed.size > 0) draw();
    if (change.overview !== undefined || change.waiting !== undefined) drawTop();
  },
  status: (status) => connection.show(status),
  version: (version) => offer.show(version),
});

/** @param {number} number */
function choose(number) {
  main = number;
  for (const [at, { element }] of tables.entries()) element.classList.toggle("main", at === main);
  tables[main]?.showWords();
}

function showTop() {
  const { counts: all = {}, tournament, title = "", ranking, connected = true } = summary;
  const name = excerpt(tournament?.title || title || "Stellwerk");
  heading.textContent = name;
  document.title = `${name} · wall`;
  connection.source(connected);
  const { running = 0, ended = 0 } = all;
  const played = typeof tournament?.played === "number" ? `${tournament.played}${typeof tournament.total === "number" ? ` of ${tournament.total}` : ""} played` : `${ended} ended`;
  const left = typeof tournament?.seconds_left === "number" && tournament.seconds_left > 0 ? [`${durationOf(tournament.seconds_left)} left`] : [];
  const missed = queue.not_shown > 0 ? [`${queue.not_shown} too fast to show`] : [];
  const waiting = queue.waiting > 0 ? [`${queue.waiting} waiting`] : [];
  const blocks = running === 0 && typeof tournament?.blocks_running === "number" ? tournament.blocks_running : 0; // nobody may see their matches yet
  const now = blocks > 0 ? `${blocks} ${blocks === 1 ? "block" : "blocks"} running` : `${running} running`;
  const text = [now, played, ...left, ...waiting, ...missed].join(" · ");
  if (counts.textContent !== text) counts.textContent = text;
  const rows = (ranking?.rows ?? []).slice(0, 10);
  const state = JSON.stringify(rows.map(({ bot, elo, score }) => [bot, elo, score]));
  if (leaders.dataset.state === state) return;
  leaders.dataset.state = state;
  leaders.replaceChildren(
    ...rows.map(({ bot, elo, low, high, score }, at) => {
      const width = elo !== undefined && typeof low === "number" && typeof high === "number" ? ` ±${Math.round((high - low) / 2)}` : "";
      return html("li", {}, html("span", { class: "rank" }, `${at + 1}.`), html("span", { class: "name" }, excerpt(bot)), html("b", {}, elo === undefined ? `${Math.round(100 * score)} %` : signed(Math.round(elo))), html("span", { class: "width" }, width));
    }),
  );
}

setInterval(() => {
  const now = performance.now();
  for (const table of tables) table.tick(now);
}, 1000);
