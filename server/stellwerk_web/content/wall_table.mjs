// One table of the wall: who plays, what they have, the clocks, the board, and the result when the match is over.
//
// Law: a table shows the newest position of its match and nothing else, so nobody has to touch it. Numbers have places of
// their own width: nothing moves when they change.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { createMap } from "../../stellwerk_page/content/map.mjs";
import { Match } from "../../stellwerk_page/content/match.mjs";
import { endReason, signed } from "../../stellwerk_page/content/names.mjs";
import { applySeat, usePaints } from "../../stellwerk_page/content/paints.mjs";
import { redraw } from "../../stellwerk_page/content/redraw.mjs";
import { pointsByKind } from "../../stellwerk_page/content/result.mjs";
import { trailOf } from "../../stellwerk_page/content/route_info.mjs";
import { said, seatChip } from "../../stellwerk_page/content/said.mjs";
import { deedsOf } from "../../stellwerk_page/content/caption.mjs";
import { sentence } from "../../stellwerk_page/content/words.mjs";
import { boardData } from "./board_data.mjs";
import { soon } from "./frames.mjs";
import { LiveFile } from "./live_file.mjs";
import { matchAddress } from "./match_row.mjs";
import { clockOf } from "./progress.mjs";
import { createYards } from "./wall_yards.mjs";

/** @typedef {import("./overview_state.mjs").Head} Head */
const LONG = 9; // letters of a name that has room beside a map

/** @typedef {{seat: number, team: number, points: HTMLElement, item: HTMLElement}} Line */

