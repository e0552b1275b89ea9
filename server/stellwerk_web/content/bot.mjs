// The page of a bot: its rating, how it did against whom, in which seats and games, what failed, and its matches.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { signed } from "../../stellwerk_page/content/names.mjs";
import { excerpt } from "../../stellwerk_page/content/replay_file.mjs";
import { redraw } from "../../stellwerk_page/content/redraw.mjs";
import { keepFetching } from "./fetched.mjs";
import { factList, figureTable, gamesTable, matchList, pane, percent } from "./figures.mjs";
import { pairAddress } from "./match_row.mjs";
import { limits, signedTenths } from "./ranking.mjs";
import { createShell } from "./shell.mjs";

const bot = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const shell = createShell({ page: "bot", retry: () => fetching.now() });
const main = html("main", { class: "bot" });
shell.title(excerpt(bot), "a bot");
document.title = `${excerpt(bot)} · Stellwerk`;
document.getElementById("waiting")?.replaceWith(html("div", { class: "page" }, shell.element, main));

const fetching = keepFetching(`/data/bot/${encodeURIComponent(bot)}`, {
  data: show,
  missing: (words) => redraw(main, html("p", { class: "no-match" }, words)),
  status: (status) => shell.connection.show(status),
});

/** @param {any} data */
function show({ row, rank, of, over, note, against, seats, games, faults = [], forfeits = [], times, matches, hidden }) {
  shell.title(excerpt(row.bot), `${over}${row.out === undefined ? "" : ` · ${row.out}`}`);
  /** @type {[string, string][]} */
  const facts = [
    ...(rank > 0 ? [/** @type {[string, string]} */ ([`${rank}.`, `of ${of}`])] : []),
    ...(row.elo === undefined ? [] : [/** @type {[string, string]} */ ([signed(Math.round(row.elo)), `Elo, 95 %: ${limits(row)}`])]),
    [percent(row.score), "score"],
    [signedTenths(row.points), "points on average"],
    [String(row.matches), row.matches === 1 ? "match" : "matches"],
  ];
  redraw(
    main,
    html("section", { class: "progress", "aria-label": "Figures" }, factList(facts), ...(note === undefined ? [] : [html("p", { class: "muted notes" }, note)]), ...(hidden === undefined ? [] : [html("p", { class: "notes" }, hidden)])),
    html(
      "div",
      { class: "lists" },
      ...(against.length === 0
        ? []
        : [
            pane(
              "against",
              "Against",
              figureTable(
                "Against",
                ["Opponent", "Score", "Better, equal, worse", "Points", "Theirs", "Matches"],
                against.map((/** @type {any} */ each) => [
                  html("a", { href: pairAddress(row.bot, each.bot), "data-key": `pair ${each.bot}` }, excerpt(each.bot)),
                  percent(each.score),
                  `${each.better} · ${each.equal} · ${each.worse}`,
                  signedTenths(each.points),
                  signedTenths(each.others_points),
                  String(each.matches),
                ]),
              ),
            ),
          ]),
      ...(games.length > 0 ? [pane("games", "Games", gamesTable(games))] : []),
      ...(seats.length > 0
        ? [
            pane(
              "order",
              "Places in the order of play",
              figureTable(
                "Places in the order of play",
                ["Place", "Score", "Points", "Matches"],
                seats.map((/** @type {any} */ each) => [String(each.seat + 1), percent(each.score), signedTenths(each.points), String(each.matches)]),
              ),
            ),
          ]
        : []),
      ...(faults.length + forfeits.length + (times === undefined ? 0 : 1) > 0 ? [pane("conduct", "Conduct", ...conduct(faults, forfeits, times))] : []),
    ),
    pane(
      "matches",
      "Last matches",
      ...(matches.length === 0
        ? [html("p", { class: "muted" }, hidden ?? "None yet.")]
        : [html("div", { class: "list-scroller", "data-scrolls": "", tabindex: 0, role: "group", "aria-labelledby": "matches-title" }, matchList(matches))]),
    ),
  );
}

/** @param {number} count */
const inMatches = (count) => `in ${count === 1 ? "1 match" : `${count} matches`}`;

/**
 * @param {any[]} faults
 * @param {any[]} forfeits
 * @param {any} times
 */
function conduct(faults, forfeits, times) {
  const items = [
    ...(times === undefined ? [] : [`${times.answers} answers, ${times.mean_ms.toFixed(times.mean_ms < 10 ? 2 : 0)} ms on average, ${times.slowest_ms} ms the slowest.`]),
    ...faults.map(({ words, matches }) => `${words}: ${inMatches(matches)}.`),
    ...forfeits.map(({ words, matches }) => `Forfeit, ${words}: ${inMatches(matches)}.`),
  ];
  if (faults.length + forfeits.length === 0) items.push("No faults.");
  return [html("ul", { class: "conduct" }, ...items.map((text) => html("li", {}, text)))];
}
