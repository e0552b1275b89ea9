// The result of a game (USA-15 to USA-17 and what other games have instead; README.md, Results).

import { longestPath } from "./longest_path.mjs";
import { inOrder } from "./tickets.mjs";

/** @typedef {import("./board.mjs").Route} Route */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Team} Team */
/**
 * The score of a team as the bonuses see it.
 * @typedef {object} Score
 * @property {{ ticket: string, completed: boolean, points: number }[]} tickets
 * @property {number} completed_tickets
 * @property {number} longest_path
 */
/** @typedef {{ bonus: string, points: number }} Won */
/** @typedef {(game: Game, team: Team, score: Score, scores: Score[]) => Won[]} Bonus */
/** @typedef {{ city: string, route?: string }} StationUse */

/**
 * What the tie-breaks compare; more is better.
 * @type {Record<string, (score: Score & { bonuses: Won[], stations?: StationUse[] }) => number>}
 */
const TIE_BREAKS = {
  completed_tickets: (score) => score.completed_tickets,
  longest_own_path: (score) => score.longest_path,
  fewest_stations: ({ stations = [] }) => -stations.length, // EUR-16
  bonus_cards: ({ bonuses }) => bonuses.filter(({ bonus }) => bonus.startsWith(BIG_CITY)).length, // CARD-18
};
const BIG_CITY = "big_city:";

/**
 * @param {Game} game
 * @param {string} reason
 */
export function resultOf(game, reason) {
  const { bonuses, stationUse, tieBreaks } = game.rules;
  const scores = game.teams.map((team) => {
    const players = team.seats.map((seat) => game.players[seat]);
    const routes = routesOf(game, team);
    const used = stationUse?.(game, team);
    const lent = (used ?? []).flatMap(({ route }) => (route === undefined ? [] : [routeWith(game, route)]));
    const completed = players.flatMap((player) => player.completed);
    const tickets = scoreTickets(game, ticketsOf(game, team), [...routes, ...lent], completed);
    return {
      team: team.team,
      seats: team.seats,
      route_points: players.reduce((sum, { points }) => sum + points, 0),
      tickets,
      completed_tickets: tickets.filter(({ completed }) => completed).length,
      longest_path: longestPath(routes),
      ...(used && { stations: used }),
    };
  });
  const teams = scores.map((score, at) => {
    const won = bonuses.flatMap((bonus) => bonus(game, game.teams[at], score, scores));
    const points = score.route_points + total(score.tickets) + total(won);
    return { ...score, bonuses: won, points, rank: 0 };
  });
  const keys = teams.map((team) => [team.points, ...tieBreaks.map((name) => TIE_BREAKS[name](team))]);
  teams.forEach((team, at) => (team.rank = 1 + keys.filter((key) => isAhead(key, keys[at])).length));
  const ranks = game.players.map((player) => teams[player.team].rank);
  return { reason, turns: game.turn, ranks, teams };
}

const total = (/** @type {{ points: number }[]} */ items) => items.reduce((sum, { points }) => sum + points, 0);

/**
 * @param {number[]} one
 * @param {number[]} other
 */
function isAhead(one, other) {
  const at = one.findIndex((value, place) => value !== other[place]);
  return at >= 0 && one[at] > other[at];
}

/**
 * @param {Game} game
 * @param {string} id
 */
const routeWith = ({ board }, id) => /** @type {Route} */ (board.routes.get(id));

/**
 * Returns the routes of a team's players.
 * @param {Game} game
 * @param {Team} team
 */
export function routesOf(game, team) {
  return team.seats.flatMap((seat) => game.players[seat].routes).map((id) => routeWith(game, id));
}

/**
 * Returns the tickets of a team, in the order of the board file.
 * @param {Game} game
 * @param {Team} team
 */
export function ticketsOf(game, team) {
  const players = team.seats.map((seat) => game.players[seat]);
  return inOrder(game, [...team.tickets, ...players.flatMap(({ tickets, completed }) => [...tickets, ...completed])]);
}

