// Where two values of JSON differ.

import { canonical } from "./canonical.mjs";

/**
 * Returns the first place at which two values differ, in words, or null if they are equal. Fields have no order.
 * @param {any} found
 * @param {any} expected
 * @param {string} where the place of both
 * @returns {string | null}
 */
export function differenceOf(found, expected, where) {
  if (found === expected) return null;
  const areRecords = [found, expected].every((value) => typeof value === "object" && value !== null);
  if (!areRecords || Array.isArray(found) !== Array.isArray(expected)) {
    return `${where} is ${textOf(found)}, where the server has ${textOf(expected)}`;
  }
  const names = new Set([...Object.keys(found), ...Object.keys(expected)]);
  for (const name of names) {
    const difference = differenceOf(found[name], expected[name], `${where}/${name}`);
    if (difference !== null) return difference;
  }
  return null;
}

/** @param {any} value */
function textOf(value) {
  return value === undefined ? "absent" : canonical(value);
}
