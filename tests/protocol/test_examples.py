"""The recorded sessions are what today's server sends, and every line of them follows the specification."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args

import pytest

from stellwerk_protocol import messages
from tests.protocol.test_schemas import faults, validator
from tests.protocol.test_specification import checking_functions
from tools.example_sessions import SESSIONS
from tools.generate import PROTOCOL
from tools.specification import names_in, sections

FOLDER = PROTOCOL / "examples"
Record = dict[str, Any]  # a line of a file, as json decodes it

NAMES = list(SESSIONS)
GAMES = [name for name in NAMES if name != "spectator"]
LONGEST_LINE = 59_999  # of the server, without its newline
NO_MESSAGE = re.compile(r"wire\.|protocol\.(unknown|missing)_field|protocol\.(unknown_type|not_an_object)")


@cache
def records(game: str) -> tuple[Record, ...]:
    return tuple(json.loads(line) for line in (FOLDER / f"{game}.jsonl").read_bytes().splitlines())


def messages_of(game: str, sender: str) -> list[Record]:
    """Return the messages of one side, in order."""
    return [each["line"] for each in records(game) if each["from"] == sender and "line" in each]


def of_type(game: str, sender: str, *types: str) -> list[Record]:
    return [message for message in messages_of(game, sender) if message["type"] in types]


# -- the files ---------------------------------------------------------------------------------------


def test_there_is_a_file_for_each_game_and_one_of_a_spectator_and_no_other() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {*(f"{name}.jsonl" for name in NAMES), "README.md"}
    for game in GAMES:
        assert {start["game"] for start in of_type(game, "server", "start")} == {game}


def test_the_examples_have_every_message_but_one_about_other_clients() -> None:
    for side, sender, without in (
        (messages.FromServer, "server", {"seat"}),
        (messages.FromClient, "client", set[str]()),
    ):
        types = {str(kind.__struct_config__.tag) for kind in get_args(side)}
        assert {message["type"] for name in NAMES for message in messages_of(name, sender)} == types - without


def test_the_spectator_finds_its_match_in_the_list_and_its_result_in_the_end() -> None:
    first, second, third = of_type("spectator", "server", "match_list")
    (start,) = of_type("spectator", "server", "start")
    (end,) = of_type("spectator", "server", "end")
    assert ([one["match"] for one in first["matches"]], first["anew"]) == ([start["match"]], True)
    assert [one["ranks"] for one in second["matches"]] == [end["result"]["ranks"]]
    assert third == {"type": "match_list", "cursor": second["cursor"], "matches": []}
    asked = of_type("spectator", "client", "matches")
    assert [each.get("after") for each in asked] == [None, first["cursor"], second["cursor"]]


@pytest.mark.parametrize("game", NAMES)
def test_an_example_shows_what_its_page_says(game: str) -> None:
    row = next(row for row in sections(FOLDER / "README.md")[0].tables[0] if f"({game}.jsonl)" in row[0])
    text = (FOLDER / f"{game}.jsonl").read_text("utf-8")
    named = [name for cell in row[1:] for name in names_in(cell)]
    assert [name for name in named if f'"{name}"' not in text] == []


# -- schemas -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", NAMES)
def test_every_line_of_the_server_keeps_to_its_schema(game: str) -> None:
    schema = validator("FromServer")
    for message in messages_of(game, "server"):
        assert faults(schema, message) == [], message["type"]


@pytest.mark.parametrize("game", NAMES)
def test_a_line_of_the_client_keeps_to_its_schema_unless_it_is_refused_as_no_message(game: str) -> None:
    schema = validator("FromClient")
    for message, answer in answered(records(game)):
        is_refused = answer is not None and NO_MESSAGE.match(answer.get("code", "")) is not None
        assert (faults(schema, message) != []) == is_refused, message


def answered(session: Sequence[Record]) -> Iterator[tuple[Record, Record | None]]:
    """Yield each message of the client with the server's next message, if there is one."""
    for place, record in enumerate(session):
        if record["from"] == "client" and "line" in record:
            following = session[place + 1]
            yield record["line"], following["line"] if following["from"] == "server" else None


# -- fairness ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_the_end_opens_the_commitment_of_the_start_by_the_functions_of_the_page(game: str) -> None:
    functions = checking_functions()
    starts = {start["match"]: start for start in of_type(game, "server", "start")}
    (end,) = of_type(game, "server", "end")
    start = starts[end["match"]]
    assert functions["board_digest"](start) == start["board_digest"]
    assert functions["commitment"](start, end) == start["commitment"]
    assert functions["commitment"](start, end | {"seed": end["salt"]}) != start["commitment"]


