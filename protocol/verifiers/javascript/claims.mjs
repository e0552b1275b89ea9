// Claiming routes (USA-10 to USA-12), with cards from the hand and from a holder (ASIA-08), and the claims in `legal`.

import { addAll, CARDS, COLORS, LOCOMOTIVE, has, removeAll, together, without } from "./cards.mjs";
import { RefusedError } from "./errors.mjs";
import { canPay, cheapest, payments, pays } from "./payments.mjs";
import { giveBack, hasTechnologies, perksOf } from "./technologies.mjs";

/** @typedef {import("./board.mjs").Route} Route */
/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./game.mjs").Listed} Listed */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Move} Move */
/** @typedef {import("./game.mjs").Player} Player */
/** @typedef {import("./payments.mjs").Price} Price */
/** @typedef {(game: Game, player: Player, route: Route) => boolean} Test */
/** @typedef {{ cards: Cards, holder: Cards }} Payment from the hand and from the holder */

const MOST_CLAIMS = 256; // games/team_asia.md: beyond it only one division of each payment is listed
const LAST = COLORS.length; // the place of gray routes that only locomotives pay for
const WITH_GROUPS = LAST + 1; // the first place of payments with cards that are played as a locomotive
const WITH_GROUPS_AND_COLOR = WITH_GROUPS + COLORS.length; // the same for routes with a color

/**
 * Returns the price of a route for a player (USA-10, UK-30).
 * @param {Game} game
 * @param {Player} player
 * @param {Route} route
 * @returns {Price}
 */
function priceOf(game, player, { length, color, locomotives }) {
  const { group, discount } = perksOf(game, player);
  return { units: length, colors: color === "gray" ? COLORS : [color], locomotives, group, discount };
}

/**
 * Tests whether nobody holds a route, and it is not closed for a player (USA-11, ASIA-12, ASIA-13, UK-03).
 * @type {Test}
 */
export function isOpen(game, { seat }, route) {
  if (game.claimed.has(route.id)) return false;
  if (route.tracks.length === 0) return true;
  const owners = ownersOfTracks(game, route);
  if (owners.some((seats) => seats.includes(seat))) return false;
  if (route.always_open) return true;
  const limits = game.rules.openTracks[game.players.length] ?? {};
  return owners.length < (limits[route.tracks.length] ?? route.tracks.length);
}

/**
 * Tests whether others hold a route, and the player none of its tracks (UK-21, UK-32).
 * @type {Test}
 */
export function isOthers(game, { seat }, route) {
  return game.claimed.has(route.id) && !ownersOfTracks(game, route).some((seats) => seats.includes(seat));
}

/**
 * Returns the owners of each track of a route that is claimed.
 * @param {Game} game
 * @param {Route} route
 * @returns {number[][]}
 */
function ownersOfTracks({ claimed }, { id, tracks }) {
  return (tracks.length > 0 ? tracks : [id]).flatMap((track) => [claimed.get(track) ?? []]).filter((seats) => seats.length > 0);
}

/**
 * Refuses a claim that is not legal now.
 * @param {Game} game
 * @param {Player} player
 * @param {Move} move
 */
export function expectClaim(game, player, move) {
  const route = game.board.routes.get(move.route);
  if (route === undefined) throw new RefusedError("game.unknown_name", "/route", "there is no such route");
  if (!hasTechnologies(game, player, route)) {
    throw new RefusedError("game.missing_technology", "/route", "a technology is missing");
  }
  if (player.trains < route.length) throw new RefusedError("game.not_enough_trains", "/route", "too few trains");
  if (!isFreeNow(game, player, route)) throw new RefusedError("game.route_taken", "/route", "a route that is open");
  const { cards, holder } = paymentOf(move);
  expectHeld(player.hand, cards, game.team(player).holder, holder);
  if (!pays(priceOf(game, player, route), together(cards, holder))) {
    throw new RefusedError("game.wrong_payment", "/cards", "these cards do not pay for the route");
  }
}

