// The game `usa` (rules/usa.md, games/usa.md): deals and moves, with the events that they cause.

import { UntrueError } from "./canonical.mjs";
import { add, addAll, CARDS, COLORS, count, has, isCards, LOCOMOTIVE, removeAll, sorted } from "./cards.mjs";
import { Dice } from "./dice.mjs";
import { resultOf } from "./scoring.mjs";

export const ID = "usa";
export const RULES_VERSION = 1;
export const SEAT_COUNTS = [2, 3, 4, 5];

const DEALT = 4; // USA-02
const OPEN = 5;
const OFFERED = 3; // USA-03, USA-13
const TOO_MANY_LOCOMOTIVES = 3; // USA-06
const MOST_EXCHANGES = 10;
const FEW_TRAINS = 2; // USA-14

export class Game {
  over = false;
  result = null;
  #dice;
  #board;
  #routesListed; // short ones first, otherwise as on the board
  #seats;
  #pile = []; // the last item is the top one
  #discards = {};
  #market = {};
  #ticketPile = [];
  #claimed = new Map(); // from a route's id to the seat
  #turn = 0;
  #passes = 0;
  #turnsLeft = null; // in the last round
  #owing = []; // seats in order
  #decision = null; // as in the event `asked`; null if a turn is owed
  #chosen = []; // the choices so far, if several seats choose at the same time
  #events = [];

