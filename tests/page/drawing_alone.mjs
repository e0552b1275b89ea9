// Instead of the page's own module: the drawing alone, and hands for a test to move it with.

import { createCharts } from "page/charts.mjs";
import { readData } from "page/data.mjs";
import { computeHistory } from "page/history.mjs";
import { createMap, ownersOf } from "page/map.mjs";
import { playersOf } from "page/names.mjs";
import { limitsOf } from "page/paths.mjs";
import { Positions } from "page/positions.mjs";
import { readReplay } from "page/replay_file.mjs";
import { createTable } from "page/table.mjs";

const data = readData(document);
const replay = readReplay(data.replay);
const digest = replay.header.board.digest;
const board = JSON.parse(data.boards.get(digest));
const layout = data.layouts.get(digest);
const players = playersOf(replay.header);
const positions = new Positions(replay, board);
const drawing = layout ? createMap(board, layout, players, limitsOf(replay.header)) : createTable(board, players);
document.getElementById("waiting").replaceWith(drawing.element);
if (layout) drawing.element.style.height = "100vh";
const all = (selector) => [...document.querySelectorAll(selector)];
globalThis.test = {
  all, board, positions, drawing, calls: [], count: positions.count,
  show: (n, more = {}) => drawing.show(positions.view("all_hands", n), { events: positions.events("all_hands", n), ...more }),
  owners: (n) => Object.fromEntries(ownersOf(positions.view("all_hands", n))),
  first: (type, more = () => true) => {
    for (let n = 1; n <= positions.count; n++) {
      if (positions.events("all_hands", n).some((event) => event.type === type && more(event))) return n;
    }
  },
  track: (id) => document.querySelector(`[data-route="${id}"]`),
  charts: async () => {
    const series = await computeHistory(positions, board, players);
    const charts = createCharts(series, { onTurn: (n) => test.calls.push(n) });
    drawing.element.replaceWith(charts.element);
    test.series = series;
    test.charts = charts;
    charts.show(positions.count);
  },
};
drawing.onRoute((route, how) => how === "choose" && test.calls.push(route));
