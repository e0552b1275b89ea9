// Faces of train cards, small enough for a pane: a color, its letter, a count.
//
// Law: the letter says what the color says, and words say both to those who see neither.

import { svg } from "./markup.mjs";
import { COLORS, LETTERS } from "./paints.mjs";

/** @typedef {import("./types.mjs").Cards} Cards */

export const LOCOMOTIVE =
  "M-6-1.2H.6V-4.6H-.2V-5.6H6.2V-4.6H5.4V2.4H-6ZM-5-1.2V-4.6H-2.6V-1.2ZM2-3.6V-1.2H4V-3.6Z" +
  "M-5.3 3.9a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0-3.4 0M.9 3.9a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0-3.4 0";
const WAGON =
  "M-10-4.5H10V2.5H-10ZM-8.6-2.8V.6H-3.2V-2.8ZM-2.4-2.8V.6H2.4V-2.8ZM3.2-2.8V.6H8.6V-2.8Z" +
  "M-7.6 4a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0M4 4a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0";
/** In the order in which cards are always named. */
export const ORDER = ["purple", "blue", "orange", "white", "green", "yellow", "black", "red", "locomotive"];

/**
 * Draws a card, 36 by 50, around 0.
 * @param {string} card
 */
export function cardShape(card) {
  const { fill, ink } = COLORS[card] ?? { fill: "#b4b8bf", ink: "#14161a" };
  const isLocomotive = card === "locomotive";
  const bands = isLocomotive
    ? ORDER.slice(0, 8).map((color, at) =>
        svg("rect", { x: -16 + at * 4, y: -23, width: 4, height: 46, fill: COLORS[color]?.fill }),
      )
    : [];
  return svg(
    "g",
    { class: "card-shape" },
    svg("rect", { class: "edge", x: -18, y: -25, width: 36, height: 50, rx: 4, fill }),
    ...bands,
    ...(isLocomotive ? [svg("rect", { x: -16, y: -12, width: 32, height: 24, fill })] : []),
    svg("path", {
      transform: isLocomotive ? "translate(5 0) scale(1.35)" : "translate(0 14)",
      d: isLocomotive ? LOCOMOTIVE : WAGON,
      fill: ink,
      "fill-rule": "evenodd",
      opacity: isLocomotive ? 1 : 0.75,
    }),
    svg(
      "text",
      isLocomotive
        ? { x: -10.5, y: 5, "font-size": 14, fill: ink }
        : { x: -5, y: 2, "font-size": 22, fill: ink }, // beside the count
      LETTERS[card] ?? "?",
    ),
  );
}

/**
 * Draws a card for a pane, with how many of it there are.
 * @param {string} card
 * @param {number} [count] none for a single card
 */
export function cardFace(card, count) {
  const face = svg(
    "svg",
    { class: "card-face", viewBox: "-20 -27 46 54", width: 46, height: 54, role: "img", "aria-label": cardWords(card, count) },
    cardShape(card),
  );
  if (count !== undefined && count > 1) {
    face.append(
      svg("circle", { class: "count", cx: 15, cy: -16, r: 10 }),
      svg("text", { class: "count", x: 15, y: -11.2, "font-size": 13.5 }, String(count)),
    );
  }
  return face;
}

/**
 * Draws a card of which one sees the back.
 * @param {number} count
 */
export function cardBack(count) {
  return svg(
    "svg",
    { class: "card-face back", viewBox: "-20 -27 46 54", width: 46, height: 54, role: "img", "aria-label": `${count} face down` },
    svg("rect", { class: "edge", x: -18, y: -25, width: 36, height: 50, rx: 4 }),
    svg("path", { class: "weave", d: "M-14-13L-6-21M-14 3L10-21M-14 19L14-9M-2 21L14 5" }),
    svg("circle", { class: "count", r: 11 }),
    svg("text", { class: "count", y: 5, "font-size": 14 }, String(count)),
  );
}

/**
 * Draws all cards of a set, in their order.
 * @param {Cards} cards
 */
export const cardFaces = (cards) => ORDER.filter((card) => (cards[card] ?? 0) > 0).map((card) => cardFace(card, cards[card]));

/**
 * @param {string} card
 * @param {number} [count]
 */
const cardWords = (card, count = 1) => `${count} ${card}${card === "locomotive" && count > 1 ? "s" : ""}`;
