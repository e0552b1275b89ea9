// Stations: building them (EUR-10), and the routes that they lend when the game is scored (EUR-12).

import { COLORS, LOCOMOTIVE } from "./cards.mjs";
import { expectHeld } from "./claims.mjs";
import { RefusedError } from "./errors.mjs";
import { cheapest, payments, pays } from "./payments.mjs";
import { parts, routesOf, scoreTickets, ticketsOf } from "./scoring.mjs";

/** @typedef {import("./board.mjs").Route} Route */
/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./game.mjs").Action} Action */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Player} Player */
/** @typedef {import("./game.mjs").Team} Team */
/** @typedef {import("./payments.mjs").Price} Price */
/** @typedef {import("./scoring.mjs").StationUse} StationUse */

/**
 * The action of building a station, of which each player has so many.
 * @param {{ number: number }} part
 * @returns {Action}
 */
export const buildingStations = ({ number }) => ({
  moves: {
    build_station: {
      check(game, player, { city, cards }) {
        if (player.stations.length === number) throw new RefusedError("game.not_available", "/type", "no station is left");
        if (!game.board.cities.has(city)) throw new RefusedError("game.unknown_name", "/city", "there is no such city");
        if (isTaken(game, city)) throw new RefusedError("game.not_available", "/city", "a city without a station");
        expectHeld(player.hand, cards);
        if (!pays(priceOf(player), cards)) throw new RefusedError("game.wrong_payment", "/cards", "these cards do not pay");
      },
      play(game, player, { city, cards }) {
        game.spend(player, cards);
        player.stations.push(city);
        game.tell("station_built", { seat: player.seat, city, cards });
        game.cards.discard(cards);
        game.cards.fill();
        game.endTurn();
      },
    },
  },
  list(game, player) {
    const way = listedWay(player, number);
    if (way === null) return { moves: [], complete: true };
    const cities = [...game.board.cities.keys()].filter((city) => !isTaken(game, city));
    const moves = cities.map((city) => ({ type: "build_station", city, cards: way }));
    const ways = new Set([...payments(priceOf(player), player.hand)].map((cards) => JSON.stringify(Object.entries(cards).sort())));
    return { moves, complete: moves.length === 0 || ways.size === 1 };
  },
  isAvailable: (game, player) => listedWay(player, number) !== null && [...game.board.cities.keys()].some((city) => !isTaken(game, city)),
});

/**
 * @param {Player} player
 * @returns {Price}
 */
function priceOf({ stations }) {
  return { units: stations.length + 1, colors: COLORS, locomotives: 0, group: 0, discount: 0 };
}

/**
 * @param {Game} game
 * @param {string} city
 */
function isTaken({ players }, city) {
  return players.some(({ stations }) => stations.includes(city));
}

/**
 * Returns the payment that is listed: fewest locomotives, then the color of which the hand has fewest cards.
 * @param {Player} player
 * @param {number} number of stations at the start
 * @returns {Cards | null}
 */
function listedWay(player, number) {
  if (player.stations.length === number) return null;
  const colors = COLORS.filter((color) => color in player.hand);
  const ways = [...colors, LOCOMOTIVE].flatMap((color) => {
    const way = cheapest(priceOf(player), color, player.hand);
    return way === null ? [] : [{ cards: way.cards, locomotives: way.cards[LOCOMOTIVE] ?? 0, held: player.hand[color] }];
  });
  ways.sort((one, other) => one.locomotives - other.locomotives || one.held - other.held);
  return ways[0]?.cards ?? null;
}

/**
 * Returns the routes that a player's stations lend (EUR-12): the best choice, and of equal ones the first.
 * @param {Game} game
 * @param {Team} team
 * @returns {StationUse[]}
 */
export function bestUse(game, team) {
  const [seat] = team.seats;
  const order = [...game.board.cities.keys()];
  const { stations } = game.players[seat];
  const inOrder = [...stations].sort((one, other) => order.indexOf(one) - order.indexOf(other));
  const own = routesOf(game, team);
  const tickets = ticketsOf(game, team);
  const lent = inOrder.map((city) => lentAt(game, seat, city, own));
  /** @type {{ key: number[], use: (Route | null)[] } | null} */
  let best = null;
  for (const use of combinations(lent)) {
    const routes = use.filter((route) => route !== null);
    const scored = scoreTickets(game, tickets, [...own, ...routes]);
    const points = scored.reduce((sum, ticket) => sum + ticket.points, 0);
    const key = [points, scored.filter(({ completed }) => completed).length, -routes.length];
    if (best === null || isGreater(key, best.key)) best = { key, use };
  }
  return stations.map((city) => {
    const route = best?.use[inOrder.indexOf(city)];
    return { city, ...(route && { route: route.id }) };
  });
}

/**
 * Returns the routes of others at a city, in the order of the board file, and null for none. Of routes that lead to the
 * same part of the player's own net the first is enough.
 * @param {Game} game
 * @param {number} seat
 * @param {string} city
 * @param {Route[]} own
 * @returns {(Route | null)[]}
 */
function lentAt({ board, claimed }, seat, city, own) {
  const partOf = parts(own);
  const reached = new Set([partOf(city)]);
  const routes = [...board.routes.values()].filter(({ id, a, b }) => {
    const owners = claimed.get(id) ?? [];
    if ((a !== city && b !== city) || !owners.some((owner) => owner !== seat)) return false;
    const part = partOf(a === city ? b : a);
    return !reached.has(part) && Boolean(reached.add(part));
  });
  return [...routes, null];
}

/**
 * @template T
 * @param {T[][]} choices
 * @returns {Generator<T[]>}
 */
function* combinations([first, ...others]) {
  if (first === undefined) yield [];
  else for (const item of first) for (const rest of combinations(others)) yield [item, ...rest];
}

/**
 * @param {number[]} one
 * @param {number[]} other
 */
function isGreater(one, other) {
  const at = one.findIndex((value, place) => value !== other[place]);
  return at >= 0 && one[at] > other[at];
}
