import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { readBoard } from "./board.mjs";
import { canonical, CHAIN_LABEL, digits } from "./canonical.mjs";
import { COLORS } from "./cards.mjs";
import { bestCompletions } from "./completion.mjs";
import { Game } from "./game.mjs";
import { SHIPPED } from "./games.mjs";
import { rulesOf } from "./rules.mjs";
import { longestPath } from "./longest_path.mjs";
import { check, commitmentOf, FORMAT, verify } from "./replay.mjs";
import { fromDigits } from "./sha256.mjs";

const BOARDS = new URL("../../../server/stellwerk_engine/boards/", import.meta.url);
const boardText = (name) => readFileSync(new URL(`${name}.json`, BOARDS), "utf-8");
const boards = [...SHIPPED.values()].map((game) => readBoard(boardText(game.board)));
const SEED = digits("a replay of a test");
const encode = (text) => new TextEncoder().encode(text);

const shipped = (name) => /** @type {import("./board.mjs").Board} */ (boards.find(({ id }) => id === name));

/** @typedef {Record<string, any>} Json */

/**
 * Returns the lines of a replay in which every seat is always late.
 * @param {string} name of a shipped game
 * @param {Json} changes
 * @returns {Json[]}
 */
function recorded(name, changes = {}) {
  const board = changes.readBoard ?? shipped(name);
  const { rules_version, seat_counts, parts } = /** @type {import("./games.mjs").ShippedGame} */ (SHIPPED.get(name));
  const seats = Array.from({ length: seat_counts[0] }, (_, seat) => ({ name: `bot-${seat}` }));
  const header = {
    type: "header",
    format: FORMAT,
    game: name,
    rules_version,
    options: [],
    board: { id: board.id, digest: board.digest, ...changes.board },
    seats,
    ...changes.header,
  };
  const reveal = { type: "reveal", seed: SEED };
  const game = new Game(rulesOf(header.parts ?? parts), board, { seats: seats.length, seed: fromDigits(SEED) });
  /** @type {Json[]} */
  const lines = [header, reveal, { type: "set_up", events: game.setUp() }];
  while (!game.over) {
    const seat = /** @type {number} */ (game.mover);
    const move = game.fallback(seat);
    lines.push({ type: "move", seat, move, by: "fallback", events: game.play(seat, move) });
  }
  return [...lines, { type: "end", result: game.result }];
}

const bodyOf = (line) => (typeof line === "string" ? line : canonical(JSON.parse(JSON.stringify(line))));

/** Returns the file with these lines, given as values or as bodies. */
function sealed(lines) {
  let hash = CHAIN_LABEL;
  const texts = lines.map((line) => {
    const body = bodyOf(line);
    hash = digits(`${hash}\n${body}`);
    return `${body.slice(0, -1)},"hash":"${hash}"}\n`;
  });
  return encode(texts.join(""));
}

const sound = recorded("card_game");
const moves = sound.filter(({ type }) => type === "move").length;

/** Returns the verdict, which always is a short one with a sentence. */
function judged(bytes, known = boards) {
  const verdict = verify(bytes, known);
  assert.ok(["good", "untrue", "unjudged"].includes(verdict.verdict));
  assert.ok(verdict.line >= 1 && verdict.moves >= 0);
  if (verdict.verdict !== "good") {
    assert.equal(typeof verdict.reason, "string");
    assert.doesNotMatch(String(verdict.reason), /^this program failed/);
  }
  return verdict;
}

const changed = (at, edit) => sound.map((line, index) => (index === at - 1 ? edit(structuredClone(line)) : line));

test("a game that was played by the rules is good, in every game", () => {
  for (const name of SHIPPED.keys()) {
    const lines = recorded(name);
    const played = lines.filter(({ type }) => type === "move").length;
    assert.deepEqual(judged(sealed(lines)), { verdict: "good", line: lines.length, reason: null, moves: played }, name);
  }
});