# -- laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", NAMES)
def test_an_example_keeps_to_the_laws(game: str) -> None:
    assert broken_laws(records(game)) == []


def broken_laws(session: Sequence[Record]) -> list[str]:
    """Return the numbers of the laws that the lines of a session break, as far as lines can show it."""
    watchdog = Watchdog()
    for record in session:
        if "connection" in record:
            watchdog.sees_new_connection()
        elif record["from"] == "client":
            watchdog.hears_client(record["line"])
        else:
            watchdog.hears_server(record["line"])
    watchdog.sees_the_end()
    return watchdog.broken


@dataclass
class Match:
    """A match as the client has seen it."""

    events: int = 0
    asks: int = 0
    is_open: bool = False  # the last ask
    may_have_ended: bool = False  # the last ask, if its answer went into a connection that broke
    is_resumed: bool = False  # no ask was sent over the new connection yet
    is_over: bool = False


@dataclass
class Watchdog:
    """A reader of all messages that notes the laws which they break."""

    broken: list[str] = field(default_factory=list[str])
    matches: dict[str, Match] = field(default_factory=dict[str, Match])
    acts: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])  # without an answer yet
    last: str = ""  # the type of the server's last line on this connection

    def _law(self, number: int, holds: bool) -> None:
        if not holds:
            self.broken.append(f"L{number}")

    def sees_new_connection(self) -> None:
        for id, ask in self.acts:
            self.matches[id].may_have_ended = self.matches[id].asks == ask
        for match in self.matches.values():
            match.is_resumed = True
        self.acts.clear()
        self.last = ""

    def sees_the_end(self) -> None:
        self._law(1, self.last == "bye")
        self._law(7, not self.acts)
        self._law(8, all(match.is_over for match in self.matches.values()))

    def hears_client(self, message: Record) -> None:
        self._law(7, not self.acts)
        if message["type"] == "act":
            self.acts.append((message["match"], message["ask"]))

    def hears_server(self, message: Record) -> None:
        kind: str = message["type"]
        self._law(1, (kind == "hello") == (self.last == "") and self.last != "bye")
        self._law(
            20, len(json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()) < LONGEST_LINE
        )
        self.last = kind
        if kind in ("ok", "error") and "ask" in message:
            answered = (message["match"], message["ask"])
            self._law(7, answered in self.acts)
            self.acts = [act for act in self.acts if act != answered]
        if kind == "start":
            self._law(3, message["match"] not in self.matches)
            self.matches[message["match"]] = Match()
        elif "match" in message:
            self._law(3, message["match"] in self.matches)
            self._hears_of(self.matches.setdefault(message["match"], Match()), message)

    def _hears_of(self, match: Match, message: Record) -> None:
        kind: str = message["type"]
        self._law(3, not match.is_over or kind == "error")
        is_about_open_ask = match.is_open and message.get("ask") == match.asks
        match kind:
            case "event":
                match.events += 1
                self._law(4, message["number"] == match.events)
            case "ask":
                self._law(5, message["after_event"] == match.events)
                is_next = message["ask"] == match.asks + 1 and (not match.is_open or match.may_have_ended)
                self._law(6, is_next or (match.is_resumed and is_about_open_ask))
                match.asks = message["ask"]
                match.is_open = True
                match.may_have_ended = match.is_resumed = False
            case "ok" | "default":
                self._law(8, is_about_open_ask)
                match.is_open = False
            case "error":
                self._law(9, (message["code"] == "protocol.stale_ask") != is_about_open_ask)
            case "end" | "left":
                self._law(8, not match.is_open or kind == "left")
                match.is_over = True
            case _:
                pass


def place_of(session: Sequence[Record], type_: str, number: int = 0) -> int:
    places = [place for place, each in enumerate(session) if each.get("line", {}).get("type") == type_]
    return places[number]


Change = Callable[[Sequence[Record]], list[Record]]


def replaced(type_: str, number: int, new: Callable[[Record], list[Record]]) -> Change:
    """Return the session with other lines instead of the one with this type and number."""

    def change(session: Sequence[Record]) -> list[Record]:
        place = place_of(session, type_, number)
        return [*session[:place], *new(session[place]), *session[place + 1 :]]

    return change


def without(type_: str, number: int = 0) -> Change:
    return replaced(type_, number, lambda _: [])


def twice(type_: str, number: int = 0) -> Change:
    return replaced(type_, number, lambda record: [record, record])


def altered(type_: str, number: int = 0, **fields: object) -> Change:
    return replaced(type_, number, lambda record: [record | {"line": record["line"] | fields}])


def one_earlier(type_: str, number: int = 0) -> Change:
    def change(session: Sequence[Record]) -> list[Record]:
        place = place_of(session, type_, number)
        return [*session[: place - 1], session[place], session[place - 1], *session[place + 1 :]]

    return change