/** @param {number} number */
export function createWallTable(number) {
  const title = html("span", { class: "wall-game" });
  const turn = html("span", { class: "wall-turn" });
  const mark = html("span", { class: "wall-live" });
  const last = html("span", { class: "since" });
  const whole = html("span", { class: "since" });
  const clock = html("span", { class: "wall-clock" }, html("span", { class: "label" }, "last move "), last, html("span", { class: "label" }, " · match "), html("span", { class: "dot", "aria-hidden": "true" }, " · "), whole);
  const link = html("a", { class: "wall-link" }, title);
  const head = html("div", { class: "wall-head" }, link, turn, mark, clock);
  const players = html("ul", { class: "wall-players" });
  const board = html("div", { class: "wall-board" });
  const words = html("p", { class: "wall-words" });
  const result = html("div", { class: "wall-result" });
  const free = html("p", { class: "wall-free" }, "This table is free.");
  const element = html("section", { class: "wall-table", "aria-label": `Table ${number + 1}` }, html("div", { class: "wall-in" }, head, players, board, words, result), free);
  board.inert = true; // a picture: whoever wants to look closer goes to the match
  element.dataset.state = "free";

  /** @type {LiveFile | null} */
  let file = null;
  /** @type {Match | null} */
  let match = null;
  /** @type {{show: (view: import("../../stellwerk_page/content/types.mjs").View, shown?: import("../../stellwerk_page/content/map.mjs").Shown) => void, zoom?: {whole: () => void} | null} | null} */
  let drawing = null;
  /** @type {Line[]} */
  let lines = [];
  let isOver = false;
  let isLive = false;
  let began = 0;
  let moved = 0;
  let drawn = -1;

  /**
   * Puts another match on the table, or none.
   * @param {any} given
   */
  function put(given) {
    if (given.start && file !== null && file.replay.header?.match === given.start.match) {
      file.hearAgain(); // the same match, after a gap
      if (file.take(given.events ?? []) === null) {
        change({ is_live: given.is_live, end: given.end });
        show(false);
        return;
      }
    }
    file = null;
    match = null;
    drawing = null;
    drawn = -1;
    isOver = false;
    lines = [];
    board.replaceChildren();
    result.replaceChildren();
    words.replaceChildren();
    players.replaceChildren();
    element.dataset.over = "false";
    element.dataset.state = "free";
    if (given.head === null || given.head === undefined || !given.start) return;
    const mine = (file = new LiveFile(given.start));
    mine.take(given.events ?? []);
    began = performance.now() - (given.is_live ? (given.head.began_ms_ago ?? 0) : (given.since_ms ?? 0));
    moved = performance.now();
    change({ is_live: given.is_live, end: given.end });
    const { header } = mine.replay;
    if (header === null) return;
    link.setAttribute("href", matchAddress(given.head.match));
    void boardData(header, given.start.board).then((data) => {
      if (typeof data !== "string") soon(() => begin(mine, data));
    });
  }

  /**
   * Draws the board of a match that was put on the table.
   * @param {LiveFile} mine
   * @param {import("./board_data.mjs").BoardData} data
   */
  function begin(mine, data) {
    if (file !== mine) return;
    const made = (match = new Match(mine.replay, data.board));
    made.n = made.count; // also of a match that is over
    usePaints(element, made.players);
    title.textContent = made.gameName;
    makeLines(made);
    const hasMap = (data.board.routes ?? []).length > 0;
    if (!hasMap || data.layout !== undefined) {
      const picture = hasMap ? createMap(data.board, data.layout, made.players, made.limits) : createYards(made.players);
      drawing = picture;
      board.replaceChildren(picture.element);
      picture.zoom?.whole();
    }
    const [left, top, right, bottom] = data.layout?.frame ?? [0, 0, 2, 1];
    element.dataset.shape = !hasMap ? "table" : right - left < bottom - top ? "tall" : "wide";
    element.dataset.state = "match";
    show(false);
  }

  /**
   * Takes in what has happened.
   * @param {any} given
   */
  function change(given) {
    isLive = given.is_live === true;
    if (given.events !== undefined) {
      file?.take(given.events);
      moved = performance.now();
    }
    if (given.end && file !== null && file.replay.end === null) {
      file.end(given.end);
      isOver = true;
    }
  }

  /** Draws what is new. @param {boolean} [animate] */
  function show(animate = true) {
    if (match === null) return;
    match.grow();
    match.go(match.count);
    const { view, n } = match;
    drawing?.show(view, { events: n === 0 ? [] : match.positions.events("public", n), trail: trailOf(match), animate: animate && n === drawn + 1 });
    drawn = n;
    const now = new Set(view.pending?.seats ?? []);
    for (const line of lines) {
      const points = signed(pointsOf(match, view, line));
      if (line.points.textContent !== points) line.points.textContent = points;
      line.item.classList.toggle("to-move", [...now].some((seat) => (line.seat >= 0 ? seat === line.seat : match?.players[seat]?.team === line.team)));
    }
    const number = match.timeline.at(n).turn;
    const left = view.turns_left === undefined ? "" : `, ${view.turns_left} left`;
    turn.textContent = number === 0 ? "set-up" : `turn ${number}${left}`;
    mark.textContent = isLive ? "● live" : "";
    if (element.classList.contains("main")) showWords();
    showResult();
  }

  function showWords() {
    if (match === null) return;
    const [deed] = match.n === 0 ? [] : deedsOf(match, match.n).deeds;
    words.replaceChildren(...(deed === undefined ? ["The match begins."] : said(sentence(deed, match), match)));
  }

  function showResult() {
    const outcome = isOver ? match?.result : undefined;
    element.dataset.over = String(outcome !== undefined);
    if (outcome === undefined || match === null || result.childElementCount > 0) return;
    const of = match;
    const items = [...outcome.teams]
      .sort((one, other) => one.rank - other.rank)
      .map((team) =>
        html(
          "li",
          {},
          html("span", { class: "rank" }, `${team.rank}.`),
          html("span", { class: "ranked" }, ...team.seats.map((seat) => seatChip(of, seat))),
          html("b", {}, signed(team.points)),
          html("span", { class: "kinds" }, pointsByKind(of, team).map(([kind, points]) => `${kind} ${signed(points)}`).join(" · ")),
        ),
      );
    redraw(result, html("p", { class: "wall-why" }, `After ${outcome.turns} turns: ${endReason(outcome.reason)}`), html("ol", { class: "ranking" }, ...items));
  }

  /** Writes how long ago the last move was, and how long the match has taken. @param {number} now */
  function tick(now) {
    clock.hidden = file === null || isOver;
    if (clock.hidden) return;
    const [sinceMove, sinceBegin] = [clockOf((now - moved) / 1000), clockOf((now - began) / 1000)];
    if (last.textContent !== sinceMove) last.textContent = sinceMove;
    if (whole.textContent !== sinceBegin) whole.textContent = sinceBegin;
  }

  /** @param {Match} of */
  function makeLines(of) {
    const inTeams = new Set(of.players.map(({ team }) => team)).size < of.players.length;
    const teams = [...new Set(of.players.map(({ team }) => team))];
    const groups = inTeams ? teams.map((team) => of.players.filter((player) => player.team === team)) : of.players.map((player) => [player]);
    lines = groups.map((members) => {
      const points = html("b", { class: "points" }, "0");
      const names = members.map(({ seat, name }) => {
        const digit = html("span", { class: "seat-digit", "aria-hidden": "true" }, String(seat));
        const chip = html("span", { class: "wall-name" }, digit, html("span", { class: "name" }, name));
        applySeat(chip, seat);
        return chip;
      });
      const item = html("li", { class: "wall-player" }, html("span", { class: "wall-names" }, ...names), points, html("span", { class: "unseen" }, " points"));
      applySeat(item, members[0]?.seat ?? 0);
      return { seat: inTeams ? -1 : (members[0]?.seat ?? 0), team: members[0]?.team ?? 0, points, item };
    });
    element.dataset.names = of.players.some(({ name }) => [...name].length > LONG) ? "long" : "short";
    players.dataset.count = String(lines.length);
    players.dataset.teams = String(inTeams);
    players.replaceChildren(...lines.map(({ item }) => item));
  }

  return { element, put, change, show, tick, showWords };
}

/**
 * @param {Match} match
 * @param {import("../../stellwerk_page/content/types.mjs").View} view
 * @param {Line} line
 */
function pointsOf(match, view, { seat, team }) {
  const final = match.n === match.count ? match.result?.teams.find((each) => (seat >= 0 ? each.seats.includes(seat) : each.team === team)) : undefined;
  if (final !== undefined) return final.points;
  return view.players.reduce((sum, player) => sum + ((seat >= 0 ? player.seat === seat : player.team === team) ? player.points : 0), 0);
}
