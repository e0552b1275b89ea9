// A game: seats, turns, and who owes which decision. Games differ in their parts (rules.mjs); this module asks the parts,
// and never which game it is.
//
// The law: `check` changes nothing; `play` makes one move and returns all its events in order (README.md, Events).

import { add, addAll, COLORS, count, LOCOMOTIVE, removeAll } from "./cards.mjs";
import { Dice } from "./dice.mjs";
import { RefusedError } from "./errors.mjs";
import { expectForm } from "./moves.mjs";
import { TrainCards } from "./piles.mjs";
import { askToComplete } from "./rail_yards.mjs";
import { resultOf } from "./scoring.mjs";
import { withdraw } from "./technologies.mjs";

/** @typedef {import("./board.mjs").Board} Board */
/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./rail_yards.mjs").Lying} Lying */
/** @typedef {import("./rules.mjs").Rules} Rules */
/** @typedef {{ type: string } & Record<string, any>} Move */
/** @typedef {{ type: string } & Record<string, any>} Event */
/** @typedef {{ type: string, seats: number[] } & Record<string, any>} Decision */
/** @typedef {{ moves: Move[], complete: boolean }} Listed */

/**
 * @typedef {object} Player
 * @property {number} seat
 * @property {number} team
 * @property {Cards} hand
 * @property {Cards} known those of the hand that everybody saw (README.md, Views)
 * @property {string[]} tickets those that count for this player alone, until they are completed
 * @property {string[]} offered
 * @property {number} trains
 * @property {number} points for routes
 * @property {string[]} routes
 * @property {string[]} stations the cities of the stations, as they were built
 * @property {string[]} technologies
 * @property {Map<string, Lying>} yard
 * @property {Cards} stack
 * @property {string[]} completed with cards of the stack
 */
/** @typedef {{ team: number, seats: number[], holder: Cards, tickets: string[] }} Team */

/**
 * What a move does. `normal` returns the move as a replay writes it.
 * @typedef {object} MovePart
 * @property {(game: Game, player: Player, move: Move) => void} check
 * @property {(game: Game, player: Player, move: Move) => void} [play]
 * @property {(game: Game, player: Player, move: Move) => Move} [normal]
 */
/**
 * An action of a turn.
 * @typedef {object} Action
 * @property {Record<string, MovePart>} moves
 * @property {(game: Game, player: Player) => Listed} list
 * @property {(game: Game, player: Player) => boolean} isAvailable
 */
/**
 * What may answer a decision. `settle` takes the answers of all seats at once (GEN-03); without it `play` of the move
 * takes the one answer.
 * @typedef {object} DecisionPart
 * @property {Record<string, MovePart>} moves
 * @property {(game: Game, player: Player) => Listed} list
 * @property {(game: Game, player: Player) => Move} [fallback] absent: the first one listed
 * @property {(game: Game, answers: [Player, Move][]) => void} [settle]
 *//** @typedef {{ technology: string, claims_left: number, right_of_way: boolean, may_stop: boolean }} Rights (UK-21, UK-22) */

const IDLE_TURNS = 10; // for each player (GEN-06)

export class Game {
  over = false;
  /** @type {any} */
  result = null;
  /** @type {number[]} seats that still owe an answer, in order */
  owing = [];
  /** @type {Decision | null} */
  pending = null;
  /** @type {[Player, Move][]} */
  answers = [];
  /** @type {Map<string, number[]>} from a route's id to the seats that claimed it */
  claimed = new Map();
  /** @type {string[]} the last one is the top */
  ticketPile = [];
  /** @type {Map<string, number>} technologies for sale */
  supply = new Map();
  turn = 0;
  progressTurn = 0;
  passes = 0;
  /** @type {number | null} in the last round */
  turnsLeft = null;
  half = 1;
  /** @type {Rights | null} of the technology whose claims are being made */
  rights = null;
  /** @type {Event[]} */
  events = [];

