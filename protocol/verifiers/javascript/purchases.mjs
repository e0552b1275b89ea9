// Purchases of technologies (UK-09, UK-10), and the claims that some of them bring at once (UK-21, UK-22).

import { add, count, LOCOMOTIVE, together, without } from "./cards.mjs";
import { askForClaim, claimsOf, expectHeld, isFreeNow, isOpen, isOthers, keyOf, listedClaims, pricesOf } from "./claims.mjs";
import { expectMayStop, STOP } from "./draws.mjs";
import { RefusedError } from "./errors.mjs";
import { canPay, cheapest, fromSmallest, numberOfWays, payments, pays } from "./payments.mjs";
import { giveBack, perksOf } from "./technologies.mjs";
import { claiming } from "./tunnels.mjs";

/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./game.mjs").Action} Action */
/** @typedef {import("./game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Move} Move */
/** @typedef {import("./game.mjs").Player} Player */
/** @typedef {import("./payments.mjs").Price} Price */
/** @typedef {import("./games.mjs").Technology} Technology */

const MOST_WAYS = 1000; // with more ways to pay, `legal` does not look at each of them

/** @type {Action} */
export const buying = {
  moves: {
    buy_technology: {
      check(game, player, { technology: id, cards }) {
        const technology = game.rules.technologies.find((each) => each.id === id);
        if (technology === undefined) throw new RefusedError("game.unknown_name", "/technology", "there is no such technology");
        if (!isForSale(game, player, technology)) {
          throw new RefusedError("game.not_available", "/technology", "a technology that can be bought now");
        }
        expectHeld(player.hand, cards);
        if (!pays(priceOfTechnology(game, player, technology), cards)) {
          throw new RefusedError("game.wrong_payment", "/cards", "these cards do not pay the price");
        }
        if (!leavesClaim(game, player, technology, cards)) {
          throw new RefusedError("game.not_available", "/technology", "a payment that leaves the cards for a claim");
        }
      },
      play: buy,
    },
  },
  list(game, player) {
    let complete = true;
    const moves = game.rules.technologies.flatMap((technology) => {
      const cards = isForSale(game, player, technology) ? listedWay(game, player, technology) : null;
      if (cards === null) return [];
      complete &&= !hasOtherWay(game, player, technology, cards);
      return [{ type: "buy_technology", technology: technology.id, cards }];
    });
    return { moves, complete };
  },
  isAvailable: () => false, // nobody is ever forced to buy
};

/**
 * @param {Game} game
 * @param {Player} player
 * @param {Move} move
 */
function buy(game, player, { technology, cards }) {
  game.spend(player, cards);
  game.supply.set(technology, (game.supply.get(technology) ?? 0) - 1);
  player.technologies.push(technology);
  game.tell("technology_bought", { seat: player.seat, technology, cards });
  game.cards.discard(cards);
  game.cards.fill();
  const { claims_taken: isForTaken, claims } = /** @type {Technology} */ (game.rules.technologies.find(({ id }) => id === technology));
  if (isForTaken) askForClaim(game, player, { technology, claims_left: 1, right_of_way: true, may_stop: false });
  else if (claims) askForClaim(game, player, { technology, claims_left: claims, right_of_way: false, may_stop: false });
  else game.ask({ type: "take_action" }, [player.seat]);
}

/**
 * @param {Game} game
 * @param {Player} player
 * @param {Technology} technology
 */
function isForSale(game, player, { id }) {
  return !player.technologies.includes(id) && (game.supply.get(id) ?? 0) > 0;
}

/**
 * @param {Game} game
 * @param {Player} player
 * @param {Technology} technology
 * @returns {Price}
 */
function priceOfTechnology(game, player, { cost }) {
  return { units: cost, colors: [], locomotives: 0, group: perksOf(game, player).group, discount: 0 };
}

/** @param {Technology} technology */
const isForClaims = ({ claims, claims_taken }) => Boolean(claims || claims_taken);

/** @param {Technology} technology */
const claimableBy = ({ claims_taken }) => (claims_taken ? isOthers : isOpen);

/**
 * Tests whether a claim is possible after a payment, for technologies that bring one.
 * @param {Game} game
 * @param {Player} player
 * @param {Technology} technology
 * @param {Cards} cards
 */
function leavesClaim(game, player, technology, cards) {
  if (!isForClaims(technology)) return true;
  const left = without(player.hand, cards);
  return pricesOf(game, player, claimableBy(technology)).some((price) => canPay(price, left));
}

/**
 * Returns the payment that is listed: as many locomotives as possible. If a claim must be left and this payment leaves none,
 * the cards of the first claim that can be left are set aside (games/united_kingdom.md, Moves).
 * @param {Game} game
 * @param {Player} player
 * @param {Technology} technology
 * @returns {Cards | null}
 */
function listedWay(game, player, technology) {
  const price = priceOfTechnology(game, player, technology);
  const way = cheapest(price, LOCOMOTIVE, player.hand);
  if (way === null || leavesClaim(game, player, technology, way.cards)) return way?.cards ?? null;
  const held = player.hand[LOCOMOTIVE] ?? 0;
  for (let groups = Math.max(0, price.units - held); groups <= price.units; groups++) {
    /** @type {Cards} */
    const locomotives = {};
    add(locomotives, LOCOMOTIVE, price.units - groups);
    const hand = without(player.hand, locomotives);
    for (const { cards } of listedClaims(game, { ...player, hand }, claimableBy(technology))) {
      const rest = without(hand, cards);
      if (count(rest) >= groups * price.group) return together(locomotives, fromSmallest(rest, groups * price.group));
    }
  }
  return null;
}

/**
 * @param {Game} game
 * @param {Player} player
 * @param {Technology} technology
 * @param {Cards} listed
 */
function hasOtherWay(game, player, technology, listed) {
  const price = priceOfTechnology(game, player, technology);
  const number = numberOfWays(price, player.hand);
  if (!isForClaims(technology) || number > MOST_WAYS) return number > 1;
  const key = keyOf({ type: "", cards: listed });
  const prices = pricesOf(game, player, claimableBy(technology));
  for (const cards of payments(price, player.hand)) {
    if (keyOf({ type: "", cards }) === key) continue;
    const left = without(player.hand, cards);
    if (prices.some((each) => canPay(each, left))) return true;
  }
  return false;
}

// -- claims that a technology brings

/** @type {DecisionPart} */
export const claimByTechnology = {
  moves: {
    ...claiming.moves,
    stop: {
      check: expectMayStop,
      play(game, player) {
        game.tell("stopped", { seat: player.seat });
        giveBack(game, player);
      },
    },
  },
  list(game, player) {
    const { moves, complete } = claimsOf(game, player, isFreeNow);
    return { moves: game.pending?.may_stop ? [...moves, STOP] : moves, complete };
  },
  fallback: (game, player) => (game.pending?.may_stop ? STOP : claimsOf(game, player, isFreeNow).moves[0]),
};
