// Tables of figures on the pages of a bot and of a pairing.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { gameName } from "../../stellwerk_page/content/names.mjs";
import { changeRow, makeRow } from "./match_row.mjs";
import { signedTenths } from "./ranking.mjs";

/** @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(1)} %`;

/**
 * @param {string} id
 * @param {string} title
 * @param {...(Node | string)} children
 */
export const pane = (id, title, ...children) => html("section", { class: `pane ${id}-pane`, "aria-labelledby": `${id}-title` }, html("h2", { id: `${id}-title` }, title), ...children);

/**
 * A table whose first column has names, and whose others have figures.
 * @param {string} label
 * @param {string[]} heads
 * @param {(Node | string)[][]} rows
 */
export function figureTable(label, heads, rows) {
  return html(
    "div",
    { class: "scrolls", "data-scrolls": "", tabindex: 0, role: "group", "aria-label": label },
    html(
      "table",
      { class: "ranking-table" },
      html("thead", {}, html("tr", {}, ...heads.map((head, at) => html("th", { scope: "col", class: at === 0 ? "" : "num" }, head)))),
      html("tbody", {}, ...rows.map((cells) => html("tr", {}, ...cells.map((cell, at) => html(at === 0 ? "th" : "td", at === 0 ? { scope: "row", class: "bot-name" } : { class: "num" }, cell))))),
    ),
  );
}

/** @param {{game: string, matches: number, score: number, points: number}[]} games */
export function gamesTable(games) {
  const rows = games.map(({ game, matches, score, points }) => [gameName(game), percent(score), signedTenths(points), String(matches)]);
  return figureTable("By game", ["Game", "Score", "Points", "Matches"], rows);
}

/** @param {import("./overview_state.mjs").Head[]} heads */
export function matchList(heads) {
  const rows = heads.map((head) => {
    const row = makeRow(head);
    changeRow(row, head);
    return row;
  });
  return html("ol", { class: "match-list" }, ...rows);
}

/**
 * Facts with large figures.
 * @param {[string, string][]} facts
 */
export const factList = (facts) => html("ul", { class: "counts" }, ...facts.map(([number, unit]) => html("li", {}, html("b", {}, number), ` ${unit}`)));