/**
 * Gives a route to a player, and discards the payment and the revealed cards together.
 * @param {Game} game
 * @param {Player} player
 * @param {Route} route
 * @param {Payment} payment
 * @param {Cards} revealed
 */
export function claim(game, player, route, payment, revealed = {}) {
  const { routePoints, ferryPoints } = perksOf(game, player);
  const points = game.board.points[route.length] + routePoints + (route.locomotives > 0 ? ferryPoints : 0);
  game.spend(player, payment.cards);
  removeAll(game.team(player).holder, payment.holder);
  player.trains -= route.length;
  player.points += points;
  player.routes.push(route.id);
  game.claimed.set(route.id, [...(game.claimed.get(route.id) ?? []), player.seat]);
  const claimed = { seat: player.seat, route: route.id, trains: route.length, points };
  game.tell("route_claimed", { ...claimed, ...fieldsOf(payment), ...(isSome(revealed) && { revealed }) });
  game.cards.discard(together(payment.cards, payment.holder, revealed));
  game.cards.fill();
}

/**
 * @param {Game} game
 * @param {string} id
 */
export function routeOf(game, id) {
  return /** @type {Route} */ (game.board.routes.get(id));
}

/**
 * @param {Move} move
 * @returns {Payment}
 */
export function paymentOf(move) {
  return { cards: move.cards ?? {}, holder: move.holder_cards ?? {} };
}

/**
 * Returns the fields of a payment: those without cards are absent.
 * @param {Payment} payment
 */
export function fieldsOf({ cards, holder }) {
  return { ...(isSome(cards) && { cards }), ...(isSome(holder) && { holder_cards: holder }) };
}

/** @param {Cards} cards */
export function isSome(cards) {
  for (const _ in cards) return true;
  return false;
}

/**
 * Refuses cards that are not there.
 * @param {Cards} hand
 * @param {Cards} cards
 * @param {Cards} holder
 * @param {Cards} holderCards
 */
export function expectHeld(hand, cards, holder = {}, holderCards = {}) {
  if (!has(hand, cards)) throw new RefusedError("game.not_enough_cards", "/cards", "the hand has fewer");
  if (!has(holder, holderCards)) throw new RefusedError("game.not_enough_cards", "/holder_cards", "the holder has fewer");
}

// -- claims that a technology brings

/**
 * Tests whether a route can be taken with the technology whose claims are being made; without one, whether it is open.
 * @type {Test}
 */
export const isFreeNow = (game, player, route) => (game.rights?.right_of_way ? isOthers : isOpen)(game, player, route);

/**
 * Asks for a claim that a technology brings.
 * @param {Game} game
 * @param {Player} player
 * @param {import("./game.mjs").Rights} rights
 */
export function askForClaim(game, player, rights) {
  game.rights = rights;
  game.passes = 0;
  game.ask({ type: "claim_route", ...rights }, [player.seat]);
}

/**
 * Goes on after a claim: with another one that a technology brings, or with the end of the turn.
 * @param {Game} game
 * @param {Player} player
 */
export function afterClaim(game, player) {
  const { rights } = game;
  if (rights === null) return game.endTurn();
  const left = rights.claims_left - 1;
  if (left > 0 && canClaim(game, player, isFreeNow)) askForClaim(game, player, { ...rights, claims_left: left, may_stop: true });
  else giveBack(game, player);
}

// -- what `legal` lists

/**
 * Tests whether a player can claim any route.
 * @param {Game} game
 * @param {Player} player
 * @param {Test} isFree
 */
export function canClaim(game, player, isFree) {
  const held = together(player.hand, game.team(player).holder);
  return pricesOf(game, player, isFree).some((price) => canPay(price, held));
}

/**
 * Returns the prices of the routes that a player could claim with the cards for it, each once.
 * @param {Game} game
 * @param {Player} player
 * @param {Test} isFree
 */
