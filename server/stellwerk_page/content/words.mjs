// Each event of each game as a sentence in plain English.
//
// Law: a sentence has what its event says and no more, so an event that was redacted for a viewer can be shown to
// that viewer. A sentence is a list of parts, so that the story and the map can point at each other.

import { cardCount, cardWords, counted, endReason, placeName, routeName, ticketName, ticketPoints, title } from "./names.mjs";

/** @typedef {import("./types.mjs").Event} Event */
/** @typedef {import("./types.mjs").Cards} Cards */
/**
 * @typedef {{kind: "text", text: string} | {kind: "seat", seat: number} | {kind: "city", city: string} |
 *   {kind: "route", route: string} | {kind: "ticket", ticket: string} | {kind: "cards", cards: Cards}} Part
 */
/** @typedef {{board: import("./types.mjs").Board, players: import("./types.mjs").Player[]}} Names */

/** @type {(text: string) => Part} */
const say = (text) => ({ kind: "text", text });
/** @type {(seat: number | undefined) => Part} */
const who = (seat = 0) => ({ kind: "seat", seat });
/** @type {(route: string | undefined) => Part} */
const along = (route = "") => ({ kind: "route", route });

/**
 * Returns the sentence of an event, with its full stop, as a list of parts.
 * @param {Event} event
 * @param {Names} names
 * @returns {Part[]}
 */
export function sentence(event, names) {
  const words = Object.hasOwn(SENTENCES, event.type) ? SENTENCES[event.type] : undefined;
  return [...(words === undefined ? [say(`Something that this page does not know: ${title(event.type)}`)] : words(event, names)), say(".")];
}

/**
 * Writes a sentence as plain text, for a screen reader.
 * @param {Part[]} parts
 * @param {Names} names
 */
export function plain(parts, { board, players }) {
  return parts
    .map((part) => {
      switch (part.kind) {
        case "text":
          return part.text;
        case "seat":
          return players[part.seat]?.name ?? `seat ${part.seat}`;
        case "city":
          return placeName(board, part.city);
        case "route":
          return routeName(board, part.route);
        case "ticket":
          return ticketName(board, part.ticket);
        default:
          return cardWords(part.cards);
      }
    })
    .join("");
}

