// A view that is kept by events alone (README.md, Keeping a view).

import { COLORS, LOCOMOTIVE, add, addAll, count, removeAll } from "./cards.mjs";
import { partNamed, partsOf } from "./games.mjs";

/** @typedef {Record<string, any>} Json a value on the wire */
/** @typedef {{count: string, cards: string, known: string}} Fields the names of the fields of a hand or a holder */
/** @typedef {{owner: Json, fields: Fields}} Place a hand or a holder */

/**
 * Returns the view before the first event.
 * @param {Json} start the message, or what `startOf` makes of a replay
 * @returns {Json}
 */
export function firstView(start) {
  const hasMap = (start.board.routes ?? []).length > 0;
  const parts = partsOf(start);
  const part = (/** @type {string} */ name) => parts && partNamed(parts, name);
  const stations = part("build_station");
  const longTickets = part("long_tickets");
  const yards = part("rail_yards");
  const seesSeat = (/** @type {number} */ seat) => start.viewer === "all_hands" || start.seat === seat;
  const seesTeam = (/** @type {number} */ team) => start.players.some((/** @type {Json} */ player) => player.team === team && seesSeat(player.seat));
  /** @type {Json} */
  const view = {
    game: start.game,
    viewer: start.viewer,
    turn: 0,
    progress_turn: 0,
    passes: 0,
    market: {},
    pile: 0,
    pile_may_hold: {},
    discards: {},
    ticket_pile: 0,
    players: start.players.map((/** @type {Json} */ { seat, team }) => ({
      seat,
      team,
      points: 0,
      hand_count: 0,
      known_cards: {},
      ticket_count: 0,
      ...(hasMap && { trains: start.board.trains, routes: [] }),
      ...(start.technologies && { technologies: [] }),
      ...(stations && { stations: [], stations_left: stations.number }),
      ...(longTickets && { removed_count: 0 }),
      ...(yards && { yard: [], stack_count: 0, completed: [] }),
      ...(seesSeat(seat) && { hand: {}, tickets: [], returned: [] }),
      ...(seesSeat(seat) && longTickets && { removed: [] }),
      ...(seesSeat(seat) && yards?.open_stacks && { stack: {} }),
    })),
  };
  if (start.seat !== undefined) view.seat = start.seat;
  if (part("holders")) {
    view.teams = [...new Set(start.players.map((/** @type {Json} */ player) => player.team))].map((team) => ({
      team,
      holder_count: 0,
      known_holder: {},
      shared_count: 0,
      ...(seesTeam(team) && { holder: {}, shared_tickets: [] }),
    }));
  }
  if (start.technologies) {
    view.supply = Object.fromEntries(start.technologies.map((/** @type {Json} */ { technology, supply }) => [technology, supply]));
  }
  if (yards) view.half = 1;
  if (longTickets) view.removed_tickets = 0;
  return view;
}

/**
 * Changes the view by one event.
 * @param {Json} start
 * @param {Json} view
 * @param {Json} event as this viewer gets it
 */
export function fold(start, view, event) {
  if (!Object.hasOwn(CHANGES, event.type)) throw new Error(`no event is called ${event.type}`);
  CHANGES[event.type](view, event, start);
}

// -- what each event changes -------------------------------------------------------------------------

