// Technologies: what they change for their owner (UK-04, UK-08, UK-11 to UK-27), and how they leave a player or the sale.

/** @typedef {import("./board.mjs").Route} Route */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Player} Player */

/**
 * What the technologies of a player change.
 * @typedef {object} Perks
 * @property {number} group so many cards count as a locomotive; 0: none do
 * @property {number} discount
 * @property {boolean} drawsThree
 * @property {number} routePoints
 * @property {number} ferryPoints
 */
/** @type {Perks} */
const NO_PERKS = { group: 0, discount: 0, drawsThree: false, routePoints: 0, ferryPoints: 0 };

/**
 * @param {Game} game
 * @param {Player} player
 * @returns {Perks}
 */
export function perksOf({ rules }, { technologies }) {
  if (rules.technologies.length === 0) return NO_PERKS;
  const held = rules.technologies.filter(({ id }) => technologies.includes(id));
  const sum = (/** @type {"discount" | "route_points" | "ferry_points"} */ name) =>
    held.reduce((total, technology) => total + (technology[name] ?? 0), 0);
  return {
    group: Math.min(rules.substitute, ...held.flatMap(({ substitute }) => substitute || [])),
    discount: sum("discount"),
    drawsThree: held.some(({ draws_three }) => draws_three),
    routePoints: sum("route_points"),
    ferryPoints: sum("ferry_points"),
  };
}

/**
 * Tests whether a player has all technologies that a route needs.
 * @param {Game} game
 * @param {Player} player
 * @param {Route} route
 */
export function hasTechnologies({ board, rules }, { technologies }, { a, b, length, locomotives }) {
  const regions = [a, b].map((city) => board.cities.get(city)?.region ?? "");
  if (rules.overseas.some((region) => regions.includes(region))) return true;
  return rules.technologies.every(
    ({ id, opens_regions, opens_lengths, opens_ferries }) =>
      technologies.includes(id) ||
      !(opens_regions?.some((region) => regions.includes(region)) || opens_lengths?.includes(length) || (opens_ferries && locomotives > 0)),
  );
}

/**
 * Takes technologies off sale when the discards become the pile (UK-26).
 * @param {Game} game
 */
export function withdraw(game) {
  const { rules, supply } = game;
  const technologies = rules.technologies.flatMap(({ id, until_shuffle }) => (until_shuffle && supply.get(id) ? [id] : []));
  for (const technology of technologies) supply.set(technology, 0);
  if (technologies.length > 0) game.tell("technologies_withdrawn", { technologies });
}

/**
 * Returns a technology when its claims have been made, and ends the turn.
 * @param {Game} game
 * @param {Player} player
 */
export function giveBack(game, player) {
  const { technology } = /** @type {import("./game.mjs").Rights} */ (game.rights);
  game.rights = null;
  player.technologies = player.technologies.filter((each) => each !== technology);
  game.supply.set(technology, (game.supply.get(technology) ?? 0) + 1);
  game.tell("technology_returned", { seat: player.seat, technology });
  game.endTurn();
}
