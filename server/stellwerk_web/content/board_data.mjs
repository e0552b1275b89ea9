// The board of a match with its layout, as the server has it: fetched once for each board.

import { boardFor } from "../../stellwerk_page/content/boards.mjs";

/** @typedef {{board: import("../../stellwerk_page/content/types.mjs").Board, layout: any}} BoardData */

const MOST = 16;
/** @type {Map<string, Promise<BoardData | string>>} */
const fetched = new Map();

/**
 * Returns the board of a match, or the sentence that says why there is none.
 * @param {import("../../stellwerk_page/content/types.mjs").Header} header
 * @param {unknown} own the board as the match's start has it, if it does
 */
export function boardData(header, own) {
  const { digest } = header.board;
  const known = fetched.get(digest) ?? fetchBoard(header, own);
  fetched.delete(digest);
  fetched.set(digest, known); // the last one is the one used last
  for (const oldest of fetched.keys()) if (fetched.size > MOST) fetched.delete(oldest);
  return known;
}

/**
 * @param {import("../../stellwerk_page/content/types.mjs").Header} header
 * @param {unknown} own
 * @returns {Promise<BoardData | string>}
 */
async function fetchBoard(header, own) {
  const { digest, id } = header.board;
  try {
    const answer = await fetch(`/boards/${digest}`);
    if (answer.ok) {
      const { board: text, layout } = await answer.json();
      const board = boardFor(header, new Map([[digest, text]]));
      return typeof board === "string" ? board : { board, layout: layout ?? undefined };
    }
  } catch {
    fetched.delete(digest); // the next match tries again
  }
  // Without a layout there is no map, but all the rest.
  const board = boardFor({ ...header, board: { id, digest, content: JSON.stringify(own ?? null) } }, new Map());
  return typeof board === "string" ? board : { board, layout: undefined };
}
