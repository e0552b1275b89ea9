// What a visitor is told of the connection, and of a server that has become another version.
//
// Law: a screen reader hears that the connection is lost, and that it is back; it does not hear the seconds count.

import { html } from "../../stellwerk_page/content/markup.mjs";

/** @typedef {import("./stream.mjs").Status} Status */

const SIGNS = { connecting: "…", live: "●", lost: "!", over: "■" };

/** @param {{retry?: () => void}} [options] */
export function createConnection({ retry = () => {} } = {}) {
  const sign = html("span", { class: "connection-sign", "aria-hidden": "true" });
  const words = html("span", { class: "connection-words" });
  const now = html("button", { type: "button", class: "button connection-retry" }, "Try now");
  const heard = html("span", { class: "unseen", role: "status" });
  const element = html("p", { class: "connection" }, sign, words, now, heard);
  now.addEventListener("click", retry);
  now.hidden = true;
  let kind = "";
  let source = true;
  /** @type {Status} */
  let status = { kind: "connecting" };

  function draw() {
    const shown = status.kind === "live" && !source ? "lost" : status.kind;
    element.dataset.kind = shown;
    sign.textContent = SIGNS[shown];
    words.textContent = wordsOf(status, source);
    now.hidden = status.kind !== "lost";
    if (shown === kind) return;
    // The first connection is no news.
    if (!(shown === "live" && (kind === "connecting" || kind === "")) && shown !== "connecting") heard.textContent = plain(status, source);
    kind = shown;
  }
  draw();
  return {
    element,
    /** @param {Status} next */
    show(next) {
      status = next;
      draw();
    },
    /** Says whether the source of the matches is there: the connection to the web process is another one. @param {boolean} isThere */
    source(isThere) {
      source = isThere;
      draw();
    },
  };
}

/**
 * @param {Status} status
 * @param {boolean} source
 */
function wordsOf(status, source) {
  switch (status.kind) {
    case "connecting":
      return "connecting";
    case "lost":
      return `connection lost, trying again in ${status.seconds} s`;
    case "over":
      return status.words;
    default:
      return source ? "live" : "the source of the matches is away";
  }
}

/**
 * @param {Status} status
 * @param {boolean} source
 */
function plain(status, source) {
  if (status.kind === "lost") return "The connection is lost. The page tries again by itself.";
  if (status.kind === "live") return source ? "The page is live again." : "The source of the matches is away.";
  return wordsOf(status, source);
}

/** Of the modules that are loaded: all have it in their address. */
const LOADED = /\/modules\/([0-9a-f]+)\//.exec(import.meta.url)?.[1];

/** Offers a reload if the server has modules of another version than the page. */
export function createReloadOffer() {
  const button = html("button", { type: "button", class: "button" }, "Load the page again");
  button.addEventListener("click", () => location.reload());
  const element = html("p", { class: "reload", role: "status" });
  return {
    element,
    /** @param {string | null} version of the server's modules */
    show(version) {
      if (version === null || LOADED === undefined || version === LOADED || element.childElementCount > 0) return;
      element.append(html("span", {}, "The server has a newer version of this page. "), button);
    },
  };
}
