import assert from "node:assert/strict";
import { test } from "node:test";

import { playersOf } from "../../server/stellwerk_page/content/names.mjs";
import { readReplay } from "../../server/stellwerk_page/content/replay_file.mjs";
import { plain, sentence } from "../../server/stellwerk_page/content/words.mjs";
import { boardOf, bytesOf, names } from "./golden.mjs";

const PRIVATE = ["cards", "card", "tickets", "returned"];

const inWords = (event, context) => plain(sentence(event, context), context);
const context = (game, seats = 3) => ({
  board: boardOf(game),
  players: playersOf({ game, seats: ["ann", "bob", "cam"].slice(0, seats).map((name) => ({ name })) }),
});

test("every event of every golden game has a sentence of its own", () => {
  for (const name of names) {
    const { header, setUp, moves } = readReplay(bytesOf(name));
    const names_ = { board: boardOf(header.game), players: playersOf(header) };
    for (const event of [setUp, ...moves.map((move) => move.events)].flat()) {
      const words = inWords(event, names_);
      assert.match(words, /^[^ ].*[^ .]\.$/);
      assert.doesNotMatch(words, /undefined|NaN|\[object|does not know|_/, words);
    }
  }
});

test("a sentence without its private fields has none of their words", () => {
  for (const name of ["usa-3", "europe-3", "team_asia-4", "card_game-3"]) {
    const { header, setUp, moves } = readReplay(bytesOf(name));
    const names_ = { board: boardOf(header.game), players: playersOf(header) };
    for (const event of [setUp, ...moves.map((move) => move.events)].flat()) {
      if (!["card_drawn", "cards_dealt", "tickets_offered", "tickets_kept", "tickets_shared"].includes(event.type)) continue;
      const seen = Object.fromEntries(Object.entries(event).filter(([field]) => !PRIVATE.includes(field)));
      assert.doesNotMatch(inWords(seen, names_), /\b(red|blue|green|yellow|black|white|orange|purple|locomotive)/);
      assert.ok(sentence(seen, names_).every(({ kind }) => kind === "text" || kind === "seat"));
    }
  }
});

test("sentences read as a person would say them", () => {
  const usa = context("usa");
  for (const [event, words] of [
    [{ type: "card_taken", seat: 0, card: "red", place: "hand" }, "ann takes 1 red."],
    [{ type: "card_drawn", seat: 1, place: "hand" }, "bob draws a card from the pile."],
    [{ type: "card_drawn", seat: 1, place: "holder", card: "locomotive" }, "bob draws 1 locomotive from the pile for the holder."],
    [
      { type: "route_claimed", seat: 2, route: "dallas-houston-1", trains: 1, points: 1, cards: { locomotive: 1 } },
      "cam claims Dallas – Houston with 1 locomotive: 1 point.",
    ],
    [
      { type: "tickets_kept", seat: 0, count: 1, returned_count: 2, tickets: ["boston-miami"], returned: ["denver-el_paso", "duluth-houston"] },
      "ann keeps Boston – Miami (12) and puts back Denver – El Paso (4), Duluth – Houston (8).",
    ],
    [{ type: "tickets_kept", seat: 0, count: 1, returned_count: 2 }, "ann keeps 1 ticket and puts back 2 tickets."],
    [{ type: "turns_ended", reason: "trains" }, "The turns are over: a player ran low on trains."],
    [{ type: "of_the_future", seat: 0 }, "Something that this page does not know: Of The Future."],
  ]) {
    assert.equal(inWords(event, usa), words);
  }
});

test("two seats of one bot can be told apart", () => {
  const players = playersOf({ game: "team_asia", seats: [{ name: "x" }, { name: "x" }, { name: "y" }, {}] });
  assert.deepEqual(
    players.map(({ name, team }) => `${name} ${team}`),
    ["x/0 0", "x/1 0", "y 1", "seat 3 1"],
  );
});