test("the check goes in small steps that show progress", () => {
  const steps = check(sealed(sound), boards);
  const shares = [];
  const phases = new Map();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) {
      assert.equal(step.value.verdict, "good");
      break;
    }
    shares.push(step.value.share);
    phases.set(step.value.phase, [...(phases.get(step.value.phase) ?? []), step.value.line]);
  }
  assert.deepEqual(phases.get("play"), sound.map((_, index) => index + 1));
  assert.equal(phases.get("read").length, sound.length);
  assert.ok(shares.every((share, index) => share >= (shares[index - 1] ?? 0) && share <= 1));
});

test("it says up to which move a match is true", () => {
  const at = 40; // after header, seed and set-up
  const verdict = judged(sealed(changed(at, (line) => ({ ...line, events: [] }))));
  assert.deepEqual([verdict.verdict, verdict.line, verdict.moves], ["untrue", at, at - 4]);
});

test("a commitment is that of the header and the seed", () => {
  const [header, reveal, ...others] = sound;
  const salted = { ...reveal, salt: digits("salt") };
  /** @type {Json} */
  const committed = { ...header, match: "k3v9TzQw" };
  committed.commitment = commitmentOf(committed, salted);
  assert.equal(judged(sealed([committed, salted, ...others])).verdict, "good");
  assert.equal(judged(sealed([committed, ...others, salted])).verdict, "good");
  for (const other of [reveal, { ...salted, salt: digits("pepper") }]) {
    const verdict = judged(sealed([committed, other, ...others]));
    assert.deepEqual([verdict.verdict, verdict.line, verdict.moves], ["untrue", 2, 0]);
  }
});

test("a broken line leaves the moves before it, if the seed at the end is the one that was committed to", () => {
  const [header, reveal, ...others] = sound;
  const at = 30; // after header and set-up
  const broken = (/** @type {Json} */ header, /** @type {Json} */ seed) => {
    const bytes = sealed([header, ...others, seed]);
    let begin = 0;
    for (let line = 1; line < at; line++) begin = bytes.indexOf(10, begin) + 1;
    bytes[begin + 20] ^= 1;
    const { verdict, line, moves } = judged(bytes);
    return [verdict, line, moves];
  };
  const committed = { ...header, commitment: commitmentOf(header, reveal) };
  assert.deepEqual(broken(committed, reveal), ["untrue", at, at - 3]);
  assert.deepEqual(broken(committed, { ...reveal, seed: digits("another") }), ["untrue", at, 0]);
  assert.deepEqual(broken(header, reveal), ["untrue", at, 0]);
});

test("a file that was cut off anywhere is true as far as it goes", () => {
  const bytes = sealed(sound);
  for (let length = 0; length < bytes.length; length += length < 3000 ? 7 : 997) {
    const verdict = judged(bytes.subarray(0, length));
    assert.equal(verdict.verdict, "unjudged", `${length} bytes`);
    assert.ok(verdict.moves <= moves);
  }
  const [header, , ...others] = sound;
  const unrevealed = judged(sealed([header, ...others]));
  assert.deepEqual([unrevealed.verdict, unrevealed.reason], ["unjudged", "the seed has not been revealed"]);
});

test("a changed byte is found in its line", () => {
  const bytes = sealed(sound);
  for (let at = 0, line = 1; at < bytes.length; at++) {
    if (at % 499 === 0 && bytes[at] !== 10) {
      const other = bytes.slice();
      other[at] ^= 1 + (at % 127);
      const verdict = judged(other);
      if (other[at] !== 10) assert.deepEqual([verdict.verdict, verdict.line], ["untrue", line], `byte ${at}`);
      else assert.notEqual(verdict.verdict, "good");
    }
    if (bytes[at] === 10) line++;
  }
});

