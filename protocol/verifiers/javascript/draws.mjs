// Drawing train cards (USA-04 to USA-08, UK-23).

import { add, CARDS, count, LOCOMOTIVE } from "./cards.mjs";
import { RefusedError } from "./errors.mjs";

/** @typedef {import("./map_game.mjs").Action} Action */
/** @typedef {import("./map_game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./map_game.mjs").MapGame} MapGame */
/** @typedef {import("./map_game.mjs").Move} Move */
/** @typedef {import("./map_game.mjs").Player} Player */

const THREE = 3; // UK-23

/**
 * Drawing the first card, or three with Water Tenders.
 * @param {(game: MapGame, player: Player, move: Move) => void} first what happens with the first card
 * @returns {Action}
 */
export function drawing(first) {
  return {
    moves: {
      draw_card: { check: expectPile, play: first },
      take_card: {
        check(game, player, move) {
          if (!(move.card in game.cards.market)) throw new RefusedError("game.not_available", "/card", "an open card");
        },
        play: first,
      },
      draw_three: {
        check(game, player) {
          if (!player.technologies.includes("water_tenders")) {
            throw new RefusedError("game.missing_technology", "/type", "Water Tenders are needed (UK-23)");
          }
          expectPile(game);
        },
        play(game, player) {
          for (let drawn = 0; drawn < THREE && game.cards.pile.length > 0; drawn++) {
            takeCard(game, player, { type: "draw_card" }, "hand");
          }
          game.endTurn();
        },
      },
    },
    list(game, player) {
      const moves = drawsFrom(game, CARDS);
      if (game.cards.pile.length > 0 && player.technologies.includes("water_tenders")) moves.push({ type: "draw_three" });
      return { moves, complete: true };
    },
    isAvailable: (game) => game.cards.pile.length > 0 || count(game.cards.market) > 0,
  };
}

/**
 * Takes the first card to the hand, and asks for the second.
 * @param {MapGame} game
 * @param {Player} player
 * @param {Move} move
 */
export function firstToHand(game, player, move) {
  const card = takeCard(game, player, move, "hand");
  if (isOpenLocomotive(move, card)) game.endTurn();
  else askForSecond(game, player, "hand");
}

/** @type {DecisionPart} */
export const secondCard = {
  moves: {
    draw_card: { check: expectPile, play: takeSecond },
    take_card: {
      check(game, player, move) {
        if (!(move.card in game.cards.market) || move.card === LOCOMOTIVE) {
          throw new RefusedError("game.not_available", "/card", "an open card that is no locomotive (USA-05)");
        }
      },
      play: takeSecond,
    },
  },
  list: (game) => ({ moves: drawsFrom(game, CARDS.filter((card) => card !== LOCOMOTIVE)), complete: true }),
};

/**
 * Takes a card. Without a place it is decided next (ASIA-06).
 * @param {MapGame} game
 * @param {Player} player
 * @param {Move} move
 * @param {"hand" | "holder"} [place]
 * @returns {string} the card
 */
export function takeCard(game, player, move, place) {
  const { cards } = game;
  const isOpen = move.type === "take_card";
  const card = isOpen ? move.card : cards.pile.pop();
  if (isOpen) add(cards.market, card, -1);
  if (place !== undefined) add(place === "hand" ? player.hand : game.team(player).holder, card);
  game.tell(isOpen ? "card_taken" : "card_drawn", { seat: player.seat, card, ...(place && { place }) });
  cards.mend();
  cards.fill();
  return card;
}

/**
 * @param {Move} move
 * @param {string} card
 */
export function isOpenLocomotive(move, card) {
  return move.type === "take_card" && card === LOCOMOTIVE;
}

/**
 * Asks for the second card, or ends the turn if there is none (USA-08).
 * @param {MapGame} game
 * @param {Player} player
 * @param {"hand" | "holder"} place
 */
export function askForSecond(game, player, place) {
  const { pile, market } = game.cards;
  const isThere = pile.length > 0 || Object.keys(market).some((card) => card !== LOCOMOTIVE);
  if (isThere) game.ask({ type: "second_card", place, may_stop: false }, [player.seat]);
  else game.endTurn();
}

/**
 * @param {MapGame} game
 * @param {Player} player
 * @param {Move} move
 */
function takeSecond(game, player, move) {
  takeCard(game, player, move, game.pending?.place);
  game.endTurn();
}

/** @param {MapGame} game */
function expectPile(game) {
  if (game.cards.pile.length === 0) throw new RefusedError("game.not_available", "/type", "the pile is empty");
}

/**
 * @param {MapGame} game
 * @param {string[]} open
 * @returns {Move[]}
 */
function drawsFrom({ cards: { pile, market } }, open) {
  /** @type {Move[]} */
  const moves = pile.length > 0 ? [{ type: "draw_card" }] : [];
  for (const card of open) {
    if (card in market) moves.push({ type: "take_card", card });
  }
  return moves;
}
