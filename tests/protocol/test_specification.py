"""The specification describes what the program does: its examples, tables, names and links are checked."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, cast, get_args

import msgspec
import pytest
from msgspec import Struct

from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import board_content, shipped_board
from stellwerk_engine.core.cards import LOCOMOTIVE
from stellwerk_engine.core.cards import from_wire as engine_cards
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Events, Move, Seat, State
from stellwerk_engine.games.described import KINDS
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_engine.parts.claiming.payments import divides, pays_route
from stellwerk_engine.parts.technologies.buy_technology import technologies_of
from stellwerk_engine.replays.writer import ReplayWriter, header_of
from stellwerk_protocol import decisions, events, messages, moves, parts, replays, results, views
from stellwerk_protocol.client_line import LineError, read_line
from stellwerk_protocol.error_codes import ANSWERS, CURES
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import BonusName, GameName, OptionName, TechnologyName
from stellwerk_server.operate import settings
from tests.engine.recordings import members, mixed
from tests.golden.golden_games import golden_games
from tests.protocol.test_schemas import faults, validator
from tests.support import dealt, play_out, table, wire
from tools.specification import (
    FOLDER,
    GAME_PAGES,
    PAGES,
    SPECIFICATION,
    Section,
    first_names,
    names_in,
    section,
    sections,
)

FROM_CLIENT = {kind.__struct_config__.tag: kind for kind in get_args(messages.FromClient)}
FROM_SERVER = {kind.__struct_config__.tag: kind for kind in get_args(messages.FromServer)}
MESSAGES: dict[str, type[Struct]] = FROM_CLIENT | FROM_SERVER

HAVE_TABLES_OF_THEIR_OWN = (messages.Limits, messages.Clocks, parts.Parts, results.Result, views.View)
MESSAGE_SECTIONS = [
    section for section in sections(SPECIFICATION) if section.level == 3 and len(section.named) == 1
]
MESSAGE_LINES = [line for part in sections(SPECIFICATION) for line in part.lines]


def structs_of(union: object) -> dict[str, type[Struct]]:
    """Return the structs of a union by their tags."""
    return {kind.__struct_config__.tag: kind for kind in get_args(union)}


def fields_of(kind: type[Struct]) -> set[str]:
    return set(kind.__struct_fields__)


def by_name(part: Section) -> str:
    return part.named[0]


def on_the_wire(record: object) -> Any:
    """Return a record as a reader of its JSON has it."""
    return json.loads(msgspec.json.encode(record))


# -- messages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", MESSAGE_LINES, ids=lambda line: line[:50])
def test_an_example_of_a_message_is_one(line: str) -> None:
    """It has nothing unknown, and nothing that the encoder would write differently."""
    value = json.loads(line)
    if value["type"] in FROM_CLIENT:
        message: object = read_line(line.encode())
        assert faults(validator("FromClient"), value) == []
    elif value["type"] in FROM_SERVER:
        # mypy and pyright differ about unions as arguments
        message = msgspec.json.decode(line, type=cast("type[object]", messages.FromServer), strict=True)
        assert faults(validator("FromServer"), value) == []
    else:
        raise AssertionError(f"no message is called {value['type']}")
    assert json.loads(msgspec.json.encode(message)) == value


def test_every_message_has_a_section_of_its_own() -> None:
    assert sorted(by_name(part) for part in MESSAGE_SECTIONS) == sorted(MESSAGES)


@pytest.mark.parametrize("part", MESSAGE_SECTIONS, ids=by_name)
def test_the_section_of_a_message_has_examples_of_it_and_of_no_other(part: Section) -> None:
    assert {value["type"] for value in part.values} == {by_name(part)}


@pytest.mark.parametrize("part", MESSAGE_SECTIONS, ids=by_name)
def test_the_section_of_a_message_says_who_sends_it(part: Section) -> None:
    assert part.text.lstrip().startswith("C. " if by_name(part) in FROM_CLIENT else "S. ")


@pytest.mark.parametrize("part", MESSAGE_SECTIONS, ids=by_name)
def test_every_field_of_a_message_is_explained(part: Section) -> None:
    assert sorted(first_names(part.tables[0])) == sorted(paths_of(MESSAGES[by_name(part)]))


@pytest.mark.parametrize("part", MESSAGE_SECTIONS, ids=by_name)
def test_a_field_is_called_optional_if_it_may_be_absent(part: Section) -> None:
    fields = {field.name: field for field in msgspec.structs.fields(MESSAGES[by_name(part)])}
    for names, text in part.tables[0]:
        for name in names_in(names):
            if name in fields:
                assert text.startswith("optional") == (not fields[name].required), name


def paths_of(kind: type[Struct]) -> Iterator[str]:
    """Yield `a`, for a record in it `a.b`, and for a list of records `a[].b`; not those with a table
    elsewhere."""
    for field in msgspec.structs.fields(kind):
        yield field.name
        for inner, is_list in records_in(field.type):
            if inner not in HAVE_TABLES_OF_THEIR_OWN and (kind, inner) != (messages.Welcome, messages.Wants):
                for name in inner.__struct_fields__:
                    yield f"{field.name}{'[]' if is_list else ''}.{name}"


def records_in(type_: Any) -> list[tuple[type[Struct], bool]]:
    """Return the plain records that a field's type has, and whether they are in a list. Unions by tag have
    other tables."""
    if isinstance(type_, type) and issubclass(type_, Struct):
        return [(type_, False)] if type_.__struct_config__.tag is None else []
    if isinstance(type_, UnionType):
        return [inner_records for part in get_args(type_) for inner_records in records_in(part)]
    inner_records = [inner for part in get_args(type_) for inner, _ in records_in(part)]
    return [(inner, True) for inner in inner_records]


def test_the_page_of_parts_explains_every_part_and_field() -> None:
    page = SPECIFICATION.with_name("PARTS.md").read_text()
    page = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    words = {word for quoted in re.findall(r"`([^`]+)`", page) for word in quoted.split(".")}
    records: list[type[Struct]] = [parts.Parts, *KINDS]
    fields = {field for kind in records for field in kind.__struct_fields__}
    tags = {kind.__struct_config__.tag for kind in KINDS} - {None}
    assert fields | tags <= words


def test_the_games_of_the_example_are_those_that_there_are() -> None:
    (welcome,) = section(SPECIFICATION, "`welcome`").values
    assert welcome["games"] == [
        {
            "game": rules.id,
            "title": rules.title,
            "rules_version": rules.rules_version,
            "board": rules.board,
            "board_digest": shipped_board(rules.board).digest,
            "players": list(rules.seat_counts),
            "options": [option.id for option in rules.options],
        }
        for rules in RULE_SETS.values()
    ]


def test_the_refused_field_of_the_example_is_refused_so() -> None:
    example = section(SPECIFICATION, "`error`").values[1]
    with pytest.raises(LineError) as raised:
        read_line(b'{"type":"act","match":"k3v9TzQw","ask":5,"indx":0}')
    assert (raised.value.code, raised.value.pointer, raised.value.expected) == (
        example["code"],
        example["pointer"],
        example["expected"],
    )


# -- tables ------------------------------------------------------------------------------------------


def test_the_table_of_errors_is_that_of_the_program() -> None:
    rows = section(SPECIFICATION, "Errors").tables[1]
    assert [(code, meaning, cure) for code, meaning, cure in rows] == [
        (f"`{code}`", meaning, cure) for code, (meaning, cure) in CURES.items()
    ]


def test_the_errors_that_may_answer_each_message_are_those_of_the_table() -> None:
    rows = section(SPECIFICATION, "Errors").tables[2]
    assert {(names_in(message) or [""])[0]: tuple(names_in(errors)) for message, errors in rows} == ANSWERS


def test_the_classes_of_errors_are_those_of_the_codes() -> None:
    rows = section(SPECIFICATION, "Errors").tables[0]
    assert sorted(first_names(rows)) == sorted({code.partition(".")[0] for code in CURES})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_error_code_that_is_named_is_in_the_list(page: Path) -> None:
    classes = "|".join({code.partition(".")[0] for code in CURES})
    named = set(re.findall(rf"`((?:{classes})\.[a-z_]+)`", page.read_text(encoding="utf-8")))
    assert named <= set(CURES)


def numbers(rows: list[list[str]]) -> dict[str, int]:
    return {names_in(row[0])[0]: int(row[1]) for row in rows}


def test_the_limits_in_hello_are_those_of_the_program() -> None:
    announced = on_the_wire(settings.announced(settings.Limits(), depth=64))
    assert numbers(section(SPECIFICATION, "Limits").tables[0]) == announced
    (hello,) = section(SPECIFICATION, "`hello`").values
    assert hello["limits"] == announced


def test_the_limits_of_the_server_as_a_whole_are_those_of_the_program() -> None:
    every = on_the_wire(settings.Limits())
    others = {name: value for name, value in every.items() if name not in fields_of(messages.Limits)}
    assert numbers(section(SPECIFICATION, "Limits").tables[1]) == others


def test_the_clocks_are_those_of_the_program() -> None:
    usual = on_the_wire(settings.clocks_of(settings.Time()))
    assert numbers(section(SPECIFICATION, "Time").tables[0]) == usual
    (start,) = section(SPECIFICATION, "`start`").values
    assert start["clocks"] == usual


def test_the_worked_example_of_the_clocks_adds_up() -> None:
    clocks, example = section(SPECIFICATION, "Time").tables
    usual = numbers(clocks)
    bank, strikes = 1500, usual["strikes"]
    for _, takes, happens, bank_left, strikes_left in example:
        grace = usual["grace_ms"] if strikes else 0
        limit = usual["move_ms"] + bank + grace
        took = limit if takes == "none" else min(int(takes), limit)
        in_time = takes != "none" and int(takes) < limit
        over = max(0, took - usual["move_ms"])
        strikes -= 1 if over > bank and strikes else 0
        bank = max(0, bank - over)
        assert happens.startswith("`ok`" if in_time else f"`default` after {limit:,} ms")
        assert (int(bank_left), int(strikes_left)) == (bank, strikes)


def test_every_decision_is_in_its_table_with_its_fields() -> None:
    rows = section(SPECIFICATION, "Decisions").tables[0]
    kinds = structs_of(decisions.Decision)
    assert first_names(rows) == list(kinds)
    for name, _, _, further in rows:
        assert fields_of(kinds[names_in(name)[0]]) - {"seats"} == set(names_in(further)) & ALL_DECISION_FIELDS


ALL_DECISION_FIELDS = {
    field for kind in get_args(decisions.Decision) for field in fields_of(kind) if field != "seats"
}


def test_every_move_is_in_its_table_with_its_fields() -> None:
    rows = section(SPECIFICATION, "Moves").tables[0]
    kinds = structs_of(moves.Move)
    assert first_names(rows) == list(kinds)
    for name, _, further in rows:
        assert fields_of(kinds[names_in(name)[0]]) <= set(names_in(further))


def test_every_event_is_in_its_table_with_its_fields() -> None:
    rows = section(SPECIFICATION, "Events").tables[0]
    kinds = structs_of(events.Event)
    assert first_names(rows) == list(kinds)
    for name, _, named in rows:
        assert (
            fields_of(kinds[names_in(name)[0]]) == set(names_in(named)) & ALL_EVENT_FIELDS[names_in(name)[0]]
        )


ALL_EVENT_FIELDS = {
    # the fields inside the decision of `asked` are named, too
    name: fields_of(kind) if name == "asked" else {f for k in get_args(events.Event) for f in fields_of(k)}
    for name, kind in structs_of(events.Event).items()
}


def test_the_private_fields_of_events_are_those_that_the_public_does_not_get() -> None:
    """Seen in the golden games, in which every private field occurs."""
    private = {
        names_in(name)[0]: set(re.findall(r"\*`([^`]+)`\*", named))
        for name, _, named in section(SPECIFICATION, "Events").tables[0]
    }
    hidden: dict[str, set[str]] = {name: set() for name in private}
    for game_id, _, happened in golden_records():
        game = table(game_id, RULE_SETS[game_id].seat_counts[-1])
        for value in happened:
            event = msgspec.convert(value, cast("type[events.Event]", events.Event))
            shown = on_the_wire(redact(event, game, PUBLIC))
            hidden[value["type"]] |= set(value) - set(shown)
            hidden[value["type"]] |= set(value.get("decision", {})) - set(shown.get("decision", {}))
    assert hidden == private


@cache
def golden_records() -> list[tuple[str, dict[str, Any] | None, list[dict[str, Any]]]]:
    """Return, for all golden games: the game's id, the move if there is one, and the events of a line."""
    lines: list[tuple[str, dict[str, Any] | None, list[dict[str, Any]]]] = []
    for game in golden_games():
        for line in game.file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            lines.append((game.variant[0], record.get("move"), record.get("events", [])))
    return lines


