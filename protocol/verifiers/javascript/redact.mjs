// Who may know what (README.md, Events): the events of a replay as a viewer gets them, and the start of their view.

import { partsOf, technologiesOf } from "./games.mjs";

/** @typedef {Record<string, any>} Json */
/** @typedef {number | "public" | "all_hands"} Viewer a seat or a spectator */

/** Fields that only the seat of the event may know. */
const OF_THE_SEAT = new Map([
  ["cards_dealt", ["cards"]],
  ["tickets_offered", ["tickets"]],
  ["tickets_kept", ["tickets", "returned"]],
  ["tickets_removed", ["tickets"]], // without a seat: for no seat
  ["tickets_to_share", ["tickets"]],
  ["stack_taken_up", ["cards"]],
]);

/** Every other event that this page knows is for everybody, as it is. */
const OF_ALL = new Set([
  "pile_shuffled",
  "cards_laid_open",
  "market_exchanged",
  "cards_revealed",
  "locomotive_dealt",
  "ticket_pile_shuffled",
  "turn_started",
  "passed",
  "stopped",
  "last_round",
  "turns_ended",
  "game_ended",
  "card_taken",
  "route_claimed",
  "tunnel_tried",
  "tunnel_abandoned",
  "cards_sent",
  "cards_laid",
  "raided",
  "tickets_completed",
  "half_started",
  "technology_bought",
  "technology_returned",
  "technologies_withdrawn",
  "station_built",
]);

/**
 * Returns an event as a viewer gets it. Every viewer gets every event, without the fields that are private to others.
 * Returns null for an event that this program does not know: nobody can tell what of it is private.
 * @param {Json} event as in a replay, with everything
 * @param {Viewer} viewer
 * @param {Json} start that of `startOf`, or the message
 * @returns {Json | null}
 */
export function redact(event, viewer, start) {
  if (!isKnown(event.type)) return null;
  if (viewer === "all_hands") return event;
  const sees = (/** @type {number | undefined} */ seat) => seat !== undefined && seat === viewer;
  const teamOf = (/** @type {number} */ seat) => start.players[seat].team;
  const seesTeam = (/** @type {number} */ seat) => viewer !== "public" && teamOf(viewer) === teamOf(seat);
  const seesPlace = () => (event.place === "holder" ? seesTeam(event.seat) : sees(event.seat));
  switch (event.type) {
    case "card_drawn":
      return seesPlace() ? event : withoutFields(event, ["card"]);
    case "card_placed":
      return event.open || seesPlace() ? event : withoutFields(event, ["card"]);
    case "tickets_shared":
      return seesTeam(event.seat) ? event : withoutFields(event, ["tickets"]);
    case "asked": {
      const { decision } = event;
      const isOpen = decision.type !== "place_card" || decision.open || decision.seats.some(sees);
      return isOpen ? event : { ...event, decision: withoutFields(decision, ["card"]) };
    }
    default:
      return sees(event.seat) ? event : withoutFields(event, OF_THE_SEAT.get(event.type) ?? []);
  }
}

const HALF_OPEN = ["card_drawn", "card_placed", "tickets_shared", "asked"];

/** @param {string} type */
const isKnown = (type) => OF_ALL.has(type) || OF_THE_SEAT.has(type) || HALF_OPEN.includes(type);

/**
 * Returns what a view needs of the message `start`, for `firstView` and `fold`.
 * @param {Json} header of a replay
 * @param {{file: Json}} board from `readBoard`
 * @param {Viewer} viewer
 * @returns {Json}
 */
export function startOf(header, board, viewer) {
  const parts = partsOf(header);
  const technologies = parts === undefined ? [] : technologiesOf(parts).map(forSale);
  return {
    viewer: typeof viewer === "number" ? "seat" : viewer,
    ...(typeof viewer === "number" && { seat: viewer }),
    game: header.game,
    options: header.options,
    board: board.file,
    players: header.seats.map((/** @type {Json} */ { name }, /** @type {number} */ seat) => ({
      seat,
      team: Math.floor(seat / (parts?.team_size ?? 1)), // neighbors are partners
      ...(name !== undefined && { name }),
    })),
    ...(technologies.length > 0 && { technologies }),
    ...(header.parts && { parts: header.parts }),
  };
}

/**
 * Returns what `start` says of a technology.
 * @param {import("./games.mjs").Technology} technology
 */
function forSale({ id, supply, cost, opens_regions, opens_lengths, opens_ferries }) {
  return {
    technology: id,
    supply,
    price: cost,
    ...(opens_regions?.length && { regions: opens_regions }),
    ...(opens_lengths?.length && { lengths: opens_lengths }),
    ...(opens_ferries && { ferries: true }),
  };
}

/**
 * @param {Json} record
 * @param {string[]} names
 */
function withoutFields(record, names) {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}
