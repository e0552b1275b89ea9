// The result of a game on a map (USA-15 to USA-17 and what other games have instead; README.md, Results).

import { longestPath } from "./longest_path.mjs";
import { inOrder } from "./tickets.mjs";

/** @typedef {import("./board.mjs").Route} Route */
/** @typedef {import("./map_game.mjs").MapGame} MapGame */
/** @typedef {import("./map_game.mjs").Team} Team */
/**
 * The score of a team as the bonuses see it.
 * @typedef {object} Score
 * @property {number} completed_tickets
 * @property {number} longest_path
 */
/** @typedef {(game: MapGame, team: Team, score: Score, scores: Score[]) => { bonus: string, points: number } | null} Bonus */
/**
 * @typedef {object} Scoring
 * @property {readonly Bonus[]} bonuses in the order of the result
 * @property {(game: MapGame, team: Team) => StationUse[]} [stations]
 * @property {readonly string[]} [tieBreaks] fields of a team's score, after the points
 */
/** @typedef {{ city: string, route?: string }} StationUse */

const TIE_BREAKS = ["completed_tickets", "longest_path"];

/**
 * @param {MapGame} game
 * @param {string} reason
 */
export function resultOf(game, reason) {
  const { bonuses, stations } = game.rules.scoring;
  const scores = game.teams.map((team) => {
    const players = team.seats.map((seat) => game.players[seat]);
    const routes = routesOf(game, team);
    const used = stations?.(game, team);
    const lent = (used ?? []).flatMap(({ route }) => (route === undefined ? [] : [routeWith(game, route)]));
    const tickets = scoreTickets(game, ticketsOf(game, team), [...routes, ...lent]);
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
    const won = bonuses.flatMap((bonus) => bonus(game, game.teams[at], score, scores) ?? []);
    const points = score.route_points + total(score.tickets) + total(won);
    return { ...score, bonuses: won, points, rank: 0 };
  });
  const tieBreaks = game.rules.scoring.tieBreaks ?? TIE_BREAKS;
  const keys = teams.map((team) => ["points", ...tieBreaks].map((field) => keyOf(/** @type {any} */ (team)[field])));
  teams.forEach((team, at) => (team.rank = 1 + keys.filter((key) => isAhead(key, keys[at])).length));
  const ranks = game.players.map((player) => teams[player.team].rank);
  return { reason, turns: game.turn, ranks, teams };
}

/** Of stations, the fewest are best (EUR-16). */
const keyOf = (/** @type {any} */ value) => (Array.isArray(value) ? -value.length : value);

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
 * @param {MapGame} game
 * @param {string} id
 */
const routeWith = ({ board }, id) => /** @type {Route} */ (board.routes.get(id));

/**
 * Returns the routes of a team's players.
 * @param {MapGame} game
 * @param {Team} team
 */
export function routesOf(game, team) {
  return team.seats.flatMap((seat) => game.players[seat].routes).map((id) => routeWith(game, id));
}

/**
 * Returns the tickets of a team, in the order of the board file.
 * @param {MapGame} game
 * @param {Team} team
 */
export function ticketsOf(game, team) {
  return inOrder(game, [...team.tickets, ...team.seats.flatMap((seat) => game.players[seat].tickets)]);
}

/**
 * @param {MapGame} game
 * @param {string[]} ids
 * @param {Route[]} routes
 */
export function scoreTickets({ board }, ids, routes) {
  const partOf = parts(routes);
  return ids.map((id) => {
    const { a, b, points } = /** @type {import("./board.mjs").Ticket} */ (board.tickets.get(id));
    const ends = new Set((board.groups[a] ?? [a]).map(partOf));
    const completed = (board.groups[b] ?? [b]).some((city) => ends.has(partOf(city)));
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

/**
 * A bonus for the most of something, and for each that ties, but for none of it.
 * @param {string} bonus
 * @param {keyof Score} field
 * @param {number} points
 * @returns {Bonus}
 */
export function bonusForMost(bonus, field, points) {
  return (game, team, score, scores) => (hasMost(field, score, scores) ? { bonus, points } : null);
}

/**
 * @param {keyof Score} field
 * @param {Score} score
 * @param {Score[]} scores
 */
export function hasMost(field, score, scores) {
  return score[field] > 0 && scores.every((other) => other[field] <= score[field]);
}