  constructor(board, seatCount, seed) {
    this.#board = board;
    this.#dice = new Dice(seed);
    this.#routesListed = [...board.routes.values()].sort((a, b) => a.length - b.length);
    this.#seats = Array.from({ length: seatCount }, (_, seat) => ({
      seat,
      hand: {},
      tickets: [],
      offered: [],
      trains: board.trains,
      routes: [],
      points: 0,
    }));
  }

  /** Returns the next seat that owes a move, or undefined. */
  get mover() {
    return this.#owing[0];
  }

  /** Deals, and returns the events of the set-up. */
  setUp() {
    const { each, locomotives } = this.#board.deck;
    const deck = Object.fromEntries(COLORS.map((color) => [color, each]));
    this.#shuffleIntoPile(locomotives > 0 ? { ...deck, [LOCOMOTIVE]: locomotives } : deck);
    for (const { seat, hand } of this.#seats) {
      const cards = {};
      for (let dealt = 0; dealt < DEALT; dealt++) {
        add(cards, this.#pile.pop());
      }
      addAll(hand, cards);
      this.#tell("cards_dealt", { seat, count: DEALT, cards });
    }
    this.#fillMarket();
    this.#ticketPile = this.#dice.shuffle("tickets", [...this.#board.tickets.keys()]);
    this.#tell("ticket_pile_shuffled", { count: this.#ticketPile.length });
    this.#seats.forEach((player) => this.#offerTickets(player));
    this.#ask({ type: "keep_tickets", offered_count: OFFERED, keep: 2 }, this.#seats.map(({ seat }) => seat));
    return this.#takeEvents();
  }

  /** Makes a move, and returns its events. Throws UntrueError if it is not legal. */
  play(seat, move) {
    const player = this.#seats[seat];
    if (this.#decision?.type === "keep_tickets") {
      this.#keepTickets(player, move);
    } else if (this.#decision?.type === "second_card") {
      this.#drawCard(player, move, true);
    } else {
      this.#takeTurn(player, move);
    }
    return this.#takeEvents();
  }

  /** Returns the fallback of a seat (games/usa.md, Decisions). */
  fallback(seat) {
    const player = this.#seats[seat];
    if (this.#decision?.type === "keep_tickets") {
      const worth = (id) => this.#board.tickets.get(id).points;
      const cheapest = [...player.offered].sort((a, b) => worth(a) - worth(b)).slice(0, this.#decision.keep);
      return { type: "keep_tickets", tickets: player.offered.filter((id) => cheapest.includes(id)) };
    }
    if (this.#pile.length > 0) return { type: "draw_card" };
    const open = CARDS.find((card) => card in this.#market && (this.#decision === null || card !== LOCOMOTIVE));
    if (open !== undefined) return { type: "take_card", card: open };
    const [claim] = this.#listedClaims(player);
    if (claim !== undefined) return claim;
    return { type: this.#ticketPile.length > 0 ? "draw_tickets" : "pass" };
  }

  // -- decisions

  #keepTickets(player, move) {
    expectFields(move, "keep_tickets", ["tickets"]);
    const { tickets } = move;
    const inOrder = player.offered.filter((id) => Array.isArray(tickets) && tickets.includes(id));
    if (JSON.stringify(inOrder) !== JSON.stringify(tickets)) {
      throw new UntrueError("tickets to keep are some of those offered, in their order");
    }
    if (tickets.length < this.#decision.keep) {
      throw new UntrueError(`at least ${this.#decision.keep} tickets are kept`);
    }
    this.#chosen.push([player, tickets]);
    this.#owing.shift();
    if (this.#owing.length > 0) return; // they take effect together (GEN-03)
    for (const [chooser, kept] of this.#chosen) {
      const returned = chooser.offered.filter((id) => !kept.includes(id));
      chooser.tickets.push(...kept);
      chooser.offered = [];
      returned.forEach((id) => this.#ticketPile.unshift(id)); // the last one lies lowest (GEN-04)
      const counts = { count: kept.length, returned_count: returned.length };
      this.#tell("tickets_kept", { seat: chooser.seat, ...counts, tickets: kept, returned });
    }
    this.#chosen = [];
    if (this.#turn === 0) this.#startTurn(0);
    else this.#endTurn(player.seat);
  }

  #takeTurn(player, move) {
    switch (move.type) {
      case "draw_card":
      case "take_card":
        this.#drawCard(player, move, false);
        break;
      case "claim_route":
        this.#claimRoute(player, move);
        break;
      case "draw_tickets":
        expectFields(move, "draw_tickets", []);
        if (this.#ticketPile.length === 0) throw new UntrueError("there are no tickets to draw");
        this.#passes = 0;
        this.#offerTickets(player);
        this.#ask({ type: "keep_tickets", offered_count: player.offered.length, keep: 1 }, [player.seat]);
        break;
      case "pass":
        expectFields(move, "pass", []);
        if (this.#canAct(player)) throw new UntrueError("who has a legal action must take one (GEN-05)");
        this.#passes++;
        this.#tell("passed", { seat: player.seat });
        this.#endTurn(player.seat);
        break;
      default:
        throw new UntrueError(`no move for a turn: ${move.type}`);
    }
  }

  #drawCard(player, move, isSecond) {
    const open = move.type === "take_card";
    if (open) {
      expectFields(move, "take_card", ["card"]);
      if (!CARDS.includes(move.card) || !(move.card in this.#market)) throw new UntrueError("no such open card");
      if (isSecond && move.card === LOCOMOTIVE) throw new UntrueError("a locomotive is no second card (USA-05)");
    } else {
      expectFields(move, "draw_card", []);
      if (this.#pile.length === 0) throw new UntrueError("the pile is empty");
    }
    this.#passes = 0;
    const card = open ? move.card : this.#pile.pop();
    add(player.hand, card);
    this.#tell(open ? "card_taken" : "card_drawn", { seat: player.seat, card, place: "hand" });
    if (open) add(this.#market, card, -1);
    else this.#mendPile();
    this.#fillMarket();
    if (isSecond || (open && card === LOCOMOTIVE) || !this.#hasSecondCard()) {
      this.#endTurn(player.seat);
    } else {
      this.#ask({ type: "second_card", place: "hand", may_stop: false }, [player.seat]);
    }
  }

  #claimRoute(player, move) {
    expectFields(move, "claim_route", ["cards", "route"]);
    const { cards } = move;
    const route = this.#board.routes.get(move.route);
    if (route === undefined) throw new UntrueError("no such route");
    if (!this.#isOpen(route, player.seat)) throw new UntrueError("the route is not open (USA-11)");
    if (player.trains < route.length) throw new UntrueError("not enough trains");
    if (!isCards(cards) || count(cards) !== route.length) throw new UntrueError("a card for each space (USA-10)");
    const colors = Object.keys(cards).filter((card) => card !== LOCOMOTIVE);
    if (colors.length > 1 || (route.color !== "gray" && colors.some((color) => color !== route.color))) {
      throw new UntrueError("all cards of the route's color (USA-10)");
    }
    if (!has(player.hand, cards)) throw new UntrueError("cards that are not in the hand");
    this.#passes = 0;
    removeAll(player.hand, cards);
    player.trains -= route.length;
    player.routes.push(route);
    player.points += this.#board.points[route.length];
    this.#claimed.set(route.id, player.seat);
    const points = this.#board.points[route.length];
    this.#tell("route_claimed", { seat: player.seat, route: route.id, trains: route.length, points, cards });
    this.#discard(cards);
    this.#fillMarket();
    this.#endTurn(player.seat);
  }

  // -- turns

  #startTurn(seat) {
    this.#turn++;
    this.#owing = [seat];
    this.#decision = null;
    this.#tell("turn_started", { seat, turn: this.#turn, ...this.#passesAndTurnsLeft() });
  }

  #endTurn(seat) {
    if (this.#turnsLeft !== null) this.#turnsLeft--;
    if (this.#passes === this.#seats.length) {
      this.#end("all_passed");
    } else if (this.#turnsLeft === 0) {
      this.#end("trains");
    } else {
      if (this.#turnsLeft === null && this.#seats.some(({ trains }) => trains <= FEW_TRAINS)) {
        this.#turnsLeft = this.#seats.length;
        this.#tell("last_round", { turns_left: this.#turnsLeft });
      }
      this.#startTurn((seat + 1) % this.#seats.length);
    }
  }

  #end(reason) {
    this.over = true;
    this.#owing = [];
    this.#tell("turns_ended", { reason, ...this.#passesAndTurnsLeft() });
    this.result = resultOf(this.#seats, this.#board, reason, this.#turn);
    this.#tell("game_ended", { result: this.result });
  }

  #passesAndTurnsLeft() {
    return {
      ...(this.#passes > 0 && { passes: this.#passes }),
      ...(this.#turnsLeft !== null && { turns_left: this.#turnsLeft }),
    };
  }

  #ask(decision, seats) {
    this.#owing = seats;
    this.#decision = decision;
    this.#tell("asked", { decision: { ...decision, seats: [...seats] } });
  }

  // -- piles

  #fillMarket() {
    for (let exchanges = 0; this.#layOpen() && this.#market[LOCOMOTIVE] >= TOO_MANY_LOCOMOTIVES; exchanges++) {
      if (exchanges === MOST_EXCHANGES) return;
      const cards = this.#market;
      this.#market = {};
      this.#tell("market_exchanged", { cards });
      this.#discard(cards);
    }
  }

  /** Lays cards open. Returns whether there were any. */
  #layOpen() {
    let laidAny = false;
    while (this.#pile.length > 0 && count(this.#market) < OPEN) {
      const cards = {};
      const missing = OPEN - count(this.#market);
      this.#pile.splice(-missing).forEach((card) => add(cards, card));
      addAll(this.#market, cards);
      this.#tell("cards_laid_open", { cards });
      this.#mendPile();
      laidAny = true;
    }
    return laidAny;
  }

  /** Discards cards together (USA-07). */
  #discard(cards) {
    addAll(this.#discards, cards);
    this.#mendPile();
  }

  #mendPile() {
    if (this.#pile.length === 0 && count(this.#discards) > 0) {
      const cards = this.#discards;
      this.#discards = {};
      this.#shuffleIntoPile(cards);
    }
  }

  #shuffleIntoPile(cards) {
    this.#pile = this.#dice.shuffle("train_cards", sorted(cards));
    this.#tell("pile_shuffled", { count: this.#pile.length, may_hold: { ...cards } });
  }

  #offerTickets(player) {
    player.offered = this.#ticketPile.splice(-OFFERED).reverse();
    const { seat, offered } = player;
    this.#tell("tickets_offered", { seat, count: offered.length, tickets: [...offered] });
  }

  // -- what is legal

  #hasSecondCard() {
    return this.#pile.length > 0 || Object.keys(this.#market).some((card) => card !== LOCOMOTIVE);
  }

  #canAct(player) {
    const canDraw = this.#pile.length > 0 || count(this.#market) > 0 || this.#ticketPile.length > 0;
    return canDraw || this.#listedClaims(player).length > 0;
  }

  /** With two or three players the other tracks are closed to all; otherwise only to a player with one of them (USA-11). */
  #isOpen(route, seat) {
    if (this.#claimed.has(route.id)) return false;
    if ((route.parallel ?? 1) === 1) return true;
    const cities = [route.a, route.b].sort().join();
    const tracks = [...this.#board.routes.values()].filter(
      (track) => track.parallel !== undefined && [track.a, track.b].sort().join() === cities,
    );
    const owners = tracks.map((track) => this.#claimed.get(track.id)).filter((owner) => owner !== undefined);
    return this.#seats.length <= 3 ? owners.length === 0 : !owners.includes(seat);
  }

  /** Returns the payment with fewest locomotives for each route and color, in the order of `legal` (games/usa.md). */
  #listedClaims({ hand, trains, seat }) {
    const locomotives = hand[LOCOMOTIVE] ?? 0;
    const open = this.#routesListed.filter((route) => route.length <= trains && this.#isOpen(route, seat));
    const gray = open.filter((route) => route.color === "gray");
    const claims = COLORS.flatMap((color) => {
      const own = open.filter((route) => route.color === color);
      const routes = color in hand ? [...gray, ...own] : own;
      return routes.map((route) => claimWith(route, color, hand[color] ?? 0));
    });
    if (!COLORS.some((color) => color in hand)) {
      claims.push(...gray.map((route) => claimWith(route, LOCOMOTIVE, locomotives)));
    }
    return claims.filter(({ cards }) => (cards[LOCOMOTIVE] ?? 0) <= locomotives);
  }

  // -- events

  #tell(type, fields) {
    this.#events.push({ type, ...fields });
  }

  #takeEvents() {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** Returns a payment with as many cards of the color as possible, and locomotives for the rest. */
function claimWith(route, color, inHand) {
  const cards = {};
  add(cards, color, Math.min(inHand, route.length));
  add(cards, LOCOMOTIVE, route.length - count(cards));
  return { type: "claim_route", route: route.id, cards };
}

function expectFields(move, type, fields) {
  const names = Object.keys(move).sort().join();
  if (move.type !== type || names !== [...fields, "type"].sort().join()) {
    throw new UntrueError(`expected a ${type} with exactly its fields`);
  }
}
