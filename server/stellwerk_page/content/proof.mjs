// The proof: the match is played again under the rules, in this browser, by a program of its own.
//
// Law: the page says what was checked and nothing more. "As published" it says only of a commitment that the visitor
// has entered. It works in pieces, so the page answers meanwhile.

import { readBoard } from "../../../protocol/verifiers/javascript/board.mjs";
import { check, commitmentOf } from "../../../protocol/verifiers/javascript/replay.mjs";
import { html } from "./markup.mjs";
import { title } from "./names.mjs";
import { inPieces, redraw } from "./redraw.mjs";
import { excerpt } from "./replay_file.mjs";

/** @typedef {{verdict: "good" | "untrue" | "unjudged", line: number, reason: string | null, moves: number}} Verdict */
/** @typedef {import("./match.mjs").Match} Match */

/**
 * @param {Match} match
 * @param {Uint8Array} bytes
 * @param {Map<string, string>} boards from digest to text
 */
export function createProof(match, bytes, boards) {
  const bar = /** @type {HTMLProgressElement} */ (html("progress", { max: 1, value: 0, "aria-label": "Progress of the check" }));
  const so = html("span", { "aria-live": "off" });
  const status = html("div", { class: "proof-status", role: "status" }, html("p", {}, "The match is played again here…", so));
  const firstMove = lineOfFirstMove(bytes);
  const outcome = html("p", { class: "commitment-outcome", role: "status" });
  const element = html(
    "section",
    { class: "pane proof-pane", "aria-labelledby": "proof-title" },
    html("h2", { id: "proof-title" }, "Proof"),
    status,
    bar,
    commitmentForm(match, outcome),
    outcome,
    facts(match, bytes),
    limits(),
  );
  /** @type {Verdict | null} */
  let verdict = null;
  let stop = () => {};

  function start() {
    const known = [...boards.values()].map((text) => readBoard(text));
    stop = inPieces(check(bytes, known), {
      between: (progress) => {
        const { phase, line, share } = /** @type {{phase: string, line: number, share: number}} */ (progress);
        bar.value = share;
        const moves = phase === "play" ? line - firstMove : 0;
        so.textContent = moves < 1 ? "" : match.hides ? " Consistent so far." : ` Consistent to move ${moves} so far.`;
      },
      done: (result) => {
        verdict = /** @type {Verdict} */ (result);
        bar.hidden = true;
        show();
      },
      failed: (error) => {
        bar.hidden = true;
        redraw(status, html("p", { class: "verdict unjudged" }, `The check itself failed: ${excerpt(String(error))}`));
      },
    });
  }

  function show() {
    if (verdict !== null) redraw(status, ...verdictElements(match, verdict));
  }
  return { element, show, start, stop: () => stop() };
}

/**
 * @param {Match} match
 * @param {Verdict} verdict
 */
function verdictElements(match, { verdict, line, reason, moves }) {
  const isHidden = match.hides && match.reached < match.count;
  const reach = isHidden
    ? "Consistent as far as you have seen."
    : moves === 0
      ? "No move could be checked."
      : `Consistent to move ${moves} of ${match.replay.moves.length}.`;
  if (verdict === "good") {
    return [
      html("p", { class: "verdict good" }, isHidden ? "Good." : `Good: consistent to move ${moves}, the last one, and to the result.`),
      html("p", {}, "Every card was dealt again from the revealed seed, every move is legal and had these events, points and ranks were computed again, and the chain of hashes is whole."),
    ];
  }
  if (isHidden && moves >= match.reached) return [html("p", { class: "verdict unjudged" }, reach)];
  const why = excerpt(reason ?? "");
  if (verdict === "unjudged") {
    return [html("p", { class: "verdict unjudged" }, `Cannot be judged to the end: line ${line}: ${why}.`), html("p", {}, reach)];
  }
  const wanted = moves + 1;
  const button = html("button", { type: "button", class: "button", "data-key": "untrue" }, wanted <= match.count ? `Show move ${wanted}` : `Show move ${match.count}, the last that can be shown`);
  button.addEventListener("click", () => match.go(wanted));
  return [
    html("p", { class: "verdict untrue" }, `Not true from line ${line} on.`),
    html("p", { class: "reason" }, why),
    html("p", {}, `${reach} `, button),
  ];
}

