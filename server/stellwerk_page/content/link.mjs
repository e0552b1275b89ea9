// The link to what is shown: kept in the address of the page, and copied by a button.
//
// Law: the address always leads back to what is shown. Steps replace it; a jump, another viewer or another choice is
// an entry in the browser's history, so that back and forward work.

import { readAddress, writeAddress } from "./address.mjs";

const QUIET_MS = 300;
const WHILE_PLAYING_MS = 1000; // browsers refuse addresses that change too often
const JUMP = 20; // moves: less is a step

/**
 * @param {import("./match.mjs").Match} match
 * @param {import("./clock.mjs").Clock} clock
 * @param {{isOn: () => boolean, set: (on: boolean) => void}} stage
 */
export function createLink(match, clock, stage) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let written = { n: 0, rest: "" };

  function address() {
    const { turn, move, isWhole } = match.timeline.at(match.n);
    const isNewest = match.isRunning && match.n === match.count; // the beginning of a visit
    return writeAddress({
      turn: isNewest ? 0 : turn,
      move: isNewest ? 0 : turn > 0 && isWhole ? null : move,
      view: match.viewer === match.viewers[0] ? null : match.viewer,
      speed: clock.speed,
      hides: match.hides,
      isStage: stage.isOn(),
      ticket: match.select.ticket,
    });
  }
  const rest = () => [match.viewer, match.hides, match.select.ticket, stage.isOn()].join();

  function write() {
    clearTimeout(timer);
    timer = undefined;
    const hash = address();
    if (hash === location.hash) return;
    const isJump = !clock.isRunning && (Math.abs(match.n - written.n) > JUMP || rest() !== written.rest);
    written = { n: match.n, rest: rest() };
    try {
      const url = hash || `${location.pathname}${location.search}`;
      if (isJump) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    } catch {
      // A browser may refuse; the page works without.
    }
  }

  /** Writes the address when nothing has changed for a moment. */
  function later() {
    if (clock.isRunning) {
      timer ??= setTimeout(write, WHILE_PLAYING_MS);
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(write, QUIET_MS);
  }

  /** Shows what the address says. */
  function follow() {
    clearTimeout(timer);
    timer = undefined;
    if (location.hash === address()) return;
    const place = readAddress(location.hash);
    clock.pause();
    clock.setSpeed(place.speed);
    match.look(place.view ?? match.viewers[0] ?? match.viewer);
    match.go(match.isRunning && place.turn === 0 && place.move === 0 ? match.count : match.timeline.after(place.turn, place.move));
    match.hide(place.hides);
    const seat = /^(\d+):/.exec(place.ticket ?? "")?.[1];
    match.choose(seat === undefined ? {} : { seat: Number(seat), ticket: place.ticket });
    stage.set(place.isStage);
    written = { n: match.n, rest: rest() };
  }

  for (const change of /** @type {const} */ (["go", "viewer", "hides", "select"])) match.on(change, later);
  clock.on(later);
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);

  /** Writes the address at once, and returns the link to this moment. */
  function now() {
    write();
    return `${location.href.split("#")[0]}${address()}`;
  }
  return {
    follow,
    now,
    later,
    stop: () => {
      clearTimeout(timer);
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", follow);
    },
  };
}

/**
 * Copies a text. Returns whether the browser let it.
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
}

/**
 * The way of older browsers, and of pages opened from a disk.
 * @param {string} text
 */
function copyFromField(text) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  field.setAttribute("aria-hidden", "true");
  document.body.append(field);
  field.select();
  let isCopied = false;
  try {
    isCopied = document.execCommand("copy");
  } catch {
    // refused
  }
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isCopied;
}