/** @type {Record<string, (event: Event, names: Names) => Part[]>} */
const SENTENCES = {
  // the piles
  pile_shuffled: ({ count = 0 }) => [say(`The train cards are shuffled: ${counted(count, "card")} in the pile`)],
  cards_laid_open: ({ cards = {} }) => [cardsOf(cards), say(cardCount(cards) === 1 ? " is laid open" : " are laid open")],
  market_exchanged: ({ cards = {} }) => [say("Too many locomotives: the market goes ("), cardsOf(cards), say(")")],
  cards_revealed: ({ cards = {} }) => [cardsOf(cards), say(cardCount(cards) === 1 ? " is revealed" : " are revealed")],
  cards_dealt: ({ seat, count = 0, cards }) => [who(seat), say(" is dealt "), known(count, cards)],
  locomotive_dealt: ({ seat }) => [who(seat), say(" is dealt "), cardsOf({ locomotive: 1 })],
  ticket_pile_shuffled: ({ count = 0 }) => [say(`The tickets are shuffled: ${count} in the pile`)],

  // turns
  turn_started: ({ seat, turn = 0, turns_left: left }) => [
    say(`Turn ${turn}: it is the turn of `),
    who(seat),
    say(left === undefined ? "" : `, ${counted(left, "turn")} left`),
  ],
  asked: ({ decision }, names) => questionOf(decision, names),
  passed: ({ seat }) => [who(seat), say(" passes: there is nothing to do")],
  stopped: ({ seat }) => [who(seat), say(" stops there")],
  last_round: ({ turns_left: left = 0 }) => [say(`The last round begins: ${counted(left, "turn")} left`)],
  turns_ended: ({ reason = "" }) => [say(`The turns are over: ${endReason(reason)}`)],
  game_ended: ({ result }) => [say("The game is over. "), ...(result === undefined ? [] : rankingOf(result))],

  // train cards
  card_taken: ({ seat, card = "", place }) => [who(seat), say(" takes "), cardsOf({ [card]: 1 }), say(to(place))],
  card_drawn: ({ seat, card, place }) => [
    who(seat),
    say(" draws "),
    card === undefined ? say("a card from the pile") : cardsOf({ [card]: 1 }),
    say(card === undefined ? to(place) : ` from the pile${to(place)}`),
  ],
  card_placed: ({ seat, card, place }) => [
    who(seat),
    say(" puts "),
    card === undefined ? say("the card") : cardsOf({ [card]: 1 }),
    say(place === "holder" ? " on the holder" : " into the hand"),
  ],

  // routes
  route_claimed: ({ seat, route, points = 0, cards = {}, holder_cards: held = {}, revealed }) => [
    who(seat),
    say(" claims "),
    along(route),
    say(" with "),
    ...paid(cards, held),
    ...(revealed === undefined ? [] : [say(" through the tunnel")]),
    say(`: ${counted(points, "point")}`),
  ],
  tunnel_tried: ({ seat, route, extra = 0, cards = {}, holder_cards: held = {}, revealed = {} }) => [
    who(seat),
    say(" tries the tunnel "),
    along(route),
    say(" with "),
    ...paid(cards, held),
    ...(cardCount(revealed) === 0 ? [say("; no card is left to reveal")] : [say(" against "), cardsOf(revealed)]),
    say(extra === 0 ? ": nothing more to pay" : `: ${extra} more to pay`),
  ],
  tunnel_abandoned: ({ seat, route }) => [who(seat), say(" gives the tunnel "), along(route), say(" up")],

  // tickets
  tickets_offered: ({ seat, count = 0, tickets }, names) => [who(seat), say(" is offered "), ...knownTickets(count, tickets, names)],
  tickets_kept: ({ seat, count = 0, returned_count: back = 0, tickets, returned }, names) => [
    who(seat),
    say(" keeps "),
    ...knownTickets(count, tickets, names),
    ...(back === 0 ? [] : [say(" and puts back "), ...knownTickets(back, returned, names)]),
  ],
  tickets_removed: ({ seat, count = 0, tickets }, names) =>
    seat === undefined
      ? [say("Out of the game, dealt to nobody: "), ...knownTickets(count, tickets, names)]
      : [who(seat), say(" takes out of the game "), ...knownTickets(count, tickets, names)],
  tickets_to_share: ({ seat, count = 0, tickets }, names) => [
    who(seat),
    say(" has to share one of "),
    ...knownTickets(count, tickets, names),
  ],
  tickets_shared: ({ seat, count = 0, tickets }, names) => [
    who(seat),
    say(" puts "),
    ...knownTickets(count, tickets, names),
    say(" on the holder"),
  ],

  // the card game
  cards_sent: ({ seat, cards = {} }) => [who(seat), say(" sends "), cardsOf(cards), say(" from the yard to the stack")],
  cards_laid: ({ seat, cards = {} }) => [who(seat), say(" lays "), cardsOf(cards), say(" into the yard")],
  raided: ({ seat, cards = {} }) => [who(seat), say(" is raided and loses "), cardsOf(cards)],
  stack_taken_up: ({ seat, count = 0, cards }) => [who(seat), say(" takes up the stack: "), known(count, cards)],
  tickets_completed: ({ seat, tickets = [], points = 0 }, names) => [
    who(seat),
    say(" completes "),
    ...knownTickets(tickets.length, tickets, names),
    say(`: ${counted(points, "point")}`),
  ],
  half_started: ({ half = 0 }) => [say(half === 1 ? "The first half begins" : "The second half begins: yards and stacks are empty")],

  // technologies and stations
  technology_bought: ({ seat, technology = "", cards = {} }) => [who(seat), say(` buys ${title(technology)} for `), cardsOf(cards)],
  technology_returned: ({ seat, technology = "" }) => [who(seat), say(` gives ${title(technology)} back`)],
  technologies_withdrawn: ({ technologies = [] }) => [say(`No longer for sale: ${technologies.map(title).join(", ")}`)],
  station_built: ({ seat, city = "", cards = {} }) => [who(seat), say(" builds a station in "), { kind: "city", city }, say(" with "), cardsOf(cards)],
};

