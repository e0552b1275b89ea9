// Technologies: what they allow, how they are bought (UK-08 to UK-10), and claims that two of them bring (UK-21, UK-22).

import { add, count, LOCOMOTIVE, removeAll, together, without } from "./cards.mjs";
import { canClaim, claim, claimMove, claimsOf, expectHeld, isOpen, isOthers, keyOf, listedClaims, paymentOf, priceOf, pricesOf, routeOf } from "./claims.mjs";
import { RefusedError } from "./errors.mjs";
import { canPay, cheapest, fromSmallest, numberOfWays, payments, pays } from "./payments.mjs";
import { technologiesFor } from "./technologies.mjs";

/** @typedef {import("./board.mjs").Route} Route */
/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./map_game.mjs").Action} Action */
/** @typedef {import("./map_game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./map_game.mjs").MapGame} MapGame */
/** @typedef {import("./map_game.mjs").Move} Move */
/** @typedef {import("./map_game.mjs").Player} Player */
/** @typedef {import("./payments.mjs").Price} Price */
/** @typedef {import("./technologies.mjs").Technology} Technology */

const GROUP = 4; // UK-04
const GROUP_WITH_BOOSTER = 3; // UK-17
const FREE_REGION = "overseas"; // UK-08
const SHORT = 2; // the same
/** Technologies whose claims are the action of the turn, with the number of claims. */
const CLAIMS = new Map([["right_of_way", 1], ["thermocompressor", 2]]);
const MOST_WAYS = 1000; // with more ways to pay, `legal` does not look at each of them
const UNTIL_SHUFFLE = ["risky_contracts", "equalising_beam"]; // UK-26

/** @param {Player} player */
const groupOf = ({ technologies }) => (technologies.includes("booster") ? GROUP_WITH_BOOSTER : GROUP);

/**
 * Returns the price of a route for a player, with groups and Diesel Power (UK-30).
 * @param {Player} player
 * @param {Route} route
 * @returns {Price}
 */
export function priceWithTechnologies(player, route) {
  return { ...priceOf(route), group: groupOf(player), spare: player.technologies.includes("diesel_power") };
}

/**
 * Tests whether a player has all technologies that a route needs.
 * @type {(game: MapGame, player: Player, route: Route) => boolean}
 */
export function hasTechnologies({ board }, { technologies }, { a, b, length, locomotives }) {
  const regions = [a, b].map((city) => board.cities.get(city)?.region ?? "");
  if (regions.includes(FREE_REGION)) return true;
  return LAWS.every(
    (law) =>
      technologies.includes(law.technology) ||
      !(law.regions?.some((region) => regions.includes(region)) || law.lengths?.includes(length) || (law.ferries && locomotives > 0)),
  );
}

const LAWS = technologiesFor([]).filter(({ regions, lengths, ferries }) => regions ?? lengths ?? ferries);

/**
 * Takes technologies off sale when the discards become the pile (UK-26).
 * @param {MapGame} game
 */
export function withdraw(game) {
  const technologies = UNTIL_SHUFFLE.filter((technology) => (game.supply.get(technology) ?? 0) > 0);
  for (const technology of technologies) game.supply.set(technology, 0);
  if (technologies.length > 0) game.tell("technologies_withdrawn", { technologies });
}

