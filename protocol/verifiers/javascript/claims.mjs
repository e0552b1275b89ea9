// Claiming routes (USA-10 to USA-12), with cards from the hand and from a holder (ASIA-08), and the claims in `legal`.

import { addAll, CARDS, COLORS, LOCOMOTIVE, has, removeAll, together, without } from "./cards.mjs";
import { RefusedError } from "./errors.mjs";
import { canPay, cheapest, payments, pays } from "./payments.mjs";

/** @typedef {import("./board.mjs").Route} Route */
/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./map_game.mjs").Action} Action */
/** @typedef {import("./map_game.mjs").Listed} Listed */
/** @typedef {import("./map_game.mjs").MapGame} MapGame */
/** @typedef {import("./map_game.mjs").Move} Move */
/** @typedef {import("./map_game.mjs").MovePart} MovePart */
/** @typedef {import("./map_game.mjs").Player} Player */
/** @typedef {import("./payments.mjs").Price} Price */
/** @typedef {(game: MapGame, player: Player, route: Route) => boolean} Test */
/** @typedef {{ cards: Cards, holder: Cards }} Payment from the hand and from the holder */

const MOST_CLAIMS = 256; // games/team_asia.md: beyond it only one division of each payment is listed
const LAST = COLORS.length; // the place of gray routes that only locomotives pay for
const WITH_GROUPS = LAST + 1; // the first place of payments with cards that are played as a locomotive
const WITH_GROUPS_AND_COLOR = WITH_GROUPS + COLORS.length; // the same for routes with a color

/**
 * The price of a route without the technologies of the United Kingdom.
 * @param {Route} route
 * @returns {Price}
 */
export function priceOf({ length, color, locomotives }) {
  return { units: length, colors: color === "gray" ? COLORS : [color], locomotives, group: 0, spare: false };
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
  return route.always_open || owners.length < game.rules.openTracks(route.tracks.length, game.players.length);
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
 * @param {MapGame} game
 * @param {Route} route
 * @returns {number[][]}
 */
function ownersOfTracks({ claimed }, { id, tracks }) {
  return (tracks.length > 0 ? tracks : [id]).flatMap((track) => [claimed.get(track) ?? []]).filter((seats) => seats.length > 0);
}

/**
 * The move of claiming a route.
 * @param {Test} isFree which routes are for the taking
 * @param {NonNullable<MovePart["play"]>} play
 * @returns {MovePart}
 */
export function claimMove(isFree, play) {
  return {
    check(game, player, move) {
      const route = game.board.routes.get(move.route);
      if (route === undefined) throw new RefusedError("game.unknown_name", "/route", "there is no such route");
      if (!game.rules.mayClaim(game, player, route)) {
        throw new RefusedError("game.missing_technology", "/route", "a technology is missing");
      }
      if (player.trains < route.length) throw new RefusedError("game.not_enough_trains", "/route", "too few trains");
      if (!isFree(game, player, route)) throw new RefusedError("game.route_taken", "/route", "a route that is open");
      const { cards, holder } = paymentOf(move);
      expectHeld(player.hand, cards, game.team(player).holder, holder);
      if (!pays(game.rules.priceOf(player, route), together(cards, holder))) {
        throw new RefusedError("game.wrong_payment", "/cards", "these cards do not pay for the route");
      }
    },
    normal: (game, player, move) => ({ type: move.type, route: move.route, ...fieldsOf(paymentOf(move)) }),
    play,
  };
}

/**
 * The action of claiming a route.
 * @param {boolean} tunnels whether locomotives alone are listed for tunnels, too (ASIA-15)
 * @param {NonNullable<MovePart["play"]>} play
 * @returns {Action}
 */
export function claiming(play = claimNow, tunnels = false) {
  return {
    moves: { claim_route: claimMove(isOpen, play) },
    list: (game, player) => claimsOf(game, player, isOpen, tunnels),
    isAvailable: (game, player) => canClaim(game, player, isOpen),
  };
}

/**
 * Claims a route with what the move lays.
 * @param {MapGame} game
 * @param {Player} player
 * @param {Move} move
 */
export function claimNow(game, player, move) {
  claim(game, player, routeOf(game, move.route), paymentOf(move));
  game.endTurn();
}

/**
 * Gives a route to a player, and discards the payment and the revealed cards together.
 * @param {MapGame} game
 * @param {Player} player
 * @param {Route} route
 * @param {Payment} payment
 * @param {Cards} revealed
 */
export function claim(game, player, route, payment, revealed = {}) {
  const points = game.rules.pointsOf(game, player, route);
  removeAll(player.hand, payment.cards);
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
 * @param {MapGame} game
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

// -- what `legal` lists

/**
 * Tests whether a player can claim any route.
 * @param {MapGame} game
 * @param {Player} player
 * @param {Test} isFree
 */
export function canClaim(game, player, isFree) {
  const held = together(player.hand, game.team(player).holder);
  return pricesOf(game, player, isFree).some((price) => canPay(price, held));
}

/**
 * Returns the prices of the routes that a player could claim with the cards for it, each once.
 * @param {MapGame} game
 * @param {Player} player
 * @param {Test} isFree
 */
export function pricesOf(game, player, isFree) {
  /** @type {Map<string, Price>} */
  const prices = new Map();
  for (const route of game.board.routes.values()) {
    const key = [route.length, route.color, route.locomotives].join(" ");
    if (prices.has(key) || !isClaimable(game, player, route, isFree)) continue;
    prices.set(key, game.rules.priceOf(player, route));
  }
  return [...prices.values()];
}

/** @type {(game: MapGame, player: Player, route: Route, isFree: Test) => boolean} */
function isClaimable(game, player, route, isFree) {
  return route.length <= player.trains && isFree(game, player, route) && game.rules.mayClaim(game, player, route);
}

/**
 * Returns the claims of `legal`, and whether there are no others.
 * @param {MapGame} game
 * @param {Player} player
 * @param {Test} isFree
 * @param {boolean} tunnels
 * @returns {Listed}
 */
export function claimsOf(game, player, isFree, tunnels = false) {
  const moves = listedClaims(game, player, isFree, tunnels);
  const { hand } = player;
  const { holder } = game.team(player);
  const held = together(hand, holder);
  const listed = new Set(moves.map(keyOf));
  const complete = claimable(game, player, isFree).every((route) => {
    for (const cards of payments(game.rules.priceOf(player, route), held)) {
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
 * @param {MapGame} game
 * @param {Player} player
 * @param {Test} isFree
 * @param {boolean} tunnels
 */
export function listedClaims(game, player, isFree, tunnels = false) {
  const { hand } = player;
  const { holder } = game.team(player);
  const held = together(hand, holder);
  const inOrder = claimable(game, player, isFree).flatMap((route) =>
    waysToPay(game.rules.priceOf(player, route), route, held, tunnels).map(({ place, cards }) => ({ route, place, cards })),
  );
  inOrder.sort(differenceOf);
  const claims = inOrder.flatMap(({ route, cards }) => divisions(cards, hand, holder).map((payment) => asClaim(route, payment)));
  if (claims.length <= MOST_CLAIMS) return claims;
  return inOrder.map(({ route, cards }) => asClaim(route, divisions(cards, hand, holder)[0]));
}

/**
 * Returns the routes that a player could claim with the cards for it, short ones first, otherwise as in the board file.
 * @param {MapGame} game
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
 * @param {boolean} tunnels
 * @returns {{ place: number, cards: Cards }[]}
 */
function waysToPay(price, route, held, tunnels) {
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
  if (!tunnels || route.tunnel === 0) return ways;
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
