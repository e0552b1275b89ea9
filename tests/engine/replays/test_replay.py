"""A replay is what its header, seed and moves make it, and every deviation is reported with its line."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import parse_board, shipped_board
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Events, Seat
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.reader import Fault, ReplayError, lines_of, read_replay
from stellwerk_engine.replays.verify import ReplayVerdict, verify
from stellwerk_engine.replays.writer import ReplayWriter, header_of
from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.events import Event
from stellwerk_protocol.moves import Move
from stellwerk_protocol.replays import (
    MAX_LINE_BYTES,
    End,
    Header,
    Line,
    MoveMade,
    Player,
    Reveal,
    SetUp,
    commitment,
)
from tests.engine.forms import lines_with_a_default, rewritten
from tests.engine.recordings import (
    SEED,
    bodies_of,
    by_fallback,
    canonical_json,
    digests,
    edited,
    game_for,
    members,
    mixed,
    record,
    resealed,
    short_replay,
)
from tests.support import every_variant
from tests.tools import go_without, needs

REPOSITORY = Path(__file__).resolve().parents[3]
SPECIFICATION = REPOSITORY / "protocol" / "REPLAYS.md"
SALT = bytes(range(32))

Variant = tuple[str, int, tuple[str, ...]]
Edit = Callable[[Any], object]  # Any: the JSON of a line, to be made wrong in any way


def judged(lines: Sequence[bytes]) -> ReplayVerdict:
    """Return the verdict, whose message is always one short line."""
    verdict = verify(lines)
    assert verdict.message.isprintable()
    assert len(verdict.message) < 400
    assert 1 <= verdict.line <= max(len(lines), 1)
    return verdict


def fault(lines: Sequence[bytes]) -> tuple[Fault | None, int]:
    verdict = judged(lines)
    return verdict.fault, verdict.line


def records_of(lines: Sequence[bytes]) -> list[Line]:
    return list(read_replay(lines))


def first_line(lines: Sequence[bytes], holds: Callable[[Any], bool]) -> int:
    """Return the number of the first line whose JSON passes the check."""
    return next(number for number, line in enumerate(lines, 1) if holds(json.loads(line)))


# -- good replays ------------------------------------------------------------------------------------


@every_variant
def test_every_game_that_was_recorded_is_good(variant: Variant) -> None:
    lines = record(game_for(*variant), mixed(str(variant)))
    verdict = judged(lines)
    assert verdict.good, verdict
    assert verdict.line == len(lines)
    assert verdict.result is not None
    game_id, seats, options = variant
    named = f"{game_id} with {options[0]}" if options else game_id
    assert verdict.message == f"{named}, {seats} players, {verdict.result.turns} turns"


@pytest.mark.parametrize(
    "variant",
    [(rules.id, max(set(rules.seat_counts) & {3, 4}), ()) for rules in RULE_SETS.values()],
)
def test_a_game_of_greedy_players_with_fallbacks_in_between_is_good(variant: Variant) -> None:
    lines = record(game_for(*variant), planner, late_seats=(1,))
    assert judged(lines).good
    moves = [line for line in records_of(lines) if isinstance(line, MoveMade)]
    assert {move.by for move in moves if move.seat == 1} == {"fallback"}
    assert {move.reason for move in moves if move.seat == 1} == {"time_out"}
    assert {move.by for move in moves if move.seat != 1} == {msgspec.UNSET}


@every_variant
def test_a_move_is_written_as_its_check_has_it(variant: Variant) -> None:
    """A listed move and a fallback may come from elsewhere than `check`; when played again they pass it."""
    state = engine.new_game(game_for(*variant), Dice(SEED))
    choose = mixed(str(variant))
    while state.pending is not None:
        for seat in engine.owing(state):
            moves = engine.legal(state, seat)
            for move in (*moves, engine.fallback(state, seat)):
                assert engine.check(state, seat, move.wire).wire == move.wire
            engine.apply(state, seat, choose(state, seat, moves))


def test_a_replay_has_the_lines_that_the_specification_names() -> None:
    lines = record(game_for("usa", 2))
    kinds = [type(line) for line in records_of(lines)]
    assert kinds[:3] == [Header, Reveal, SetUp]
    assert set(kinds[3:-1]) == {MoveMade}
    assert kinds[-1] is End


def test_the_events_of_all_lines_are_those_of_the_game() -> None:
    game = game_for("team_asia", 4)
    lines = record(game)
    recorded = [
        event for line in records_of(lines) if isinstance(line, SetUp | MoveMade) for event in line.events
    ]
    events: Events = []
    state, choose = engine.new_game(game, Dice(SEED), events), mixed()
    while state.pending is not None:
        for seat in engine.owing(state):
            engine.apply(state, seat, choose(state, seat, engine.legal(state, seat)), events)
    assert recorded == events


def test_the_lines_are_canonical_json_in_a_chain_of_hashes() -> None:
    """The test follows the specification, and uses nothing of the code under test."""
    previous = "stellwerk-replay/1"
    for line in record(game_for("united_kingdom", 2), note='a "note"\twith \\ and é'):
        value = json.loads(line)
        stated = value.pop("hash")
        body = canonical_json(value)
        assert line == body[:-1] + b',"hash":"' + stated.encode() + b'"}\n'
        previous = hashlib.sha256(previous.encode() + b"\n" + body).hexdigest()
        assert stated == previous


@pytest.mark.parametrize("game_id", ["usa", "team_asia", "card_game"])
def test_simultaneous_choices_stand_in_seat_order_however_they_came(game_id: str) -> None:
    game = game_for(game_id, 4)
    in_order = record(game, by_fallback)

    def backwards(seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
        return seats[::-1]

    def from_the_middle(seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
        return (*seats[2:], *seats[:2])

    for arrival in (backwards, from_the_middle):
        assert record(game, by_fallback, arrival=arrival) == in_order
    moves = [line for line in records_of(in_order) if isinstance(line, MoveMade)][:4]
    assert [move.seat for move in moves] == [0, 1, 2, 3]
    assert [len(move.events) > 0 for move in moves] == [False, False, False, True]


def test_choices_are_held_back_until_the_last_is_in() -> None:
    game = game_for("usa", 3)
    state = engine.new_game(game, Dice(SEED))
    writer = ReplayWriter()
    written: list[bytes] = []
    for seat in (2, 0, 1):
        move = engine.fallback(state, seat)
        events: Events = []
        engine.apply(state, seat, move, events)
        written.append(writer.move(state, seat, move, events))
    assert written[:2] == [b"", b""]
    assert written[2].count(b"\n") == 3


def test_a_seed_may_be_revealed_after_the_end() -> None:
    game = game_for("card_game", 2)
    lines = record(game, reveal_at_end=True)
    assert judged(lines).good
    assert isinstance(records_of(lines)[-1], Reveal)
    assert lines[0] == record(game)[0]


def test_without_the_seed_a_replay_is_told_apart_from_a_forged_one() -> None:
    lines = record(game_for("card_game", 2), reveal_at_end=True)[:-1]
    assert fault(lines) == ("unrevealed", len(lines))
    assert "all hashes hold" in judged(lines).message


def test_a_broken_off_replay_is_continued_from_its_last_hash() -> None:
    lines = short_replay()
    writer = ReplayWriter(json.loads(lines[-2])["hash"])
    end = records_of(lines)[-1]
    assert isinstance(end, End)
    assert writer.end(end.result) == lines[-1]
    assert writer.last_hash == json.loads(lines[-1])["hash"]


def test_names_of_the_seats_and_the_match_stand_in_the_header() -> None:
    game = game_for("card_game", 2)
    header = header_of(game, ["Alice", "bob-2"], match="m.17")
    lines = record(game, header=header)
    verdict = judged(lines)
    assert verdict.good
    assert verdict.header == header
    assert header.seats == (Player("Alice"), Player("bob-2"))
    with pytest.raises(ValueError, match="1 names for 2 seats"):
        header_of(game, ["alone"])


def test_a_note_stays_with_its_move() -> None:
    lines = record(game_for("card_game", 2), note="hm\u0000\u001b[31m…")
    assert judged(lines).good
    assert {line.note for line in records_of(lines) if isinstance(line, MoveMade)} == {"hm\u0000\u001b[31m…"}


# -- boards ------------------------------------------------------------------------------------------


def own_board(id: str = "usa") -> str:
    """Return the shipped board with other points, as a file might contain it."""
    text = (REPOSITORY / "server/stellwerk_engine/boards/usa.json").read_text("utf-8")
    return text.replace('"id": "usa"', f'"id": "{id}"').replace('"1": 1', '"1": 3')


def test_a_shipped_board_is_named() -> None:
    header = header_of(game_for("usa", 2))
    assert header.board.content is msgspec.UNSET
    assert header.board.digest == shipped_board("usa").digest


@pytest.mark.parametrize("id", ["usa", "mine"])
def test_another_board_stands_in_the_replay_even_under_a_shipped_name(id: str) -> None:
    board = parse_board(own_board(id), "mine.json")
    lines = record(game_for("usa", 2, board=board), planner)
    assert judged(lines).good
    header = records_of(lines)[0]
    assert isinstance(header, Header)
    assert isinstance(header.board.content, str)
    assert hashlib.sha256(header.board.content.encode()).hexdigest() == header.board.digest == board.digest
    assert len(lines[0]) < MAX_LINE_BYTES / 8


def test_a_shipped_board_may_stand_in_the_replay_too() -> None:
    """It may have been another one when the replay was written."""
    board = replace(shipped_board("card_game"), digest="0" * 64)
    header = header_of(game_for("card_game", 2, board=board))
    reference = msgspec.structs.replace(header.board, digest=shipped_board("card_game").digest)
    lines = record(game_for("card_game", 2), header=msgspec.structs.replace(header, board=reference))
    assert judged(lines).good
    assert reference.content is not msgspec.UNSET


def set_to(key: str, value: object) -> Edit:
    def edit(target: Any) -> None:
        target[key] = value

    return edit


def test_a_board_of_which_another_edition_is_at_hand_is_no_forgery() -> None:
    lines = edited(short_replay(), 1, lambda header: set_to("digest", "0" * 64)(header["board"]))
    assert fault(lines) == ("foreign_board", 1)
    lines = edited(short_replay(), 1, lambda header: set_to("id", "atlantis")(header["board"]))
    assert fault(lines) == ("foreign_board", 1)


BOARD_FAULTS: list[tuple[Edit, str]] = [
    (lambda header: set_to("digest", "0" * 64)(header["board"]), "board.digest: expected"),
    (lambda header: set_to("id", "mine")(header["board"]), "board.id: expected"),
    (lambda header: set_to("content", "{}")(header["board"]), "board: missing field"),
    (lambda header: set_to("content", "{" * 5000)(header["board"]), "board: "),
    (lambda header: set_to("content", "\u0000")(header["board"]), "board: "),
    (lambda header: set_to("content", "x" * 48_001)(header["board"]), "content"),
    (
        lambda header: set_to("content", header["board"]["content"] + " ")(header["board"]),
        "board.content: expected the canonical JSON",
    ),
    (
        lambda header: set_to("content", header["board"]["content"].replace('"length":6', '"length":99'))(
            header["board"]
        ),
        "length",
    ),
    (lambda header: set_to("game", "card_game")(header), "board: routes"),
]


@pytest.mark.parametrize(("edit", "message"), BOARD_FAULTS, ids=[message for _, message in BOARD_FAULTS])
def test_a_board_in_the_replay_that_cannot_be_used_is_told(edit: Edit, message: str) -> None:
    board = parse_board(own_board(), "mine.json")
    lines = record(game_for("usa", 2, board=board), by_fallback)
    verdict = judged(edited(lines, 1, edit))
    assert (verdict.fault, verdict.line) == ("differs", 1)
    assert message in verdict.message


# -- wrong replays -----------------------------------------------------------------------------------


def test_a_changed_line_breaks_the_chain_there() -> None:
    lines = list(short_replay())
    lines[9] = lines[9].replace(b'"type":"move"', b'"type":"hove"')
    assert fault(lines) == ("differs", 10)
    assert "hash: expected" in judged(lines).message


@pytest.mark.parametrize("number", [2, 3, 20])
def test_a_missing_added_or_moved_line_breaks_the_chain_there(number: int) -> None:
    lines = list(short_replay())
    without = lines[: number - 1] + lines[number:]
    doubled = lines[:number] + lines[number - 1 :]
    swapped = [*lines[: number - 1], lines[number], lines[number - 1], *lines[number + 1 :]]
    for wrong, place in ((without, number), (doubled, number + 1), (swapped, number)):
        assert fault(wrong) == ("differs", place)
        assert "hash: expected" in judged(wrong).message


def is_move(kind: str) -> Callable[[Any], bool]:
    return lambda line: line["type"] == "move" and line["move"]["type"] == kind


def first_with_event(lines: Sequence[bytes], kind: str) -> int:
    return first_line(
        lines, lambda line: line["type"] == "move" and any(event["type"] == kind for event in line["events"])
    )


def replaced_event(kind: str, key: str, value: object) -> Edit:
    def edit(line: Any) -> None:
        next(event for event in line["events"] if event["type"] == kind)[key] = value

    return edit


def test_a_forged_event_is_told_with_its_place() -> None:
    lines = record(game_for("usa", 2), planner)
    number = first_with_event(lines, "route_claimed")
    forged = edited(lines, number, replaced_event("route_claimed", "points", 21))
    verdict = judged(forged)
    assert (verdict.fault, verdict.line) == ("differs", number)
    assert re.fullmatch(r"events\[0\]\.points: expected \d+, found 21", verdict.message)


def test_a_forged_deal_is_told() -> None:
    lines = edited(short_replay(), 3, replaced_event("cards_dealt", "cards", {"locomotive": 7}))
    assert fault(lines) == ("differs", 3)
    assert judged(lines).message.startswith("events[3].cards.")


def test_an_event_left_out_or_made_up_is_told() -> None:
    number = first_with_event(short_replay(), "turn_started")
    fewer = edited(short_replay(), number, lambda line: line["events"].pop())
    more = edited(short_replay(), number, lambda line: line["events"].append({"seat": 0, "type": "passed"}))
    assert fault(fewer) == fault(more) == ("differs", number)
    assert judged(fewer).message.endswith("found the end of the list")
    assert "expected the end of the list" in judged(more).message


def test_another_seed_deals_another_game() -> None:
    lines = edited(short_replay(), 2, set_to("seed", "00" * 32))
    assert fault(lines) == ("differs", 3)


def test_an_illegal_move_is_told_with_the_reason() -> None:
    number = first_line(short_replay(), is_move("draw_card"))
    verdict = judged(edited(short_replay(), number, set_to("move", {"type": "abandon_tunnel"})))
    assert (verdict.fault, verdict.line) == ("differs", number)
    assert verdict.message.startswith("move: game.wrong_move at /type: expected ")


def test_another_legal_move_has_other_events() -> None:
    lines = record(game_for("card_game", 2))
    number = first_line(lines, is_move("draw_card"))
    lines = edited(lines, number, set_to("move", {"type": "draw_tickets"}))
    assert fault(lines) == ("differs", number)
    assert judged(lines).message.startswith("events[0]")


def test_a_move_of_a_seat_that_owes_none_is_told() -> None:
    lines = edited(short_replay(), 4, set_to("seat", 1))
    assert fault(lines) == ("differs", 4)
    assert judged(lines).message == "seat: expected 0, found 1"
    lines = edited(short_replay(), 4, set_to("seat", 5))
    assert judged(lines).message == "seat: expected 0, found 5"


def test_simultaneous_choices_out_of_seat_order_are_told() -> None:
    bodies = bodies_of(record(game_for("usa", 2)))
    bodies[3], bodies[4] = bodies[4], bodies[3]
    assert fault(resealed(bodies)) == ("differs", 4)
    assert judged(resealed(bodies)).message == "seat: expected 0, found 1"


def test_a_move_that_only_claims_to_be_the_fallback_is_told() -> None:
    lines = record(game_for("usa", 2))
    number = first_line(lines, is_move("claim_route"))
    lines = edited(lines, number, set_to("by", "fallback"))
    assert fault(lines) == ("differs", number)
    assert judged(lines).message.startswith("not the fallback: move.")


def test_a_reason_needs_a_fallback() -> None:
    lines = edited(record(game_for("usa", 2)), 5, set_to("reason", "time_out"))
    assert fault(lines) == ("differs", 5)
    assert judged(lines).message == 'reason: expected nothing, found "time_out"'


def test_a_forged_result_is_told() -> None:
    lines = short_replay()
    points = edited(lines, len(lines), lambda end: set_to("points", 999)(end["result"]["teams"][0]))
    assert fault(points) == ("differs", len(lines))
    assert judged(points).message.startswith("result.teams[0].points: expected ")


def test_an_end_before_the_game_is_over_is_told() -> None:
    bodies = bodies_of(short_replay())
    assert fault(resealed([*bodies[:10], bodies[-1]])) == ("differs", 11)
    assert judged(resealed([*bodies[:10], bodies[-1]])).message == "expected a move of seat 0, found the end"


def test_a_move_when_the_game_is_over_is_told() -> None:
    bodies = bodies_of(short_replay())
    longer = resealed([*bodies[:-1], bodies[-2], bodies[-1]])
    assert fault(longer) == ("differs", len(bodies))
    assert "the game is over" in judged(longer).message


def test_a_line_after_the_end_is_told() -> None:
    bodies = bodies_of(short_replay())
    for more in (bodies[-2], bodies[0], bodies[-1], bodies[1]):
        assert fault(resealed([*bodies, more])) == ("differs", len(bodies) + 1)
        assert judged(resealed([*bodies, more])).message.startswith("expected nothing more, found ")


@pytest.mark.parametrize(
    ("order", "number", "message"),
    [
        ([1], 1, "no header"),
        ([0, 0], 2, "expected the seed or the set-up, found a header"),
        ([0, 1, 1], 3, "expected the set-up, found the seed"),
        ([0, 3], 2, "expected the seed or the set-up, found a move"),
        ([0, 1, 3], 3, "expected the set-up, found a move"),
        ([0, 2, 1], 3, "expected a move or the end, found the seed"),
        ([0, 1, 2, 2], 4, "expected a move or the end, found the set-up"),
        ([0, 1, 2, 3, 4, 0], 6, "expected a move or the end, found a header"),
    ],
)
def test_lines_out_of_order_are_told(order: list[int], number: int, message: str) -> None:
    bodies = bodies_of(short_replay())
    lines = resealed([bodies[place] for place in order])
    verdict = judged(lines)
    assert verdict.line == number
    assert message in verdict.message
    assert not verdict.good


NOBODY: list[object] = [{}]


def without_board(header: Any) -> None:
    del header["board"]


HEADER_FAULTS: list[tuple[Edit, Fault, str]] = [
    (
        set_to("rules_version", 2),
        "foreign_rules",
        "version 2 of the rules of card_game, and this is version 1",
    ),
    (set_to("game", "atlantis"), "foreign_rules", "the game atlantis is not known here; known are usa, "),
    (set_to("format", "stellwerk-replay/2"), "foreign_format", "the format stellwerk-replay/2"),
    (set_to("format", "stellwerk-board/1"), "not_a_replay", "its format is stellwerk-board/1"),
    (set_to("format", 1), "not_a_replay", "no header"),
    (set_to("options", ["fast"]), "differs", "no option 'fast'"),
    (
        set_to("options", ["open_stacks", "open_stacks"]),
        "differs",
        "options[1]: expected the end of the list",
    ),
    (set_to("seats", NOBODY * 5), "differs", "not played by 5"),
    (set_to("seats", NOBODY * 7), "differs", "seats"),
    (set_to("seats", []), "differs", "seats"),
    (set_to("seats", [{"name": "a\u001b[31m"}, {}]), "differs", "$.seats[0].name"),
    (set_to("seats", [{"name": "alice\n"}, {}]), "differs", "$.seats[0].name"),
    (set_to("rules_version", 0), "differs", "$.rules_version"),
    (set_to("rules_version", True), "differs", "$.rules_version"),
    (set_to("rules_version", None), "differs", "$.rules_version"),
    (set_to("match", "m 1"), "differs", "$.match"),
    (set_to("clock", 1), "differs", "clock"),
    (without_board, "differs", "missing required field `board`"),
]


@pytest.mark.parametrize(("edit", "why", "message"), HEADER_FAULTS)
def test_a_wrong_header_is_told(edit: Edit, why: Fault, message: str) -> None:
    verdict = judged(edited(short_replay(), 1, edit))
    assert (verdict.fault, verdict.line) == (why, 1)
    assert message in verdict.message


def test_options_are_those_of_the_game() -> None:
    lines = edited(short_replay(), 1, set_to("options", ["open_stacks"]))
    assert judged(lines).good, "nobody looks into a stack in these events"
    assert (
        judged(edited(record(game_for("usa", 2)), 1, set_to("options", ["open_stacks"]))).fault == "differs"
    )


def test_other_rules_are_told_apart_from_a_forged_version() -> None:
    """A forger who changes only the version breaks the chain."""
    lines = list(short_replay())
    lines[0] = lines[0].replace(b'"rules_version":1', b'"rules_version":2')
    assert fault(lines) == ("differs", 1)

    foreign = edited(short_replay(), 1, set_to("rules_version", 2))
    assert f"the hashes of all {len(foreign)} lines hold" in judged(foreign).message
    foreign[20] = foreign[20].replace(b'"seat":', b'"seam":')
    assert fault(foreign) == ("differs", 21)


def test_other_rules_may_have_lines_that_are_not_known_here() -> None:
    bodies = bodies_of(edited(short_replay(), 1, set_to("rules_version", 2)))
    lines = resealed([*bodies, b'{"type":"applause"}'])
    assert fault(lines) == ("foreign_rules", 1)


# -- the commitment ----------------------------------------------------------------------------------


def committed(salt: bytes | None = SALT) -> list[bytes]:
    game = game_for("card_game", 2)
    header = header_of(game, ["alice", "bob"], match="m17")
    reveal = Reveal(SEED.hex(), msgspec.UNSET if salt is None else salt.hex())
    header = msgspec.structs.replace(header, commitment=commitment(header, reveal))
    return record(game, header=header, salt=salt, reveal_at_end=True)


def test_a_commitment_is_the_hash_that_the_specification_names() -> None:
    lines = committed()
    header, reveal = json.loads(lines[0]), json.loads(lines[-1])
    names = ("game", "match", "options", "seats")
    value = {name: header[name] for name in names} | {
        "board": header["board"]["digest"],
        "salt": reveal["salt"],
        "seed": reveal["seed"],
    }
    digest = hashlib.sha256(b"stellwerk-commitment/1\n" + canonical_json(value)).hexdigest()
    assert header["commitment"] == digest
    assert judged(lines).good
    assert judged(committed(salt=None)).good


def test_a_seed_or_salt_that_was_not_committed_to_is_told() -> None:
    lines = committed()
    for key in ("seed", "salt"):
        forged = edited(lines, len(lines), set_to(key, "ab" * 32))
        assert fault(forged) == ("differs", len(lines))
        assert "commitment" in judged(forged).message
    assert fault(edited(lines, 1, set_to("match", "m18"))) == ("differs", len(lines))


# -- broken off, hostile, or something else ----------------------------------------------------------


def test_a_replay_that_breaks_off_between_lines_is_right_until_there() -> None:
    lines = short_replay()
    for length in (2, 3, 4, 5, 50, len(lines) - 1):
        assert fault(lines[:length]) == ("truncated", length)
    assert judged(lines[:50]).message == "the replay breaks off here: a move or the end is missing"


def test_a_replay_that_breaks_off_in_a_line_is_told() -> None:
    lines = list(short_replay())
    for cut in (1, 40, -1):
        assert fault([*lines[:30], lines[30][:cut]]) == ("truncated", 31)


def test_a_forged_line_before_the_break_is_told_first() -> None:
    lines = edited(short_replay(), 3, replaced_event("cards_dealt", "cards", {"locomotive": 7}))
    assert fault(lines[:10]) == ("differs", 3)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\x7fELF\x02\x01\x01\x00\x00",
        b"\x00" * 1000,
        b"PK\x03\x04\n\n\n",
        b"{}",
        b"{}\n",
        b"[]\n",
        b"null\n",
        b'{"format": "stellwerk-replay/1"',
        b"{" * 100_000 + b"\n",
        b"\xef\xbb\xbf{}\n",
        b"\xff\xfe{\x00}\x00\n\x00",
        b'{"format": NaN}\n',
        b'{"format": "\xff"}\n',
        b'{"format":' + b"1" * 10_000 + b"}\n",
    ],
    ids=lambda data: ascii(data[:16]),
)
def test_what_is_no_replay_is_told_to_be_none(data: bytes) -> None:
    assert fault(data.splitlines(keepends=True)) == ("not_a_replay", 1)


HOSTILE_BODIES = [
    (b"{}", "missing required field `type`"),
    (b'{"type":"move"}', "missing required field"),
    (b'{"type":"dance"}', "Invalid value"),
    (b'{"type":"reveal","type":"reveal"}', "duplicate name type"),
    (b'{"seed":"' + b"a" * 64 + b'","seed":"' + b"a" * 64 + b'","type":"reveal"}', "duplicate name seed"),
    (b'{"seed":"\xff","type":"reveal"}', "not UTF-8"),
    (b'{"extra":"\xff","seed":"' + b"a" * 64 + b'","type":"reveal"}', "not UTF-8"),
    (b'{"seed":"' + b"A" * 64 + b'","type":"reveal"}', "$.seed"),
    (b'{"seed":1' + b"0" * 5000 + b',"type":"reveal"}', "beyond 9007199254740991"),
    (b'{"seed":NaN,"type":"reveal"}', "NaN"),
    (b'{"seed":1.5,"type":"reveal"}', "1.5"),
    (b'{"seed":null,"type":"reveal"}', "$.seed"),
    (b'{"seed":' + b"[" * 100_000 + b"}", "nested deeper than 64 levels"),
    (b'{"extra":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper than 64 levels"),
    (b'{"seed": "' + b"a" * 64 + b'","type":"reveal"}', "not canonical"),
    (b'{"type":"reveal","seed":"' + b"a" * 64 + b'"}', "not canonical"),
    (b'{"seed":"\\u0061' + b"a" * 63 + b'","type":"reveal"}', "not canonical"),
    (b'{"seed":"' + b"a" * 64 + b'","type":"reveal"}{}', "not JSON"),
    (b"\x00}", "whose last member"),
]


@pytest.mark.parametrize(
    ("body", "message"), HOSTILE_BODIES, ids=[ascii(body[:32]) for body, _ in HOSTILE_BODIES]
)
def test_a_hostile_line_in_a_chain_that_holds_is_told(body: bytes, message: str) -> None:
    header = bodies_of(short_replay())[0]
    verdict = judged(resealed([header, body]))
    assert (verdict.fault, verdict.line) == ("differs", 2)
    assert message in verdict.message


@pytest.mark.parametrize(
    "edit",
    [
        replaced_event("turn_started", "seat", 6),
        replaced_event("turn_started", "seat", -1),
        replaced_event("turn_started", "seat", "0"),
        replaced_event("turn_started", "seat", [0]),
        replaced_event("turn_started", "turn", 10**400),
        replaced_event("turn_started", "turn", 1.0),
        replaced_event("turn_started", "type", "turn_stopped"),
        replaced_event("turn_started", "type", 3),
        replaced_event("turn_started", "weather", "fine"),
        replaced_event("turn_started", "passes", 0),
        set_to("events", None),
        set_to("events", {}),
        set_to("events", [None]),
        set_to("move", []),
        set_to("move", {"type": "keep_tickets", "tickets": ["x"] * 200}),
        set_to("move", {"type": "keep_tickets", "tickets": ["chicago-chicago"]}),
        set_to("move", {"type": "keep_tickets", "tickets": []}),
        set_to("move", {"type": "claim_route", "route": "nowhere", "cards": {"red": 60}}),
        set_to("move", {"type": "lay_cards", "cards": {"red": 61}}),
        set_to("move", {"type": "lay_cards", "cards": {"red": 0}}),
        set_to("seat", 10**20),
        set_to("by", "hand"),
        set_to("reason", "Time out"),
        set_to("note", ""),
        set_to("note", "x" * 201),
    ],
)
def test_a_move_with_wrong_values_is_told(edit: Edit) -> None:
    number = first_with_event(short_replay(), "turn_started")
    assert fault(edited(short_replay(), number, edit)) == ("differs", number)


@given(place=st.integers(0, 2**30), byte=st.integers(0, 255))
@settings(max_examples=150, deadline=None)
def test_no_byte_can_be_changed(place: int, byte: int) -> None:
    whole = b"".join(short_replay())
    place %= len(whole)
    changed = whole[:place] + bytes([byte]) + whole[place + 1 :]
    assert judged(changed.splitlines(keepends=True)).good == (changed == whole)


@given(start=st.integers(0, 2**30), size=st.integers(1, 3000))
@settings(max_examples=100, deadline=None)
def test_no_bytes_can_be_cut_out(start: int, size: int) -> None:
    whole = b"".join(short_replay())
    start %= len(whole)
    assert not judged((whole[:start] + whole[start + size :]).splitlines(keepends=True)).good


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield every place in a JSON value."""
    yield path
    for key, member in members(value).items():
        yield from places(member, (*path, key))


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_no_value_can_be_changed_by_who_mends_the_chain(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(short_replay())))
    value = json.loads(bodies_of(short_replay())[number - 1])
    path = data.draw(st.sampled_from(list(places(value))[1:]))
    changed = data.draw(JSON_VALUES)
    target = value
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = changed
    bodies = bodies_of(short_replay())
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    bodies[number - 1] = written.encode("utf-8", "surrogatepass")
    is_unchanged = bodies == bodies_of(short_replay())
    is_name_in_the_header = number == 1 and path[0] in ("match", "seats")
    assert judged(resealed(bodies)).good == is_unchanged or is_name_in_the_header


