// The board in the middle: the map, or the table of a game without one; and what lights up on it.
//
// Law: what is chosen lights up until something else is chosen; what the pointer or the focus is on, only meanwhile.

import { createMap } from "./map.mjs";
import { html } from "./markup.mjs";
import { citiesOf } from "./paths.mjs";
import { createRouteInfo, trailOf } from "./route_info.mjs";
import { createTable } from "./table.mjs";
import { Ways } from "./tickets.mjs";

const SLOW_ENOUGH = 4; // moves a second, beyond which nothing moves on the map

/** @typedef {import("./match.mjs").Match} Match */

/**
 * @param {Match} match
 * @param {import("./clock.mjs").Clock} clock
 * @param {any} layout undefined if nobody knows where the board's cities lie
 */
export function createBoardView(match, clock, layout) {
  const { board, limits, players } = match;
  const hasMap = (board.routes ?? []).length > 0;
  const drawing = hasMap ? (layout === undefined ? null : createMap(board, layout, players, limits)) : createTable(board, players);
  const info = createRouteInfo(match);
  const nothing = html("p", { class: "no-map" }, "Where the cities of this board lie is not in this page, so there is no map. The routes are in the table below.");
  const heading = html("h2", { class: "unseen", id: "board-title" }, hasMap ? "Map" : "Table");
  const element = html("section", { class: "board", "aria-labelledby": "board-title" }, heading, drawing?.element ?? nothing, info.element);
  const ways = new Ways(match);
  let before = -1;
  /** @type {string | null} */
  let looked = null;

  drawing?.onRoute((route, how) => {
    if (how === "choose") match.choose(route === null || route === match.select.route ? {} : { route });
    else look(route);
  });

  /** @param {string | null} route under the pointer or the focus, here or in a text */
  function look(route) {
    if (route === looked) return;
    looked = route;
    info.show(looked);
    light();
    document.querySelectorAll(".entry.linked").forEach((entry) => entry.classList.remove("linked"));
    if (route === null) return;
    document.querySelectorAll(`.entry [data-route="${CSS.escape(route)}"]`).forEach((ref) => ref.closest(".entry")?.classList.add("linked"));
  }

  function light() {
    const { seat, route, ticket } = match.select;
    drawing?.choose?.(route);
    if (looked !== null) {
      drawing?.light([looked], []);
    } else if (ticket !== null && seat !== null) {
      const id = ticket.slice(ticket.indexOf(":") + 1);
      const record = board.tickets.find((each) => each.id === id);
      const places = record === undefined ? [] : [...citiesOf(board, record.a), ...citiesOf(board, record.b)];
      drawing?.light(seat < players.length ? ways.standing(match.view, seat, id).routes : [], places);
    } else if (seat !== null) {
      drawing?.light(match.view.players[seat]?.routes ?? [], match.view.players[seat]?.stations ?? []);
    } else {
      drawing?.light([], []);
    }
  }

  /**
   * @param {number} n
   * @param {import("./types.mjs").View} view
   */
  function show(n, view) {
    const isNext = n === before + 1;
    before = n;
    const animate = isNext && (!clock.isRunning || clock.speed <= SLOW_ENOUGH);
    drawing?.show(view, { events: n === 0 ? [] : match.positions.events(match.viewer, n), trail: trailOf(match), animate });
    light();
    info.show(looked);
  }
  match.on("select", () => {
    light();
    info.show(looked);
  });
  return { element, show, look };
}