export function pricesOf(game, player, isFree) {
  /** @type {Map<string, Price>} */
  const prices = new Map();
  for (const route of game.board.routes.values()) {
    const key = [route.length, route.color, route.locomotives].join(" ");
    if (prices.has(key) || !isClaimable(game, player, route, isFree)) continue;
    prices.set(key, priceOf(game, player, route));
  }
  return [...prices.values()];
}

/** @type {(game: Game, player: Player, route: Route, isFree: Test) => boolean} */
function isClaimable(game, player, route, isFree) {
  return route.length <= player.trains && isFree(game, player, route) && hasTechnologies(game, player, route);
}

/**
 * Returns the claims of `legal`, and whether there are no others.
 * @param {Game} game
 * @param {Player} player
 * @param {Test} isFree
 * @returns {Listed}
 */
export function claimsOf(game, player, isFree) {
  const moves = listedClaims(game, player, isFree);
  const { hand } = player;
  const { holder } = game.team(player);
  const held = together(hand, holder);
  const listed = new Set(moves.map(keyOf));
  const complete = claimable(game, player, isFree).every((route) => {
    for (const cards of payments(priceOf(game, player, route), held)) {
      for (const payment of allDivisions(cards, hand, holder)) {
        if (!listed.has(keyOf(asClaim(route, payment)))) return false;
      }
    }
    return true;
  });
  return { moves, complete };
}

/**
 * Returns the claims in the order of `legal` (games/usa.md, Moves).
 * @param {Game} game
 * @param {Player} player
 * @param {Test} isFree
 */
export function listedClaims(game, player, isFree) {
  const { hand } = player;
  const { holder } = game.team(player);
  const held = together(hand, holder);
  const inOrder = claimable(game, player, isFree).flatMap((route) =>
    waysToPay(priceOf(game, player, route), route, held).map(({ place, cards }) => ({ route, place, cards })),
  );
  inOrder.sort(differenceOf);
  const claims = inOrder.flatMap(({ route, cards }) => divisions(cards, hand, holder).map((payment) => asClaim(route, payment)));
  if (claims.length <= MOST_CLAIMS) return claims;
  return inOrder.map(({ route, cards }) => asClaim(route, divisions(cards, hand, holder)[0]));
}

/**
 * Returns the routes that a player could claim with the cards for it, short ones first, otherwise as in the board file.
 * @param {Game} game
 * @param {Player} player
 * @param {Test} isFree
 */
function claimable(game, player, isFree) {
  const routes = [...game.board.routes.values()].filter((route) => isClaimable(game, player, route, isFree));
  return routes.sort((one, other) => one.length - other.length);
}

/**
 * Returns the payments of a route that are listed, each with its place: that of a color, or the last one.
 * @param {Price} price
 * @param {Route} route
 * @param {Cards} held
 * @returns {{ place: number, cards: Cards }[]}
 */
function waysToPay(price, route, held) {
  const inColors = (/** @type {string[]} */ colors, mostGroups = Infinity) =>
    colors.flatMap((color) => {
      const way = cheapest(price, color, held, mostGroups);
      return way === null ? [] : [{ ...way, place: placeOf(way, route, color) }];
    });
  /** @type {{ place: number, cards: Cards, colored: number }[]} */
  let ways;
  if (route.color === "gray") {
    const own = COLORS.filter((color) => color in held);
    ways = inColors(own, 0).filter(({ colored }) => colored > 0);
    if (ways.length === 0) {
      const alone = cheapest(price, LOCOMOTIVE, held, 0);
      ways = alone === null ? different(inColors(own)) : [{ ...alone, place: LAST }];
    }
  } else {
    ways = inColors([route.color]);
  }
  if (route.tunnel === 0) return ways; // ASIA-15
  const colored = ways.filter((way) => way.colored > 0);
  const alone = cheapest(price, LOCOMOTIVE, held, 0);
  return alone === null ? colored : [...colored, { ...alone, place: LAST }];
}