OPTIONAL_FIELDS = {
    f"{kind.__struct_config__.tag}.{field.encode_name}"
    for union in (Line, Move, Decision, Event)
    for kind in get_args(union)
    for field in msgspec.structs.fields(kind)
    if not field.required
}
NEVER_ABSENT = {  # from a replay, which hides nothing
    *("card_drawn.card", "card_placed.card", "cards_dealt.cards", "place_card.card", "stack_taken_up.cards"),
    *("tickets_kept.returned", "tickets_kept.tickets", "tickets_offered.tickets", "tickets_removed.tickets"),
    *("tickets_shared.tickets", "tickets_to_share.tickets"),
    "tunnel_abandoned.revealed",  # without such cards there is nothing to pay
}


def test_a_default_that_is_written_out_is_found_in_every_field() -> None:
    replays = lines_with_a_default()
    assert set(replays) >= OPTIONAL_FIELDS - NEVER_ABSENT
    found = {field: fault(lines) for field, (_, lines) in replays.items()}
    assert found == {field: ("differs", number) for field, (number, _) in replays.items()}


@pytest.mark.parametrize("number", range(1, 11))
def test_a_line_has_no_other_text(number: int) -> None:
    bodies = bodies_of(short_replay())
    chance = Random(number)
    for at in (number - 1, *(chance.randrange(len(bodies)) for _ in range(30)), len(bodies) - 1):
        text = rewritten(bodies[at], chance)
        found, line = fault(resealed([*bodies[:at], text, *bodies[at + 1 :]]))
        assert found in ("differs", "not_a_replay"), text
        assert line == at + 1, text


