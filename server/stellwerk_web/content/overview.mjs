// The overview: how far it has come, the ranking, what runs, what has ended.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { excerpt } from "../../stellwerk_page/content/replay_file.mjs";
import { drawnTogether } from "./frames.mjs";
import { createBlocks } from "./blocks.mjs";
import { createKeyedList } from "./keyed_list.mjs";
import { changeRow, makeRow } from "./match_row.mjs";
import { Overview } from "./overview_state.mjs";
import { createProgress } from "./progress.mjs";
import { createRanking } from "./ranking.mjs";
import { createShell } from "./shell.mjs";
import { follow } from "./stream.mjs";

const APART_MS = 250;
const KINDS = /** @type {Record<string, string>} */ ({ server: "a server", folder: "a folder of recorded matches", tournament: "a tournament" });

const known = new Overview();
const shell = createShell({ page: "overview", retry: () => stream.now() });
const progress = createProgress();
const ranking = createRanking();
const running = createMatches("running", "Now playing", "No match runs.");
const blocks = createBlocks();
running.element.append(blocks.element);
const over = createMatches("over", "Results", "No match has ended.");
const main = html("main", { class: "overview" }, progress.element, ranking.element, html("div", { class: "lists" }, running.element, over.element));
main.hidden = true;
document.getElementById("waiting")?.replaceWith(html("div", { class: "page" }, shell.element, main));

const draw = drawnTogether(() => {
  const { summary } = known;
  const title = summary.tournament?.title || summary.title || "Stellwerk";
  shell.title(excerpt(title), `${KINDS[summary.kind] ?? ""}${summary.source === "" || summary.source === title ? "" : `: ${excerpt(summary.source)}`}`);
  document.title = `${excerpt(title)} · Stellwerk`;
  shell.connection.source(summary.connected);
  main.hidden = false;
  progress.show(summary);
  ranking.show(summary.ranking);
  running.show(known.running, summary.counts.running ?? 0, blocks.show(summary.tournament));
  over.show(known.over, (summary.counts.ended ?? 0) + (summary.counts.failed ?? 0));
}, APART_MS);

const stream = follow("/stream", {
  state(state) {
    known.begin(state);
    draw();
  },
  change(change) {
    known.change(change);
    draw();
  },
  status: (status) => shell.connection.show(status),
  version: (version) => shell.offer.show(version),
});

/**
 * @param {string} id
 * @param {string} name
 * @param {string} none
 */
function createMatches(id, name, none) {
  const list = html("ol", { class: "match-list" });
  const count = html("span", { class: "muted of" });
  const empty = html("p", { class: "muted" }, none);
  const element = html(
    "section",
    { class: `pane ${id}-pane`, "aria-labelledby": `${id}-title` },
    html("div", { class: "pane-head" }, html("h2", { id: `${id}-title` }, name), count),
    empty,
    html("div", { class: "list-scroller", "data-scrolls": "", tabindex: 0, role: "group", "aria-labelledby": `${id}-title` }, list),
  );
  const showList = createKeyedList(list, { key: (/** @type {import("./overview_state.mjs").Head} */ { match }) => match, make: makeRow, change: changeRow });
  return {
    element,
    /**
     * @param {import("./overview_state.mjs").Head[]} heads
     * @param {number} total
     * @param {boolean} [hasMore] something else is listed below
     */
    show(heads, total, hasMore = false) {
      showList(heads);
      empty.hidden = heads.length > 0 || hasMore;
      const text = total > heads.length ? `${heads.length} of ${total}` : heads.length > 0 ? String(heads.length) : "";
      if (count.textContent !== text) count.textContent = text;
    },
  };
}
