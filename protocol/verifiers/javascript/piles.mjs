// The train cards on the table: pile, market and discards (USA-04 to USA-08, CARD-12).
//
// The law: when the last card leaves the pile, the discards become the new pile at once, unless the game is played
// without; if there are none, the next cards that are discarded do. Then the market is filled, and then it may be
// exchanged.

import { add, addAll, count, LOCOMOTIVE, sorted } from "./cards.mjs";

/** @typedef {import("./cards.mjs").Cards} Cards */
/** @typedef {(type: string, fields: Record<string, any>) => void} Tell */

export const OPEN = 5; // cards of the market
const MOST_EXCHANGES = 10; // USA-06

export class TrainCards {
  /** @type {string[]} the last one is the top */
  pile = [];
  /** @type {Cards} */
  market = {};
  /** @type {Cards} */
  discards = {};
  /** How often discards became the pile. */
  shuffles = 0;

  /**
   * @param {{ shuffle(kind: string, list: any[]): any[] }} dice
   * @param {Tell} tell
   * @param {{ exchange_at?: number, reshuffled?: boolean }} rules with so many open locomotives the market is exchanged,
   *   with 0 it never is; whether the discards become the pile
   */
  constructor(dice, tell, { exchange_at: exchanged = 0, reshuffled = false }) {
    this.dice = dice;
    this.tell = tell;
    this.exchanged = exchanged || Infinity;
    this.reshuffled = reshuffled;
  }

  /**
   * Shuffles cards into the pile.
   * @param {Cards} cards
   * @param {Cards} mayHold what it may hold, for all that players know
   */
  shuffle(cards, mayHold = cards) {
    this.pile = this.dice.shuffle("train_cards", sorted(cards));
    this.tell("pile_shuffled", { count: this.pile.length, may_hold: { ...mayHold } });
  }

  /**
   * Takes cards off the pile, as many as there are, before anybody looks whether it is empty.
   * @param {number} number
   * @returns {Cards}
   */
  take(number) {
    /** @type {Cards} */
    const cards = {};
    for (const card of this.pile.splice(Math.max(0, this.pile.length - number))) add(cards, card);
    return cards;
  }

  /**
   * Discards cards together.
   * @param {Cards} cards
   */
  discard(cards) {
    addAll(this.discards, cards);
    this.mend();
  }

  /** Makes the discards the pile, if the pile is used up. */
  mend() {
    if (!this.reshuffled || this.pile.length > 0 || count(this.discards) === 0) return;
    const cards = this.discards;
    this.discards = {};
    this.shuffles++;
    this.shuffle(cards);
  }

  /** Fills the market, and exchanges it as often as the rules demand. */
  fill() {
    for (let exchanges = 0; this.#layOpen() && (this.market[LOCOMOTIVE] ?? 0) >= this.exchanged; exchanges++) {
      if (exchanges === MOST_EXCHANGES) return;
      const cards = this.market;
      this.market = {};
      this.tell("market_exchanged", { cards });
      this.discard(cards);
    }
  }

  /** Lays cards open. Returns whether there were any. */
  #layOpen() {
    let laidAny = false;
    while (this.pile.length > 0 && count(this.market) < OPEN) {
      const cards = this.take(OPEN - count(this.market));
      addAll(this.market, cards);
      this.tell("cards_laid_open", { cards });
      this.mend();
      laidAny = true;
    }
    return laidAny;
  }
}
