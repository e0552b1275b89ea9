// The form of moves (README.md, Moves): what a reader checks before it asks the rules.

import { isCards } from "./cards.mjs";
import { RefusedError } from "./errors.mjs";

const isId = (/** @type {unknown} */ value) => typeof value === "string" && value.length > 0;
const isIds = (/** @type {unknown} */ value) => Array.isArray(value) && value.every(isId);

/** @typedef {Record<string, (value: unknown) => boolean>} Fields */

const NONE = { must: {}, may: {} };
const TICKETS = { must: { tickets: isIds }, may: {} };
const PAYMENT = { cards: isCards, holder_cards: isCards };

/**
 * The fields of each move, besides its type.
 * @type {Map<string, {must: Fields, may: Fields}>}
 */
const MOVES = new Map(
  Object.entries(/** @type {Record<string, {must: Fields, may: Fields}>} */ ({
    draw_card: NONE,
    take_card: { must: { card: isId }, may: {} },
    draw_three: NONE,
    place_card: { must: { place: (value) => value === "hand" || value === "holder" }, may: {} },
    claim_route: { must: { route: isId }, may: PAYMENT },
    pay_tunnel: { must: {}, may: PAYMENT },
    abandon_tunnel: NONE,
    stop: NONE,
    draw_tickets: NONE,
    keep_tickets: TICKETS,
    share_tickets: TICKETS,
    lay_cards: { must: { cards: isCards }, may: {} },
    complete_tickets: TICKETS,
    buy_technology: { must: { technology: isId, cards: isCards }, may: {} },
    build_station: { must: { city: isId, cards: isCards }, may: {} },
    pass: NONE,
  })),
);

/**
 * Checks that a value has the form of a move. Throws RefusedError with a code of the protocol otherwise.
 * @param {any} value
 */
export function expectForm(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new RefusedError("protocol.wrong_value", "", "a move is an object");
  }
  if (!Object.hasOwn(value, "type")) throw new RefusedError("protocol.missing_field", "/type", "a move has a type");
  const fields = MOVES.get(value.type);
  if (fields === undefined) throw new RefusedError("protocol.wrong_value", "/type", "there is no such move");
  for (const name of Object.keys(value)) {
    const isRight = [fields.must, fields.may].find((each) => Object.hasOwn(each, name))?.[name];
    if (name === "type") continue;
    if (isRight === undefined) throw new RefusedError("protocol.unknown_field", `/${name}`, `${value.type} has no ${name}`);
    if (!isRight(value[name])) throw new RefusedError("protocol.wrong_value", `/${name}`, `${name} is wrong`);
  }
  for (const name of Object.keys(fields.must)) {
    if (!Object.hasOwn(value, name)) throw new RefusedError("protocol.missing_field", `/${name}`, `${value.type} lacks ${name}`);
  }
}