test("what this program does not know cannot be judged", () => {
  const unknown = {
    "another format": (line) => ({ ...line, format: "stellwerk-replay/2", novelty: 1 }),
    "another game": (line) => ({ ...line, game: "constructor" }),
    "other rules": (line) => ({ ...line, rules_version: 99 }),
    "another board": (line) => ({ ...line, board: { ...line.board, digest: digits("another") } }),
  };
  for (const [name, edit] of Object.entries(unknown)) {
    const verdict = judged(sealed(changed(1, edit)));
    assert.deepEqual([verdict.verdict, verdict.line, verdict.moves], ["unjudged", 1, 0], name);
  }
  assert.equal(judged(sealed(changed(1, (line) => ({ ...line, format: "pgn/1" })))).verdict, "untrue", "no replay");
  assert.equal(judged(sealed(sound), []).verdict, "unjudged");
  const broken = sealed(changed(1, unknown["other rules"]));
  broken[broken.length - 90] ^= 1;
  assert.deepEqual([judged(broken).verdict, judged(broken).line], ["untrue", sound.length], "its chain is checked");
});

/** A game in no list, of the parts of a shipped one with other numbers. */
const MADE_UP = (() => {
  const { parts } = /** @type {import("./games.mjs").ShippedGame} */ (SHIPPED.get("europe"));
  const menu = parts.menu.map((part) => (part.part === "build_station" ? { ...part, number: 1, points_left: 7 } : part));
  return { ...parts, menu, train_cards: { ...parts.train_cards, dealt: 6 } };
})();

test("a game that nobody knows is judged by the parts in its header", () => {
  const lines = recorded("europe", { header: { game: "made_up", rules_version: 7, options: ["fast"], parts: MADE_UP } });
  const played = lines.filter(({ type }) => type === "move").length;
  assert.deepEqual(judged(sealed(lines)), { verdict: "good", line: lines.length, reason: null, moves: played });
  const [header, reveal, ...others] = lines;
  const verdictWith = (/** @type {Json} */ changes) => judged(sealed([{ ...header, ...changes }, reveal, ...others])).verdict;
  assert.equal(verdictWith({ parts: { ...MADE_UP, train_cards: { ...MADE_UP.train_cards, dealt: 5 } } }), "untrue");
  assert.equal(verdictWith({ parts: { ...MADE_UP, bonuses: undefined } }), "untrue");
  assert.equal(verdictWith({ parts: undefined }), "unjudged");
  assert.equal(verdictWith({ game: "usa" }), "untrue", "a shipped game has its own parts");
  const commitment = commitmentOf(header, reveal);
  assert.equal(verdictWith({ commitment }), "good");
  const same = { ...MADE_UP, tie_breaks: ["completed_tickets"] }; // of no effect in this match
  assert.equal(verdictWith({ parts: same, commitment }), "untrue", "the commitment covers the parts");
});

test("parts that are unknown or malformed cannot be judged", () => {
  const wrong = [
    {},
    { ...MADE_UP, bonuses: [] },
    { ...MADE_UP, start_of_turn: null },
    { ...MADE_UP, team_size: 0 },
    { ...MADE_UP, novelty: 1 },
    { ...MADE_UP, set_up: [{ part: "toString" }] },
    { ...MADE_UP, menu: [...MADE_UP.menu, { part: "charter_airship" }] },
    { ...MADE_UP, menu: MADE_UP.menu.map((part) => ({ ...part, number: "3" })) },
    { ...MADE_UP, menu: [null] },
    { ...MADE_UP, last_round: { part: "few_trains", trains: 1e6 } },
    { ...MADE_UP, tie_breaks: ["constructor"] },
    { ...MADE_UP, train_cards: [] },
  ];
  for (const parts of wrong) {
    const verdict = judged(sealed(changed(1, (line) => ({ ...line, game: "made_up", parts }))));
    assert.deepEqual([verdict.verdict, verdict.line, verdict.moves], ["unjudged", 1, 0], JSON.stringify(parts));
  }
  for (const parts of [[], "europe", null]) {
    assert.equal(judged(sealed(changed(1, (line) => ({ ...line, game: "made_up", parts })))).verdict, "untrue", "no parts at all");
  }
});

