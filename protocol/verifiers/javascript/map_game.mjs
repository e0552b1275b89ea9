// A game on a map: seats, turns, and who owes which decision. Each game is a list of parts with its numbers (usa.mjs and
// its neighbors); this module asks the parts, and never which game it is.
//
// The law: `check` changes nothing; `play` makes one move and returns all its events in order (README.md, Events).

import { add, addAll, COLORS, LOCOMOTIVE } from "./cards.mjs";
import { Dice } from "./dice.mjs";
import { RefusedError } from "./errors.mjs";
import { expectForm } from "./moves.mjs";
import { TrainCards } from "./piles.mjs";
import { resultOf } from "./scoring.mjs";

/** @typedef {import("./board.mjs").Board} Board */
/** @typedef {import("./board.mjs").Route} Route */
/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {import("./payments.mjs").Price} Price */
/** @typedef {{ type: string } & Record<string, any>} Move */
/** @typedef {{ type: string } & Record<string, any>} Event */
/** @typedef {{ type: string, seats: number[] } & Record<string, any>} Decision */
/** @typedef {{ moves: Move[], complete: boolean }} Listed */

/**
 * @typedef {object} Player
 * @property {number} seat
 * @property {number} team
 * @property {Cards} hand
 * @property {string[]} tickets those that count for this player alone
 * @property {string[]} offered
 * @property {number} trains
 * @property {number} points for routes
 * @property {string[]} routes
 * @property {string[]} stations the cities of the stations, as they were built
 * @property {string[]} technologies
 */
/** @typedef {{ team: number, seats: number[], holder: Cards, tickets: string[] }} Team */

/**
 * What a move does. `normal` returns the move as a replay writes it.
 * @typedef {object} MovePart
 * @property {(game: MapGame, player: Player, move: Move) => void} check
 * @property {(game: MapGame, player: Player, move: Move) => void} [play]
 * @property {(game: MapGame, player: Player, move: Move) => Move} [normal]
 */
/**
 * An action of a turn.
 * @typedef {object} Action
 * @property {Record<string, MovePart>} moves
 * @property {(game: MapGame, player: Player) => Listed} list
 * @property {(game: MapGame, player: Player) => boolean} isAvailable
 */
/**
 * What may answer a decision. `settle` takes the answers of all seats at once (GEN-03); without it `play` of the move
 * takes the one answer.
 * @typedef {object} DecisionPart
 * @property {Record<string, MovePart>} moves
 * @property {(game: MapGame, player: Player) => Listed} list
 * @property {(game: MapGame, player: Player) => Move} [fallback] absent: the first one listed
 * @property {(game: MapGame, answers: [Player, Move][]) => void} [settle]
 */
/**
 * The parts and the numbers of a game.
 * @typedef {object} Rules
 * @property {number} partners how many players make a team
 * @property {number} locomotivesDealt to each player before the shuffle
 * @property {number} exchanged with so many open locomotives the market is exchanged
 * @property {number} fewTrains with so many trains left the last round begins
 * @property {Record<string, DecisionPart>} decisions
 * @property {(game: MapGame) => void} offerFirst deals the first tickets, and asks
 * @property {(game: MapGame, answers: [Player, Move][]) => void} afterKept goes on when tickets have been kept
 * @property {(tracks: number, seats: number) => number} openTracks how many tracks of a double or triple route may be claimed
 * @property {(player: Player, route: Route) => Price} priceOf
 * @property {(game: MapGame, player: Player, route: Route) => boolean} mayClaim whether no technology is missing
 * @property {(game: MapGame, player: Player, route: Route) => number} pointsOf
 * @property {import("./scoring.mjs").Scoring} scoring
 * @property {(game: MapGame) => void} [whenShuffled] after the discards became the pile
 * @property {(game: MapGame, player: Player) => void} [afterClaim] absent: the turn ends
 */

const DEALT = 4; // USA-02
const IDLE_TURNS = 10; // for each player (GEN-06)

