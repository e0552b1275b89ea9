// The choice of an action (USA, The actions of a turn), and passing (GEN-05).

import { RefusedError } from "./errors.mjs";

/** @typedef {import("./game.mjs").Action} Action */
/** @typedef {import("./game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").MovePart} MovePart */
/** @typedef {import("./game.mjs").Player} Player */

/**
 * Returns the decision about an action. The fallback is the first move listed, so purchases come last.
 * @param {readonly Action[]} actions in the order of `legal`
 * @param {readonly Action[]} purchases what may be done before the action
 * @returns {DecisionPart}
 */
export function turnOf(actions, purchases = []) {
  const canAct = (/** @type {Game} */ game, /** @type {Player} */ player) =>
    actions.some((action) => action.isAvailable(game, player));
  /** @type {Record<string, MovePart>} */
  const moves = {
    pass: {
      check(game, player) {
        if (canAct(game, player)) throw new RefusedError("game.not_available", "/type", "an action is legal (GEN-05)");
      },
      play(game, { seat }) {
        game.passes++;
        game.tell("passed", { seat });
        game.endTurn();
      },
    },
  };
  for (const action of actions) {
    for (const [type, part] of Object.entries(action.moves)) moves[type] = asAction(part);
  }
  for (const purchase of purchases) Object.assign(moves, purchase.moves);
  return {
    moves,
    list(game, player) {
      const listed = actions.map((action) => action.list(game, player));
      if (!canAct(game, player)) listed.push({ moves: [{ type: "pass" }], complete: true });
      listed.push(...purchases.map((purchase) => purchase.list(game, player)));
      return { moves: listed.flatMap((each) => each.moves), complete: listed.every(({ complete }) => complete) };
    },
  };
}

/**
 * Returns the part of a move that ends the passes in a row.
 * @param {MovePart} part
 * @returns {MovePart}
 */
function asAction(part) {
  return {
    ...part,
    play(game, player, move) {
      game.passes = 0;
      part.play?.(game, player, move);
    },
  };
}
