// The whole state of the page in the part of its address behind `#`: `#turn=87&view=2&speed=4`.
//
// Law: the same address shows the same page. What an address does not say is as at the beginning, and what it says
// wrongly does not count; so an old link never fails.

export const SPEEDS = [0.5, 1, 2, 4, 8, 16]; // moves a second
const LARGEST_TURN = 99_999;

/**
 * `move` is null for a whole turn, `view` for the first of the viewers. `hides` is the mode without spoilers.
 * @typedef {{turn: number, move: number | null, view: import("./types.mjs").Viewer | null, speed: number, hides: boolean,
 *   isStage: boolean, ticket: string | null}} Place
 */

/**
 * Reads an address.
 * @param {string} hash
 * @returns {Place}
 */
export function readAddress(hash) {
  const fields = new Map(
    hash
      .replace(/^#/, "")
      .split("&")
      .map((field) => {
        const at = field.indexOf("=");
        return at < 0 ? [field, ""] : [field.slice(0, at), decoded(field.slice(at + 1))];
      }),
  );
  const [turnText, moveText] = (fields.get("turn") ?? "").split(".");
  const turn = numberOf(turnText);
  const speed = Number(fields.get("speed"));
  return {
    turn: turn ?? 0,
    move: turn === null ? 0 : numberOf(moveText),
    view: viewerOf(fields.get("view")),
    speed: SPEEDS.includes(speed) ? speed : 1,
    hides: fields.has("hide"),
    isStage: fields.has("stage"),
    ticket: fields.get("ticket") || null,
  };
}

/**
 * Writes an address, without what is as at the beginning.
 * @param {Place} place
 */
export function writeAddress({ turn, move, view, speed, hides, isStage, ticket }) {
  const fields = [];
  if (isStage) fields.push("stage");
  if (turn !== 0 || move !== 0) fields.push(`turn=${turn}${move === null ? "" : `.${move}`}`);
  if (view !== null) fields.push(`view=${view}`);
  if (speed !== 1) fields.push(`speed=${speed}`);
  if (hides) fields.push("hide");
  if (ticket !== null) fields.push(`ticket=${encodeURIComponent(ticket)}`);
  return fields.length === 0 ? "" : `#${fields.join("&")}`;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string | undefined} text */
function numberOf(text) {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Math.min(Number(text), LARGEST_TURN) : null;
}

/**
 * @param {string | undefined} text
 * @returns {import("./types.mjs").Viewer | null}
 */
function viewerOf(text) {
  if (text === "public") return "public";
  return text !== undefined && /^\d$/.test(text) ? Number(text) : null;
}