test("parts that do not go together make no game", () => {
  const { menu, set_up: [, first] } = MADE_UP;
  const without = (/** @type {string} */ name) => menu.filter(({ part }) => part !== name);
  const technologies = Array.from({ length: 16 }, (_, at) => ({ id: `t${at}${"x".repeat(29)}`, supply: 1, cost: 1, opens_regions: Array(8).fill("r".repeat(32)) }));
  const selling = (/** @type {Json} */ more) => ({ before_action: [{ part: "buy_technology", substitute: 4, technologies: [{ id: "rope", supply: 1, cost: 1, ...more }] }] });
  const wrong = {
    "each part once": { menu: [...menu, menu[0]] },
    "a team_size that divides 2 seats": { team_size: 3 },
    "first_tickets at the end of set_up": { set_up: [MADE_UP.set_up[0]] },
    "no more tickets to keep than are offered": { set_up: [{ ...first, keep: 7 }] },
    draw_cards: { menu: without("draw_cards") },
    "claim_route with a map alone": { menu: without("claim_route") },
    "rail_yards, lay_cards and send_cards without a map alone": { other_parts: [{ part: "rail_yards" }] },
    "holders in teams alone": { team_size: 2 },
    "holders for what is put on them": { menu: [...menu, { part: "share_tickets" }] },
    "share_tickets with ask_to_share": { set_up: [{ ...first, share: "ask_to_share" }] },
    "long_tickets with remove_tickets": { set_up: [first] },
    "the board feature long_tickets for long_tickets": { board_features: ["map"] },
    "build_station with fewest_stations": { menu: without("build_station") },
    "a substitute of 2 cards or more": selling({ substitute: 1 }),
    "at most 4000 bytes": { before_action: [{ part: "buy_technology", substitute: 4, technologies }] },
  };
  const lines = recorded("europe", { header: { game: "made_up", parts: MADE_UP } });
  for (const [lack, changes] of Object.entries(wrong)) {
    const verdict = judged(sealed([{ ...lines[0], parts: { ...MADE_UP, ...changes } }, ...lines.slice(1)]));
    assert.deepEqual([verdict.verdict, verdict.line, verdict.reason], ["untrue", 1, `the parts of made_up: expected ${lack}`]);
  }
});

const nested = (levels) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

test("hostile lines are refused with a sentence", () => {
  const move = canonical(sound[5]);
  const bodies = {
    "no object": "[]",
    null: "null",
    "half of a surrogate pair": canonical({ ...sound[5], note: "x" }).replace('"x"', '"\\ud800"'),
    "a pair in escapes": canonical({ ...sound[5], note: "x" }).replace('"x"', '"\\ud83d\\ude82"'),
    "many levels": move.replace(/"events":\[.*\]/, `"events":${nested(5000)}`),
    "a huge number": move.replace(/"seat":\d/, '"seat":9007199254740993'),
    "an exponent": move.replace(/"seat":\d/, '"seat":1e400'),
    "a minus before 0": move.replace(/"seat":\d/, '"seat":-0'),
    "a name twice": move.replace(/"seat":/, '"seat":0,"seat":'),
    "a name of all objects": canonical({ ...sound[5], constructor: {} }),
    "a prototype": move.replace('"type":"move"', '"type":"move","z":{"__proto__":{}}'),
    "a move that is none": canonical({ ...sound[5], by: undefined, move: { type: "toString" } }).replace('"by":undefined,', ""),
    "a seat that is not there": canonical({ ...sound[5], seat: 2 ** 53 - 1 }),
    "no JSON": '{"type":"move"',
  };
  for (const [name, body] of Object.entries(bodies)) {
    const verdict = judged(sealed([...sound.slice(0, 5), body, ...sound.slice(6)]));
    assert.deepEqual([verdict.verdict, verdict.line], ["untrue", 6], name);
  }
  const latin = sealed(sound);
  latin[latin.indexOf(58) + 2] = 0xff;
  assert.equal(judged(latin).verdict, "untrue");
});