/** @type {Record<string, (decision: import("./types.mjs").Decision) => Part[]>} */
const QUESTIONS = {
  take_turn: () => [say("to move.")],
  take_action: () => [say("which action, after the purchase?")],
  keep_tickets: ({ offered_count: offered = 0, keep = 0 }) => [
    say(`which of ${counted(offered, "ticket")} to keep${keep === 0 ? "" : `, at least ${keep}`}?`),
  ],
  share_ticket: () => [say("which ticket to put on the holder?")],
  second_card: () => [say("which second card?")],
  place_card: ({ card }) => [say("where to put "), card === undefined ? say("the card") : cardsOf({ [card]: 1 }), say("?")],
  claim_route: () => [say("which route to claim?")],
  pay_tunnel: ({ route, extra = 0 }) => [say(`${counted(extra, "card")} more for the tunnel `), along(route), say("?")],
  complete_tickets: () => [say("which tickets to complete?")],
};

/**
 * Returns what a decision asks of its seats, without a full stop.
 * @param {import("./types.mjs").Decision | undefined} decision
 * @param {Names} _names
 * @returns {Part[]}
 */
export function questionOf(decision, _names) {
  if (decision === undefined) return [];
  const question = Object.hasOwn(QUESTIONS, decision.type) ? QUESTIONS[decision.type] : undefined;
  const seats = decision.seats.flatMap((seat, at) => [...(at === 0 ? [] : [say(" and ")]), who(seat)]);
  return [...seats, say(": "), ...(question === undefined ? [say(`${title(decision.type)}?`)] : question(decision))];
}

/** @type {(cards: Cards) => Part} */
const cardsOf = (cards) => ({ kind: "cards", cards });

/**
 * @param {number} count
 * @param {Cards | undefined} cards
 * @returns {Part}
 */
const known = (count, cards) => (cards === undefined ? say(counted(count, "card")) : cardsOf(cards));

/** @param {string | undefined} place */
const to = (place) => (place === "holder" ? " for the holder" : "");

/**
 * @param {Cards} cards
 * @param {Cards} held
 * @returns {Part[]}
 */
function paid(cards, held) {
  if (cardCount(held) === 0) return [cardsOf(cards)];
  const fromHolder = [cardsOf(held), say(" of the holder")];
  return cardCount(cards) === 0 ? fromHolder : [cardsOf(cards), say(" and "), ...fromHolder];
}

/**
 * @param {number} count
 * @param {string[] | undefined} tickets
 * @param {Names} names
 * @returns {Part[]}
 */
function knownTickets(count, tickets, { board }) {
  if (tickets === undefined || tickets.length === 0) return [say(count === 0 ? "no ticket" : counted(count, "ticket"))];
  return tickets.flatMap((ticket, at) => {
    const points = ticketPoints(board, ticket);
    /** @type {Part[]} */
    const parts = [{ kind: "ticket", ticket }, say(points === undefined ? "" : ` (${points})`)];
    return at === 0 ? parts : [say(", "), ...parts];
  });
}

/**
 * @param {import("./types.mjs").Result} result
 * @returns {Part[]}
 */
function rankingOf({ teams }) {
  return [...teams]
    .sort((one, other) => one.rank - other.rank)
    .flatMap((team, at) => [
      say(at === 0 ? "" : ", "),
      ...team.seats.flatMap((seat, partner) => [...(partner === 0 ? [] : [say(" + ")]), who(seat)]),
      say(` ${counted(team.points, "point")}`),
    ]);
}
