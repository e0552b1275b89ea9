"""The vectors are true: the program gets the same results from the files alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.set_up import empty_state
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.fold import blank_view, fold
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_engine.parts.technologies.buy_technology import for_sale
from stellwerk_kit.vectors import wire_vectors
from stellwerk_protocol import canonical, decisions, events, messages, moves
from stellwerk_protocol.client_line import LineError, read_any_line, read_line
from stellwerk_protocol.error_codes import ERROR_CODES, LineErrorCode
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.views import View
from tests.protocol.test_schemas import faults, validator
from tests.support import fingerprint
from tools import fold_vectors, transcripts
from tools.generate import CONFORMANCE as FOLDER
from tools.rule_signs import SIGNS, Refused, Step, rules_of
from tools.specification import first_names, section, sections

Record = dict[str, Any]  # a line of a file, as json decodes it

WIRE = wire_vectors()
MATCHES = sorted(file.stem for file in (FOLDER / "vectors" / "rules").glob("*.jsonl"))

# Rules without a sign in a step: those of the deal, with which every match begins, and those of all games.
WITHOUT_A_POINT = {
    "GEN-02": "vectors/dice, and every match",
    "GEN-09": "vectors/views",
    **dict.fromkeys(("USA-01", "USA-02", "USA-03"), "set_up"),
    **dict.fromkeys(("CARD-01", "CARD-02"), "set_up"),
    "CARD-05": "vectors/views",
    **dict.fromkeys(("ASIA-02", "ASIA-05"), "set_up"),
    "ASIA-04": "vectors/views",
    **dict.fromkeys(("UK-01", "UK-02", "UK-06"), "set_up"),
    **dict.fromkeys(("EUR-01", "EUR-02"), "set_up"),
    "EUR-17": "vectors/views",
}


# -- wire --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", WIRE.client_lines, ids=lambda vector: vector.id)
def test_a_clients_line_is_what_its_vector_says(vector: Any) -> None:
    for read in (read_line, read_any_line) if not vector.base64.endswith(b"\r") else (read_line,):
        if vector.error is UNSET:
            assert read(vector.base64) == msgspec.convert(vector.message, messages.FromClient)
        else:
            with pytest.raises(LineError) as refused:
                read(vector.base64)
            assert refused.value.code == vector.error.code
            assert vector.error.pointer in (UNSET, refused.value.pointer)


def test_every_code_of_a_line_and_every_kind_of_message_and_move_is_among_them() -> None:
    codes = {vector.error.code for vector in WIRE.client_lines if vector.error is not UNSET}
    assert codes == set(get_args(LineErrorCode)) - {"wire.too_long"}
    read = [vector.message for vector in WIRE.client_lines if vector.message is not UNSET]
    assert {message["type"] for message in read} == tags(messages.FromClient)
    assert {message["move"]["type"] for message in read if "move" in message} == tags(moves.Move)


def tags(union: object) -> set[str]:
    return {str(kind.__struct_config__.tag) for kind in get_args(union)}


@pytest.mark.parametrize("vector", WIRE.encoded, ids=lambda vector: vector.id)
def test_a_message_to_be_sent_keeps_to_its_schema(vector: Any) -> None:
    assert faults(validator("FromClient"), vector.message) == []


@pytest.mark.parametrize("vector", WIRE.server_lines, ids=lambda vector: vector.id)
def test_a_servers_line_is_what_its_vector_says(vector: Any) -> None:
    assert (vector.message is not UNSET) + vector.ignored + vector.refused == 1
    if vector.message is UNSET or vector.id.startswith("newer-"):
        return
    read = json.loads(vector.base64)
    assert read == vector.message
    assert faults(validator("FromServer"), read) == []


def test_every_message_of_a_server_is_among_them() -> None:
    types = {vector.message["type"] for vector in WIRE.server_lines if vector.message is not UNSET}
    assert types == tags(messages.FromServer)


@pytest.mark.parametrize("vector", WIRE.streams, ids=lambda vector: vector.id)
def test_a_stream_is_its_lines(vector: Any) -> None:
    whole = b"".join(vector.pieces)
    assert tuple(whole.split(b"\n")[:-1]) == vector.lines


# -- rules -------------------------------------------------------------------------------------------


@cache
def lines_of(match: str) -> tuple[Record, ...]:
    """Return the lines, each checked to be canonical."""
    lines = (FOLDER / "vectors" / "rules" / f"{match}.jsonl").read_bytes().splitlines()
    return tuple(as_object(canonical.decode(line)) for line in lines)


def as_object(value: Any) -> Record:
    assert isinstance(value, dict)
    return value  # pyright: ignore[reportUnknownVariableType]  # json knows no types


def deal(header: Record) -> tuple[State, Events]:
    rules = RULE_SETS[header["game"]]
    board = shipped_board(header["board"])
    assert (rules.rules_version, board.digest) == (header["rules_version"], header["board_digest"])
    game = make_game(rules, board, header["players"], tuple(header["options"]))
    happened: Events = []
    return engine.new_game(game, Dice(bytes.fromhex(header["seed"])), happened), happened


def on_the_wire(value: object) -> Any:
    return json.loads(msgspec.json.encode(value))


def to_move(value: Record) -> moves.Move:
    return msgspec.convert(value, cast("type[moves.Move]", moves.Move))


@pytest.mark.parametrize("match", MATCHES)
def test_a_match_of_the_vectors_is_played_as_they_say(match: str) -> None:
    header, set_up, *lines = lines_of(match)
    assert (header["type"], set_up["type"], lines[-1]["type"]) == ("match", "set_up", "end")
    state, happened = deal(header)
    assert on_the_wire(happened) == set_up["events"]
    made_moves = 0
    for line in lines[:-1]:
        if line["type"] == "point":
            assert line["id"] == f"{match}/{made_moves}"
            check_point(state, line)
            made_moves += 1
        else:
            for each in line["moves"]:
                engine.play(state, each["seat"], to_move(each["move"]))
                made_moves += 1
    assert state.pending is None
    assert on_the_wire(state.result) == lines[-1]["result"]


def check_point(state: State, point: Record) -> None:
    seat = point["seat"]
    assert seat == engine.owing(state)[0]
    assert state.pending is not None
    assert on_the_wire(state.pending.to_wire(state, seat, sees_all=True)) == point["decision"]
    listed = [on_the_wire(move.wire) for move in engine.legal(state, seat)]
    assert listed == point["legal"]
    assert engine.legal_complete(state, seat) == point["legal_complete"]
    assert on_the_wire(engine.fallback(state, seat).wire) == point["fallback"]
    for move in point["accepted"]:
        assert move not in listed
        engine.check(state, seat, to_move(move))
    before = fingerprint(state)
    for each in point["refused"]:
        with pytest.raises(IllegalMoveError) as refused:
            engine.play(state, seat, to_move(each["move"]))
        assert (refused.value.code, refused.value.pointer) == (each["code"], each["pointer"])
    assert fingerprint(state) == before
    before_it = state.copy()
    happened: Events = []
    engine.play(state, seat, to_move(point["move"]), happened)
    assert on_the_wire(happened) == point["events"]
    step = Step(
        before=before_it,
        seat=seat,
        move=to_move(point["move"]),
        events=tuple(happened),
        after=state,
        legal=tuple(map(to_move, point["legal"])),
        refused=tuple(
            Refused(to_move(each["move"]), each["code"], each["pointer"]) for each in point["refused"]
        ),
        accepted=tuple(map(to_move, point["accepted"])),
    )
    assert list(rules_of(step)) == point["rules"]


def points(game: str | None = None) -> Iterator[Record]:
    for match in MATCHES:
        if game in (None, lines_of(match)[0]["game"]):
            yield from (line for line in lines_of(match) if line["type"] == "point")


def test_every_game_and_every_option_is_played() -> None:
    headers = [lines_of(match)[0] for match in MATCHES]
    assert {header["game"] for header in headers} == set(RULE_SETS)
    options = {option.id for rules in RULE_SETS.values() for option in rules.options}
    assert {option for header in headers for option in header["options"]} == options


def test_there_is_a_point_for_every_rule_that_a_move_can_show() -> None:
    shown = {rule for point in points() for rule in point["rules"]}
    pages = (FOLDER.parent / "rules").glob("*.md")
    rules = {name for page in pages for part in sections(page) for name in rule_ids(part.text)}
    assert rules - shown == set(WITHOUT_A_POINT)
    assert shown <= {rule for signs in SIGNS.values() for rule in signs}


def rule_ids(text: str) -> list[str]:
    return [part.split("**")[0] for part in text.split("- **")[1:]]


def test_there_is_a_point_for_every_decision_move_and_event() -> None:
    every = list(points())
    assert {point["decision"]["type"] for point in every} == tags(decisions.Decision)
    assert {point["move"]["type"] for point in every} == tags(moves.Move)
    happened = {event["type"] for point in every for event in point["events"]}
    happened |= {event["type"] for match in MATCHES for event in lines_of(match)[1]["events"]}
    assert happened == tags(events.Event)
    codes = {each["code"] for point in every for each in point["refused"]}
    not_in_a_point = {"game.over", "game.not_asked"}
    assert codes == {code for code in ERROR_CODES if code.startswith("game.")} - not_in_a_point


# -- views -------------------------------------------------------------------------------------------


@cache
def views_of(match: str) -> tuple[Record, ...]:
    lines = (FOLDER / "vectors" / "views" / f"{match}.jsonl").read_bytes().splitlines()
    return tuple(as_object(canonical.decode(line)) for line in lines)


@pytest.mark.parametrize("match", MATCHES)
def test_the_views_of_a_match_are_what_the_engine_shows(match: str) -> None:
    state, happened = deal(lines_of(match)[0])
    made_moves = list(all_moves(match))
    for number in range(len(made_moves) + 1):
        for line in (line for line in views_of(match) if line["after"] == number):
            kind = line["viewer"]
            viewer = line["seat"] if kind == "seat" else {"public": PUBLIC, "all_hands": ALL_HANDS}[kind]
            assert on_the_wire(view(state, viewer)) == line["view"]
            assert on_the_wire([redact(event, state.game, viewer) for event in happened]) == line["events"]
        if number < len(made_moves):
            happened = list[events.Event]()
            seat, move = made_moves[number]
            engine.play(state, seat, move, happened)
    assert state.pending is None
    assert {line["match"] for line in views_of(match)} == {match}


def all_moves(match: str) -> Iterator[tuple[int, moves.Move]]:
    for line in lines_of(match):
        for each in line["moves"] if line["type"] == "moves" else [line] if line["type"] == "point" else []:
            yield each["seat"], to_move(each["move"])


def test_every_kind_of_viewer_sees_every_kind_of_decision_and_an_end() -> None:
    lines = [line for match in MATCHES for line in views_of(match)]
    seen = {(line["viewer"], line["view"].get("pending", {}).get("type")) for line in lines}
    kinds = {*tags(decisions.Decision), None}
    assert seen == {(viewer, kind) for viewer in ("seat", "public", "all_hands") for kind in kinds}


# -- folds -------------------------------------------------------------------------------------------

FOLDS = sorted(file.stem for file in (FOLDER / "vectors" / "folds").glob("*.jsonl"))


@cache
def folds_of(file: str) -> tuple[Record, ...]:
    lines = (FOLDER / "vectors" / "folds" / f"{file}.jsonl").read_bytes().splitlines()
    return tuple(as_object(canonical.decode(line)) for line in lines)


@pytest.mark.parametrize("match", MATCHES)
def test_the_folds_of_a_match_are_what_the_engine_shows(match: str) -> None:
    """The views before and after a move, and the events that the viewer gets."""
    folds = [line for file in FOLDS for line in folds_of(file) if line["match"] == match]
    state, happened = deal(lines_of(match)[0])
    before = empty_state(state.game, state.dice)
    for number, (seat, move) in enumerate([*all_moves(match), (0, None)]):
        for line in (line for line in folds if line["after"] == number):
            viewer = viewer_of(line["start"])
            assert on_the_wire(view(before, viewer)) == line["before"], line["id"]
            assert on_the_wire([redact(event, state.game, viewer) for event in happened]) == line["events"]
            assert on_the_wire(view(state, viewer)) == line["view"], line["id"]
            technologies = for_sale(state.game.rules)
            assert on_the_wire(() if technologies is UNSET else technologies) == line["start"].get(
                "technologies", []
            )
        before = state.copy()
        happened = list[events.Event]()
        if move is not None:
            engine.play(state, seat, move, happened)
    assert state.pending is None


def viewer_of(start: Record) -> int:
    return start["seat"] if "seat" in start else {"public": PUBLIC, "all_hands": ALL_HANDS}[start["viewer"]]


@pytest.mark.parametrize("file", FOLDS)
def test_folding_the_events_of_a_vector_gives_its_view(file: str) -> None:
    for line in folds_of(file):
        header = lines_of(line["match"])[0]
        game = make_game(
            RULE_SETS[header["game"]],
            shipped_board(header["board"]),
            header["players"],
            tuple(header["options"]),
        )
        shown = msgspec.convert(line["before"], View)
        if line["after"] == 0:
            assert shown == blank_view(game, viewer_of(line["start"]))
        for event in line["events"]:
            shown = fold(game, shown, msgspec.convert(event, cast("type[events.Event]", events.Event)))
        assert on_the_wire(shown) == line["view"], line["id"]


def test_there_is_a_fold_for_every_case() -> None:
    named = {(case.file, case.name) for case in fold_vectors.CASES}
    assert len(named) == len(fold_vectors.CASES)
    shown = {tuple(line["id"].split("/")[:2]) for file in FOLDS for line in folds_of(file)}
    assert {each for each in shown if each[0] != "first_view"} == named


def test_every_game_and_option_has_a_first_view_for_every_kind_of_viewer() -> None:
    shown = {
        (line["start"]["game"], tuple(line["start"]["options"]), line["start"]["viewer"])
        for line in folds_of("first_view")
    }
    variants = {(header["game"], tuple(header["options"])) for header in (lines_of(m)[0] for m in MATCHES)}
    assert shown == {(*variant, kind) for variant in variants for kind in ("seat", "public", "all_hands")}


# -- transcripts -------------------------------------------------------------------------------------


def records(name: str) -> list[Record]:
    return [json.loads(line) for line in (FOLDER / "transcripts" / f"{name}.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("name", transcripts.SESSIONS)
def test_every_line_of_the_server_in_a_transcript_keeps_to_its_schema(name: str) -> None:
    schema = validator("FromServer")
    for record in records(name):
        if record.get("from") == "server":
            assert faults(schema, record["line"]) == []


def test_transcripts_show_what_the_examples_do_not() -> None:
    sent = [record["line"] for name in transcripts.SESSIONS for record in records(name) if "line" in record]
    lines: list[Record] = [line for line in sent if "type" in line]
    assert {"seat", "watch", "bye", "default"} <= {line["type"] for line in lines}
    assert {line["code"] for line in lines if line["type"] == "bye"} == {
        "wire.too_long",
        "auth.login_timeout",
        "auth.bad_token",
        "server.taken_over",
        "server.shutting_down",
    }
    codes = {line["code"] for line in lines if line["type"] == "error"}
    assert {"server.busy", "server.failed", "protocol.stale_ask", "auth.not_allowed"} <= codes


# -- the page ----------------------------------------------------------------------------------------


def test_the_page_names_every_file_and_every_field() -> None:
    page = FOLDER / "README.md"
    names = {path.name for path in FOLDER.iterdir() if not path.name.startswith(".")}
    text = page.read_text("utf-8")
    assert all(f"]({name}" in text for name in names - {"README.md", "vectors"})
    assert all(f"vectors/{path.name}" in text for path in (FOLDER / "vectors").iterdir())
    wire = first_names(section(page, "vectors/wire").tables[0])
    assert sorted(wire) == sorted(path.name for path in (FOLDER / "vectors" / "wire").iterdir())
    line_kinds, point_fields = section(page, "vectors/rules").tables
    assert set(first_names(line_kinds)) == {line["type"] for m in MATCHES for line in lines_of(m)}
    assert {*first_names(point_fields), "type"} == {name for point in points() for name in point}
    fields = set(first_names(section(page, "vectors/views").tables[0]))
    assert fields | {"id"} == {name for m in MATCHES for line in views_of(m) for name in line}
    fold_fields, fold_files = section(page, "vectors/folds").tables
    assert {*first_names(fold_fields), "id", "about"} == {
        name for f in FOLDS for line in folds_of(f) for name in line
    }
    assert sorted(first_names(fold_files)) == [f"{file}.jsonl" for file in FOLDS]
    rows = section(page, "transcripts").tables[1]
    assert [Path(row[0].split("](")[1].rstrip(")")).stem for row in rows] == list(transcripts.SESSIONS)
