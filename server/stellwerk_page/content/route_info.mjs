// What can be said of the route under the pointer, or of the chosen one: on the map, in the story, in the table.

import { html } from "./markup.mjs";
import { counted, routeName } from "./names.mjs";
import { redraw } from "./redraw.mjs";
import { seatChip } from "./said.mjs";

/** @typedef {import("./match.mjs").Match} Match */

/** @param {Match} match */
export function createRouteInfo(match) {
  const element = html("div", { class: "route-info", role: "status" });
  /** @param {string | null} looked */
  function show(looked) {
    const id = looked ?? match.select.route;
    const route = match.board.routes?.find((each) => each.id === id);
    element.hidden = route === undefined;
    if (route === undefined) return;
    const points = match.board.route_points?.[route.length];
    const kind = route.tunnel ? ", tunnel" : route.locomotives ? `, ferry with ${counted(route.locomotives, "locomotive")}` : "";
    const parts = [document.createTextNode(`${routeName(match.board, route.id)}: ${route.length} ${route.color}${kind}${points === undefined ? "" : `, ${counted(points, "point")}`}. `)];
    for (const { n, seat } of claimsOf(match, route.id)) {
      const { turn } = match.timeline.at(n);
      const go = html("button", { type: "button", class: "link", "data-key": `claim ${n}` }, `turn ${turn}`);
      go.addEventListener("click", () => match.go(n));
      parts.push(/** @type {any} */ (seatChip(match, seat)), document.createTextNode(" in "), /** @type {any} */ (go), document.createTextNode(" "));
    }
    redraw(element, ...parts);
  }
  return { element, show };
}

/**
 * Returns the claims of a route that have been made at the position that is shown.
 * @param {Match} match
 * @param {string} route
 */
export function claimsOf(match, route) {
  return match.replay.moves.slice(0, match.n).flatMap(({ events }, at) =>
    events.flatMap((event) => (event.type === "route_claimed" && event.route === route ? [{ n: at + 1, seat: event.seat ?? 0 }] : [])),
  );
}

/**
 * Returns the claims of the last round, the oldest first.
 * @param {Match} match
 */
export function trailOf(match) {
  const { turns } = match.positions;
  const since = (turns[match.n] ?? 0) - match.players.length;
  /** @type {{route: string, seat: number}[]} */
  const trail = [];
  for (let n = match.n; n > 0 && (turns[n] ?? 0) > since; n--) {
    for (const event of match.replay.moves[n - 1]?.events ?? []) {
      if (event.type === "route_claimed" && event.route !== undefined) trail.unshift({ route: event.route, seat: event.seat ?? 0 });
    }
  }
  return trail;
}
