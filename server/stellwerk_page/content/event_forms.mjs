// Which events the page can show: those whose fields have the form that the protocol gives them.
//
// Law: no pane sees an event that has not passed here. So the panes may rely on the types, and a changed file costs
// its visitor a sentence, never a broken page.

const CARDS = ["purple", "blue", "orange", "white", "green", "yellow", "black", "red", "locomotive"];
const MANY = 10_000; // more than any number in a match
const LONGEST_ID = 128;

/** @param {unknown} value */
const isNumber = (value) => Number.isSafeInteger(value) && Math.abs(Number(value)) < MANY;
/** @param {unknown} value */
const isCount = (value) => isNumber(value) && Number(value) >= 0;
/** @param {unknown} value */
const isId = (value) => typeof value === "string" && value.length > 0 && value.length <= LONGEST_ID;
/** @param {unknown} value */
const isIds = (value) => Array.isArray(value) && value.length < MANY && value.every(isId);
/** @param {unknown} value */
const isCard = (value) => CARDS.includes(/** @type {string} */ (value));
/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @param {unknown} value */
const isCards = (value) =>
  isRecord(value) && Object.entries(value).every(([card, count]) => isCard(card) && isCount(count) && count !== 0);
/** @param {unknown} value */
const isFlag = (value) => typeof value === "boolean";

/** @type {Record<string, (value: unknown) => boolean>} */
const FIELDS = {
  type: isId,
  count: isCount,
  returned_count: isCount,
  turn: isCount,
  passes: isCount,
  turns_left: isCount,
  trains: isCount,
  extra: isCount,
  half: isCount,
  offered_count: isCount,
  keep: isCount,
  claims_left: isCount,
  points: isNumber,
  cards: isCards,
  holder_cards: isCards,
  revealed: isCards,
  may_hold: isCards,
  card: isCard,
  color: isCard,
  place: (value) => value === "hand" || value === "holder",
  open: isFlag,
  may_stop: isFlag,
  right_of_way: isFlag,
  route: isId,
  city: isId,
  technology: isId,
  reason: isId,
  tickets: isIds,
  returned: isIds,
  technologies: isIds,
  offered_counts: (value) => Array.isArray(value) && value.every(isCount),
};

/** The fields without which an event cannot be shown, besides `type`. */
/** @type {Record<string, string[]>} */
const NEEDED = {
  pile_shuffled: ["count", "may_hold"],
  cards_laid_open: ["cards"],
  market_exchanged: ["cards"],
  cards_revealed: ["cards"],
  cards_dealt: ["seat", "count"],
  locomotive_dealt: ["seat"],
  ticket_pile_shuffled: ["count"],
  turn_started: ["seat", "turn"],
  asked: ["decision"],
  passed: ["seat"],
  stopped: ["seat"],
  last_round: ["turns_left"],
  turns_ended: ["reason"],
  game_ended: ["result"],
  card_taken: ["seat", "card"],
  card_drawn: ["seat"],
  card_placed: ["seat", "place", "open"],
  route_claimed: ["seat", "route", "trains", "points"],
  tunnel_tried: ["seat", "route", "extra"],
  tunnel_abandoned: ["seat", "route"],
  tickets_offered: ["seat", "count"],
  tickets_kept: ["seat", "count", "returned_count"],
  tickets_removed: ["count"],
  tickets_to_share: ["seat", "count"],
  tickets_shared: ["seat", "count"],
  cards_sent: ["seat", "cards"],
  cards_laid: ["seat", "cards"],
  raided: ["seat", "color", "cards"],
  stack_taken_up: ["seat", "count"],
  tickets_completed: ["seat", "tickets", "points"],
  half_started: ["half"],
  technology_bought: ["seat", "technology", "cards"],
  technology_returned: ["seat", "technology"],
  technologies_withdrawn: ["technologies"],
  station_built: ["seat", "city", "cards"],
};

/**
 * Returns why an event cannot be shown, as the end of a sentence, or null.
 * @param {Record<string, unknown>} event
 * @param {number} seatCount
 * @param {(value: unknown, seatCount: number) => boolean} isResult
 * @returns {string | null}
 */
export function faultOf(event, seatCount, isResult) {
  const type = String(event.type);
  const needed = Object.hasOwn(NEEDED, type) ? NEEDED[type] : undefined;
  if (needed === undefined) return "an event that this page does not know";
  const lacking = needed.find((name) => event[name] === undefined);
  if (lacking !== undefined) return `${type} without ${lacking}`;
  for (const [name, value] of Object.entries(event)) {
    const isRight =
      name === "seat"
        ? isCount(value) && Number(value) < seatCount
        : name === "decision"
          ? isDecision(value, seatCount)
          : name === "result"
            ? isResult(value, seatCount)
            : !Object.hasOwn(FIELDS, name) || FIELDS[name]?.(value) === true; // fields of the future may be anything
    if (!isRight) return `${type} with a ${name} that no event has`;
  }
  return null;
}

/**
 * @param {unknown} value
 * @param {number} seatCount
 */
function isDecision(value, seatCount) {
  if (!isRecord(value) || !isId(value.type) || !Array.isArray(value.seats)) return false;
  if (!value.seats.every((seat) => isCount(seat) && Number(seat) < seatCount)) return false;
  return Object.entries(value).every(([name, field]) => !Object.hasOwn(FIELDS, name) || FIELDS[name]?.(field) === true);
}