/**
 * @param {Game} game
 * @param {string[]} ids
 * @param {Route[]} routes
 * @param {string[]} others those that are completed without routes
 */
export function scoreTickets({ board }, ids, routes, others = []) {
  const partOf = parts(routes);
  return ids.map((id) => {
    const { a, b, points } = /** @type {import("./board.mjs").Ticket} */ (board.tickets.get(id));
    const ends = new Set((board.groups[a] ?? [a]).map(partOf));
    const completed = others.includes(id) || (board.groups[b] ?? [b]).some((city) => ends.has(partOf(city)));
    return { ticket: id, completed, points: completed ? points : -points };
  });
}

/**
 * Returns a function that names the part of the net to which a city belongs.
 * @param {Route[]} routes
 * @returns {(city: string) => string}
 */
export function parts(routes) {
  /** @type {Map<string, string>} */
  const next = new Map();
  const partOf = (/** @type {string} */ city) => {
    let part = city;
    for (let up = next.get(part); up !== undefined; up = next.get(part)) part = up;
    return part;
  };
  for (const { a, b } of routes) {
    const [from, to] = [partOf(a), partOf(b)];
    if (from !== to) next.set(from, to);
  }
  return partOf;
}

// -- bonuses

/**
 * The bonuses by their parts.
 * @type {Record<string, (part: any) => Bonus>}
 */
export const BONUSES = {
  // for the most of something, and for each that ties, but for none of it
  for_the_most: ({ name, points, amount }) => (game, team, score, scores) => (hasMost(amount, score, scores) ? [{ bonus: name, points }] : []),
  stake: ({ name, points, amount }) => (game, team, score, scores) => [{ bonus: name, points: hasMost(amount, score, scores) ? points : -points }],
  for_each_ticket: ({ name, points }) => (game, team, { completed_tickets: completed }) =>
    completed > 0 ? [{ bonus: name, points: points * completed }] : [],
  big_cities: () => bigCities,
};

/**
 * The bonuses of big cities: for the most completed tickets that name the city, and for each that ties (CARD-17).
 * @type {Bonus}
 */
function bigCities({ board }, team, score, scores) {
  const { big_cities: points = {}, cities } = board.file;
  return cities.flatMap((/** @type {{ id: string }} */ { id: city }) => {
    const isNamed = (/** @type {string} */ id) => [board.tickets.get(id)?.a, board.tickets.get(id)?.b].includes(city);
    const named = (/** @type {Score} */ { tickets }) => tickets.filter(({ ticket, completed }) => completed && isNamed(ticket)).length;
    const isWon = city in points && named(score) > 0 && scores.every((other) => named(other) <= named(score));
    return isWon ? [{ bonus: `${BIG_CITY}${city}`, points: points[city] }] : [];
  });
}

/**
 * Gives a bonus to the owners of a technology alone.
 * @param {string} technology
 * @param {Bonus} bonus
 * @returns {Bonus}
 */
export function ofOwner(technology, bonus) {
  return (game, team, score, scores) => {
    const isOwner = team.seats.some((seat) => game.players[seat].technologies.includes(technology));
    return isOwner ? bonus(game, team, score, scores) : [];
  };
}

/**
 * The bonus for stations that were not built (EUR-14).
 * @param {{ number: number, points_left?: number }} part
 * @returns {Bonus}
 */
export function stationsLeft({ number, points_left: points = 0 }) {
  return (game, { seats }) => {
    const left = seats.reduce((sum, seat) => sum + number - game.players[seat].stations.length, 0);
    return left > 0 ? [{ bonus: "stations_left", points: left * points }] : [];
  };
}

/**
 * @param {"longest_path" | "completed_tickets"} field
 * @param {Score} score
 * @param {Score[]} scores
 */
function hasMost(field, score, scores) {
  return score[field] > 0 && scores.every((other) => other[field] <= score[field]);
}
