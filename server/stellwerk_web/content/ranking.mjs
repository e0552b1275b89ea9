// The ranking: every figure as text, and the ratings drawn with their intervals.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { signed } from "../../stellwerk_page/content/names.mjs";
import { redraw } from "../../stellwerk_page/content/redraw.mjs";
import { excerpt } from "../../stellwerk_page/content/replay_file.mjs";
import { axisDrawing, intervalDrawing, scaleOf } from "./interval.mjs";
import { botAddress } from "./match_row.mjs";

/** @typedef {import("./overview_state.mjs").Ranking} Ranking */
/** @typedef {import("./overview_state.mjs").RankingRow} RankingRow */

export function createRanking() {
  const body = html("div", {});
  const element = html("section", { class: "pane ranking-pane", "aria-labelledby": "ranking-title" }, html("h2", { id: "ranking-title" }, "Ranking"), body);
  /** @type {Ranking | null | undefined} */
  let shown;

  /** @param {Ranking | null} ranking */
  function show(ranking) {
    if (ranking === shown) return;
    shown = ranking;
    if (ranking === null || ranking.rows.length === 0) {
      redraw(body, html("p", { class: "muted" }, "There is a ranking as soon as matches have ended."));
      return;
    }
    const { rows, over, note } = ranking;
    const rated = rows.flatMap(({ elo, low, high }) => (elo === undefined ? [] : [{ middle: elo, low: low ?? null, high: high ?? null }]));
    const table = rated.length > 0 ? ratedTable(rows, scaleOf(rated)) : countedTable(rows);
    redraw(
      body,
      html("p", { class: "muted over" }, over),
      html("div", { class: "scrolls", "data-scrolls": "", tabindex: 0, role: "group", "aria-labelledby": "ranking-title" }, table),
      html(
        "p",
        { class: "muted note-line" },
        note ?? (rated.length > 0 ? "A dot with a line is an estimate with its 95 % interval. Two bots whose intervals overlap may well be in the other order." : ""),
      ),
    );
  }
  return { element, show };
}

/**
 * @param {RankingRow[]} rows
 * @param {import("./interval.mjs").Scale} scale
 */
function ratedTable(rows, scale) {
  const hasForfeits = rows.some(({ forfeits }) => forfeits !== undefined);
  return html(
    "table",
    { class: "ranking-table rated" },
    head(["#", "num"], ["Bot"], ["Elo, 95 % interval", "num rating"], ["", "plot"], ["Score", "num narrow-out"], ["Points", "num wide-only"], ["Matches", "num narrow-out"], ["Faults", "num wide-only"], ...(hasForfeits ? [["Forfeits", "num wide-only"]] : [])),
    html(
      "tbody",
      {},
      ...rows.flatMap((row, at) => [
        ...(row.group === undefined || row.group === rows[at - 1]?.group ? [] : [html("tr", { class: "group" }, html("th", { scope: "rowgroup", colspan: 10 }, `Group ${row.group}: its bots can be compared only with one another`))]),
        html(
          "tr",
          row.out === undefined ? {} : { class: "out" },
          html("td", { class: "num" }, row.out === undefined ? String(at + 1) : "–"),
          nameCell(row),
          html("td", { class: "num" }, ...(row.elo === undefined ? ["not rated"] : [html("b", {}, signed(Math.round(row.elo))), html("small", {}, limits(row))])),
          html("td", { class: "plot" }, ...(row.elo === undefined ? [] : [intervalDrawing({ middle: row.elo, low: row.low ?? null, high: row.high ?? null }, scale)])),
          ...counted(row),
          html("td", { class: "num wide-only" }, String(row.faults ?? 0)),
          ...(hasForfeits ? [html("td", { class: "num wide-only" }, String(row.forfeits ?? 0))] : []),
        ),
      ]),
    ),
    html("tfoot", {}, html("tr", {}, html("td", {}), html("td", {}), html("td", {}), html("td", { class: "plot" }, axisDrawing(scale)))),
  );
}

/** @param {RankingRow[]} rows */
function countedTable(rows) {
  return html(
    "table",
    { class: "ranking-table" },
    head(["#", "num"], ["Bot"], ["", "plot"], ["Score", "num narrow-out"], ["Points", "num wide-only"], ["Matches", "num narrow-out"]),
    html(
      "tbody",
      {},
      ...rows.map((row, at) => {
        const bar = html("span", { class: "score-bar", "aria-hidden": "true" });
        bar.style.width = `${(100 * row.score).toFixed(1)}%`;
        return html("tr", {}, html("td", { class: "num" }, String(at + 1)), nameCell(row), html("td", { class: "plot" }, bar), ...counted(row));
      }),
    ),
  );
}

/** @param {...string[]} columns */
const head = (...columns) => html("thead", {}, html("tr", {}, ...columns.map(([name = "", kind = ""]) => (name === "" ? html("td", { class: kind }) : html("th", { scope: "col", class: kind }, name)))));

/** @param {RankingRow} row */
const nameCell = ({ bot, out }) =>
  html("th", { scope: "row", class: "bot-name" }, html("a", { href: botAddress(bot), "data-key": `bot ${bot}` }, excerpt(bot)), ...(out === undefined ? [] : [" ", html("span", { class: "fault-badge" }, out)]));

/** @param {RankingRow} row */
const counted = ({ score, points, matches }) => [
  html("td", { class: "num narrow-out" }, `${(100 * score).toFixed(1)} %`),
  html("td", { class: "num wide-only" }, signedTenths(points)),
  html("td", { class: "num narrow-out" }, String(matches)),
];

/** @param {number} number */
export const signedTenths = (number) => (number < 0 ? `\u2212${(-number).toFixed(1)}` : number.toFixed(1));

/** @param {{low?: number | null, high?: number | null}} row */
export function limits({ low = null, high = null }) {
  if (low === null && high === null) return "not known";
  if (low === null) return `below ${signed(Math.round(high ?? 0))}`;
  if (high === null) return `above ${signed(Math.round(low))}`;
  return `${signed(Math.round(low))} to ${signed(Math.round(high))}`;
}
