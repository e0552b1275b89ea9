// The bot `greedy`: it gives each listed move a value, and makes the first move with the highest one. The law is in
// ../../../protocol/GREEDY.md: an answer follows from the board and the ask, in whole numbers, without random choices.

/** @import { Board, Cards, Color, Move, Player, PlayerView, Start, Ticket, View } from "./protocol.js" */

const GOOD_ROUTE_POINTS = 7;
const LARGE_HAND = 15; // so large that any claim is good
const CARDS_TO_ASK_FOR = 56; // on the tickets of all players, if tickets require cards
const ROOM_FOR_A_TICKET = 4;
const TECHNOLOGIES = ["mechanical_stoker", "superheated_steam_boiler", "boiler_lagging"];

/** @param {Start} start @returns {Player} */
export function newGreedy(start) {
  const facts = factsOf(start.board);
  return {
    answer({ legal, view }) {
      const worths = legal.map((move) => worth(move, view, facts));
      return { index: worths.indexOf(Math.max(...worths)) };
    },
  };
}

/**
 * The facts of the board that greedy uses.
 * @param {Board} board
 */
function factsOf({ tickets, routes = [], route_points = {} }) {
  return {
    tickets: new Map(tickets.map((ticket) => [ticket.id, ticket])),
    routePoints: new Map(routes.map((route) => [route.id, route_points[route.length] ?? 0])),
  };
}

/** @typedef {ReturnType<typeof factsOf>} Facts */

/** @param {Move} move @param {View} view @param {Facts} facts */
function worth(move, view, facts) {
  const own = ownOf(view);
  switch (move.type) {
    case "keep_tickets":
      return worthOfTickets(ticketsOf(facts, move.tickets), view, facts);
    case "draw_tickets":
      return own.yard && asked(own, facts) < limit(view) - ROOM_FOR_A_TICKET ? 2000 : -1;
    case "buy_technology":
      return worthOfTechnology(move.technology, move.cards);
    case "claim_route": {
      const points = facts.routePoints.get(move.route) ?? 0;
      const isTime = own.hand_count >= LARGE_HAND || view.turns_left !== undefined;
      return points >= GOOD_ROUTE_POINTS || isTime ? 1000 + 10 * points - locomotives(move) : 0;
    }
    case "lay_cards":
      return 500 + 10 * count(move.cards) - locomotives(move);
    case "take_card":
      return wants(move.card, own, facts) ? 30 + held(own, move.card) : 10;
    case "draw_three":
      return 25;
    case "draw_card":
      return 20;
    default:
      return 0;
  }
}

/**
 * The value of keeping tickets: on a map few points are best; with yards many, within the limit.
 * @param {Ticket[]} kept @param {View} view @param {Facts} facts
 */
function worthOfTickets(kept, view, facts) {
  const own = ownOf(view);
  const points = sum(kept.map((ticket) => ticket.points));
  if (!own.yard) {
    return -points;
  }
  return asked(own, facts) + cardsOn(kept) <= limit(view) ? points : -1;
}

/** @param {string} technology @param {Cards} cards */
function worthOfTechnology(technology, cards) {
  const place = TECHNOLOGIES.indexOf(technology);
  return place >= 0 && Object.keys(cards).every((color) => color === "locomotive") ? 3000 - place : -1;
}

/** @param {Color} color @param {PlayerView} own @param {Facts} facts */
function wants(color, own, facts) {
  if (color === "locomotive") {
    return false;
  }
  if (!own.yard) {
    return held(own, color) >= 2;
  }
  return held(own, color) < sum(ticketsOf(facts, own.tickets).map((ticket) => ticket.cards?.[color] ?? 0));
}

/** @param {PlayerView} own @param {Facts} facts */
function asked(own, facts) {
  return cardsOn(ticketsOf(facts, own.tickets));
}

/** @param {View} view */
function limit(view) {
  return Math.floor(CARDS_TO_ASK_FOR / view.players.length);
}

/** @param {View} view */
function ownOf({ players, seat }) {
  const own = players[seat];
  if (!own) {
    throw new RangeError(`no seat ${seat}`);
  }
  return own;
}

/** @param {Facts} facts @param {string[]} [ids] */
function ticketsOf(facts, ids = []) {
  return ids.flatMap((id) => facts.tickets.get(id) ?? []);
}

/** @param {Ticket[]} tickets */
function cardsOn(tickets) {
  return sum(tickets.map((ticket) => count(ticket.cards ?? {})));
}

/** @param {PlayerView} own @param {Color} color */
function held(own, color) {
  return own.hand?.[color] ?? 0;
}

/** @param {{ cards?: Cards, holder_cards?: Cards }} move */
function locomotives({ cards, holder_cards }) {
  return (cards?.locomotive ?? 0) + (holder_cards?.locomotive ?? 0);
}

/** @param {Cards} cards */
function count(cards) {
  return sum(Object.values(cards));
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