  /**
   * @param {Rules} rules
   * @param {Board} board
   * @param {{ seats: number, seed: Uint8Array }} setting
   */
  constructor(rules, board, { seats, seed }) {
    this.rules = rules;
    this.board = board;
    this.dice = new Dice(seed);
    this.cards = new TrainCards(this.dice, (type, fields) => this.tell(type, fields), rules.trainCards);
    /** @type {Player[]} */
    this.players = Array.from({ length: seats }, (_, seat) => ({
      seat,
      team: Math.floor(seat / rules.teamSize),
      hand: {},
      known: {},
      tickets: [],
      offered: [],
      trains: board.trains,
      points: 0,
      routes: [],
      stations: [],
      technologies: [],
      yard: new Map(),
      stack: {},
      completed: [],
    }));
    /** @type {Team[]} */
    this.teams = Array.from({ length: seats / rules.teamSize }, (_, team) => ({
      team,
      seats: this.players.filter((player) => player.team === team).map(({ seat }) => seat),
      holder: {},
      tickets: [],
    }));
    for (const { id, supply } of rules.technologies) this.supply.set(id, supply);
  }

  // -- what callers use

  get mover() {
    return this.owing[0];
  }

  /**
   * Returns what a seat owes, as a viewer of all hands sees it.
   * @param {number} seat
   * @returns {Decision | null}
   */
  decision(seat) {
    return this.owing.includes(seat) ? this.pending : null;
  }

  /** Deals, and returns the events of the set-up. */
  setUp() {
    const { dealt, locomotives_dealt: locomotives = 0 } = this.rules.trainCards;
    const deck = this.deck();
    for (const { seat, hand, known } of this.players) {
      for (let number = 0; number < locomotives; number++) {
        for (const cards of [hand, known]) add(cards, LOCOMOTIVE);
        add(deck, LOCOMOTIVE, -1);
        this.tell("locomotive_dealt", { seat });
      }
    }
    this.cards.shuffle(deck);
    for (const player of this.players) this.deal(player, this.cards.take(dealt));
    this.cards.fill();
    for (const deal of this.rules.deals) deal(this);
    return this.#takeEvents();
  }

  /**
   * Checks a move without making it. Throws RefusedError.
   * @param {number} seat
   * @param {Move} move
   */
  check(seat, move) {
    if (this.over) throw new RefusedError("game.over", "", "the game has ended");
    if (!this.owing.includes(seat)) throw new RefusedError("game.not_asked", "", "this seat owes no move");
    expectForm(move);
    const part = this.#part().moves[move.type];
    if (part === undefined) throw new RefusedError("game.wrong_move", "/type", `no answer to ${this.pending?.type}`);
    part.check(this, this.players[seat], move);
  }

  /**
   * Returns the moves that an ask lists, in its order.
   * @param {number} seat
   */
  legal(seat) {
    return this.#part().list(this, this.players[seat]);
  }

  /**
   * Returns the move that the server makes for a seat that fails.
   * @param {number} seat
   */
  fallback(seat) {
    const part = this.#part();
    const player = this.players[seat];
    return part.fallback ? part.fallback(this, player) : part.list(this, player).moves[0];
  }

  /**
   * Returns a legal move as a replay writes it (REPLAYS.md).
   * @param {number} seat
   * @param {Move} move
   */
  normal(seat, move) {
    const part = this.#part().moves[move.type];
    return part.normal ? part.normal(this, this.players[seat], move) : move;
  }

  /**
   * Makes a move, and returns its events.
   * @param {number} seat
   * @param {Move} move
   */
  play(seat, move) {
    this.check(seat, move);
    const { moves, settle } = this.#part();
    const player = this.players[seat];
    const made = this.normal(seat, move);
    if (settle === undefined) {
      moves[move.type].play?.(this, player, made);
    } else {
      this.answers.push([player, made]);
      this.owing = this.owing.filter((other) => other !== seat);
      if (this.owing.length === 0) {
        const answers = this.answers.sort(([one], [other]) => one.seat - other.seat);
        this.answers = [];
        settle(this, answers);
      }
    }
    return this.#takeEvents();
  }

  /**
   * Returns a game in the same state, which shares nothing that changes.
   * @returns {Game}
   */
  copy() {
    const { rules, board, dice, cards, answers, ...plain } = this;
    const twin = new Game(rules, board, { seats: this.players.length, seed: new Uint8Array(32) });
    Object.assign(twin, structuredClone(plain), { dice: dice.copy() });
    const { pile, market, discards, shuffles } = cards;
    Object.assign(twin.cards, structuredClone({ pile, market, discards, shuffles }), { dice: twin.dice });
    twin.answers = answers.map(([{ seat }, move]) => [twin.players[seat], move]);
    return twin;
  }

  // -- what parts use