/**
 * Returns the form in which the visitor enters the commitment that was published before the match.
 * @param {Match} match
 * @param {HTMLElement} outcome
 */
function commitmentForm({ replay }, outcome) {
  const { header, reveal } = replay;
  if (header === null || reveal === null) {
    return html("p", {}, "The seed of this match has not been revealed, so nobody can check the deal yet.");
  }
  const input = /** @type {HTMLInputElement} */ (
    html("input", { id: "commitment", type: "text", maxlength: 80, spellcheck: "false", autocomplete: "off", placeholder: "64 digits" })
  );
  const form = html(
    "form",
    { class: "commitment" },
    html("label", { for: "commitment" }, "Commitment that was published before the match"),
    input,
    html("button", { type: "submit", class: "button" }, "Compare"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const entered = input.value.trim().toLowerCase();
    const computed = commitmentOf(header, reveal);
    const isForm = /^[0-9a-f]{64}$/.test(entered);
    outcome.className = `commitment-outcome ${!isForm ? "unjudged" : entered === computed ? "good" : "untrue"}`;
    outcome.textContent = !isForm
      ? "A commitment has 64 digits, 0 to 9 and a to f."
      : entered === computed
        ? "As published: board, game, names, salt and seed of this file are those of that commitment."
        : "Not as published: that commitment belongs to another deal, or to other names or options.";
  });
  return form;
}

/**
 * @param {Match} match
 * @param {Uint8Array} bytes
 */
function facts({ replay, gameName }, bytes) {
  const { header, reveal } = replay;
  /** @type {[string, string][]} */
  const rows = [];
  if (header !== null) {
    rows.push(["Game", `${gameName} (${excerpt(header.game)}), rules version ${header.rules_version}`]);
    if (header.options.length > 0) rows.push(["Options", header.options.map(title).join(", ")]);
    rows.push(["Board", `${excerpt(header.board.id)}, digest ${excerpt(header.board.digest)}`]);
    if (header.match !== undefined) rows.push(["Match", excerpt(String(header.match))]);
    if (header.commitment !== undefined) rows.push(["Commitment in the file", excerpt(String(header.commitment))]);
  }
  if (reveal !== null) {
    rows.push(["Seed", excerpt(reveal.seed)]);
    if (reveal.salt !== undefined) rows.push(["Salt", excerpt(String(reveal.salt))]);
  }
  const last = lastHash(bytes);
  if (last !== null) rows.push(["Hash of the last line", last]);
  return html("dl", { class: "facts" }, ...rows.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value))));
}

/**
 * Returns the number of the first line with a move: the seed comes before the moves, or after all of them.
 * @param {Uint8Array} bytes
 */
function lineOfFirstMove(bytes) {
  const second = bytes.subarray(bytes.indexOf(10) + 1);
  return new TextDecoder().decode(second.subarray(0, Math.max(second.indexOf(10), 0))).includes('"type":"reveal"') ? 4 : 3;
}

/** @param {Uint8Array} bytes */
function lastHash(bytes) {
  const end = new TextDecoder().decode(bytes.subarray(-80));
  return /"hash":"([0-9a-f]{64})"\}\n?$/.exec(end)?.[1] ?? null;
}

function limits() {
  return html(
    "details",
    { class: "limits" },
    html("summary", {}, "What this does not prove"),
    html(
      "ul",
      {},
      html("li", {}, "That the deal was fixed before the match. For that, enter the commitment that was published then: the one in the file proves nothing, since whoever changes a file can change it, too."),
      html("li", {}, "That the server did not try many seeds and choose one. Only a seed drawn in public rules that out."),
      html("li", {}, "That this is the match you mean, and not another true one. Compare the hash of the last line with the transcript that the server sent at the end."),
      html("li", {}, "Who moved. Names, notes, and why a seat's move was made by default are what the server wrote down."),
      html("li", {}, "Times. A replay has none, and thinking times beside it are not verified."),
    ),
  );
}
