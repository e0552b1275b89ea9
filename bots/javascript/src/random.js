// The bot `random`: every listed move with the same chance.

import { createHash } from "node:crypto";

/** @import { Player, Start } from "./protocol.js" */

/**
 * Its chance depends on the seed, the match and the ask, so a bot that resumes would choose the same.
 * @param {Start} start
 * @param {string} seed
 * @returns {Player}
 */
export function newRandom(start, seed) {
  return {
    answer({ ask, legal }) {
      const digest = createHash("sha256").update(`${seed}/${start.match}/${ask}`).digest();
      return { index: digest.readUIntBE(0, 6) % legal.length }; // of 2^48: all as good as equally likely
    },
  };
}