test("a file without end, or without a line, is refused with a sentence", () => {
  assert.equal(judged(new Uint8Array(67_108_865)).reason, "a replay has at most 64 MiB");
  assert.equal(judged(new Uint8Array(67_108_864).fill(91)).verdict, "unjudged"); // no line ends
  assert.equal(judged(new Uint8Array(67_108_864).fill(10)).line, 1);
  assert.equal(judged(encode(`${"x".repeat(1_048_576)}\n`)).line, 1);
  assert.equal(judged(new Uint8Array()).verdict, "unjudged");
});

test("a board in the header keeps its bounds", () => {
  const header = (file) => {
    const content = typeof file === "string" ? file : canonical(file, Number.isFinite);
    const { id = "card_game" } = typeof file === "string" ? {} : file;
    return { ...sound[0], board: { id, digest: digits(content), content } };
  };
  const own = () => structuredClone(shipped("card_game").file);
  const good = { ...own(), title: "Mine" };
  const read = readBoard(canonical(good, Number.isFinite));
  const lines = recorded("card_game", { readBoard: read, board: { content: canonical(good, Number.isFinite) } });
  assert.equal(judged(sealed(lines)).verdict, "good");
  const wrong = {
    "no JSON": "{",
    "many levels": nested(200_000),
    "no board": "[]",
    "many cards": { ...own(), cards_each_color: 2 ** 50 },
    "cards that are no number": { ...own(), locomotives: "many" },
    "few cards": { ...own(), cards_each_color: 2 },
    "no tickets": { ...own(), tickets: [] },
    "few tickets": { ...own(), tickets: own().tickets.slice(0, 23) },
    "a ticket to nowhere": { ...own(), tickets: own().tickets.map((each, index) => (index ? each : { ...each, a: "nowhere" })) },
    "a ticket with many cards": { ...own(), tickets: own().tickets.map((each, index) => (index ? each : { ...each, cards: { red: 11 } })) },
    "one city twice": { ...own(), cities: [...own().cities, own().cities[0]] },
    "a bonus of nobody": { ...own(), big_cities: { constructor: 5 } },
    "a map": { ...shipped("usa").file },
    "an unknown field": { ...own(), toString: 1 },
    "a long ticket": { ...own(), tickets: own().tickets.map((each) => ({ ...each, long: true })) },
  };
  for (const [name, file] of Object.entries(wrong)) {
    const verdict = judged(sealed([header(file), ...sound.slice(1)]), []);
    assert.deepEqual([verdict.verdict, verdict.line, verdict.moves], ["untrue", 1, 0], name);
  }
});

test("what would take years on somebody's own board cannot be judged", () => {
  const [north, south] = [11, 9].map((count) => [...Array(count).keys()]); // an odd number of routes at each city
  const routes = north.flatMap((a) => south.map((b) => ({ a: `n${a}`, b: `s${b}`, length: 1 + ((7 * a + 3 * b) % 5) })));
  const tickets = Array.from({ length: 128 }, (_, index) => {
    const [one, other, third] = [index % 8, Math.floor(index / 8) % 8, (index * 5 + Math.floor(index / 3)) % 8];
    const cards = { [COLORS[one]]: 1, [COLORS[other]]: 2, [COLORS[third]]: 1 + (index % 2) };
    return { id: `t${index}`, points: 50 + (index % 3), cards };
  });
  const stack = Object.fromEntries([...COLORS.map((color) => [color, 9]), ["locomotive", 20]]);
  for (const hard of [() => longestPath(routes), () => bestCompletions(tickets, stack, 1)]) {
    assert.throws(hard, { name: "Error", judged: false, message: /takes? too long/ });
  }
});
