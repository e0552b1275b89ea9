// What the signs of a map mean: only those that the board and the game have.
//
// Law: every sign is drawn as on the map, with words beside it.

import { LOCOMOTIVE } from "./card_faces.mjs";
import { html, svg } from "./markup.mjs";
import { LETTERS, applySeat, spaceStyle } from "./paints.mjs";

/** @typedef {import("./types.mjs").Board} Board */

/**
 * @param {Board} board
 * @param {Map<string, string>} regions the color of each region
 * @param {boolean} isMadeUp the board's file does not say where its cities lie
 */
export function createLegend(board, regions, isMadeUp) {
  const routes = board.routes ?? [];
  const colors = [...new Set(routes.map(({ color }) => color))];
  const order = Object.keys(LETTERS).filter((color) => colors.includes(color));
  /** @type {[SVGElement, string][]} */
  const signs = [
    ...order.map((color) => /** @type {[SVGElement, string]} */ ([space(color), color === "gray" ? "gray: a card of any color" : color])),
    [svg("g", {}, svg("path", { class: "trail newest", d: "M-14 0H14" }), wagon()), "claimed in the last move"],
    [svg("g", {}, trail(), wagon()), "claimed in the last round"],
    [svg("g", {}, svg("path", { class: "light rim open", d: "M-14 0H14" }), svg("path", { class: "light open", d: "M-14 0H14" }), space("gray")), "the way of a ticket"],
  ];
  if (routes.some(({ parallel = 1 }) => parallel > 1)) {
    signs.push([svg("g", { class: "closed" }, space("gray"), svg("path", { class: "bar", d: "M-16 0H16" })), "closed to everybody"]);
  }
  if (routes.some(({ locomotives }) => locomotives)) {
    signs.push([badge("locomotive", svg("path", { d: LOCOMOTIVE, "fill-rule": "evenodd" })), "a locomotive of a ferry"]);
  }
  if (routes.some(({ tunnel }) => tunnel)) {
    signs.push([badge("tunnel", svg("text", { y: 4.5, "font-size": 13 }, "n")), "a tunnel: n cards are turned"]);
  }
  if (routes.some(({ doubtful }) => doubtful)) {
    signs.push([badge("doubtful", svg("text", { y: 4.5, "font-size": 13 }, "?")), "the length is doubtful"]);
  }
  if (board.cities.some(({ junction }) => junction)) {
    signs.push([svg("path", { class: "junction", d: "M0-8L8 0L0 8L-8 0Z" }), "a junction"]);
  }
  for (const [region, color] of regions) {
    const words = region.replace(/_/g, " ").replace(/(^|\s)\S/g, (letter) => letter.toUpperCase());
    signs.push([svg("circle", { class: "city", r: 9, style: `--region: ${color}` }), words]);
  }
  if (Object.keys(board.city_groups ?? {}).length > 0) {
    signs.push([svg("path", { class: "group", d: "M-16 0H16" }), "one place for tickets"]);
  }
  return html(
    "details",
    { class: "map-legend" },
    html("summary", {}, "Legend"),
    ...(isMadeUp ? [html("p", {}, "This board has no coordinates: its routes have put the cities where they are.")] : []),
    html(
      "ul",
      {},
      ...signs.map(([sign, words]) =>
        html("li", {}, svg("svg", { viewBox: "-21 -14 42 28", width: 42, height: 28, "aria-hidden": "true" }, sign), ` ${words}`),
      ),
    ),
  );
}

/** @param {string} color */
function space(color) {
  const style = spaceStyle(color);
  return svg(
    "g",
    {},
    svg("rect", { class: "spaces", x: -16, y: -6.5, width: 32, height: 13, style }),
    svg("text", { class: "letter", y: 3.6, style }, LETTERS[color] ?? ""),
  );
}

/** A wagon of nobody in particular. */
const wagon = () => svg("rect", { class: "wagon", x: -16, y: -6.5, width: 32, height: 13 });

function trail() {
  const halo = svg("path", { class: "trail", d: "M-14 0H14" });
  applySeat(halo, 0);
  return halo;
}

/**
 * @param {string} kind
 * @param {SVGElement} inner
 */
const badge = (kind, inner) => svg("g", { class: `badge ${kind}` }, svg("circle", { r: 9 }), inner);