def test_the_answers_to_a_decision_are_those_that_the_golden_games_give() -> None:
    answers = {
        names_in(name)[0]: set(names_in(answer))
        for name, _, answer, _ in section(SPECIFICATION, "Decisions").tables[0]
        if "the game's actions" not in answer
    }
    pending = ""
    for _, move, happened in golden_records():
        if move is not None and pending in answers:
            assert move["type"] in answers[pending]
        for event in happened:
            if event["type"] == "asked":
                pending = event["decision"]["type"]
            elif event["type"] == "turn_started":
                pending = "take_turn"


def test_every_field_of_a_view_is_explained() -> None:
    tables = section(SPECIFICATION, "Views").tables
    kinds: tuple[type[Struct], ...] = (views.View, views.PlayerView, views.TeamView)
    for rows, kind in zip(tables, kinds, strict=True):
        optional = {field.name for field in msgspec.structs.fields(kind) if not field.required}
        explained = {name: row[1] for row in rows for name in names_in(row[0])}
        assert sorted(explained) == sorted(kind.__struct_fields__)
        assert {name for name, text in explained.items() if text.startswith("optional")} == optional
    yard = next(row for row in tables[1] if row[0] == "`yard`")
    assert fields_of(views.YardStack) <= set(names_in(yard[1]))