@pytest.mark.parametrize(
    ("law", "change"),
    [
        pytest.param("L1", without("hello"), id="no hello"),
        pytest.param("L1", twice("hello"), id="hello twice"),
        pytest.param("L1", without("bye"), id="no bye"),
        pytest.param("L1", twice("bye"), id="bye twice"),
        pytest.param("L3", without("start"), id="no start"),
        pytest.param("L3", twice("start"), id="start twice"),
        pytest.param("L3", twice("end"), id="end twice"),
        pytest.param("L4", without("event", 30), id="an event missing"),
        pytest.param("L4", twice("event", 30), id="an event twice"),
        pytest.param("L4", one_earlier("event", 1), id="events in another order"),
        pytest.param("L5", one_earlier("ask", 7), id="an ask before its event"),
        pytest.param("L6", without("ask", 7), id="an ask missing"),
        pytest.param("L6", twice("ask", 7), id="an ask twice"),
        pytest.param("L7", without("ok", 5), id="no ok"),
        pytest.param("L7", twice("ok", 5), id="ok twice"),
        pytest.param("L7", without("error", 1), id="no error"),
        pytest.param("L7", twice("error", 1), id="error twice"),
        pytest.param("L8", twice("default"), id="default twice"),
        pytest.param("L8", without("end"), id="no end"),
        pytest.param("L9", altered("error", 1, code="protocol.stale_ask"), id="stale while open"),
        pytest.param("L9", altered("error", -1, code="game.not_available"), id="not stale when ended"),
        pytest.param("L20", altered("bye", expected="." * LONGEST_LINE), id="a line too long"),
    ],
)
def test_a_session_that_breaks_a_law_is_found_out(law: str, change: Change) -> None:
    """Uses the example with mistakes, because it has errors and a default."""
    assert law in broken_laws(change(records("card_game")))


# -- what happens in them ----------------------------------------------------------------------------


def test_a_refused_act_leaves_a_try_less_and_a_stale_one_costs_nothing() -> None:
    errors = [error for error in of_type("card_game", "server", "error") if "ask" in error]
    assert [(error["code"], error.get("tries")) for error in errors] == [
        ("game.not_available", 2),
        ("game.not_available", 1),
        ("protocol.stale_ask", None),
    ]


def test_a_slow_answer_is_paid_from_the_bank_and_none_at_all_empties_it() -> None:
    clocks = of_type("card_game", "server", "start")[0]["clocks"]
    asks = {ask["ask"]: ask for ask in of_type("card_game", "server", "ask")}
    (slow,) = [ok for ok in of_type("card_game", "server", "ok") if ok["took_ms"] > clocks["move_ms"]]
    assert slow["bank_ms"] == clocks["bank_ms"] - (slow["took_ms"] - clocks["move_ms"])
    (default,) = of_type("card_game", "server", "default")
    assert (default["reason"], default["move"]) == ("time", asks[default["ask"]]["fallback"])
    assert asks[default["ask"] + 1]["bank_ms"] == 0


def test_a_client_that_resumes_gets_the_missing_events_and_the_open_ask() -> None:
    session = records("team_asia")
    breaks = [place for place, record in enumerate(session) if "connection" in record]
    assert [session[place]["connection"] for place in breaks] == [2, 3]
    before = [session[place - 1]["line"] for place in breaks]
    assert [message["type"] for message in before] == ["act", "ask"]
    asks = [next_of_type("ask", session[place:]) for place in breaks]
    assert asks[0]["ask"] == before[0]["ask"] + 1
    assert asks[1] == before[1] | {"move_ms": asks[1]["move_ms"]}
    assert asks[1]["move_ms"] < before[1]["move_ms"]
    assert next_of_type("event", session[breaks[0] :])["event"]["route"] == before[0]["move"]["route"]


def next_of_type(type_: str, session: Sequence[Record]) -> Record:
    line: Record = session[place_of(session, type_)]["line"]
    return line


def test_a_bot_that_wants_no_lists_gets_none_and_names_its_moves() -> None:
    assert all("view" in ask and "legal" not in ask for ask in of_type("team_asia", "server", "ask"))
    assert all("move" in act for act in of_type("team_asia", "client", "act"))
    assert of_type("team_asia", "server", "error") == []


def test_nothing_comes_of_a_match_that_the_client_has_left() -> None:
    first, second = of_type("united_kingdom", "server", "start")
    assert [end["match"] for end in of_type("united_kingdom", "server", "end")] == [first["match"]]
    assert messages_of("united_kingdom", "server")[-2] == {"type": "left", "match": second["match"]}
