// Tests of anybody's JSON: a form is a record of tests by field, and a field that ends in `?` is optional.

/** @typedef {(value: any) => boolean} Test */
/** @typedef {Record<string, Test>} Form */

/** @type {(from: number, to: number) => Test} */
export const whole = (from, to) => (value) => Number.isSafeInteger(value) && value >= from && value <= to;
/** @type {(most: number) => Test} */
export const id = (most) => (value) => typeof value === "string" && value.length <= most && /^[a-z0-9][a-z0-9_]*$/.test(value);
/** @type {(...words: unknown[]) => Test} */
export const oneOf = (...words) => (value) => words.includes(value);
/** @type {Test} */
export const isFlag = (value) => typeof value === "boolean";
/** @type {Test} */
export const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @type {(from: number, to: number, isItem?: Test) => Test} */
export const list = (from, to, isItem = () => true) => (value) =>
  Array.isArray(value) && value.length >= from && value.length <= to && value.every(isItem);
/** @type {(form: Form) => Test} */
export const record = (form) => (value) => isRecord(value) && wrongField(value, form) === null;
/** @type {(isKey: RegExp, isItem: Test) => Test} */
export const table = (isKey, isItem) => (value) =>
  isRecord(value) && Object.entries(value).every(([key, item]) => isKey.test(key) && isItem(item));

/**
 * Returns the name of the first field that is missing, wrong or unknown; null if there is none.
 * @param {Record<string, any>} value
 * @param {Form} form
 * @returns {string | null}
 */
export function wrongField(value, form) {
  for (const [name, isRight] of Object.entries(form)) {
    const field = name.replace("?", "");
    if (Object.hasOwn(value, field) ? !isRight(value[field]) : field === name) return field;
  }
  return Object.keys(value).find((name) => !Object.hasOwn(form, name) && !Object.hasOwn(form, `${name}?`)) ?? null;
}
