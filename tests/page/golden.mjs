// The golden games and their boards, for tests of the page's modules in Node.

import { readdirSync, readFileSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url);
const GAMES = new URL("tests/golden/games/", ROOT);
const BOARDS = new URL("server/stellwerk_engine/boards/", ROOT);

export const names = readdirSync(GAMES).map((file) => file.replace(/\.jsonl$/, ""));

/** @param {string} name */
export const bytesOf = (name) => new Uint8Array(readFileSync(new URL(`${name}.jsonl`, GAMES)));

/** @param {string} id */
export const boardText = (id) => readFileSync(new URL(`${id}.json`, BOARDS), "utf-8");

/** @param {string} id */
export const boardOf = (id) => JSON.parse(boardText(id));

/** @param {string} text */
export const bytes = (text) => new TextEncoder().encode(text);
