// The action of claiming a route, and tunnels (ASIA-14 to ASIA-17, ASIA-24, EUR-08). During an attempt the cards laid stay in the hand and on the holder, and
// the decision `pay_tunnel` has all that is known of it.

import { addAll, COLORS, count, LOCOMOTIVE, together, without } from "./cards.mjs";
import { afterClaim, allDivisions, canClaim, claim, claimsOf, divisions, expectClaim, expectHeld, fieldsOf, isOpen, isSome, keyOf, paymentOf, routeOf } from "./claims.mjs";
import { RefusedError } from "./errors.mjs";
import { cheapest, payments, pays } from "./payments.mjs";

/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./claims.mjs").Payment} Payment */
/** @typedef {import("./game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Move} Move */
/** @typedef {import("./game.mjs").Player} Player */

/**
 * Claims a route, or tries to if it is a tunnel.
 * @param {Game} game
 * @param {Player} player
 * @param {Move} move
 */
function claimOrTry(game, player, move) {
  const route = routeOf(game, move.route);
  const { id, tunnel } = route;
  const laid = paymentOf(move);
  if (tunnel === 0) {
    claim(game, player, route, laid);
    return afterClaim(game, player);
  }
  const revealed = reveal(game, tunnel);
  const color = colorOf(laid);
  const extra = (revealed[LOCOMOTIVE] ?? 0) + (color === LOCOMOTIVE ? 0 : revealed[color] ?? 0);
  const attempt = { seat: player.seat, route: id, ...fieldsOf(laid), ...(isSome(revealed) && { revealed }) };
  game.tell("tunnel_tried", { ...attempt, extra });
  const { hand, holder } = leftOf(game, player, laid);
  const held = together(hand, holder);
  const most = (held[LOCOMOTIVE] ?? 0) + (color === LOCOMOTIVE ? 0 : held[color] ?? 0);
  const asked = { route: id, cards: laid.cards, holder_cards: laid.holder, revealed, extra };
  if (extra === 0) finish(game, player, asked, { cards: {}, holder: {} });
  else if (extra > most) abandon(game, player, asked);
  else game.ask({ type: "pay_tunnel", ...asked }, [player.seat]);
}

/** @type {import("./game.mjs").Action} */
export const claiming = {
  moves: {
    claim_route: {
      check: expectClaim,
      normal: (game, player, move) => ({ type: move.type, route: move.route, ...fieldsOf(paymentOf(move)) }),
      play: claimOrTry,
    },
  },
  list: (game, player) => claimsOf(game, player, isOpen),
  isAvailable: (game, player) => canClaim(game, player, isOpen),
};

/** @type {DecisionPart} */
export const payTunnel = {
  moves: {
    pay_tunnel: {
      check(game, player, move) {
        const { cards, holder } = paymentOf(move);
        const left = leftOf(game, player, laidIn(game));
        expectHeld(left.hand, cards, left.holder, holder);
        if (!pays(extraPrice(game), together(cards, holder))) {
          throw new RefusedError("game.wrong_payment", "/cards", "these cards do not pay what the tunnel asks for");
        }
      },
      normal: (game, player, move) => ({ type: move.type, ...fieldsOf(paymentOf(move)) }),
      play: (game, player, move) => finish(game, player, game.pending, paymentOf(move)),
    },
    abandon_tunnel: {
      check: () => {},
      play: (game, player) => abandon(game, player, game.pending),
    },
  },
  list(game, player) {
    const price = extraPrice(game);
    const { hand, holder } = leftOf(game, player, laidIn(game));
    const held = together(hand, holder);
    const way = cheapest(price, price.colors[0] ?? LOCOMOTIVE, held);
    const pay = (/** @type {Payment} */ payment) => ({ type: "pay_tunnel", ...fieldsOf(payment) });
    const moves = way === null ? [] : divisions(way.cards, hand, holder).map(pay);
    const listed = new Set(moves.map(keyOf));
    const all = [...payments(price, held)].flatMap((cards) => [...allDivisions(cards, hand, holder)]);
    const complete = all.every((payment) => listed.has(keyOf(pay(payment))));
    return { moves: [...moves, { type: "abandon_tunnel" }], complete };
  },
  fallback: () => ({ type: "abandon_tunnel" }),
};

/**
 * Reveals cards from the top of the pile. If it runs out, the discards become the new pile at once.
 * @param {Game} game
 * @param {number} number
 * @returns {Cards}
 */
function reveal(game, number) {
  /** @type {Cards} */
  const revealed = {};
  for (let missing = number; missing > 0 && game.cards.pile.length > 0; missing = number - count(revealed)) {
    const cards = game.cards.take(missing);
    addAll(revealed, cards);
    game.tell("cards_revealed", { cards });
    game.cards.mend();
  }
  return revealed;
}

/**
 * Returns the color that was laid; a locomotive, if nothing else was.
 * @param {Payment} laid
 */
function colorOf({ cards, holder }) {
  return COLORS.find((color) => color in cards || color in holder) ?? LOCOMOTIVE;
}

/**
 * @param {Game} game
 * @returns {Payment}
 */
function laidIn({ pending }) {
  return { cards: pending?.cards, holder: pending?.holder_cards };
}

/**
 * Returns what the player can still pay with.
 * @param {Game} game
 * @param {Player} player
 * @param {Payment} laid
 */
function leftOf(game, player, laid) {
  return { hand: without(player.hand, laid.cards), holder: without(game.team(player).holder, laid.holder) };
}

/**
 * @param {Game} game
 * @returns {import("./payments.mjs").Price}
 */
function extraPrice(game) {
  const color = colorOf(laidIn(game));
  return { units: game.pending?.extra, colors: color === LOCOMOTIVE ? [] : [color], locomotives: 0, group: 0, discount: 0 };
}

/**
 * @param {Game} game
 * @param {Player} player
 * @param {any} attempt
 * @param {Payment} added
 */
function finish(game, player, attempt, added) {
  const cards = together(attempt.cards, added.cards);
  const holder = together(attempt.holder_cards, added.holder);
  claim(game, player, routeOf(game, attempt.route), { cards, holder }, attempt.revealed);
  afterClaim(game, player);
}

/**
 * @param {Game} game
 * @param {Player} player
 * @param {any} attempt
 */
function abandon(game, player, { route, cards, holder_cards: holder, revealed }) {
  const laid = fieldsOf({ cards, holder });
  const { known } = player;
  for (const card in cards) known[card] = Math.max(cards[card], known[card] ?? 0);
  game.tell("tunnel_abandoned", { seat: player.seat, route, ...laid, ...(isSome(revealed) && { revealed }) });
  game.cards.discard(revealed);
  game.cards.fill();
  afterClaim(game, player);
}
