// The result of a game of `usa` (USA-15 to USA-17, GEN-07; README.md, Results).

import { longestPath } from "./longest_path.mjs";

const LONGEST_PATH_POINTS = 10; // USA-16

/** `players` have `seat`, `routes`, `tickets` and `points`, those of their routes. */
export function resultOf(players, board, reason, turns) {
  const paths = players.map((player) => longestPath(player.routes));
  const longest = Math.max(...paths);
  const teams = players.map((player, seat) => {
    const connected = connections(player.routes);
    const tickets = [...board.tickets.values()]
      .filter((ticket) => player.tickets.includes(ticket.id))
      .map((ticket) => {
        const completed = connected(ticket.a, ticket.b);
        return { ticket: ticket.id, completed, points: completed ? ticket.points : -ticket.points };
      });
    const wins = longest > 0 && paths[seat] === longest;
    const bonuses = wins ? [{ bonus: "longest_path", points: LONGEST_PATH_POINTS }] : [];
    return {
      team: seat,
      seats: [seat],
      points: player.points + sum(tickets) + sum(bonuses),
      route_points: player.points,
      tickets,
      bonuses,
      completed_tickets: tickets.filter(({ completed }) => completed).length,
      longest_path: paths[seat],
    };
  });
  const ranks = teams.map((team) => 1 + teams.filter((other) => isAhead(other, team)).length);
  teams.forEach((team, seat) => (team.rank = ranks[seat]));
  return { reason, turns, ranks, teams };
}

const sum = (items) => items.reduce((total, { points }) => total + points, 0);

function isAhead(one, other) {
  const difference =
    one.points - other.points ||
    one.completed_tickets - other.completed_tickets ||
    one.longest_path - other.longest_path;
  return difference > 0;
}

/** Returns a function that tests whether routes connect two cities. */
function connections(routes) {
  const part = new Map();
  const partOf = (city) => part.get(city) ?? city;
  for (const { a, b } of routes) {
    const [from, to] = [partOf(a), partOf(b)];
    [a, b, ...part.keys()].filter((city) => partOf(city) === from).forEach((city) => part.set(city, to));
    part.set(b, to);
  }
  return (a, b) => partOf(a) === partOf(b);
}