def test_every_field_of_a_result_is_explained() -> None:
    (rows,) = section(SPECIFICATION, "Results").tables
    inner = {f"teams[].{name}" for name in results.TeamResult.__struct_fields__}
    assert set(first_names(rows)) == fields_of(results.Result) | inner
    for name, kind in (("tickets", results.TicketScore), ("bonuses", results.Bonus)):
        (text,) = [row[1] for row in rows if row[0] == f"`teams[].{name}`"]
        assert fields_of(kind) <= set(names_in(text))


def test_the_laws_are_numbered_without_a_gap() -> None:
    laws = re.findall(r"^\* \*\*L(\d+)\*\* ", section(SPECIFICATION, "Laws").text, re.MULTILINE)
    assert [int(number) for number in laws] == list(range(1, len(laws) + 1))
    cited = {
        int(number)
        for page in PAGES
        for number in re.findall(r"\bL(\d+)\b", page.read_text(encoding="utf-8"))
    }
    assert max(cited) <= len(laws)


ID_TYPES: dict[str, object] = {
    "a match": messages.Id,
    "a room": messages.Id,
    "a session": messages.Id,
    "a request": messages.Id,
    "a game": GameName,
    "an option": OptionName,
    "a technology": TechnologyName,
    "a bonus": BonusName,
}


