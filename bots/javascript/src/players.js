// The bots by name. Add yours here.

import { newGreedy } from "./greedy.js";
import { newRandom } from "./random.js";

/** @import { Player, Start } from "./protocol.js" */

/** @type {Map<string, (start: Start, seed: string) => Player>} */
export const PLAYERS = new Map([
  ["random", newRandom],
  ["greedy", newGreedy],
]);