/** @type {Action} */
export const buying = {
  moves: {
    buy_technology: {
      check(game, player, { technology: id, cards }) {
        const technology = technologiesFor(game.options).find((each) => each.technology === id);
        if (technology === undefined) throw new RefusedError("game.unknown_name", "/technology", "there is no such technology");
        if (!isForSale(game, player, technology)) {
          throw new RefusedError("game.not_available", "/technology", "a technology that can be bought now");
        }
        expectHeld(player.hand, cards);
        if (!pays(priceOfTechnology(player, technology), cards)) {
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
    const moves = technologiesFor(game.options).flatMap((technology) => {
      const cards = isForSale(game, player, technology) ? listedWay(game, player, technology) : null;
      if (cards === null) return [];
      complete &&= !hasOtherWay(game, player, technology, cards);
      return [{ type: "buy_technology", technology: technology.technology, cards }];
    });
    return { moves, complete };
  },
  isAvailable: () => false, // nobody is ever forced to buy
};

/**
 * @param {MapGame} game
 * @param {Player} player
 * @param {Move} move
 */
function buy(game, player, { technology, cards }) {
  removeAll(player.hand, cards);
  game.supply.set(technology, (game.supply.get(technology) ?? 0) - 1);
  player.technologies.push(technology);
  game.tell("technology_bought", { seat: player.seat, technology, cards });
  game.cards.discard(cards);
  game.cards.fill();
  const claims = CLAIMS.get(technology);
  if (claims === undefined) game.ask({ type: "take_action" }, [player.seat]);
  else askForClaim(game, player, technology, claims, false);
}

/**
 * @param {MapGame} game
 * @param {Player} player
 * @param {Technology} technology
 */
function isForSale(game, player, technology) {
  const { technology: id } = technology;
  if (player.technologies.includes(id) || (game.supply.get(id) ?? 0) === 0) return false;
  return true;
}

/**
 * @param {Player} player
 * @param {Technology} technology
 * @returns {Price}
 */
function priceOfTechnology(player, { price }) {
  return { units: price, colors: [], locomotives: 0, group: groupOf(player), spare: false };
}

/**
 * Tests whether a claim is possible after a payment, for technologies that bring one.
 * @param {MapGame} game
 * @param {Player} player
 * @param {Technology} technology
 * @param {Cards} cards
 */
function leavesClaim(game, player, { technology }, cards) {
  if (!CLAIMS.has(technology)) return true;
  const left = without(player.hand, cards);
  return claimPrices(game, player, technology).some((price) => canPay(price, left));
}

/**
 * @param {MapGame} game
 * @param {Player} player
 * @param {string} technology
 */
function claimPrices(game, player, technology) {
  return pricesOf(game, player, technology === "right_of_way" ? isOthers : isOpen);
}

/**
 * Returns the payment that is listed: as many locomotives as possible. If a claim must be left and this payment leaves none,
 * the cards of the first claim that can be left are set aside (games/united_kingdom.md, Moves).
 * @param {MapGame} game
 * @param {Player} player
 * @param {Technology} technology
 * @returns {Cards | null}
 */
function listedWay(game, player, technology) {
  const price = priceOfTechnology(player, technology);
  const way = cheapest(price, LOCOMOTIVE, player.hand);
  if (way === null || leavesClaim(game, player, technology, way.cards)) return way?.cards ?? null;
  const isFree = technology.technology === "right_of_way" ? isOthers : isOpen;
  const held = player.hand[LOCOMOTIVE] ?? 0;
  for (let groups = Math.max(0, price.units - held); groups <= price.units; groups++) {
    /** @type {Cards} */
    const locomotives = {};
    add(locomotives, LOCOMOTIVE, price.units - groups);
    const hand = without(player.hand, locomotives);
    for (const { cards } of listedClaims(game, { ...player, hand }, isFree)) {
      const rest = without(hand, cards);
      if (count(rest) >= groups * price.group) return together(locomotives, fromSmallest(rest, groups * price.group));
    }
  }
  return null;
}

/**
 * @param {MapGame} game
 * @param {Player} player
 * @param {Technology} technology
 * @param {Cards} listed
 */
function hasOtherWay(game, player, technology, listed) {
  const price = priceOfTechnology(player, technology);
  const number = numberOfWays(price, player.hand);
  if (!CLAIMS.has(technology.technology) || number > MOST_WAYS) return number > 1;
  const key = keyOf({ type: "", cards: listed });
  const prices = claimPrices(game, player, technology.technology);
  for (const cards of payments(price, player.hand)) {
    if (keyOf({ type: "", cards }) === key) continue;
    const left = without(player.hand, cards);
    if (prices.some((each) => canPay(each, left))) return true;
  }
  return false;
}

// -- claims that a technology brings

/**
 * @param {MapGame} game
 * @param {Player} player
 * @param {string} technology
 * @param {number} left
 * @param {boolean} mayStop
 */
function askForClaim(game, player, technology, left, mayStop) {
  const rights = { technology, claims_left: left, right_of_way: technology === "right_of_way", may_stop: mayStop };
  game.ask({ type: "claim_route", ...rights }, [player.seat]);
}

/** @type {import("./claims.mjs").Test} */
const isFree = (game, player, route) => (game.pending?.right_of_way ? isOthers : isOpen)(game, player, route);

/** @type {DecisionPart} */
export const claimByTechnology = {
  moves: {
    claim_route: claimMove(isFree, (game, player, move) => {
      const { technology, claims_left: left } = /** @type {import("./map_game.mjs").Decision} */ (game.pending);
      game.passes = 0;
      claim(game, player, routeOf(game, move.route), paymentOf(move));
      if (left > 1 && canClaim(game, player, isOpen)) askForClaim(game, player, technology, left - 1, true);
      else giveBack(game, player, technology);
    }),
    stop: {
      check(game) {
        if (!game.pending?.may_stop) throw new RefusedError("game.wrong_move", "/type", "a claim");
      },
      play(game, player) {
        game.tell("stopped", { seat: player.seat });
        giveBack(game, player, game.pending?.technology);
      },
    },
  },
  list(game, player) {
    const { moves, complete } = claimsOf(game, player, isFree);
    return { moves: game.pending?.may_stop ? [...moves, { type: "stop" }] : moves, complete };
  },
  fallback(game, player) {
    return game.pending?.may_stop ? { type: "stop" } : claimsOf(game, player, isFree).moves[0];
  },
};

/**
 * @param {MapGame} game
 * @param {Player} player
 * @param {string} technology
 */
function giveBack(game, player, technology) {
  player.technologies = player.technologies.filter((each) => each !== technology);
  game.supply.set(technology, (game.supply.get(technology) ?? 0) + 1);
  game.tell("technology_returned", { seat: player.seat, technology });
  game.endTurn();
}
