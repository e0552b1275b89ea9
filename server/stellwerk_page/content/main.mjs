// The match page: reads its data, and shows the match, or says why it cannot.

import { boardFor } from "./boards.mjs";
import { readData } from "./data.mjs";
import { html } from "./markup.mjs";
import { Match } from "./match.mjs";
import { createMatchPage } from "./match_page.mjs";
import { playersOf } from "./names.mjs";
import { createOpener } from "./open_file.mjs";
import { createProof } from "./proof.mjs";
import { excerpt, readReplay } from "./replay_file.mjs";

const data = readData(document);
const place = document.getElementById("waiting") ?? document.body;
/** @type {{element: HTMLElement, stop: () => void}} */
let page = { element: place, stop: () => {} };

/**
 * Shows a replay instead of what is shown.
 * @param {string} name
 * @param {Uint8Array} bytes
 * @param {any} times
 */
function open(name, bytes, times) {
  page.stop();
  const before = page.element;
  const opener = createOpener((other, others) => {
    history.replaceState(null, "", `${location.pathname}${location.search}`);
    open(other, others, undefined);
    // Whoever opened a file by the keyboard goes on at the same button.
    /** @type {HTMLElement | null} */ (page.element.querySelector(".opener button"))?.focus();
  });
  const replay = readReplay(bytes);
  const board = replay.header === null ? null : boardFor(replay.header, data.boards);
  document.title = replay.header === null ? excerpt(name) : `${playersOf(replay.header).map((player) => player.name).join(", ")} · ${excerpt(name)}`;
  if (board === null || typeof board === "string") {
    const problems = [...replay.problems, ...(board === null ? [] : [board])];
    const element = html(
      "main",
      { class: "nothing" },
      html("h1", {}, excerpt(name)),
      html("div", { class: "problems", role: "alert" }, ...problems.map((problem) => html("p", {}, problem))),
      opener.element,
    );
    before.replaceWith(element);
    page = { element, stop: opener.stop };
    return;
  }
  const match = new Match(replay, board);
  const shown = createMatchPage({
    match,
    layout: data.layouts.get(replay.header?.board.digest ?? ""),
    proof: createProof(match, bytes, data.boards),
    tools: [opener.element],
    footer: `${excerpt(name)}. Page made by Stellwerk ${data.version}.`,
    times,
  });
  before.replaceWith(shown.element);
  page = {
    element: shown.element,
    stop: () => {
      shown.stop();
      opener.stop();
    },
  };
  shown.start();
}

open(data.name, data.replay, data.times);
