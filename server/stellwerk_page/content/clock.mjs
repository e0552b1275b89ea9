// The time of the page: it plays the moves one after another, at a speed.
//
// Law: a move is shown when the one before has been shown for its time; a browser that is late makes no moves up for.
// At the last move the time stands still.

import { SPEEDS } from "./address.mjs";

const MOVE_MS = 1000; // at a speed of 1

export class Clock {
  speed = 1;
  isRunning = false;
  #match;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Set<() => void>} */
  #listeners = new Set();
  #isTick = false;

  /** @param {import("./match.mjs").Match} match */
  constructor(match) {
    this.#match = match;
  }

  /** Whether the change of position that is just told is one of the clock's. */
  get isTick() {
    return this.#isTick;
  }

  /** @param {() => void} listener */
  on(listener) {
    this.#listeners.add(listener);
  }

  play() {
    if (this.isRunning) return;
    if (this.#match.n === this.#match.count) this.#match.go(0);
    this.isRunning = this.#match.count > 0;
    this.#wait();
    this.#tell();
  }

  pause() {
    if (!this.isRunning) return;
    clearTimeout(this.#timer);
    this.isRunning = false;
    this.#tell();
  }

  toggle() {
    if (this.isRunning) this.pause();
    else this.play();
  }

  /** @param {number} speed one of SPEEDS */
  setSpeed(speed) {
    if (speed === this.speed || !SPEEDS.includes(speed)) return;
    this.speed = speed;
    if (this.isRunning) {
      clearTimeout(this.#timer);
      this.#wait();
    }
    this.#tell();
  }

  /** @param {1 | -1} direction */
  changeSpeed(direction) {
    this.setSpeed(SPEEDS[SPEEDS.indexOf(this.speed) + direction] ?? this.speed);
  }

  #wait() {
    if (!this.isRunning) return;
    this.#timer = setTimeout(() => this.#step(), MOVE_MS / this.speed);
  }

  #step() {
    this.#isTick = true;
    try {
      this.#match.go(this.#match.n + 1);
    } finally {
      this.#isTick = false;
    }
    if (this.#match.n === this.#match.count) this.pause();
    else this.#wait();
  }

  #tell() {
    for (const listener of this.#listeners) listener();
  }
}
