// Drawing train cards (USA-04 to USA-08, UK-23, CARD-07).

import { add, CARDS, count, LOCOMOTIVE } from "./cards.mjs";
import { RefusedError } from "./errors.mjs";
import { perksOf } from "./technologies.mjs";

/** @typedef {import("./game.mjs").Action} Action */
/** @typedef {import("./game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Move} Move */
/** @typedef {import("./game.mjs").Player} Player */

const THREE = 3; // UK-23
export const STOP = { type: "stop" };

/**
 * Drawing the first card, or three with a technology.
 * @param {{ second_optional?: boolean, to_holder?: boolean }} part
 * @returns {Action}
 */
export function drawing({ second_optional: isOptional = false, to_holder: toHolder = false }) {
  /** @type {(game: Game, player: Player, move: Move) => void} */
  const first = (game, player, move) => {
    const isOpen = move.type === "take_card";
    const isLast = isOpen && move.card === LOCOMOTIVE;
    const place = !toHolder ? "hand" : isLast ? "holder" : undefined;
    const card = takeCard(game, player, move, place);
    if (isLast) game.endTurn();
    else if (toHolder) game.ask({ type: "place_card", open: isOpen, card }, [player.seat]);
    else askForSecond(game, player, "hand", isOptional);
  };
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
          if (!perksOf(game, player).drawsThree) {
            throw new RefusedError("game.missing_technology", "/type", "a technology is missing (UK-23)");
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
      if (game.cards.pile.length > 0 && perksOf(game, player).drawsThree) moves.push({ type: "draw_three" });
      return { moves, complete: true };
    },
    isAvailable: (game) => game.cards.pile.length > 0 || count(game.cards.market) > 0,
  };
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
    stop: {
      check: expectMayStop,
      play(game, { seat }) {
        game.tell("stopped", { seat });
        game.endTurn();
      },
    },
  },
  list(game) {
    const moves = drawsFrom(game, CARDS.filter((card) => card !== LOCOMOTIVE));
    return { moves: game.pending?.may_stop ? [...moves, STOP] : moves, complete: true };
  },
  fallback: (game, player) => (game.pending?.may_stop ? STOP : secondCard.list(game, player).moves[0]),
};

/**
 * Refuses to stop where the decision does not allow it.
 * @param {Game} game
 */
export function expectMayStop(game) {
  if (!game.pending?.may_stop) throw new RefusedError("game.wrong_move", "/type", "another answer");
}

/**
 * Takes a card. Without a place it is decided next (ASIA-06).
 * @param {Game} game
 * @param {Player} player
 * @param {Move} move
 * @param {"hand" | "holder"} [place]
 * @returns {string} the card
 */
function takeCard(game, player, move, place) {
  const { cards } = game;
  const isOpen = move.type === "take_card";
  const card = isOpen ? move.card : cards.pile.pop();
  if (isOpen) add(cards.market, card, -1);
  if (place !== undefined) game.put(player, card, place, isOpen);
  game.tell(isOpen ? "card_taken" : "card_drawn", { seat: player.seat, card, ...(place && { place }) });
  cards.mend();
  cards.fill();
  return card;
}

/**
 * Asks for the second card, or ends the turn if there is none (USA-08).
 * @param {Game} game
 * @param {Player} player
 * @param {"hand" | "holder"} place
 * @param {boolean} mayStop
 */
export function askForSecond(game, player, place, mayStop = false) {
  const { pile, market } = game.cards;
  const isThere = pile.length > 0 || Object.keys(market).some((card) => card !== LOCOMOTIVE);
  if (isThere) game.ask({ type: "second_card", place, may_stop: mayStop }, [player.seat]);
  else game.endTurn();
}

/**
 * @param {Game} game
 * @param {Player} player
 * @param {Move} move
 */
function takeSecond(game, player, move) {
  takeCard(game, player, move, game.pending?.place);
  game.endTurn();
}

/** @param {Game} game */
function expectPile(game) {
  if (game.cards.pile.length === 0) throw new RefusedError("game.not_available", "/type", "the pile is empty");
}

/**
 * @param {Game} game
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