/** @type {Record<string, (view: Json, event: Json, start: Json) => void>} */
const CHANGES = {
  // the piles
  pile_shuffled(view, { count, may_hold }) {
    view.pile = count;
    view.pile_may_hold = { ...may_hold };
    view.discards = {};
  },
  cards_laid_open(view, { cards }) {
    leavePileOpenly(view, cards);
    addAll(view.market, cards);
  },
  market_exchanged(view, { cards }) {
    removeAll(view.market, cards);
    addAll(view.discards, cards);
  },
  cards_revealed(view, { cards }) {
    leavePileOpenly(view, cards);
  },
  cards_dealt(view, { seat, count, cards }) {
    view.pile -= count;
    come(handOf(view, seat), count, cards);
  },
  locomotive_dealt(view, { seat }) {
    comeOpenly(handOf(view, seat), LOCOMOTIVE);
  },
  ticket_pile_shuffled(view, { count }) {
    view.ticket_pile = count;
  },

  // turns
  turn_started(view, { seat, turn, passes = 0, turns_left }) {
    view.turn = turn;
    view.passes = passes;
    set(view, "turns_left", turns_left);
    view.pending = { type: "take_turn", seats: [seat] };
  },
  asked(view, { decision }) {
    view.pending = decision;
  },
  passed() {},
  stopped() {},
  last_round(view, { turns_left }) {
    view.turns_left = turns_left;
  },
  turns_ended(view, { passes = 0, turns_left }) {
    view.passes = passes;
    set(view, "turns_left", turns_left);
  },
  game_ended(view, { result }) {
    view.result = result;
    delete view.pending;
  },

  // train cards
  card_taken(view, { seat, card, place }) {
    add(view.market, card, -1);
    if (place !== undefined) comeOpenly(placeOf(view, seat, place), card);
    progress(view);
  },
  card_drawn(view, { seat, card, place }) {
    view.pile -= 1;
    if (place !== undefined) come(placeOf(view, seat, place), 1, card && { [card]: 1 });
    progress(view);
  },
  card_placed(view, { seat, card, place, open }) {
    if (open) comeOpenly(placeOf(view, seat, place), card);
    else come(placeOf(view, seat, place), 1, card && { [card]: 1 });
  },

  // routes
  route_claimed(view, { seat, route, trains, points, cards = {}, holder_cards = {}, revealed = {} }) {
    play(handOf(view, seat), cards);
    if (count(holder_cards) > 0) play(holderOf(view, seat), holder_cards);
    for (const lot of [cards, holder_cards, revealed]) addAll(view.discards, lot);
    const player = view.players[seat];
    player.trains -= trains;
    player.points += points;
    player.routes.push(route);
    progress(view);
  },
  tunnel_tried() {},
  tunnel_abandoned(view, { seat, cards = {}, holder_cards = {}, revealed = {} }) {
    addAll(view.discards, revealed);
    show(handOf(view, seat), cards);
    if (count(holder_cards) > 0) show(holderOf(view, seat), holder_cards);
  },

  // tickets
  tickets_offered(view, { seat, count, tickets }) {
    view.ticket_pile -= count;
    if (tickets === undefined) return;
    const player = view.players[seat];
    player.offered = [...(player.offered ?? []), ...tickets];
    player.returned = without(player.returned, tickets);
  },
  tickets_kept(view, { seat, count, returned_count, tickets, returned }, start) {
    const player = view.players[seat];
    player.ticket_count += count;
    view.ticket_pile += returned_count;
    if (tickets !== undefined) {
      player.tickets = ticketsInOrder(start, [...player.tickets, ...tickets]);
      player.returned = ticketsInOrder(start, [...player.returned, ...returned]);
      delete player.offered;
    }
    if (count > 0) progress(view);
  },
  tickets_removed(view, { count, seat, tickets }, start) {
    view.removed_tickets += count;
    if (seat === undefined) {
      view.ticket_pile -= count;
      return;
    }
    const player = view.players[seat];
    player.removed_count += count;
    if (tickets !== undefined) player.removed = ticketsInOrder(start, [...player.removed, ...tickets]);
  },
  tickets_to_share(view, { seat, tickets }) {
    if (tickets !== undefined) set(view.players[seat], "offered", tickets.length > 0 ? tickets : undefined);
  },
  tickets_shared(view, { seat, count, tickets }, start) {
    const player = view.players[seat];
    const team = view.teams[player.team];
    player.ticket_count -= count;
    team.shared_count += count;
    if (player.tickets !== undefined) {
      player.tickets = without(player.tickets, tickets);
      delete player.offered;
    }
    if (team.shared_tickets !== undefined) {
      team.shared_tickets = ticketsInOrder(start, [...team.shared_tickets, ...tickets]);
    }
    progress(view);
  },

  // the card game
  cards_sent(view, { seat, cards }) {
    const player = view.players[seat];
    for (const lying of player.yard) lying[lying.locomotives > 0 ? "locomotives" : "cards"] -= 1;
    player.yard = player.yard.filter((/** @type {Json} */ lying) => lying.cards > 0);
    player.stack_count += count(cards);
    if (player.stack !== undefined) addAll(player.stack, cards);
    progress(view);
  },
  cards_laid(view, { seat, cards }) {
    play(handOf(view, seat), cards);
    const laid = COLORS.filter((color) => cards[color] > 0).map((color) => ({
      color,
      cards: cards[color],
      locomotives: cards[LOCOMOTIVE] ?? 0,
    }));
    const player = view.players[seat];
    player.yard = inOrder(COLORS, [...player.yard, ...laid], (lying) => lying.color);
    progress(view);
  },
  raided(view, { seat, color, cards }) {
    const player = view.players[seat];
    player.yard = player.yard.filter((/** @type {Json} */ lying) => lying.color !== color);
    addAll(view.discards, cards);
  },
  stack_taken_up(view, { seat, cards }) {
    if (cards !== undefined) view.players[seat].stack = { ...cards };
  },
  tickets_completed(view, { seat, tickets, points }, start) {
    const player = view.players[seat];
    player.points += points;
    player.ticket_count -= tickets.length;
    player.completed = ticketsInOrder(start, [...player.completed, ...tickets]);
    if (player.tickets !== undefined) player.tickets = without(player.tickets, tickets);
  },
  half_started(view, { half }, start) {
    view.half = half;
    delete view.turns_left;
    view.discards = {};
    const first = firstView(start);
    for (const player of view.players) {
      player.yard = [];
      player.stack_count = 0;
      set(player, "stack", first.players[player.seat].stack);
    }
  },

  // technologies
  technology_bought(view, { seat, technology, cards }, start) {
    play(handOf(view, seat), cards);
    addAll(view.discards, cards);
    const order = start.technologies.map((/** @type {Json} */ each) => each.technology);
    const player = view.players[seat];
    player.technologies = inOrder(order, [...player.technologies, technology]);
    add(view.supply, technology, -1);
    progress(view);
  },
  technology_returned(view, { seat, technology }) {
    const player = view.players[seat];
    player.technologies = without(player.technologies, [technology]);
    add(view.supply, technology, 1);
  },
  technologies_withdrawn(view, { technologies }) {
    for (const technology of technologies) delete view.supply[technology];
  },

  // stations
  station_built(view, { seat, city, cards }) {
    play(handOf(view, seat), cards);
    addAll(view.discards, cards);
    const player = view.players[seat];
    player.stations.push(city);
    player.stations_left -= 1;
    progress(view);
  },
};

