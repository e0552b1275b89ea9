// The final breakdown: the points of each team by kind, its tickets, its rank.
//
// Law: in the mode without spoilers it is there only at the end of the match.

import { html } from "./markup.mjs";
import { bonusName, endReason, placeName, routeName, signed, ticketName } from "./names.mjs";
import { redraw } from "./redraw.mjs";
import { seatChip } from "./said.mjs";

/** @typedef {import("./types.mjs").TeamResult} TeamResult */
/** @typedef {import("./match.mjs").Match} Match */

/** @param {Match} match */
export function createResult(match) {
  const body = html("div", { class: "result" });
  const element = html("section", { class: "pane result-pane", "aria-labelledby": "result-title" }, html("h2", { id: "result-title" }, "Final result"), body);
  let shown = "";

  function show() {
    const { result } = match;
    const isHidden = match.hides && match.reached < match.count;
    const state = isHidden ? "hidden" : result === undefined ? "none" : "result";
    if (state === shown) return;
    shown = state;
    if (isHidden) redraw(body, html("p", { class: "muted" }, "Hidden until you have seen the end of the match."));
    else if (result === undefined) redraw(body, html("p", { class: "muted" }, match.isRunning ? "The match is not over yet." : "This file has no result."));
    else redraw(body, ...resultElements(match, result));
  }
  return { element, show };
}

/**
 * @param {Match} match
 * @param {import("./types.mjs").Result} result
 */
export function resultElements(match, result) {
  const teams = [...result.teams].sort((one, other) => one.rank - other.rank);
  return [
    html("p", {}, `After ${result.turns} turns: ${endReason(result.reason)}.`),
    html("div", { class: "scrolls", "data-scrolls": "", tabindex: 0, role: "region", "aria-label": "Points by kind" }, scoreTable(match, teams)),
    html("div", { class: "result-tickets" }, ...teams.map((team) => ticketsOf(match, team))),
  ];
}

/**
 * @param {Match} match
 * @param {TeamResult[]} teams
 */
export function scoreTable(match, teams) {
  const hasMap = (match.board.routes ?? []).length > 0;
  /** @type {[string, (team: TeamResult) => string, string?][]} */
  const rows = [];
  if (hasMap) rows.push(["Routes", (team) => String(team.route_points)]);
  rows.push(["Tickets completed", (team) => String(sum(team.tickets.filter(({ completed }) => completed)))]);
  rows.push(["Tickets not completed", (team) => signed(sum(team.tickets.filter(({ completed }) => !completed)))]);
  for (const bonus of new Set(teams.flatMap(({ bonuses }) => bonuses.map((each) => each.bonus)))) {
    rows.push([bonusName(match.board, bonus), (team) => String(sum(team.bonuses.filter((each) => each.bonus === bonus)) || "–")]);
  }
  rows.push(["Points", (team) => signed(team.points), "total"]);
  rows.push(["Rank", (team) => String(team.rank)]);
  rows.push(["Tickets", (team) => `${team.completed_tickets} of ${team.tickets.length}`]);
  if (hasMap) rows.push(["Longest path", (team) => String(team.longest_path)]);
  return html(
    "table",
    { class: "scores" },
    html("thead", {}, html("tr", {}, html("td", {}), ...teams.map((team) => html("th", { scope: "col" }, ...team.seats.map((seat) => seatChip(match, seat)))))),
    html(
      "tbody",
      {},
      ...rows.map(([label, cell, kind = ""]) =>
        html("tr", { class: kind }, html("th", { scope: "row" }, label), ...teams.map((team) => html("td", {}, cell(team)))),
      ),
    ),
  );
}

/**
 * Returns what the points of a team are made of, without what brought nothing.
 * @param {Match} match
 * @param {TeamResult} team
 * @returns {[string, number][]}
 */
export function pointsByKind(match, team) {
  /** @type {[string, number][]} */
  const kinds = [
    ["routes", team.route_points],
    ["tickets", sum(team.tickets)],
    ...team.bonuses.map(({ bonus, points }) => /** @type {[string, number]} */ ([bonusName(match.board, bonus), points])),
  ];
  return kinds.filter(([, points]) => points !== 0);
}

/** @param {{points: number}[]} parts */
const sum = (parts) => parts.reduce((total, { points }) => total + points, 0);

/**
 * @param {Match} match
 * @param {TeamResult} team
 */
function ticketsOf(match, team) {
  const tickets = [...team.tickets].sort((one, other) => other.points - one.points);
  return html(
    "div",
    { class: "ticket-group" },
    html("h3", {}, ...team.seats.map((seat) => seatChip(match, seat))),
    html(
      "ul",
      { class: "tickets" },
      ...tickets.map(({ ticket, completed, points }) =>
        html(
          "li",
          { class: `ticket ${completed ? "done" : "lost"}` },
          html("span", { class: "ticket-sign", "aria-hidden": "true" }, completed ? "✓" : "✗"),
          html("span", { class: "ticket-name" }, ticketName(match.board, ticket), html("span", { class: "unseen" }, completed ? ", completed" : ", not completed")),
          html("span", { class: "ticket-points" }, `${points < 0 ? "−" : "+"}${Math.abs(points)}`),
        ),
      ),
      ...(team.stations ?? []).map(({ city, route }) =>
        html("li", { class: "muted" }, `Station in ${placeName(match.board, city)}: ${route === undefined ? "uses no route" : `uses ${routeName(match.board, route)}`}`),
      ),
    ),
  );
}
