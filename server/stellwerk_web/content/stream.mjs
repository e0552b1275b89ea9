// A stream of the server: the state first, then changes; kept alive for as long as the page is open.
//
// Law: a visitor always knows whether what they see is current. A lost connection is tried again, at first soon, then
// less and less often; it goes on where it was if the server still knows that place, else the server sends the state.
// Read by fetch and not by EventSource, because that one says nothing of comments, by which a connection that is dead
// without a word is noticed, and cannot be told when to try again.

import { EventReader } from "./event_reader.mjs";

const SILENT_MS = 45_000; // the server says something every 15 s
const LONGEST_WAIT_MS = 15_000;
const FIRST_WAIT_MS = 700;

/**
 * `seconds`: until the next try.
 * @typedef {{kind: "connecting"} | {kind: "live"} | {kind: "lost", seconds: number} | {kind: "over", words: string}} Status
 */
/**
 * @typedef {object} Listener
 * @property {(state: any) => void} state
 * @property {(change: any) => void} change
 * @property {(status: Status) => void} status
 * @property {(words: string) => void} [missing] the server says that there is no such stream
 * @property {(version: string | null) => void} version of the modules that the server has
 */

/**
 * Returns how long to wait before the next try. Not all readers of a server that was started again come at once.
 * @param {number} failures in a row
 * @param {number} chance from 0 to 1
 */
export const waitAfter = (failures, chance) => Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10), LONGEST_WAIT_MS) * (0.7 + 0.6 * chance);

/**
 * Follows a stream until it is stopped.
 * @param {string} path
 * @param {Listener} listener
 */
export function follow(path, listener) {
  let last = "";
  let failures = 0;
  let isStopped = false;
  /** @type {AbortController | null} */
  let connection = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function connect() {
    if (isStopped) return;
    clearTimeout(timer);
    const mine = (connection = new AbortController());
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let silence;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => mine.abort(), SILENT_MS);
    };
    try {
      heard();
      const answer = await fetch(path, {
        signal: mine.signal,
        cache: "no-store",
        headers: { accept: "text/event-stream", ...(last === "" ? {} : { "last-event-id": last }) },
      });
      // Perhaps not yet: a server that was started again learns of its matches one after the other.
      if (answer.status === 404) listener.missing?.((await answer.text()).trim());
      if (!answer.ok || answer.body === null) throw new Error(`status ${answer.status}`);
      listener.version(answer.headers.get("stellwerk-modules"));
      listener.status({ kind: "live" }); // also if nothing has changed since
      await read(answer.body.getReader(), mine, heard);
    } catch {
      // gone, refused, cut off or silent: all are tried again
    } finally {
      clearTimeout(silence);
      mine.abort();
    }
    if (!isStopped && connection === mine) wait();
  }

  /**
   * @param {ReadableStreamDefaultReader<Uint8Array>} body
   * @param {AbortController} mine
   * @param {() => void} heard
   */
  async function read(body, mine, heard) {
    const reader = new EventReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { value, done } = await body.read();
      if (done || isStopped || connection !== mine) return;
      heard();
      failures = 0; // not sooner: what answers and says nothing is tried more rarely, too
      for (const { id, type, data } of reader.read(decoder.decode(value, { stream: true }))) {
        if (isStopped) return;
        tell(type, JSON.parse(data));
        last = id;
      }
    }
  }

  /**
   * @param {string} type
   * @param {any} data
   */
  function tell(type, data) {
    try {
      if (type === "state") listener.state(data);
      else if (type === "change") listener.change(data);
    } catch (error) {
      reportError(error); // of a part of the page: the stream goes on
    }
  }

  function wait() {
    failures += 1;
    const until = performance.now() + waitAfter(failures, Math.random());
    const count = () => {
      const left = until - performance.now();
      if (left <= 0) {
        void connect();
        return;
      }
      listener.status({ kind: "lost", seconds: Math.ceil(left / 1000) });
      timer = setTimeout(count, Math.min(left, 1000));
    };
    count();
  }

  function now() {
    if (isStopped || failures < 1) return;
    failures = 1;
    connection?.abort();
    void connect();
  }

  function stop() {
    isStopped = true;
    clearTimeout(timer);
    connection?.abort();
    removeEventListener("online", now);
    removeEventListener("pageshow", now);
  }

  addEventListener("online", now);
  addEventListener("pageshow", now);
  listener.status({ kind: "connecting" });
  void connect();
  return { stop, now };
}
