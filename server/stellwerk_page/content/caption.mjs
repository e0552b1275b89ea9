// The last move in words: for all under the map, and for a screen reader as one sentence a move.
//
// Law: the sentences are made of the events as the viewer gets them. A screen reader hears no more than it can say:
// while moves come fast, only the newest is said, and not before the one before had its time.

import { html } from "./markup.mjs";
import { faultReason } from "./names.mjs";
import { redraw } from "./redraw.mjs";
import { said, seatChip } from "./said.mjs";
import { plain, questionOf, sentence } from "./words.mjs";

const APART_MS = 2500; // between two sentences for a screen reader
const LIVE_APART_MS = 10_000; // the same while others play: nobody has asked for these

/** What another event of the same move says, or what comes with nearly every move. */
const LEFT_OUT = new Set(["asked", "cards_revealed", "turn_started", "tickets_to_share", "pile_shuffled"]);
const BESIDE = new Set(["cards_laid_open", "market_exchanged", "ticket_pile_shuffled", "cards_dealt", "locomotive_dealt"]);

/** @typedef {import("./match.mjs").Match} Match */

/**
 * Returns the events that tell what a move was: what the seat did first, then what follows from it.
 * @param {Match} match
 * @param {number} n
 */
export function deedsOf(match, n) {
  const events = match.positions.events(match.viewer, n).filter(({ type }) => !LEFT_OUT.has(type));
  const deeds = events.filter(({ type }) => !BESIDE.has(type));
  return { deeds, beside: n === 0 ? [] : events.filter(({ type }) => BESIDE.has(type)) };
}

/**
 * Returns the sentences of a move as plain text.
 * @param {Match} match
 * @param {number} n
 */
export function moveInWords(match, n) {
  if (n === 0) return "The set-up: cards are dealt, and tickets are offered.";
  const { deeds } = deedsOf(match, n);
  const move = match.replay.moves[n - 1];
  const words = deeds.map((event) => plain(sentence(event, match), match)).join(" ");
  const fault = move?.by === undefined ? "" : ` By default: ${faultReason(move.reason)}.`;
  const name = match.players[move?.seat ?? 0]?.name ?? "";
  return (words || `${name} has chosen; others still choose.`) + fault;
}

/**
 * Returns the sentences of a move as elements, with its fault and its note.
 * @param {Match} match
 * @param {number} n
 */
export function moveAsElements(match, n) {
  const move = match.replay.moves[n - 1];
  if (n === 0 || move === undefined) return [html("p", { class: "deed" }, "The set-up: cards are dealt, and tickets are offered.")];
  const { deeds, beside } = deedsOf(match, n);
  const elements = deeds.map((event) => html("p", { class: `deed ${event.type}` }, ...said(sentence(event, match), match)));
  if (deeds.length === 0) {
    elements.push(html("p", { class: "deed" }, seatChip(match, move.seat), " has chosen; others still choose."));
  }
  if (move.by !== undefined) {
    elements[0]?.append(" ", html("span", { class: "fault-badge" }, `by default: ${faultReason(move.reason)}`));
  }
  if (beside.length > 0) {
    elements.push(html("p", { class: "beside muted" }, ...beside.flatMap((event) => [...said(sentence(event, match), match), " "])));
  }
  const note = noteOf(match, n);
  if (note !== null) elements.push(html("p", { class: "note" }, html("span", { class: "unseen" }, "Note of the bot: "), note));
  return elements;
}

/**
 * Returns the bot's own comment on its move, if the viewer may read it: a note was not for the others.
 * @param {Match} match
 * @param {number} n
 */
export function noteOf(match, n) {
  const move = match.replay.moves[n - 1];
  return move?.note !== undefined && match.sees(move.seat) ? move.note : null;
}

/**
 * @param {Match} match
 * @param {import("./clock.mjs").Clock} clock
 */
export function createCaption(match, clock) {
  const words = html("div", { class: "caption-words" });
  const question = html("p", { class: "question muted" });
  const live = html("p", { class: "unseen", "aria-live": "polite", id: "said" });
  const element = html("section", { class: "caption", "aria-label": "The last move" }, words, question, live);
  const announce = announcer(live);

  function show() {
    redraw(words, ...moveAsElements(match, match.n));
    const { pending, result } = match.view;
    redraw(
      question,
      ...(pending === undefined
        ? [document.createTextNode(result === undefined ? "" : "The game is over.")]
        : said(questionOf(pending, match), match).map((part) => (typeof part === "string" ? document.createTextNode(part) : part))),
    );
    if (match.isRunning && match.n === match.count) announce(moveInWords(match, match.n), LIVE_APART_MS);
    else announce(moveInWords(match, match.n), clock.isRunning ? APART_MS : 0);
  }
  return { element, show };
}

/**
 * Returns a function that says a sentence; in a hurry the newest one when there is time.
 * @param {HTMLElement} live
 */
function announcer(live) {
  let said = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  let newest = "";
  const say = () => {
    waiting = undefined;
    said = performance.now();
    if (live.textContent !== newest) live.textContent = newest;
  };
  return (/** @type {string} */ text, /** @type {number} */ apart) => {
    newest = text;
    const left = said + apart - performance.now();
    if (left <= 0) {
      clearTimeout(waiting);
      say();
    } else {
      waiting ??= setTimeout(say, left);
    }
  };
}