// -- cards -------------------------------------------------------------------------------------------

const HAND = { count: "hand_count", cards: "hand", known: "known_cards" };
const HOLDER = { count: "holder_count", cards: "holder", known: "known_holder" };

/** @type {(view: Json, seat: number) => Place} */
const handOf = (view, seat) => ({ owner: view.players[seat], fields: HAND });
/** @type {(view: Json, seat: number) => Place} */
const holderOf = (view, seat) => ({ owner: view.teams[view.players[seat].team], fields: HOLDER });
/** @type {(view: Json, seat: number, place: string) => Place} */
const placeOf = (view, seat, place) => (place === "hand" ? handOf : holderOf)(view, seat);

/**
 * @param {Json} view
 * @param {Json} cards
 */
function leavePileOpenly(view, cards) {
  view.pile -= count(cards);
  removeAll(view.pile_may_hold, cards);
}

/**
 * Blind: `cards` are undefined if the viewer may not know them.
 * @param {Place} place
 * @param {number} number
 * @param {any} cards
 */
function come({ owner, fields }, number, cards) {
  owner[fields.count] += number;
  if (owner[fields.cards] !== undefined) addAll(owner[fields.cards], cards);
}

/**
 * @param {Place} place
 * @param {string} card
 */
function comeOpenly(place, card) {
  come(place, 1, { [card]: 1 });
  add(place.owner[place.fields.known], card);
}

/**
 * @param {Place} place
 * @param {Json} cards
 */
function play({ owner, fields }, cards) {
  owner[fields.count] -= count(cards);
  if (owner[fields.cards] !== undefined) removeAll(owner[fields.cards], cards);
  const known = owner[fields.known];
  for (const [card, number] of Object.entries(cards)) add(known, card, -Math.min(number, known[card] ?? 0));
}

/**
 * @param {Place} place
 * @param {Json} cards
 */
function show({ owner, fields }, cards) {
  const known = owner[fields.known];
  for (const [card, number] of Object.entries(cards)) known[card] = Math.max(number, known[card] ?? 0);
}

// -- small things ------------------------------------------------------------------------------------

/** @param {Json} view */
function progress(view) {
  view.progress_turn = view.turn;
}

/**
 * @param {Json} record
 * @param {string} name
 * @param {any} value
 */
function set(record, name, value) {
  if (value === undefined) delete record[name];
  else record[name] = value;
}

/** @type {(names: string[], others: string[]) => string[]} */
const without = (names, others) => names.filter((name) => !others.includes(name));

/** @type {(start: Json, tickets: string[]) => string[]} */
const ticketsInOrder = (start, tickets) => inOrder(start.board.tickets.map((/** @type {Json} */ ticket) => ticket.id), tickets);

/**
 * @template T
 * @param {string[]} order
 * @param {T[]} items
 * @param {(item: T) => any} nameOf
 * @returns {T[]}
 */
function inOrder(order, items, nameOf = (item) => item) {
  return [...items].sort((one, other) => order.indexOf(nameOf(one)) - order.indexOf(nameOf(other)));
}
