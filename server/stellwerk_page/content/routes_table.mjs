// The routes as a table: the map for those who cannot see it, and for those who search for a route.

import { html } from "./markup.mjs";
import { placeName } from "./names.mjs";
import { redraw } from "./redraw.mjs";
import { seatChip } from "./said.mjs";

/** @typedef {import("./types.mjs").View} View */

/** @param {import("./match.mjs").Match} match */
export function createRoutesTable(match) {
  const routes = match.board.routes ?? [];
  /** @type {Map<string, HTMLElement>} */
  const owners = new Map();
  const rows = routes.map((route) => {
    const owner = html("td", {});
    owners.set(route.id, owner);
    const kinds = [
      ...(route.tunnel ? ["tunnel"] : []),
      ...(route.locomotives ? [`ferry, ${route.locomotives} locomotive${route.locomotives > 1 ? "s" : ""}`] : []),
      ...(route.parallel === 2 ? ["double"] : route.parallel === 3 ? ["triple"] : []),
    ];
    const name = html(
      "button",
      { type: "button", class: "ref", "data-route": route.id },
      `${placeName(match.board, route.a)} – ${placeName(match.board, route.b)}`,
    );
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, name),
      html("td", {}, String(route.length)),
      html("td", {}, route.color),
      html("td", {}, kinds.join(", ")),
      html("td", {}, String(match.board.route_points?.[route.length] ?? "")),
      owner,
    );
  });
  const head = ["Route", "Length", "Color", "Kind", "Points", "Claimed by"].map((text) => html("th", { scope: "col" }, text));
  const details = /** @type {HTMLDetailsElement} */ (
    html(
      "details",
      {},
      html("summary", {}, html("h2", { id: "routes-title" }, "Routes as a table")),
      html(
        "div",
        { class: "scrolls", "data-scrolls": "", tabindex: 0, role: "region", "aria-labelledby": "routes-title" },
        html("table", { class: "routes" }, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows)),
      ),
    )
  );
  const element = html("section", { class: "pane routes-pane" }, details);
  element.hidden = routes.length === 0;
  /** @type {Map<string, string>} */
  const drawn = new Map();
  details.addEventListener("toggle", () => show(match.n, match.view));

  /** @param {number} _n @param {View} view */
  function show(_n, view) {
    if (!details.open) return;
    for (const [route, cell] of owners) {
      const seats = view.players.filter((player) => player.routes?.includes(route) === true).map(({ seat }) => seat);
      if (drawn.get(route) === seats.join()) continue;
      drawn.set(route, seats.join());
      redraw(cell, ...seats.map((seat) => seatChip(match, seat)));
    }
  }
  return { element, show };
}
