// The game `card_game` (rules/card_game.md, games/card_game.md): deals and moves, with the events that they cause.

import { add, addAll, CARDS, COLORS, count, has, LOCOMOTIVE, removeAll, sorted } from "./cards.mjs";
import { bestCompletions, canComplete } from "./completion.mjs";
import { Dice } from "./dice.mjs";
import { RefusedError } from "./errors.mjs";
import { expectForm } from "./moves.mjs";

export const ID = "card_game";
export const RULES_VERSION = 1;
export const SEAT_COUNTS = [2, 3, 4];
export const OPTIONS = ["open_stacks"];

const DEALT = 7; // CARD-02
const DEALT_AGAIN = 4; // CARD-15
const OPEN = 5;
const FIRST_TICKETS = 6; // CARD-03
const LATER_TICKETS = 4; // CARD-11
const HALVED = 4; // players who play two halves (CARD-15)
const MOST_SETS = 512; // of `legal`
const MOST_COMPLETIONS = 64;
const IDLE_TURNS = 10; // for each player (GEN-06)

/** The moves that answer each decision. */
const ANSWERS = {
  keep_tickets: ["keep_tickets"],
  take_turn: ["draw_card", "take_card", "draw_three", "lay_cards", "draw_tickets", "pass"],
  second_card: ["draw_card", "take_card", "stop"],
  complete_tickets: ["complete_tickets"],
};

/** @typedef {Record<string, number>} Cards */
/** @typedef {Record<string, any>} Json */
/**
 * @typedef {object} Lying a color in a rail yard
 * @property {number} cards
 * @property {number} locomotives on top of them
 */
/**
 * @typedef {object} Player
 * @property {number} seat
 * @property {Cards} hand
 * @property {Cards} known those of the hand that everybody saw (README.md, Views)
 * @property {Map<string, Lying>} yard
 * @property {Cards} stack
 * @property {string[]} offered
 * @property {string[]} tickets
 * @property {string[]} completed
 */

export class Game {
  over = false;
  /** @type {Json | null} */
  result = null;
  #dice;
  #board;
  /** @type {Player[]} */
  #seats;
  /** @type {string[]} */
  #pile = []; // the last item is the top one
  /** @type {Cards} */
  #discards = {};
  /** @type {Cards} */
  #market = {};
  /** @type {string[]} */
  #ticketPile = [];
  #half = 1;
  #turn = 0;
  #progressTurn = 0;
  #passes = 0;
  /** @type {number | null} */
  #turnsLeft = null; // in the last round
  /** @type {number[]} */
  #owing = []; // seats in order
  /** @type {Json} */
  #decision = {};
  /** @type {Json[]} */
  #chosen = []; // the choices so far, if several seats choose at the same time
  /** @type {Json[]} */
  #events = [];

