// Data that is fetched, and again from time to time: for pages whose figures change when matches end.
//
// Law: the page keeps what it has until something newer is there, and says when the server cannot be reached.

import { waitAfter } from "./stream.mjs";

const EVERY_MS = 10_000;

/**
 * Fetches until it is stopped.
 * @param {string} path
 * @param {{data: (data: any) => void, missing: (words: string) => void, status: (status: import("./stream.mjs").Status) => void}} listener
 */
export function keepFetching(path, { data, missing, status }) {
  let failures = 0;
  let last = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function run() {
    clearTimeout(timer);
    try {
      // A page that nobody sees need not be fresh.
      if (!document.hidden || last === "") await once();
      failures = 0;
      timer = setTimeout(run, EVERY_MS);
    } catch {
      failures += 1;
      wait(performance.now() + waitAfter(failures, Math.random()));
    }
  }

  async function once() {
    const answer = await fetch(path, { cache: "no-store" });
    const text = await answer.text();
    if (answer.status !== 404 && !answer.ok) throw new Error(`status ${answer.status}`);
    status({ kind: "live" });
    if (text === last) return;
    last = text;
    if (answer.ok) data(JSON.parse(text));
    else missing(text.trim());
  }

  /** @param {number} until */
  function wait(until) {
    const left = until - performance.now();
    if (left <= 0) {
      void run();
      return;
    }
    status({ kind: "lost", seconds: Math.ceil(left / 1000) });
    timer = setTimeout(() => wait(until), Math.min(left, 1000));
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && failures === 0) void run();
  });
  status({ kind: "connecting" });
  void run();
  return { now: () => void run() };
}
