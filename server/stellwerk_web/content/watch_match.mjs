// The page of a match: while it is played, and afterwards.
//
// Law: the visitor stays where they are. At the newest move they go on with the match; elsewhere nothing moves but the
// end of the slider. After a gap, and after the server was started again, the page goes on by itself.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { Match } from "../../stellwerk_page/content/match.mjs";
import { createMatchPage } from "../../stellwerk_page/content/match_page.mjs";
import { counted, playersOf } from "../../stellwerk_page/content/names.mjs";
import { boardData } from "./board_data.mjs";
import { createConnection, createReloadOffer } from "./connection.mjs";
import { drawnTogether } from "./frames.mjs";
import { LiveFile } from "./live_file.mjs";
import { botAddress, factsOf } from "./match_row.mjs";
import { follow } from "./stream.mjs";

/** @typedef {import("./overview_state.mjs").Head} Head */
/** @typedef {{start: any, file: LiveFile, match: Match | null, page: ReturnType<typeof createMatchPage> | null, tools: ReturnType<typeof createTools>}} Shown */

const id = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const connection = createConnection({ retry: () => stream.now() });
const offer = createReloadOffer();
let place = document.getElementById("waiting") ?? document.body.appendChild(html("p"));
/** @type {Head | null} */
let head = null;
/** @type {Shown | null} */
let shown = null;
let isOver = false;

const frame = html("p", { class: "no-match" });
const waiting = html("div", { class: "page" }, topOf(), html("main", {}, frame));
replaceBy(waiting);

const grow = drawnTogether(() => {
  shown?.match?.grow();
  shown?.tools.show();
});

const stream = follow(`/stream/match/${encodeURIComponent(id)}`, {
  state(state) {
    take(state.head);
    connection.source(state.connected !== false);
    if (state.start === null) {
      // What is shown stays until there is more.
      if (shown === null) say(head?.state === "failed" ? "This match has failed. It has no result." : "The match is being fetched.");
      return;
    }
    shown ??= begin(state.start);
    shown.file.hearAgain();
    hear(state.events);
    for (const [seat, what] of Object.entries(state.seats ?? {})) shown?.file.state(Number(seat), String(what));
    if (state.end !== null && shown?.file.replay.end === null) shown.file.end(state.end);
    finish(state.end !== null);
    grow();
  },
  change(change) {
    if (change.head !== undefined) take(change.head);
    if (change.connected !== undefined) connection.source(change.connected);
    if (change.events !== undefined) hear(change.events);
    for (const [seat, what] of Object.entries(change.seat ?? {})) shown?.file.state(Number(seat), String(what));
    if (change.end !== undefined) {
      shown?.file.end(change.end);
      finish(true);
    }
    grow();
  },
  status(status) {
    if (!isOver) connection.show(status);
    else if (status.kind === "lost") stream.stop(); // nothing more can come
  },
  missing(words) {
    if (shown === null) say(words);
  },
  version: (version) => offer.show(version),
});

/** @param {import("../../stellwerk_page/content/types.mjs").Event[]} events */
function hear(events) {
  const others = shown?.file.take(events) ?? null;
  if (shown === null || others === null) return;
  // A server that lost the last moves in a crash plays on from before them.
  shown = begin(shown.start);
  shown.file.take(others);
}

/** @param {Head} next */
function take(next) {
  head = next;
  shown?.tools.show();
  if (head.state === "failed" && shown === null) say("This match has failed. It has no result.");
}

/** @param {boolean} hasEnded */
function finish(hasEnded) {
  if (!hasEnded || isOver) return;
  isOver = true;
  connection.show({ kind: "over", words: "the match is over" });
}

/**
 * @param {any} start
 * @returns {Shown}
 */
function begin(start) {
  shown?.page?.stop();
  const file = new LiveFile(start);
  const tools = createTools();
  /** @type {Shown} */
  const mine = { start, file, match: null, page: null, tools };
  isOver = false;
  const { header, problems } = file.replay;
  if (header === null) {
    say(problems.join(" "));
    return mine;
  }
  document.title = `${playersOf(header).map(({ name }) => name).join(", ")} · Stellwerk`;
  void boardData(header, start.board).then((data) => {
    if (shown !== mine) return;
    if (typeof data === "string") {
      say(data);
      return;
    }
    const match = (mine.match = new Match(file.replay, data.board));
    const page = (mine.page = createMatchPage({
      match,
      layout: data.layout,
      proof: null,
      tools: [tools.element],
      footer: `Match ${id}, as every spectator sees it.`,
    }));
    tools.use(match);
    page.element.querySelector(".titles")?.after(topWays(), connection.element, offer.element);
    page.element.querySelector("h1")?.replaceChildren(...match.players.flatMap(({ seat, name }) => [...(seat === 0 ? [] : [" · "]), html("a", { href: botAddress(start.players[seat]?.name ?? name) }, name)]));
    if (head?.block !== undefined) page.element.querySelector(".game-name")?.append(` · ${factsOf(head).slice(-1).join("")}`);
    replaceBy(page.element);
    page.start();
    tools.show();
  });
  return mine;
}

/** Returns the mark that says whether the newest move is shown, and leads there, and the way to the whole replay. */
function createTools() {
  const live = html("button", { type: "button", class: "button live-mark" });
  const whole = html("a", { class: "button whole-page", href: `/replay/${encodeURIComponent(id)}` }, "All hands and proof");
  whole.hidden = true;
  const element = html("span", { class: "live-tools" }, live, whole);
  /** @type {Match | null} */
  let match = null;

  function show() {
    whole.hidden = head?.page !== true;
    live.hidden = match === null || !match.isRunning;
    if (match === null || live.hidden) return;
    const behind = match.count - match.n;
    const words = behind === 0 ? "● Live" : `Go to live (${behind})`;
    if (live.textContent !== words) live.textContent = words;
    live.title = behind === 0 ? "The newest move is shown" : `${counted(behind, "move")} behind`;
    live.dataset.live = String(behind === 0);
    live.setAttribute("aria-pressed", String(behind === 0));
  }
  live.addEventListener("click", () => match?.go(match.count));
  return {
    element,
    show,
    /** @param {Match} of */
    use(of) {
      match = of;
      match.on("go", show);
      match.on("grow", show);
    },
  };
}

function topWays() {
  return html(
    "nav",
    { "aria-label": "Pages" },
    html("ul", { class: "ways" }, html("li", {}, html("a", { href: "/" }, "Overview")), html("li", {}, html("a", { href: "/wall" }, "Wall"))),
  );
}

function topOf() {
  return html("header", { class: "top" }, html("div", { class: "titles" }, html("h1", {}, `Match ${id}`)), topWays(), connection.element, offer.element);
}

/** @param {string} words */
function say(words) {
  frame.textContent = words;
  if (place === waiting) return;
  waiting.querySelector(".top")?.append(connection.element, offer.element);
  replaceBy(waiting);
}

/** @param {HTMLElement} element */
function replaceBy(element) {
  place.replaceWith(element);
  place = element;
}
