// The bot `random`: it makes every listed move with the same probability.

import { createHash } from "node:crypto";

/** @import { Player, Start } from "./protocol.js" */

/**
 * Its choices depend on the seed, the match and the ask, so a bot that resumes chooses the same.
 * @param {Start} start
 * @param {string} seed
 * @returns {Player}
 */
export function newRandom(start, seed) {
  return {
    answer({ ask, legal }) {
      const digest = createHash("sha256").update(`${seed}/${start.match}/${ask}`).digest();
      return { index: digest.readUIntBE(0, 6) % legal.length }; // of 2^48: practically uniform
    },
  };
}