def test_ids_are_as_the_table_says() -> None:
    """Character by character. BOARDS.md bounds the names of a board."""
    of_boards = "a board, a city, a region, a route, a ticket"
    rows = section(SPECIFICATION, "Ids").tables[0]
    assert ", ".join(what for what, *_ in rows) == ", ".join([*ID_TYPES, of_boards])
    form = ""
    for what, length, described in (row for row in rows if row[0] != of_boards):
        form = described.replace("the same", form)
        letters = "".join("".join(names_in(form)).split())
        allowed = {char for char in ASCII if re.fullmatch(f"[{letters}]", char)}
        first = {char for char in allowed if char.isalnum()} if "the first one" in form else allowed
        longest = int(length.removeprefix("1 to "))
        for type_ in (ID_TYPES[kind] for kind in what.split(", ")):
            assert {char for char in ASCII if is_one(char, type_)} == first
            assert {char for char in ASCII if is_one(f"a{char}", type_)} == allowed
            assert [n for n in (0, 1, longest, longest + 1) if is_one("a" * n, type_)] == [1, longest]


ASCII = [chr(code) for code in range(128)]


def is_one(text: str, type_: object) -> bool:
    try:
        msgspec.convert(text, cast("type[str]", type_))
    except msgspec.ValidationError:
        return False
    return True


