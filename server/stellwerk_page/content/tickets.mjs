// The tickets that the viewer may see, with what each still lacks. A click lights up the cheapest way that is left.
//
// Law: what is missing follows from the view, so it is what the seat itself could know at that moment.

import { html } from "./markup.mjs";
import { counted, ticketName, ticketPoints } from "./names.mjs";
import { shortestLeft } from "./paths.mjs";
import { redraw } from "./redraw.mjs";
import { cardChips, seatChip } from "./said.mjs";

/** @typedef {import("./types.mjs").View} View */
/** @typedef {import("./types.mjs").Ticket} Ticket */
/** @typedef {import("./match.mjs").Match} Match */
/** @typedef {{state: "done" | "open" | "lost", words: string, routes: string[]}} Standing */

/** Names a ticket of a seat in the selection and in the address. @type {(seat: number, ticket: string) => string} */
export const keyOf = (seat, ticket) => `${seat}:${ticket}`;

/** @param {Match} match */
export function createTickets(match) {
  const list = html("div", { class: "ticket-lists", "data-scrolls": "", tabindex: 0, role: "region", "aria-labelledby": "tickets-title" });
  const element = html("section", { class: "pane tickets-pane" }, html("h2", { id: "tickets-title" }, "Tickets"), list);
  const ways = new Ways(match);

  /** @param {number} _n @param {View} view */
  function show(_n, view) {
    /** @type {HTMLElement[]} */
    const groups = [];
    for (const player of view.players) {
      const { seat } = player;
      const heading = html("h3", {}, seatChip(match, seat));
      const rows = [
        ...(player.tickets ?? []).map((ticket) => row(view, seat, ticket)),
        ...(player.offered ?? []).filter((ticket) => player.tickets?.includes(ticket) !== true).map((ticket) => row(view, seat, ticket, "offered now")),
      ];
      if (player.tickets === undefined) rows.push(html("li", { class: "muted" }, player.ticket_count === 0 ? "none" : counted(player.ticket_count, "hidden ticket")));
      else if (rows.length === 0) rows.push(html("li", { class: "muted" }, "none"));
      const shared = view.teams?.find(({ team }) => team === player.team);
      const isLastOfTeam = view.players.findLast(({ team }) => team === player.team) === player;
      groups.push(html("div", { class: "ticket-group" }, heading, html("ul", { class: "tickets" }, ...rows), ...backLine(match, player.returned)));
      if (player.completed !== undefined && player.completed.length > 0) {
        groups.push(html("ul", { class: "tickets" }, ...player.completed.map((ticket) => row(view, seat, ticket))));
      }
      if (shared !== undefined && isLastOfTeam) {
        groups.push(
          html(
            "div",
            { class: "ticket-group" },
            html("h3", {}, `Shared by team ${player.team}`),
            html(
              "ul",
              { class: "tickets" },
              ...(shared.shared_tickets?.map((ticket) => row(view, seat, ticket)) ?? [
                html("li", { class: "muted" }, counted(shared.shared_count, "hidden ticket")),
              ]),
            ),
          ),
        );
      }
    }
    redraw(list, ...groups);
  }

  /**
   * @param {View} view
   * @param {number} seat
   * @param {string} id
   * @param {string} [remark]
   */
  function row(view, seat, id, remark) {
    const { state, words } = ways.standing(view, seat, id);
    const isChosen = match.select.ticket === keyOf(seat, id);
    const cards = match.board.tickets.find((ticket) => ticket.id === id)?.cards;
    const button = html(
      "button",
      { type: "button", class: `ticket ${state}`, "aria-pressed": String(isChosen), "data-key": keyOf(seat, id) },
      html("span", { class: "ticket-name" }, ticketName(match.board, id)),
      html("span", { class: "ticket-points" }, String(ticketPoints(match.board, id) ?? "")),
      html("span", { class: "ticket-state" }, remark === undefined ? words : `${remark}; ${words}`, ...(cards === undefined ? [] : [" ", cardChips(cards)])),
    );
    button.addEventListener("click", () => match.choose(isChosen ? {} : { seat, ticket: keyOf(seat, id) }));
    return html("li", {}, button);
  }
  return { element, show, ways };
}

/**
 * @param {Match} match
 * @param {string[] | undefined} returned
 */
function backLine(match, returned) {
  if (returned === undefined || returned.length === 0) return [];
  return [html("p", { class: "muted put-back" }, `Put back: ${returned.map((id) => ticketName(match.board, id)).join(", ")}`)];
}

/** What tickets still lack, computed once for each state of the map. */
export class Ways {
  #match;
  #claims = "";
  /** @type {Map<string, Standing>} */
  #known = new Map();

  /** @param {Match} match */
  constructor(match) {
    this.#match = match;
  }

  /**
   * @param {View} view
   * @param {number} seat
   * @param {string} id
   * @returns {Standing}
   */
  standing(view, seat, id) {
    const claims = view.players.map(({ routes = [], trains, technologies = [] }) => `${routes.length} ${trains} ${technologies.length}`).join();
    const state = `${this.#match.viewer} ${claims}`;
    if (state !== this.#claims) {
      this.#claims = state;
      this.#known.clear();
    }
    const key = `${keyOf(seat, id)} ${view.players[seat]?.completed?.includes(id) === true}`;
    const standing = this.#known.get(key) ?? this.#find(view, seat, id);
    this.#known.set(key, standing);
    return standing;
  }

  /**
   * @param {View} view
   * @param {number} seat
   * @param {string} id
   * @returns {Standing}
   */
  #find(view, seat, id) {
    const { board, limits } = this.#match;
    const ticket = board.tickets.find((each) => each.id === id);
    if (ticket?.cards !== undefined) {
      const isDone = view.players[seat]?.completed?.includes(id) === true;
      return { state: isDone ? "done" : "open", words: isDone ? "completed" : "needs", routes: [] };
    }
    const way = ticket === undefined ? null : shortestLeft(board, view, seat, id, limits);
    if (way === null) return { state: "lost", words: "no way left", routes: [] };
    if (way.trains === 0) return { state: "done", words: "completed", routes: way.routes };
    const trains = view.players[seat]?.trains ?? 0;
    const words = `${counted(way.trains, "train")} missing`;
    return { state: way.trains > trains ? "lost" : "open", words: way.trains > trains ? `${words}, ${trains} left` : words, routes: way.routes };
  }
}
