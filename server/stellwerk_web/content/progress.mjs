// How far it has come: a tournament with its blocks, or what a server or a folder has.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { counted } from "../../stellwerk_page/content/names.mjs";
import { redraw } from "../../stellwerk_page/content/redraw.mjs";
import { excerpt } from "../../stellwerk_page/content/replay_file.mjs";

/** @typedef {import("./overview_state.mjs").Summary} Summary */

export function createProgress() {
  const facts = html("ul", { class: "counts" });
  const bar = /** @type {HTMLProgressElement} */ (html("progress", { "aria-label": "Matches played" }));
  const notes = html("p", { class: "muted notes" });
  const element = html("section", { class: "progress", "aria-label": "Progress" }, bar, facts, notes);

  /** @param {Summary} summary */
  function show({ counts, tournament }) {
    const { played, total } = tournament ?? {};
    bar.hidden = typeof total !== "number" || typeof played !== "number" || total <= 0;
    if (!bar.hidden) {
      bar.max = total;
      bar.value = played;
    }
    redraw(facts, ...factsOf(counts, tournament).map(([number, unit]) => html("li", {}, ...(number === "" ? [] : [html("b", {}, number), " "]), unit)));
    const text = [notesOf(tournament).join(" "), ...announcementsOf(tournament)].filter((line) => line !== "").join("\n");
    notes.hidden = text === "";
    if (notes.textContent !== text) notes.textContent = text;
  }
  return { element, show };
}

/**
 * @param {Record<string, number>} counts
 * @param {Record<string, any> | null} tournament
 * @returns {[string, string][]}
 */
function factsOf(counts, tournament) {
  /** @type {[string, string][]} */
  const facts = [];
  const { running = 0, ended = 0, failed = 0 } = counts;
  if (typeof tournament?.played === "number") {
    facts.push([typeof tournament.total === "number" ? `${tournament.played} of ${tournament.total}` : String(tournament.played), "matches played"]);
  } else {
    facts.push([String(running), running === 1 ? "match runs" : "matches run"], [String(ended), ended === 1 ? "has ended" : "have ended"]);
    if (failed > 0) facts.push([String(failed), "failed"]);
  }
  if (tournament === null) return facts;
  if (tournament.is_over === true) facts.push(["", "the tournament is over"]);
  const { matches_per_minute: speed, seconds_left: left, blocks_running: blocks } = tournament;
  if (typeof blocks === "number" && blocks > 0) facts.push([String(blocks), blocks === 1 ? "block runs" : "blocks run"]);
  if (typeof speed === "number" && speed > 0) facts.push([speed < 10 ? speed.toFixed(1) : String(Math.round(speed)), "matches a minute"]);
  if (typeof left === "number" && left > 0) facts.push([durationOf(left), "left"]);
  return facts;
}

/** @param {Record<string, any> | null} tournament */
function notesOf(tournament) {
  if (tournament === null) return [];
  const { void_blocks: voids, called_off_blocks: off, suspended, disqualified, paused, missing, problem, is_over: isOver, is_running: isRunning } = tournament;
  /** @param {unknown} names */
  const list = (names) => (Array.isArray(names) ? names.map((each) => excerpt(String(typeof each === "object" && each !== null ? each.bot : each))).join(", ") : "");
  return [
    ...(typeof voids === "number" && voids > 0 ? [`${counted(voids, "block")} void.`] : []),
    ...(typeof off === "number" && off > 0 ? [`${counted(off, "block")} called off.`] : []),
    ...(list(suspended) === "" ? [] : [`Suspended: ${list(suspended)}.`]),
    ...(list(disqualified) === "" ? [] : [`Disqualified: ${list(disqualified)}.`]),
    ...(paused === true ? ["Paused: no block begins."] : []),
    ...(list(missing) === "" ? [] : [`Missing: ${list(missing)}.`]),
    ...(isRunning === false && isOver !== true ? ["Nobody plays it at the moment."] : []),
    ...(typeof problem === "string" && problem !== "" ? [excerpt(problem)] : []),
  ];
}

/** The organizer's words, each in a line of its own. @param {Record<string, any> | null} tournament */
const announcementsOf = (tournament) => (Array.isArray(tournament?.announcements) ? tournament.announcements.map((text) => excerpt(String(text))) : []);

/** Writes 75 as `1 min`, 5400 as `1 h 30 min`. @param {number} seconds */
export function durationOf(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** Writes 75 as `1:15`. @param {number} seconds */
export function clockOf(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
