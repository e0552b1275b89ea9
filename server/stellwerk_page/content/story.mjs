// The story of the match in words: one entry a move, grouped by turns; the move that is shown is marked.
//
// Law: an entry is made of the events as the viewer gets them. In the mode without spoilers there are no entries of
// what comes. Only the entry that is shown can be reached with Tab; so a long story is one stop, not a thousand.

import { moveAsElements, noteOf } from "./caption.mjs";
import { html } from "./markup.mjs";
import { applySeat } from "./paints.mjs";
import { inPieces } from "./redraw.mjs";
import { seatChip } from "./said.mjs";

/** @typedef {import("./match.mjs").Match} Match */

/** Which moves are listed. @type {Record<string, {label: string, isPublic?: boolean, shows: (match: Match, n: number) => boolean}>} */
const FILTERS = {
  all: { label: "every move", isPublic: true, shows: () => true },
  map: {
    label: "claims, tickets, stations",
    isPublic: true,
    shows: (match, n) => match.timeline.marks.some((mark) => mark.n === n && mark.kind !== "fault"),
  },
  notes: { label: "notes of the bots", shows: (match, n) => noteOf(match, n) !== null },
  faults: { label: "defaults", shows: (match, n) => match.replay.moves[n - 1]?.by !== undefined },
};

/** @param {Match} match */
export function createStory(match) {
  const list = html("ol", { class: "story" });
  // All are offered in every replay: which of them have something to list would be a spoiler.
  const filters = Object.entries(FILTERS).filter(([, { isPublic }]) => isPublic || match.replay.isPublic !== true);
  const filter = /** @type {HTMLSelectElement} */ (
    html("select", { id: "story-filter" }, ...filters.map(([value, { label }]) => html("option", { value }, label)))
  );
  const scroller = html("div", { class: "story-scroller", "data-scrolls": "", tabindex: 0, role: "region", "aria-labelledby": "story-title" });
  scroller.append(list);
  const element = html(
    "section",
    { class: "pane story-pane" },
    html("div", { class: "pane-head" }, html("h2", { id: "story-title" }, "Story"), html("label", { for: "story-filter", class: "unseen" }, "List"), filter),
    scroller,
  );
  /** @type {HTMLElement[]} by position; with holes where a move is not listed */
  let entries = [];
  const nothing = html("li", { class: "muted" }, "Nothing to list.");
  /** @type {HTMLElement | null} */
  let current = null;
  let stop = () => {};
  let isWriting = false;
  filter.addEventListener("change", rebuild);

  /** Lists the moves anew: for another viewer, or up to another horizon. */
  function rebuild() {
    stop();
    if (list.contains(document.activeElement)) scroller.focus({ preventScroll: true });
    entries = [];
    current = null;
    list.replaceChildren();
    isWriting = true;
    stop = inPieces(writing(), {
      done: () => {
        isWriting = false;
        show();
      },
      between: mark,
    });
  }

  function* writing() {
    while (entries.length <= match.horizon) yield write(entries.length);
    if (list.childElementCount === 0) list.append(nothing);
  }

  /** @param {number} n */
  function write(n) {
    entries.length = n + 1;
    if (FILTERS[filter.value]?.shows(match, n) === true) addEntry(n);
  }

  /** @param {number} n */
  function addEntry(n) {
    const { turn, move } = match.timeline.at(n);
    const seat = match.replay.moves[n - 1]?.seat;
    const name = n === 0 ? "Set-up" : turn === 0 ? "Set-up" : `Turn ${turn}`;
    const isFirst = move <= 1 || turn === 0;
    const go = html("button", { type: "button", class: "go", tabindex: -1, "data-n": n }, isFirst ? name : html("span", { class: "unseen" }, "Turn "));
    if (!isFirst) go.append(`${turn}.${move}`);
    const body = html("div", { class: "entry-body" }, ...moveAsElements(match, n));
    for (const ref of body.querySelectorAll("button")) ref.tabIndex = -1;
    const entry = html("li", { class: `entry${move <= 1 ? " first-of-turn" : ""}` }, go, body);
    if (seat !== undefined) {
      applySeat(entry, seat);
      if (turn > 0 && move <= 1) go.append(html("span", { class: "unseen" }, " of "), seatChip(match, seat));
    }
    entries[n] = entry;
    nothing.remove();
    list.append(entry);
  }

  list.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button.go") : null;
    if (button instanceof HTMLElement) match.go(Number(button.dataset.n));
  });

  /** Marks the entry that is shown, and brings it into sight without moving the page. */
  function mark() {
    const nearest = entries.findLast((entry, n) => entry !== undefined && n <= match.n) ?? null;
    if (nearest === current) return;
    setCurrent(current, false);
    current = nearest;
    setCurrent(current, true);
    if (current !== null) bringIntoSight(current);
  }

  /** Brings the claim of a route that was chosen into sight, without going there. */
  function reveal() {
    const { route } = match.select;
    list.querySelectorAll(".entry.chosen").forEach((entry) => entry.classList.remove("chosen"));
    if (route === null) return;
    const claims = [...list.querySelectorAll(`.route_claimed [data-route="${CSS.escape(route)}"]`)];
    const entry = claims[0]?.closest(".entry");
    if (!(entry instanceof HTMLElement)) return;
    entry.classList.add("chosen");
    bringIntoSight(entry);
  }
  match.on("select", reveal);

  /** @param {HTMLElement} entry */
  function bringIntoSight(entry) {
    const top = entry.offsetTop - list.offsetTop;
    const { scrollTop, clientHeight } = scroller;
    if (top < scrollTop || top + entry.offsetHeight > scrollTop + clientHeight) {
      scroller.scrollTop = top - clientHeight / 2 + entry.offsetHeight / 2;
    }
  }

  function show() {
    while (!isWriting && entries.length > 0 && entries.length <= match.horizon) write(entries.length);
    mark();
  }

  // The last entry may have become longer.
  match.on("grow", () => {
    for (const entry of entries.splice(match.grown)) {
      if (entry === current) current = null;
      entry?.remove();
    }
    show();
  });
  return { element, show, rebuild };
}

/**
 * @param {HTMLElement | null} entry
 * @param {boolean} isCurrent
 */
function setCurrent(entry, isCurrent) {
  if (entry === null) return;
  entry.classList.toggle("current", isCurrent);
  if (isCurrent) entry.setAttribute("aria-current", "step");
  else entry.removeAttribute("aria-current");
  // Whoever has the focus keeps it; the entry can be left with Tab all the same.
  for (const button of entry.querySelectorAll("button")) button.tabIndex = isCurrent ? 0 : -1;
}