  /**
   * @param {any} board from `readBoard`
   * @param {{seats: number, options: string[], seed: Uint8Array}} conditions
   */
  constructor(board, { seats, seed }) {
    this.#board = board;
    this.#dice = new Dice(seed);
    this.#seats = Array.from({ length: seats }, (_, seat) => ({
      seat,
      hand: {},
      known: {},
      yard: new Map(),
      stack: {},
      offered: [],
      tickets: [],
      completed: [],
    }));
  }

  /** Returns the seats that owe a move, in order. */
  get owing() {
    return [...this.#owing];
  }

  /** Returns the next seat that owes a move, or undefined. */
  get mover() {
    return this.#owing[0];
  }

  /** Returns the decision as a viewer of all hands sees it. */
  decision() {
    return structuredClone(this.#decision);
  }

  /** Deals, and returns the events of the set-up. */
  setUp() {
    for (const { seat, hand, known } of this.#seats) {
      add(hand, LOCOMOTIVE);
      add(known, LOCOMOTIVE);
      this.#tell("locomotive_dealt", { seat });
    }
    const deck = this.#deck();
    add(deck, LOCOMOTIVE, -this.#seats.length);
    this.#shuffleIntoPile(deck, deck);
    for (const player of this.#seats) this.#deal(player, this.#pile.splice(-DEALT));
    this.#fillMarket();
    this.#shuffleTickets([...this.#board.tickets.keys()]);
    this.#seats.forEach((player) => this.#offerTickets(player, FIRST_TICKETS));
    this.#ask({ type: "keep_tickets", offered_count: FIRST_TICKETS, keep: 1 }, this.#seats);
    return this.#takeEvents();
  }

  // -- moves

  /**
   * Throws RefusedError if the move is not legal.
   * @param {number} seat
   * @param {any} move
   */
  check(seat, move) {
    expectForm(move);
    if (this.over) throw new RefusedError("game.over", "");
    if (!this.#owing.includes(seat)) throw new RefusedError("game.not_asked", "");
    const player = this.#seats[seat];
    const kind = /** @type {keyof typeof ANSWERS} */ (this.#decision.type);
    if (!ANSWERS[kind].includes(move.type)) throw new RefusedError("game.wrong_move", "/type");
    switch (move.type) {
      case "draw_card":
        if (this.#pile.length === 0) throw new RefusedError("game.not_available", "/type");
        break;
      case "take_card":
        if (!this.#canTake(move.card)) throw new RefusedError("game.not_available", "/card");
        break;
      case "draw_three":
        throw new RefusedError("game.missing_technology", "/type");
      case "draw_tickets":
        if (this.#ticketPile.length === 0) throw new RefusedError("game.not_available", "/type");
        break;
      case "pass":
        if (this.#canAct(player)) throw new RefusedError("game.not_available", "/type", "an action is legal (GEN-05)");
        break;
      case "lay_cards":
        this.#checkLaying(player, move.cards);
        break;
      case "keep_tickets":
        this.#checkChoice(move.tickets, player.offered);
        if (move.tickets.length < this.#decision.keep) throw new RefusedError("game.wrong_tickets", "/tickets");
        break;
      case "complete_tickets":
        this.#checkChoice(move.tickets, player.tickets);
        if (!canComplete(this.#ticketsOf(move.tickets), player.stack)) {
          throw new RefusedError("game.wrong_tickets", "/tickets", "the stack does not pay for them (CARD-13)");
        }
    }
  }

  /**
   * Makes a move, and returns its events with everything hidden. Throws RefusedError if it is not legal.
   * @param {number} seat
   * @param {any} move
   */
  play(seat, move) {
    this.check(seat, move);
    const player = this.#seats[seat];
    switch (move.type) {
      case "draw_card":
      case "take_card":
        this.#drawCard(player, move);
        break;
      case "draw_tickets":
        this.#passes = 0;
        this.#offerTickets(player, LATER_TICKETS);
        this.#ask({ type: "keep_tickets", offered_count: player.offered.length, keep: 0 }, [player]);
        break;
      case "lay_cards":
        this.#layCards(player, move.cards);
        break;
      case "stop":
        this.#tell("stopped", { seat });
        this.#endTurn(seat);
        break;
      case "pass":
        this.#passes++;
        this.#tell("passed", { seat });
        this.#endTurn(seat);
        break;
      default:
        this.#choose(player, move.tickets);
    }
    return this.#takeEvents();
  }

  /** @param {string} card */
  #canTake(card) {
    return (this.#market[card] ?? 0) > 0 && !(card === LOCOMOTIVE && this.#decision.type === "second_card");
  }

  /**
   * @param {any[]} tickets
   * @param {string[]} among
   */
  #checkChoice(tickets, among) {
    tickets.forEach((id, index) => {
      if (!this.#board.tickets.has(id)) throw new RefusedError("game.unknown_name", `/tickets/${index}`);
      if (!among.includes(id) || tickets.indexOf(id) < index) throw new RefusedError("game.wrong_tickets", `/tickets/${index}`);
    });
  }

  /**
   * Checks cards for the rail yard (CARD-08 to CARD-10).
   * @param {Player} player
   * @param {Cards} cards
   */
  #checkLaying({ seat, hand }, cards) {
    const colors = COLORS.filter((color) => color in cards);
    const isSet = colors.length === 1 && count(cards) >= 2;
    const areThree = colors.length === 3 && count(cards) === 3;
    if (!has(hand, cards)) throw new RefusedError("game.not_enough_cards", "/cards");
    if (!isSet && !areThree) throw new RefusedError("game.wrong_cards", "/cards");
    const barred = colors.find((color) => !this.#canLay(seat, color, count(cards) / colors.length));
    if (barred !== undefined) throw new RefusedError("game.wrong_cards", `/cards/${barred}`);
  }

  /**
   * Tests whether a seat may lay a number of cards as this color.
   * @param {number} seat
   * @param {string} color
   * @param {number} number with the locomotives
   */
  #canLay(seat, color, number) {
    return this.#seats.every(({ seat: owner, yard }) => {
      const lying = yard.get(color);
      return lying === undefined || (owner !== seat && number > lying.cards + lying.locomotives);
    });
  }

  /**
   * @param {Player} player
   * @param {Json} move
   */
  #drawCard({ seat, hand, known }, move) {
    const isSecond = this.#decision.type === "second_card";
    const open = move.type === "take_card";
    const card = open ? move.card : this.#pile.pop();
    this.#act();
    add(hand, card);
    this.#tell(open ? "card_taken" : "card_drawn", { seat, card, place: "hand" });
    if (open) {
      add(known, card);
      add(this.#market, card, -1);
      this.#fillMarket();
    }
    const hasSecond = this.#pile.length > 0 || COLORS.some((color) => color in this.#market);
    if (isSecond || (open && card === LOCOMOTIVE) || !hasSecond) {
      this.#endTurn(seat);
    } else {
      this.#ask({ type: "second_card", place: "hand", may_stop: true }, [this.#seats[seat]]);
    }
  }

  /**
   * @param {Player} player
   * @param {Cards} cards
   */
  #layCards(player, cards) {
    this.#act();
    removeAll(player.hand, cards);
    for (const [card, number] of Object.entries(cards)) add(player.known, card, -Math.min(number, player.known[card] ?? 0));
    this.#tell("cards_laid", { seat: player.seat, cards: { ...cards } });
    for (const color of COLORS.filter((each) => each in cards)) {
      for (const owner of this.#seats) {
        const lying = owner.yard.get(color);
        if (lying === undefined) continue;
        owner.yard.delete(color);
        const raided = { [color]: lying.cards, ...(lying.locomotives > 0 && { [LOCOMOTIVE]: lying.locomotives }) };
        addAll(this.#discards, raided);
        this.#tell("raided", { seat: owner.seat, color, cards: raided });
      }
      player.yard.set(color, { cards: cards[color], locomotives: cards[LOCOMOTIVE] ?? 0 });
    }
    this.#endTurn(player.seat);
  }

  /**
   * Keeps the choice of a seat. When the last seat has chosen, all choices take effect together (GEN-03).
   * @param {Player} player
   * @param {string[]} tickets
   */
  #choose(player, tickets) {
    this.#chosen.push({ player, tickets });
    this.#owing = this.#owing.filter((seat) => seat !== player.seat);
    if (this.#owing.length > 0) return;
    const chosen = this.#chosen.sort((one, other) => one.player.seat - other.player.seat);
    this.#chosen = [];
    if (this.#decision.type === "complete_tickets") this.#completeTickets(chosen);
    else this.#keepTickets(chosen);
  }

  /** @param {Json[]} chosen */
  #keepTickets(chosen) {
    for (const { player, tickets } of chosen) {
      const isKept = (/** @type {string} */ id) => tickets.includes(id);
      const kept = player.offered.filter(isKept);
      const returned = player.offered.filter((/** @type {string} */ id) => !isKept(id));
      player.tickets.push(...kept);
      player.offered = [];
      returned.forEach((/** @type {string} */ id) => this.#ticketPile.unshift(id)); // the last one lies lowest (GEN-04)
      const counts = { count: kept.length, returned_count: returned.length };
      this.#tell("tickets_kept", { seat: player.seat, ...counts, tickets: kept, returned });
      if (kept.length > 0) this.#progressTurn = this.#turn;
    }
    if (this.#turn === 0) {
      const left = new Set(this.#ticketPile);
      this.#shuffleTickets([...this.#board.tickets.keys()].filter((id) => left.has(id)));
      this.#startTurn(0);
    } else {
      this.#endTurn(chosen[0].player.seat);
    }
  }

  // -- turns

  /** An action was taken that is no mere look at tickets. */
  #act() {
    this.#passes = 0;
    this.#progressTurn = this.#turn;
  }

  /** @param {number} seat */
  #startTurn(seat) {
    this.#turn++;
    this.#owing = [seat];
    this.#decision = { type: "take_turn", seats: [seat] };
    this.#tell("turn_started", { seat, turn: this.#turn, ...this.#passesAndTurnsLeft() });
    this.#send(this.#seats[seat]);
  }

  /**
   * Moves a card of each color from the yard to the stack (CARD-04).
   * @param {Player} player
   */
  #send({ seat, yard, stack }) {
    if (yard.size === 0) return;
    /** @type {Cards} */
    const cards = {};
    for (const [color, lying] of yard) {
      if (lying.locomotives > 0) {
        lying.locomotives--;
        add(cards, LOCOMOTIVE);
      } else {
        lying.cards--;
        add(cards, color);
        if (lying.cards === 0) yard.delete(color);
      }
    }
    addAll(stack, cards);
    this.#progressTurn = this.#turn;
    this.#tell("cards_sent", { seat, cards });
  }

  /** @param {number} seat */
  #endTurn(seat) {
    const seats = this.#seats.length;
    if (this.#turnsLeft !== null) this.#turnsLeft--;
    if (this.#passes === seats) {
      this.#endTurns("all_passed");
    } else if (this.#turnsLeft === 0) {
      this.#endTurns("pile");
    } else if (this.#turn - this.#progressTurn >= IDLE_TURNS * seats) {
      this.#endTurns("idle");
    } else {
      this.#lookForLastRound();
      this.#startTurn((seat + 1) % seats);
    }
  }

  /** The last round begins when no pile is left (CARD-12). */
  #lookForLastRound() {
    if (this.#turnsLeft !== null || this.#pile.length > 0) return;
    this.#turnsLeft = this.#seats.length;
    this.#tell("last_round", { turns_left: this.#turnsLeft });
  }

  #passesAndTurnsLeft() {
    return {
      ...(this.#passes > 0 && { passes: this.#passes }),
      ...(this.#turnsLeft !== null && { turns_left: this.#turnsLeft }),
    };
  }

  // -- the scoring

  /** @param {string} reason */
  #endTurns(reason) {
    this.#tell("turns_ended", { reason, ...this.#passesAndTurnsLeft() });
    for (const { seat, stack } of this.#seats) this.#tell("stack_taken_up", { seat, count: count(stack), cards: { ...stack } });
    this.#ask({ type: "complete_tickets", reason }, this.#seats);
  }

  /** @param {Json[]} chosen */
  #completeTickets(chosen) {
    const { reason } = this.#decision;
    const last = (this.#turn - 1) % this.#seats.length; // no turn is ever left out, so the seats follow from the turns
    for (const { player, tickets } of chosen) {
      const completed = [...tickets].sort();
      const points = this.#ticketsOf(completed).reduce((sum, ticket) => sum + ticket.points, 0);
      player.tickets = player.tickets.filter((/** @type {string} */ id) => !tickets.includes(id));
      player.completed.push(...completed);
      this.#tell("tickets_completed", { seat: player.seat, tickets: completed, points });
    }
    if (this.#seats.length === HALVED && this.#half === 1 && reason === "pile") {
      this.#startHalf((last + 1) % this.#seats.length);
    } else {
      this.#end(reason);
    }
  }

  /** @param {number} beginner */
  #startHalf(beginner) {
    this.#half = 2;
    this.#turnsLeft = null;
    this.#tell("half_started", { half: 2 });
    const cards = this.#discards;
    this.#discards = {};
    for (const player of this.#seats) {
      addAll(cards, player.stack);
      for (const [color, lying] of player.yard) {
        add(cards, color, lying.cards);
        add(cards, LOCOMOTIVE, lying.locomotives);
      }
      player.stack = {};
      player.yard = new Map();
    }
    const mayHold = this.#deck(); // cards that nobody has seen in a hand may be in the pile, for all that others know
    [this.#market, ...this.#seats.map(({ known }) => known)].forEach((seen) => removeAll(mayHold, seen));
    this.#shuffleIntoPile(cards, mayHold);
    /** @type {string[][]} */
    const hands = this.#seats.map(() => []);
    const number = Math.min(DEALT_AGAIN * this.#seats.length, this.#pile.length);
    for (let dealt = 0; dealt < number; dealt++) {
      hands[(beginner + dealt) % this.#seats.length].push(/** @type {string} */ (this.#pile.pop()));
    }
    this.#seats.forEach((player, seat) => this.#deal(player, hands[seat]));
    this.#fillMarket();
    this.#lookForLastRound();
    this.#startTurn(beginner);
  }

  /** @param {string} reason */
  #end(reason) {
    this.over = true;
    this.#owing = [];
    this.#decision = {};
    this.result = resultOf(this.#seats, this.#board, reason, this.#turn);
    this.#tell("game_ended", { result: this.result });
  }

  // -- piles

  /**
   * @param {Player} player
   * @param {string[]} dealt
   */
  #deal({ seat, hand }, dealt) {
    /** @type {Cards} */
    const cards = {};
    dealt.forEach((card) => add(cards, card));
    addAll(hand, cards);
    this.#tell("cards_dealt", { seat, count: dealt.length, cards });
  }

  #fillMarket() {
    const missing = Math.min(OPEN - count(this.#market), this.#pile.length);
    if (missing === 0) return;
    /** @type {Cards} */
    const cards = {};
    this.#pile.splice(-missing).forEach((card) => add(cards, card));
    addAll(this.#market, cards);
    this.#tell("cards_laid_open", { cards });
  }

  /**
   * @param {Cards} cards
   * @param {Cards} mayHold
   */
  #shuffleIntoPile(cards, mayHold) {
    this.#pile = this.#dice.shuffle("train_cards", sorted(cards));
    this.#tell("pile_shuffled", { count: this.#pile.length, may_hold: { ...mayHold } });
  }

  /** Returns all train cards. */
  #deck() {
    const { each, locomotives } = this.#board.deck;
    return Object.fromEntries(CARDS.map((card) => [card, card === LOCOMOTIVE ? locomotives : each]));
  }

  /** @param {string[]} tickets in the order of the board */
  #shuffleTickets(tickets) {
    this.#ticketPile = this.#dice.shuffle("tickets", tickets);
    this.#tell("ticket_pile_shuffled", { count: this.#ticketPile.length });
  }

  /**
   * @param {Player} player
   * @param {number} number
   */
  #offerTickets(player, number) {
    player.offered = this.#ticketPile.splice(-number).reverse();
    const { seat, offered } = player;
    this.#tell("tickets_offered", { seat, count: offered.length, tickets: [...offered] });
  }

  /**
   * @param {string[]} ids
   * @returns {any[]}
   */
  #ticketsOf(ids) {
    return ids.map((id) => this.#board.tickets.get(id));
  }

  // -- what is legal

  /**
   * Returns the moves that an ask lists, and whether these are all.
   * @param {number} seat
   */
  legal(seat) {
    const player = this.#seats[seat];
    switch (this.#decision.type) {
      case "keep_tickets":
        return { moves: subsets(player.offered, this.#decision.keep).map(keepTickets), complete: true };
      case "complete_tickets": {
        const moves = this.#completions(player, MOST_COMPLETIONS).map(completeTickets);
        return { moves, complete: moves.length === 1 && moves[0].tickets.length === 0 };
      }
      case "second_card":
        return { moves: [...this.#draws(), { type: "stop" }], complete: true };
      default: {
        const { sets, complete } = this.#sets(player);
        const tickets = this.#ticketPile.length > 0 ? [{ type: "draw_tickets" }] : [];
        const moves = [...this.#draws(), ...sets.map((cards) => ({ type: "lay_cards", cards })), ...tickets];
        return { moves: moves.length > 0 ? moves : [{ type: "pass" }], complete };
      }
    }
  }

  /**
   * Returns the fallback of a seat (games/card_game.md, Decisions).
   * @param {number} seat
   * @returns {Json}
   */
  fallback(seat) {
    const player = this.#seats[seat];
    switch (this.#decision.type) {
      case "keep_tickets": {
        const worth = (/** @type {string} */ id) => this.#board.tickets.get(id).points;
        const cheapest = [...player.offered].sort((a, b) => worth(a) - worth(b)).slice(0, this.#decision.keep);
        return keepTickets(player.offered.filter((id) => cheapest.includes(id)));
      }
      case "complete_tickets":
        return completeTickets(this.#completions(player, 1)[0]);
      case "second_card":
        return { type: "stop" };
      default:
        return this.legal(seat).moves[0];
    }
  }

  #draws() {
    const open = CARDS.filter((card) => this.#canTake(card)).map((card) => ({ type: "take_card", card }));
    return this.#pile.length > 0 ? [{ type: "draw_card" }, ...open] : open;
  }

  /**
   * Returns the cards that a player may lay, sets before threes, and whether these are all.
   * @param {Player} player
   */
  #sets({ seat, hand }) {
    const held = COLORS.filter((color) => color in hand);
    const locomotives = hand[LOCOMOTIVE] ?? 0;
    /** @type {Cards[]} */
    const sets = [];
    for (const color of held) {
      for (let cards = 1; cards <= hand[color]; cards++) {
        for (let extra = 0; extra <= locomotives; extra++) {
          if (cards + extra < 2 || !this.#canLay(seat, color, cards + extra)) continue;
          sets.push(extra > 0 ? { [color]: cards, [LOCOMOTIVE]: extra } : { [color]: cards });
        }
      }
    }
    const single = held.filter((color) => this.#canLay(seat, color, 1));
    const threes = subsets(single, 3, 3).map((colors) => Object.fromEntries(colors.map((color) => [color, 1])));
    const complete = sets.length <= MOST_SETS;
    const listed = complete ? sets : sets.filter((cards) => {
      const [color] = Object.keys(cards);
      return !(LOCOMOTIVE in cards) || cards[color] === hand[color];
    });
    return { sets: [...listed, ...threes], complete };
  }

  /** @param {Player} player */
  #canAct(player) {
    return this.#draws().length > 0 || this.#ticketPile.length > 0 || this.#sets(player).sets.length > 0;
  }

  /**
   * @param {Player} player
   * @param {number} most
   */
  #completions(player, most) {
    return bestCompletions(this.#ticketsOf(player.tickets), player.stack, most);
  }

  // -- decisions and events

  /**
   * @param {Json} decision
   * @param {Player[]} players
   */
  #ask(decision, players) {
    this.#owing = players.map(({ seat }) => seat);
    this.#decision = { ...decision, seats: [...this.#owing] };
    this.#tell("asked", { decision: structuredClone(this.#decision) });
  }

  /**
   * @param {string} type
   * @param {Json} fields
   */
  #tell(type, fields) {
    this.#events.push({ type, ...fields });
  }

  #takeEvents() {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

const keepTickets = (/** @type {string[]} */ tickets) => ({ type: "keep_tickets", tickets });
const completeTickets = (/** @type {string[]} */ tickets) => ({ type: "complete_tickets", tickets });

/**
 * Returns all subsets with at least `least` items and at most `most`: small ones first, then by the places of their
 * items.
 * @param {string[]} items
 * @param {number} least
 * @param {number} most
 */
function subsets(items, least, most = items.length) {
  /** @type {string[][]} */
  const found = [];
  /** @type {(size: number, from: number, chosen: string[]) => void} */
  const choose = (size, from, chosen) => {
    if (chosen.length === size) found.push(chosen);
    else for (let at = from; at < items.length; at++) choose(size, at + 1, [...chosen, items[at]]);
  };
  for (let size = least; size <= Math.min(most, items.length); size++) choose(size, 0, []);
  return found;
}

/**
 * Returns the result of a game (CARD-16 to CARD-18).
 * @param {Player[]} players
 * @param {any} board
 * @param {string} reason
 * @param {number} turns
 */
function resultOf(players, board, reason, turns) {
  const bonuses = Object.entries(board.file.big_cities ?? {}).map(([city, points]) => {
    const named = players.map(({ completed }) =>
      completed.filter((id) => [board.tickets.get(id).a, board.tickets.get(id).b].includes(city)).length,
    );
    return { bonus: `big_city:${city}`, points, named, most: Math.max(...named) };
  });
  const order = board.file.cities.map((/** @type {Json} */ city) => `big_city:${city.id}`);
  bonuses.sort((one, other) => order.indexOf(one.bonus) - order.indexOf(other.bonus));
  const teams = players.map(({ seat, tickets, completed }) => {
    const own = [...board.tickets.values()]
      .filter(({ id }) => tickets.includes(id) || completed.includes(id))
      .map(({ id, points }) => ({
        ticket: id,
        completed: completed.includes(id),
        points: completed.includes(id) ? points : -points,
      }));
    const won = bonuses
      .filter(({ named, most }) => most > 0 && named[seat] === most)
      .map(({ bonus, points }) => ({ bonus, points }));
    return {
      team: seat,
      seats: [seat],
      rank: 1,
      points: [...own, ...won].reduce((sum, { points }) => sum + points, 0),
      route_points: 0,
      tickets: own,
      bonuses: won,
      completed_tickets: completed.length,
      longest_path: 0,
    };
  });
  const isAhead = (/** @type {any} */ one, /** @type {any} */ other) =>
    (one.points - other.points ||
      one.completed_tickets - other.completed_tickets ||
      one.bonuses.length - other.bonuses.length) > 0;
  teams.forEach((team) => (team.rank = 1 + teams.filter((other) => isAhead(other, team)).length));
  return { reason, turns, ranks: teams.map(({ rank }) => rank), teams };
}