# -- names and links ---------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in {anchor_of(part.title) for part in sections(file)}, target


def anchor_of(title: str) -> str:
    """Return the anchor of a heading, as GitHub and GitLab make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_rule_that_is_cited_exists(page: Path) -> None:
    pattern = r"\b(?:GEN|USA|CARD|ASIA|UK)-\d\d\b"
    rules = {
        rule
        for file in (FOLDER / "rules").glob("*.md")
        for rule in re.findall(rf"\*\*({pattern})\*\*", file.read_text(encoding="utf-8"))
    }
    cited = set(re.findall(pattern, page.read_text(encoding="utf-8")))
    assert cited
    assert cited <= rules


# -- programs ----------------------------------------------------------------------------------------


def test_the_first_bot_has_fifteen_lines_and_says_where_it_connects() -> None:
    (program,) = section(SPECIFICATION, "A bot in fifteen lines").blocks("python")
    lines = [line for line in program.splitlines() if line.strip()]
    compile(program, "README.md", "exec")
    assert len(lines) <= 15
    assert len([line for line in lines if f'("127.0.0.1", {settings.DEFAULT_PORT})' in line]) == 1


def checking_functions() -> dict[str, Callable[..., str]]:
    """Return the functions of the page, as somebody would copy them."""
    (program,) = section(SPECIFICATION, "Fairness").blocks("python")
    names: dict[str, Any] = {}
    exec(compile(program, "README.md", "exec"), names)
    return names


def test_the_examples_open_their_own_commitment_by_the_functions_of_the_page() -> None:
    (start,) = section(SPECIFICATION, "`start`").values
    (end,) = section(SPECIFICATION, "`end`").values
    assert checking_functions()["commitment"](start, end) == start["commitment"]


@pytest.mark.parametrize("field", ["seed", "salt"])
def test_another_seed_or_salt_does_not_open_it(field: str) -> None:
    (start,) = section(SPECIFICATION, "`start`").values
    (end,) = section(SPECIFICATION, "`end`").values
    other = hashlib.sha256(field.encode()).hexdigest()
    assert checking_functions()["commitment"](start, end | {field: other}) != start["commitment"]


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: rules.id)
def test_the_functions_of_the_page_agree_with_the_program(rules: Any) -> None:
    options = tuple(sorted(option.id for option in rules.options))
    game = table(rules.id, rules.seat_counts[-1], options)
    names = tuple(f"bot_{seat}" for seat in range(game.seat_count))
    reveal = replays.Reveal("5" * 64, "a" * 64)
    start = {
        "match": "m1",
        "game": game.id,
        "options": list(options),
        "players": [
            {"seat": seat, "team": game.team_of[seat], "name": name} for seat, name in enumerate(names)
        ],
        "board": json.loads(json.dumps(board_content(game.board.file))),
        "board_digest": game.board.file.digest,
    }
    functions = checking_functions()
    assert functions["board_digest"](start) == game.board.file.digest
    expected = replays.commitment(header_of(game, names, "m1"), reveal)
    assert functions["commitment"](start, {"seed": reveal.seed, "salt": reveal.salt}) == expected


# -- the match of the examples -----------------------------------------------------------------------


@dataclass
class Played:
    """The match of the examples: `first_bot` is the planner, the other makes random moves."""

    start: dict[str, Any]
    happened: list[events.Event]
    asks: dict[int, messages.Ask]
    states: dict[int, State]
    transcript: str
    result: results.Result


@cache
def played() -> Played:
    (start,) = section(SPECIFICATION, "`start`").values
    (end,) = section(SPECIFICATION, "`end`").values
    game = table("usa", 2)
    seed, choose = seed_from_text("42"), mixed("spec")
    header = header_of(game, [player["name"] for player in start["players"]], start["match"])
    writer = ReplayWriter()
    writer.header(msgspec.structs.replace(header, commitment=start["commitment"]))
    happened: Events = []
    state = engine.new_game(game, Dice(seed), happened)
    writer.set_up(happened)
    asks: dict[int, messages.Ask] = {}
    states: dict[int, State] = {}
    while state.pending is not None:
        for seat in engine.owing(state):
            listed = engine.legal(state, seat)
            if seat == 0:
                number = len(asks) + 1
                asks[number] = ask_of(state, start, number, len(happened), listed)
                states[number] = state.copy()
            move = planner(state, seat, listed) if seat == 0 else choose(state, seat, listed)
            caused: Events = []
            engine.apply(state, seat, move, caused)
            writer.move(state, seat, move, caused)
            happened += caused
    assert state.result is not None
    writer.end(state.result)
    writer.reveal(seed, bytes.fromhex(end["salt"]))
    return Played(start, happened, asks, states, writer.last_hash, state.result)


def ask_of(state: State, start: dict[str, Any], number: int, after: int, listed: list[Move]) -> messages.Ask:
    assert state.pending is not None
    return messages.Ask(
        match=start["match"],
        ask=number,
        after_event=after,
        decision=state.pending.to_wire(state, 0, sees_all=False),
        move_ms=start["clocks"]["move_ms"],
        bank_ms=start["clocks"]["bank_ms"],
        tries=start["clocks"]["tries"],
        fallback=engine.fallback(state, 0).wire,
        view=view(state, 0),
        legal=tuple(move.wire for move in listed),
        legal_complete=engine.legal_complete(state, 0),
    )


def test_the_start_of_the_example_is_of_its_board() -> None:
    start = played().start
    board = board_content(shipped_board("usa"))
    assert start["board_digest"] == shipped_board("usa").digest
    assert start["rules_version"] == RULE_SETS["usa"].rules_version
    for name, value in start["board"].items():
        whole: Any = json.loads(json.dumps(board[name]))
        assert value == (whole[: len(members(value))] if isinstance(value, list) else whole)


def test_the_events_of_the_example_are_what_its_seat_may_know() -> None:
    for line in section(SPECIFICATION, "`event`").values:
        number: int = line["number"]
        event = redact(played().happened[number - 1], table("usa", 2), 0)
        assert line["event"] == on_the_wire(event)


def test_the_ask_of_the_example_is_what_the_engine_asks() -> None:
    (ask,) = section(SPECIFICATION, "`ask`").values
    assert ask == on_the_wire(played().asks[ask["ask"]])


def test_the_acts_of_the_example_are_legal() -> None:
    for value in section(SPECIFICATION, "`act`").values:
        act = msgspec.convert(value, messages.Act)
        state = played().states[act.ask]
        if act.move is not msgspec.UNSET:
            engine.check(state, 0, act.move)
        else:
            assert act.index is not msgspec.UNSET
            assert act.index < len(engine.legal(state, 0))


def test_the_refused_act_of_the_example_is_refused_so() -> None:
    example = section(SPECIFICATION, "`error`").values[0]
    move = moves.ClaimRoute("seattle-vancouver-2", wire("1 red"))
    with pytest.raises(IllegalMoveError) as raised:
        engine.check(played().states[example["ask"]], 0, move)
    assert (raised.value.code, f"/move{raised.value.pointer}", raised.value.expected) == (
        example["code"],
        example["pointer"],
        example["expected"],
    )
    assert example["nearest"] == on_the_wire(played().asks[example["ask"]].fallback)


def test_the_default_of_the_example_is_the_fallback() -> None:
    (example,) = section(SPECIFICATION, "`default`").values
    assert example["move"] == on_the_wire(played().asks[example["ask"]].fallback)


def test_the_end_of_the_example_is_that_of_its_match() -> None:
    (end,) = section(SPECIFICATION, "`end`").values
    assert end["result"] == on_the_wire(played().result)
    assert end["transcript"] == played().transcript
    assert end["seed"] == seed_from_text("42").hex()


# -- the pages of the games --------------------------------------------------------------------------

every_game = pytest.mark.parametrize("game_id", sorted(RULE_SETS))

UNIONS: dict[str, tuple[str, object]] = {
    "Decisions": ("Decision", decisions.Decision),
    "Moves": ("Move", moves.Move),
    "View": ("View", views.View),
    "Events": ("Event", events.Event),
    "End and result": ("Result", results.Result),
}


def test_every_game_has_a_page() -> None:
    assert sorted(GAME_PAGES) == sorted(RULE_SETS)


@every_game
@pytest.mark.parametrize("title", UNIONS)
def test_an_example_of_a_page_is_what_it_says(game_id: str, title: str) -> None:
    kind, union = UNIONS[title]
    values = section(GAME_PAGES[game_id], title).values
    assert values
    for value in values:
        decoded = msgspec.convert(value, cast("type[object]", union))
        assert on_the_wire(decoded) == value
        assert faults(validator(kind), value) == []


@cache
def kinds_in_golden_games() -> dict[str, dict[str, set[str]]]:
    kinds: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for game_id, move, happened in golden_records():
        if move is not None:
            kinds[game_id]["Moves"].add(move["type"])
        for event in happened:
            kinds[game_id]["Events"].add(event["type"])
            if event["type"] == "asked":
                kinds[game_id]["Decisions"].add(event["decision"]["type"])
            if event["type"] == "turn_started":
                kinds[game_id]["Decisions"].add("take_turn")
    return kinds


@every_game
def test_a_page_has_every_kind_of_decision_of_its_game_in_table_and_examples(game_id: str) -> None:
    part = section(GAME_PAGES[game_id], "Decisions")
    played_kinds = kinds_in_golden_games()[game_id]["Decisions"]
    assert set(first_names(part.tables[0])) == played_kinds
    assert {value["type"] for value in part.values} == played_kinds


@every_game
def test_a_page_has_an_example_of_every_kind_of_move_of_its_game(game_id: str) -> None:
    """Passing is legal in each of them, and rare."""
    examples = {value["type"] for value in section(GAME_PAGES[game_id], "Moves").values}
    assert examples == kinds_in_golden_games()[game_id]["Moves"] | {"pass"}


@every_game
def test_the_events_of_a_page_happen_in_its_game(game_id: str) -> None:
    examples = {value["type"] for value in section(GAME_PAGES[game_id], "Events").values}
    assert examples <= kinds_in_golden_games()[game_id]["Events"]


@every_game
def test_the_events_that_no_other_game_has_are_on_its_page(game_id: str) -> None:
    others = {
        kind
        for other, kinds in kinds_in_golden_games().items()
        if other != game_id
        for kind in kinds["Events"]
    }
    peculiar = kinds_in_golden_games()[game_id]["Events"] - others
    part = section(GAME_PAGES[game_id], "Events")
    assert peculiar <= {*names_in(part.text), *(value["type"] for value in part.values)}


@every_game
def test_the_names_of_a_page_are_those_of_its_board(game_id: str) -> None:
    rules = RULE_SETS[game_id]
    game = table(game_id, rules.seat_counts[0], tuple(option.id for option in rules.options))
    board = game.board
    technologies = {technology.id for technology in technologies_of(game.rules)}
    for part in sections(GAME_PAGES[game_id]):
        for value in part.values:
            assert set(named(value, "route", "routes")) <= set(board.route_ids)
            shared = named(value, "ticket", "tickets", "offered", "returned", "shared_tickets", "completed")
            assert set(shared) <= set(board.ticket_ids)
            assert set(named(value, "technology", "technologies", "supply")) <= technologies


def named(value: Any, *fields: str) -> Iterator[str]:
    """Yield the ids in these fields, anywhere in a value: one, a list of them, or names of an object."""
    for name, inner in members(value).items():
        if name in fields:
            ids = [inner, *members(inner), *members(inner).values()]
            yield from [id for id in ids if isinstance(id, str)]
        yield from named(inner, *fields)


@every_game
def test_the_payments_of_a_page_pay(game_id: str) -> None:
    """For a player without technologies, for whom four cards can be played as a locomotive."""
    rules = RULE_SETS[game_id]
    game = table(game_id, rules.seat_counts[0])
    board, substitute = game.board, game.perks[0].substitute
    for move in section(GAME_PAGES[game_id], "Moves").values:
        match msgspec.convert(move, cast("type[moves.Move]", moves.Move)):
            case moves.ClaimRoute(name, cards, holder_cards):
                laid = engine_cards(cards) + engine_cards(holder_cards)
                assert pays_route(laid, board.routes[board.route_ids[name]], substitute, 0)
            case moves.BuyTechnology(name, cards):
                (cost,) = [technology.cost for technology in technologies_of(rules) if technology.id == name]
                assert divides(engine_cards(cards), LOCOMOTIVE, cost, 0, substitute)
            case _:
                pass


VIEWS_ARE_FROM: dict[str, tuple[int, str, int, str]] = {
    "usa": (2, "page", 12, "take_turn"),
    "card_game": (2, "a", 14, "take_turn"),
    "team_asia": (4, "c", 10, "pay_tunnel"),
    "united_kingdom": (2, "page", 16, "take_turn"),
    "europe": (4, "page", 14, "take_turn"),
}
"""For each game: seats, seed, and the first such decision from that turn on."""


@every_game
def test_the_view_of_a_page_was_made_by_the_engine(game_id: str) -> None:
    seats, seed, turn, decision = VIEWS_ARE_FROM[game_id]
    (example,) = section(GAME_PAGES[game_id], "View").values
    assert example == view_at(dealt(game_id, seats, seed=seed), mixed(seed), turn, decision)


def view_at(
    state: State, choose: Callable[[State, Seat, list[Move]], Move], turn: int, decision: str
) -> dict[str, Any]:
    while True:
        for seat in engine.owing(state):
            seen: dict[str, Any] = on_the_wire(view(state, seat))
            if state.turn >= turn and seen["pending"]["type"] == decision:
                return seen
            engine.apply(state, seat, choose(state, seat, engine.legal(state, seat)))


@every_game
def test_the_result_of_a_page_is_that_of_greedy_players(game_id: str) -> None:
    state = dealt(game_id, VIEWS_ARE_FROM[game_id][0], seed="page")
    play_out(state, planner)
    assert section(GAME_PAGES[game_id], "End and result").values == [on_the_wire(state.result)]
