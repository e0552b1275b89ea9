// The technologies of `united_kingdom` (UK-11 to UK-27), as `start` lists them (README.md, start).

/**
 * @typedef {object} Technology
 * @property {string} technology
 * @property {number} supply
 * @property {number} price in locomotives
 * @property {string[]} [regions] routes to and from these need it
 * @property {number[]} [lengths] routes of these lengths need it
 * @property {boolean} [ferries] whether ferries need it
 */

/** @type {Technology[]} */
const USUAL = [
  { technology: "wales_concession", supply: 4, price: 1, regions: ["wales"] },
  { technology: "ireland_france_concession", supply: 4, price: 1, regions: ["ireland", "france"] },
  { technology: "scotland_concession", supply: 4, price: 1, regions: ["scotland"] },
  { technology: "mechanical_stoker", supply: 4, price: 1, lengths: [3] },
  { technology: "superheated_steam_boiler", supply: 4, price: 2, lengths: [4, 5, 6] },
  { technology: "propellers", supply: 4, price: 2, ferries: true },
  { technology: "booster", supply: 4, price: 2 },
  { technology: "boiler_lagging", supply: 4, price: 2 },
  { technology: "steam_turbines", supply: 4, price: 2 },
  { technology: "double_heading", supply: 4, price: 4 },
  { technology: "right_of_way", supply: 1, price: 4 },
];

/** @type {Technology[]} */
const ADVANCED = [
  { technology: "thermocompressor", supply: 1, price: 1 },
  { technology: "water_tenders", supply: 2, price: 2 },
  { technology: "risky_contracts", supply: 1, price: 2 },
  { technology: "equalising_beam", supply: 1, price: 2 },
  { technology: "diesel_power", supply: 1, price: 3 },
];

/**
 * Returns the technologies that are for sale at the beginning, in their order.
 * @param {string[]} options
 */
export function technologiesFor(options) {
  return options.includes("advanced_technologies") ? [...USUAL, ...ADVANCED] : USUAL;
}
