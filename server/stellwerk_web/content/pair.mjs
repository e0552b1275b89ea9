// The page of a pairing: one bot against another.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { excerpt } from "../../stellwerk_page/content/replay_file.mjs";
import { redraw } from "../../stellwerk_page/content/redraw.mjs";
import { keepFetching } from "./fetched.mjs";
import { factList, gamesTable, matchList, pane, percent } from "./figures.mjs";
import { botAddress } from "./match_row.mjs";
import { signedTenths } from "./ranking.mjs";
import { createShell } from "./shell.mjs";

const [one = "", other = ""] = location.pathname.split("/").slice(2, 4).map((part) => decodeURIComponent(part));
const shell = createShell({ page: "pair", retry: () => fetching.now() });
const main = html("main", { class: "bot" });
shell.title(`${excerpt(one)} – ${excerpt(other)}`, "a pairing");
document.title = `${excerpt(one)} – ${excerpt(other)} · Stellwerk`;
document.getElementById("waiting")?.replaceWith(html("div", { class: "page" }, shell.element, main));

const fetching = keepFetching(`/data/pair/${encodeURIComponent(one)}/${encodeURIComponent(other)}`, {
  data: show,
  missing: (words) => redraw(main, html("p", { class: "no-match" }, words)),
  status: (status) => shell.connection.show(status),
});

/** @param {any} data */
function show({ bots, row, over, note, games, matches }) {
  shell.title(`${excerpt(bots[0])} – ${excerpt(bots[1])}`, over);
  /** @type {[string, string][]} */
  const facts = [
    [`${row.better} · ${row.equal} · ${row.worse}`, "better, equal, worse"],
    [percent(row.score), "score"],
    [`${signedTenths(row.points)} to ${signedTenths(row.others_points)}`, "points on average"],
    [String(row.matches), row.matches === 1 ? "match" : "matches"],
    ...(row.likely_better === undefined ? [] : [/** @type {[string, string]} */ ([percent(row.likely_better), `that ${excerpt(bots[0])} is the stronger one`])]),
  ];
  redraw(
    main,
    html(
      "section",
      { class: "progress", "aria-label": "Figures" },
      factList(facts),
      html("p", { class: "notes" }, "As seen from ", html("a", { href: botAddress(bots[0]), "data-key": "one" }, excerpt(bots[0])), ", against ", html("a", { href: botAddress(bots[1]), "data-key": "other" }, excerpt(bots[1])), "."),
      ...(note === undefined ? [] : [html("p", { class: "muted notes" }, note)]),
    ),
    html("div", { class: "lists" }, ...(games.length > 0 ? [pane("games", "Games", gamesTable(games))] : [])),
    pane("matches", "Last matches", html("div", { class: "list-scroller", "data-scrolls": "", tabindex: 0, role: "group", "aria-labelledby": "matches-title" }, matchList(matches))),
  );
}