  /**
   * Adds an event. Some are progress (README.md, Keeping a view).
   * @param {string} type
   * @param {Record<string, any>} fields
   */
  tell(type, fields) {
    this.events.push({ type, ...fields });
    if (PROGRESS.has(type) || (type === "tickets_kept" && fields.count > 0)) this.progressTurn = this.turn;
    if (type === "pile_shuffled" && this.cards.shuffles > 0) withdraw(this);
  }

  /**
   * @param {Record<string, any> & { type: string }} decision
   * @param {number[]} seats
   */
  ask(decision, seats) {
    this.pending = { ...decision, seats };
    this.owing = [...seats];
    this.tell("asked", { decision: this.pending });
  }

  /**
   * @param {Player} player
   */
  team(player) {
    return this.teams[player.team];
  }

  /** Returns all train cards. */
  deck() {
    const { each, locomotives } = this.board.deck;
    const deck = Object.fromEntries(COLORS.map((color) => [color, each]));
    add(deck, LOCOMOTIVE, locomotives);
    return deck;
  }

  /**
   * @param {Player} player
   * @param {Cards} cards
   */
  deal({ seat, hand }, cards) {
    addAll(hand, cards);
    this.tell("cards_dealt", { seat, count: count(cards), cards });
  }

  /**
   * Puts a card where it was drawn to.
   * @param {Player} player
   * @param {string} card
   * @param {"hand" | "holder"} place
   * @param {boolean} isOpen whether everybody saw it
   */
  put(player, card, place, isOpen) {
    add(place === "hand" ? player.hand : this.team(player).holder, card);
    if (isOpen && place === "hand") add(player.known, card);
  }

  /**
   * Takes cards out of a hand. Those that everybody knows of are the first to go.
   * @param {Player} player
   * @param {Cards} cards
   */
  spend({ hand, known }, cards) {
    removeAll(hand, cards);
    for (const card in cards) add(known, card, -Math.min(cards[card], known[card] ?? 0));
  }

  /** @param {number} seat */
  startTurn(seat) {
    this.turn++;
    this.pending = { type: "take_turn", seats: [seat] };
    this.owing = [seat];
    this.tell("turn_started", { seat, turn: this.turn, ...this.#passesAndTurnsLeft() });
    for (const phase of this.rules.startOfTurn) phase(this, this.players[seat]);
  }

  /** Ends the turn of a seat: with the next turn, or with the game. */
  endTurn() {
    const seats = this.players.length;
    const seat = (this.turn - 1) % seats;
    if (this.turnsLeft !== null) this.turnsLeft--;
    const { reason, isDue } = this.rules.lastRound;
    if (this.passes === seats) return this.#endTurns("all_passed");
    if (this.turnsLeft === 0) return this.#endTurns(reason);
    if (this.turn - this.progressTurn >= IDLE_TURNS * seats) return this.#endTurns("idle");
    if (this.turnsLeft === null && isDue(this, this.players[seat])) this.beginLastRound();
    this.startTurn((seat + 1) % seats);
  }

  beginLastRound() {
    this.turnsLeft = this.players.length;
    this.tell("last_round", { turns_left: this.turnsLeft });
  }

  /** @param {string} reason */
  end(reason) {
    this.over = true;
    this.owing = [];
    this.pending = null;
    this.result = resultOf(this, reason);
    this.tell("game_ended", { result: this.result });
  }

  // --

  /** @returns {DecisionPart} */
  #part() {
    return this.rules.decisions[/** @type {Decision} */ (this.pending).type];
  }

  /** @param {string} reason */
  #endTurns(reason) {
    this.tell("turns_ended", { reason, ...this.#passesAndTurnsLeft() });
    if (this.rules.hasYards) askToComplete(this, reason);
    else this.end(reason);
  }

  #passesAndTurnsLeft() {
    return {
      ...(this.passes > 0 && { passes: this.passes }),
      ...(this.turnsLeft !== null && { turns_left: this.turnsLeft }),
    };
  }

  #takeEvents() {
    const events = this.events;
    this.events = [];
    return events;
  }
}

/** Events that make a turn one that is not idle (GEN-06). */
const PROGRESS = new Set([
  "card_taken",
  "card_drawn",
  "route_claimed",
  "tickets_shared",
  "technology_bought",
  "station_built",
  "cards_laid",
  "cards_sent",
]);
