// Recorded asks: a check that `greedy` answers each of them as the specification demands.

import { readFileSync } from "node:fs";

import { ClientError } from "./client.js";
import { newGreedy } from "./greedy.js";

/** @import { Player } from "./protocol.js" */

/**
 * Returns the number of asks in the file, and the first difference, if there is one. Throws ClientError if the file
 * cannot be read.
 * @param {string} file JSON Lines: a start, and its asks with their answers
 */
export function answerVectors(file) {
  let asks = 0;
  /** @type {Player | undefined} */
  let player;
  const rows = textOf(file).split("\n");
  for (const [place, row] of rows.entries()) {
    const { start, ask, answer } = row === "" ? {} : JSON.parse(row);
    player = start ? newGreedy(start) : player;
    if (ask) {
      asks += 1;
      const [expected, came] = [answer, player?.answer(ask)].map((each) => JSON.stringify(each));
      if (came !== expected) {
        return { asks, difference: `line ${place + 1}: expected ${expected}; came ${came}` };
      }
    }
  }
  return { asks, difference: undefined };
}

/** @param {string} file */
function textOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ClientError(`${file}: ${/** @type {Error} */ (error).message}`);
  }
}
