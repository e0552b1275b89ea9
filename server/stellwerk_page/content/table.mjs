// The table of a game without a map: what lies in front of each seat.
//
// Law: the same as the map's (`map.mjs`), and the same functions: the page need not know which of the two it shows.

import { cardBack, cardFaces } from "./card_faces.mjs";
import { html } from "./markup.mjs";
import { seatMark, usePaints, applySeat } from "./paints.mjs";
import { ticketLine, yardSets } from "./pieces.mjs";

/** @typedef {import("./types.mjs").Board} Board */
/** @typedef {import("./types.mjs").Event} Event */
/** @typedef {import("./types.mjs").Player} Player */
/** @typedef {import("./types.mjs").PlayerView} PlayerView */
/** @typedef {import("./types.mjs").View} View */

const LAY_MS = 200;

/**
 * @param {Board} board
 * @param {Player[]} players
 */
export function createTable(board, players) {
  const element = html("div", { class: "table" });
  usePaints(element, players);
  const places = players.map(({ seat, name }) => {
    const points = html("b", { class: "points" });
    const content = html("div", { class: "content" });
    const place = html("section", { class: "at-table", "aria-label": `${name}, seat ${seat}` }, html("h3", {}, seatMark(seat), ` ${name} `, points), content);
    applySeat(place, seat);
    element.append(place);
    return { seat, place, points, content, state: "" };
  });

  /**
   * Shows a view.
   * @param {View} view
   * @param {import("./map.mjs").Shown} [shown]
   */
  function show(view, { events = [], animate = false } = {}) {
    const isStill = !animate || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const turn = view.pending?.seats ?? [];
    for (const each of places) {
      const player = view.players[each.seat];
      if (player === undefined) continue;
      const own = events.filter(({ seat }) => seat === each.seat);
      const state = JSON.stringify([player, own]);
      each.place.classList.toggle("to-move", turn.includes(each.seat));
      if (state === each.state) continue;
      each.state = state;
      each.points.textContent = `${player.points} points`;
      each.content.replaceChildren(...contentOf(board, player, own));
      if (isStill) continue;
      each.content.querySelectorAll(".new").forEach((laid) => {
        laid.animate([{ transform: "translateY(1.5rem)", opacity: 0.2 }, { transform: "none", opacity: 1 }], { duration: LAY_MS, easing: "ease-out" });
      });
    }
  }

  return { element, show, light: () => {}, onRoute: () => {}, choose: () => {}, zoom: null };
}

/**
 * @param {Board} board
 * @param {PlayerView} player
 * @param {Event[]} events of the last move, of this seat
 */
function contentOf(board, player, events) {
  const laid = events.filter(({ type }) => type === "cards_laid").flatMap(({ cards = {} }) => Object.keys(cards));
  const sent = events.find(({ type }) => type === "cards_sent");
  const raids = events.filter(({ type }) => type === "raided");
  const { yard = [], stack_count: stackCount = 0, stack, completed = [] } = player;
  return [
    html("h4", {}, "Rail yard"),
    yardSets(yard, (color) => laid.includes(color)),
    ...raids.map(({ color, cards = {} }) =>
      html("p", { class: "raid" }, `Raided: lost ${Object.values(cards).reduce((sum, count) => sum + count, 0)} cards with ${color}.`),
    ),
    html("h4", {}, "On the track"),
    html(
      "div",
      { class: sent === undefined ? "stack" : "stack new" },
      ...(stackCount === 0
        ? [html("span", { class: "none" }, "No cards yet.")]
        : stack === undefined
          ? [cardBack(stackCount)]
          : cardFaces(stack)),
      ...(sent?.cards === undefined
        ? []
        : [html("span", { class: "sent" }, "just sent ", ...cardFaces(sent.cards))]),
    ),
    html("h4", {}, `Completed tickets: ${completed.length}`),
    html("ul", { class: "tickets" }, ...completed.map((ticket) => ticketLine(board, ticket))),
  ];
}