/**
 * @param {{ groups: number }} way
 * @param {Route} route
 * @param {string} color
 */
function placeOf({ groups }, route, color) {
  const place = COLORS.indexOf(color);
  if (groups === 0) return place;
  return place + (route.color === "gray" ? WITH_GROUPS : WITH_GROUPS_AND_COLOR);
}

/**
 * Drops payments that came before.
 * @template {{ cards: Cards }} T
 * @param {T[]} ways
 */
function different(ways) {
  const keys = ways.map(({ cards }) => keyOf({ type: "", cards }));
  return ways.filter((_, at) => keys.indexOf(keys[at]) === at);
}

/**
 * Compares two claims by their places; routes are sorted by length already, and otherwise as in the board file.
 * @param {{ route: Route, place: number }} one
 * @param {{ route: Route, place: number }} other
 */
function differenceOf(one, other) {
  if (one.place < WITH_GROUPS || other.place < WITH_GROUPS) {
    return one.place - other.place || COLORS.indexOf(one.route.color) - COLORS.indexOf(other.route.color);
  }
  const byColor = one.place - other.place;
  const byRoute = one.route.length - other.route.length || one.route.locomotives - other.route.locomotives;
  const areGray = one.place < WITH_GROUPS_AND_COLOR && other.place < WITH_GROUPS_AND_COLOR;
  return areGray ? byRoute || byColor : byColor || byRoute;
}

/**
 * @param {Route} route
 * @param {Payment} payment
 * @returns {Move}
 */
function asClaim(route, payment) {
  return { type: "claim_route", route: route.id, ...fieldsOf(payment) };
}

/** @param {Move} move */
export function keyOf({ route, cards = {}, holder_cards = {} }) {
  const numbers = [cards, holder_cards].map((each) => CARDS.map((card) => each[card] ?? 0).join());
  return [route, ...numbers].join(" ");
}

/**
 * Returns two divisions of a payment: holder first, and hand first if that differs.
 * @param {Cards} cards
 * @param {Cards} hand
 * @param {Cards} holder
 * @returns {Payment[]}
 */
export function divisions(cards, hand, holder) {
  const fromHolder = common(cards, holder);
  const fromHand = common(cards, hand);
  const holderFirst = { cards: without(cards, fromHolder), holder: fromHolder };
  const handFirst = { cards: fromHand, holder: without(cards, fromHand) };
  const differ = !has(holderFirst.cards, handFirst.cards);
  return differ ? [holderFirst, handFirst] : [holderFirst];
}

/**
 * @param {Cards} some
 * @param {Cards} others
 * @returns {Cards}
 */
function common(some, others) {
  /** @type {Cards} */
  const both = {};
  for (const card in some) {
    if (card in others) both[card] = Math.min(some[card], others[card]);
  }
  return both;
}

/**
 * Yields every division of a payment.
 * @param {Cards} cards
 * @param {Cards} hand
 * @param {Cards} holder
 * @returns {Generator<Payment>}
 */
export function* allDivisions(cards, hand, holder, from = 0) {
  const card = CARDS.slice(from).find((each) => each in cards);
  if (card === undefined) {
    yield { cards: {}, holder: {} };
    return;
  }
  const number = cards[card];
  const next = CARDS.indexOf(card) + 1;
  for (let inHand = Math.max(0, number - (holder[card] ?? 0)); inHand <= Math.min(number, hand[card] ?? 0); inHand++) {
    for (const rest of allDivisions(cards, hand, holder, next)) {
      /** @type {Payment} */
      const payment = { cards: { ...rest.cards }, holder: { ...rest.holder } };
      if (inHand > 0) addAll(payment.cards, { [card]: inHand });
      if (inHand < number) addAll(payment.holder, { [card]: number - inHand });
      yield payment;
    }
  }
}