# -- files -------------------------------------------------------------------------------------------


class CountingStream(BytesIO):
    """Tells how much was read of it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.largest_read = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        self.largest_read = max(self.largest_read, len(line))
        return line


def test_of_a_line_that_is_too_long_no_more_is_read_than_it_takes() -> None:
    endless = CountingStream(b"x" * (8 * MAX_LINE_BYTES))
    verdict = verify(lines_of(endless))
    assert (verdict.fault, verdict.line) == ("not_a_replay", 1)
    assert endless.tell() == endless.largest_read == MAX_LINE_BYTES + 1

    second = CountingStream(short_replay()[0] + b'{"note":"' + b"x" * (8 * MAX_LINE_BYTES))
    verdict = verify(lines_of(second))
    assert (verdict.fault, verdict.line) == ("differs", 2)
    assert verdict.message == f"longer than {MAX_LINE_BYTES} bytes"
    assert second.largest_read == MAX_LINE_BYTES + 1


def test_a_replay_that_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stellwerk_engine.replays.reader.MAX_BYTES", 20_000)
    lines = record(game_for("card_game", 2), reveal_at_end=True)
    verdict = judged(lines)
    assert verdict.fault == "differs"
    assert "the replay is longer than 20000 bytes" in verdict.message
    assert sum(map(len, lines[: verdict.line - 1])) <= 20_000 < sum(map(len, lines[: verdict.line]))


def test_a_file_is_read_as_its_lines() -> None:
    assert tuple(lines_of(BytesIO(b"".join(short_replay())))) == short_replay()


def test_a_replay_is_read_while_it_is_being_written() -> None:
    """The reader gives each line before it asks for the next one."""
    asked: list[int] = []

    def source() -> Iterator[bytes]:
        for number, line in enumerate(short_replay()):
            asked.append(number)
            yield line

    records = read_replay(source())
    for number in range(5):
        next(records)
        assert asked == list(range(number + 1))


def test_the_lines_before_a_wrong_one_are_read() -> None:
    lines = list(short_replay())
    lines[7] = b"\n"
    records = read_replay(lines)
    assert len(list(islice(records, 7))) == 7
    with pytest.raises(ReplayError) as caught:
        next(records)
    assert caught.value.line == 8


# -- the specification -------------------------------------------------------------------------------


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SPECIFICATION.read_text("utf-8"), re.DOTALL)


def test_the_program_of_the_specification_checks_a_chain(tmp_path: Path) -> None:
    (program,) = blocks("python")
    file = tmp_path / "replay.jsonl"

    def run(lines: Sequence[bytes]) -> subprocess.CompletedProcess[str]:
        file.write_bytes(b"".join(lines))
        command = [sys.executable, "-I", "-c", program, str(file)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    lines = list(short_replay())
    done = run(lines)
    assert (done.returncode, done.stdout) == (0, "")
    assert run([*lines[:20], *lines[21:]]).stderr.startswith("line 21: expected ")
    assert run([*lines[:3], lines[3].replace(b"}", b"]")]).stderr.startswith("line 4: expected ")


def test_the_example_of_the_specification_is_sound() -> None:
    (example,) = blocks("jsonl")
    lines = example.encode().splitlines(keepends=True)
    records = read_replay(lines)
    assert [type(line) for line in islice(records, 2)] == [Header, Reveal]
    with pytest.raises(ReplayError, match="the replay breaks off here: the set-up is missing"):
        next(records)


def test_the_specification_names_every_field() -> None:
    text = SPECIFICATION.read_text("utf-8")
    kinds: dict[str, type[msgspec.Struct]] = {
        "header": Header,
        "reveal": Reveal,
        "set_up": SetUp,
        "move": MoveMade,
        "end": End,
    }
    for name, kind in kinds.items():
        _, _, rest = text.partition(f"### `{name}`")
        section = re.split(r"\n###? ", rest)[0]
        named = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
        assert sorted(named) == sorted(field.encode_name for field in msgspec.structs.fields(kind)), name


def test_the_canonical_texts_of_the_specification_are_canonical() -> None:
    text = SPECIFICATION.read_text("utf-8")
    rows = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", text, re.MULTILINE)
    assert len(rows) >= 2
    for given_json, canonical in rows:
        assert canonical_json(json.loads(given_json)).decode() == canonical


# -- other processes, other interpreters -------------------------------------------------------------

RECORDINGS = Path(__file__).parents[1] / "recordings.py"


def digests_elsewhere(python: Path, paths: Sequence[Path] = (), **environment: str) -> dict[str, str]:
    """Return what `recordings.py` prints in a process of its own."""
    roots = [REPOSITORY / "protocol", REPOSITORY / "server", *paths]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    imports = {"PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [python, RECORDINGS],
        env=clean | environment | imports,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def digests_here() -> dict[str, str]:
    return digests()


@pytest.mark.xdist_group("replays")
@pytest.mark.parametrize("hash_seed", ["0", "1", "random"])
def test_the_bytes_do_not_depend_on_the_process(hash_seed: str, digests_here: dict[str, str]) -> None:
    assert digests_elsewhere(Path(sys.executable), PYTHONHASHSEED=hash_seed) == digests_here


def other_interpreters() -> dict[str, Path]:
    """Return every other version of Python that can run the engine, by its name: `python3.12`."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += sorted(Path.home().glob(".pyenv/versions/*/bin"))
    interpreters: dict[str, Path] = {}
    for minor in range(11, 20):
        name = f"python3.{minor}"
        if sys.version_info[1] == minor:
            continue
        candidates = [folder / name for folder in folders]
        working = next((path for path in candidates if answers(path, name)), None)
        if working is not None:
            interpreters[name] = working
    return interpreters


def answers(python: Path, name: str) -> bool:
    """Return whether the interpreter is there and runs. A shim of a version manager may be there and not
    run."""
    if not python.is_file():
        return False
    code = "import sys, venv, ensurepip; print('python%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    return done.stdout.strip() == name


def environment_of(python: Path, name: str) -> Path:
    """Return an interpreter with the msgspec that runs here, which stays among the temporary files."""
    kept = Path(tempfile.gettempdir()) / f"stellwerk-tests-{os.getuid()}"
    kept.mkdir(mode=0o700, exist_ok=True)
    assert kept.stat().st_uid == os.getuid(), f"{kept} belongs to somebody else"
    environment = kept / f"{name}-msgspec-{msgspec.__version__}"
    inside, ready = environment / "bin" / "python", environment / "ready"
    if not ready.exists():
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        commands: list[list[str | Path]] = [
            [python, "-m", "venv", "--clear", environment],
            [inside, *install, f"msgspec=={msgspec.__version__}"],
        ]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        ready.touch()
    return inside


@pytest.mark.network
@needs("package index")
@pytest.mark.xdist_group("replays")
def test_the_bytes_do_not_depend_on_the_version_of_python(digests_here: dict[str, str]) -> None:
    interpreters = other_interpreters()
    if not interpreters:
        go_without("another Python")
    for name, python in interpreters.items():
        assert digests_elsewhere(environment_of(python, name)) == digests_here, name