export class MapGame {
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
  /** @type {Event[]} */
  events = [];

  /**
   * @param {Rules} rules
   * @param {Board} board
   * @param {{ seats: number, options: string[], seed: Uint8Array }} setting
   */
  constructor(rules, board, { seats, options, seed }) {
    this.rules = rules;
    this.board = board;
    this.options = options;
    this.dice = new Dice(seed);
    this.cards = new TrainCards(this.dice, (type, fields) => this.tell(type, fields), rules.exchanged);
    /** @type {Player[]} */
    this.players = Array.from({ length: seats }, (_, seat) => ({
      seat,
      team: Math.floor(seat / rules.partners),
      hand: {},
      tickets: [],
      offered: [],
      trains: board.trains,
      points: 0,
      routes: [],
      stations: [],
      technologies: [],
    }));
    /** @type {Team[]} */
    this.teams = Array.from({ length: seats / rules.partners }, (_, team) => ({
      team,
      seats: this.players.filter((player) => player.team === team).map(({ seat }) => seat),
      holder: {},
      tickets: [],
    }));
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
    const { each, locomotives } = this.board.deck;
    const { locomotivesDealt } = this.rules;
    for (const player of locomotivesDealt > 0 ? this.players : []) {
      add(player.hand, LOCOMOTIVE, locomotivesDealt);
      this.tell("locomotive_dealt", { seat: player.seat });
    }
    const deck = Object.fromEntries(COLORS.map((color) => [color, each]));
    add(deck, LOCOMOTIVE, locomotives - locomotivesDealt * this.players.length);
    this.cards.shuffle(deck);
    for (const { seat, hand } of this.players) {
      const cards = this.cards.take(DEALT);
      addAll(hand, cards);
      this.tell("cards_dealt", { seat, count: DEALT, cards });
    }
    this.cards.fill();
    this.rules.offerFirst(this);
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
   * @returns {MapGame}
   */
  copy() {
    const Kind = /** @type {any} */ (this.constructor);
    const { rules, board, options, dice, cards, answers, ...plain } = this;
    /** @type {MapGame} */
    const twin = new Kind(board, { seats: this.players.length, options, seed: new Uint8Array(32) });
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
    if (type === "pile_shuffled" && this.cards.shuffles > 0) this.rules.whenShuffled?.(this);
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

  /** @param {number} seat */
  startTurn(seat) {
    this.turn++;
    this.pending = { type: "take_turn", seats: [seat] };
    this.owing = [seat];
    this.tell("turn_started", { seat, turn: this.turn, ...this.#passesAndTurnsLeft() });
  }

  /** Ends the turn of a seat: with the next turn, or with the game. */
  endTurn() {
    const seats = this.players.length;
    const seat = (this.turn - 1) % seats;
    if (this.turnsLeft !== null) this.turnsLeft--;
    if (this.passes === seats) return this.#end("all_passed");
    if (this.turn - this.progressTurn >= IDLE_TURNS * seats) return this.#end("idle");
    if (this.turnsLeft === 0) return this.#end("trains");
    const trains = this.teams[this.players[seat].team].seats.reduce((sum, each) => sum + this.players[each].trains, 0);
    if (this.turnsLeft === null && trains <= this.rules.fewTrains) {
      this.turnsLeft = seats;
      this.tell("last_round", { turns_left: seats });
    }
    this.startTurn((seat + 1) % seats);
  }

  // --

  /** @returns {DecisionPart} */
  #part() {
    return this.rules.decisions[/** @type {Decision} */ (this.pending).type];
  }

  /** @param {string} reason */
  #end(reason) {
    this.over = true;
    this.owing = [];
    this.pending = null;
    this.tell("turns_ended", { reason, ...this.#passesAndTurnsLeft() });
    this.result = resultOf(this, reason);
    this.tell("game_ended", { result: this.result });
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
const PROGRESS = new Set(["card_taken", "card_drawn", "route_claimed", "tickets_shared", "technology_bought", "station_built"]);
