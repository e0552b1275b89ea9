"""The table of the errors that may answer each message is complete, and has none that cannot come.

That no other error comes is checked at every line of every test with a `World` (`World.receive`). Here each
error of the table comes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Final

import pytest

from stellwerk_kit.vectors import conformance_folder
from stellwerk_protocol.error_codes import ANSWERS, CURES
from stellwerk_protocol.messages import Error, Join, ListMatches, Login, Ping
from stellwerk_server.lobby.tokens import TokenHolder, Tokens
from stellwerk_server.operate.settings import Limits
from tests.server.lobby.test_phases import LEGAL, LINES, MESSAGES, PHASE, TABLE, VALUE
from tests.server.support import Client, World, codes

TOKENS: Final = Tokens((TokenHolder("Ann", sha256(b"ann's").hexdigest(), is_organizer=False),))
PRACTICE: Final = Join("usa", 2, against=("first",))


def no_disk(match: str) -> None:
    raise OSError("no space")


def a_bug(match: str) -> None:
    raise ZeroDivisionError


def login(fields: Login, tokens: Tokens | None = None, *, is_private: bool = True) -> list[str]:
    world = World(tokens=tokens)
    if tokens is None:
        world.player("taken")
    return codes(world.connect(is_private=is_private).say(fields))


def login_too_late() -> list[str]:
    world = World()
    world.lobby.drain()
    return codes(world.connect().say(Login(1, "late")))


def join_too_late() -> list[str]:
    world = World()
    client = world.player("player", max_matches=2)
    client.say(PRACTICE)
    world.lobby.drain()
    return codes(client.say(PRACTICE))


def matches_without_a_token() -> list[str]:
    world = World(tokens=TOKENS)
    client = world.connect()
    client.login("Ann", token="ann's")
    client.say(PRACTICE)
    world.lobby.logins.take_tokens(Tokens(()), world.now)
    return codes(client.say(ListMatches()))


def act_on_a_full_disk() -> list[str]:
    """Let the first answer wait for the disk, and send a second one."""
    world = World()
    first, second = world.seated()
    world.journal_of(first).is_full = True
    assert first.act(0) == []
    return codes(second.act(0))


def act_in_a_match_that_fails() -> list[str]:
    world = World()
    player = world.practice("broken")
    world.play([player])
    return [error.code for error in player.all_of(Error)]


def too_many() -> list[str]:
    client = World(limits=Limits(messages_a_second=1, burst=2)).player("hasty")
    return codes(client.say(*[Ping()] * 4))


def too_long() -> list[str]:
    client = World().player("player")
    client.world.lobby.overlong(client.connection)
    client.world.flush()
    return codes(client.news())


def joined(client: Client) -> list[str]:
    return codes(client.say(PRACTICE))


OCCASIONS: Final[dict[tuple[str, str], Callable[[], list[str]]]] = {
    ("", "protocol.too_fast"): too_many,
    ("", "wire.too_long"): too_long,
    ("login", "protocol.version"): lambda: login(Login(2, "new")),
    ("login", "auth.name_taken"): lambda: login(Login(1, "taken")),
    ("login", "auth.bad_token"): lambda: login(Login(1, "Ann", token="ben's"), TOKENS),
    ("login", "auth.token_needs_tls"): lambda: login(
        Login(1, "Ann", token="ann's"), TOKENS, is_private=False
    ),
    ("login", "server.shutting_down"): login_too_late,
    ("join", "auth.not_allowed"): lambda: joined(World(may_join=False).player("player")),
    ("join", "server.busy"): lambda: joined(World(open_journal=no_disk).player("player")),  # type: ignore[arg-type]
    ("join", "server.failed"): lambda: joined(World(open_journal=a_bug).player("player")),  # type: ignore[arg-type]
    ("join", "server.full"): lambda: joined(World(limits=Limits(matches=0)).player("player")),
    ("join", "server.shutting_down"): join_too_late,
    ("act", "server.busy"): act_on_a_full_disk,
    ("act", "server.failed"): act_in_a_match_that_fails,
    ("matches", "auth.not_allowed"): matches_without_a_token,
}

TYPES: Final = {"practice": "join", "resume": "login", "watch_all_hands": "watch"}


def seen_elsewhere() -> set[tuple[str, str]]:
    """Return the errors that other tests make come: those of the phases, of wrong lines, and of moves."""
    by_phase = {
        (TYPES.get(message, message.partition("_")[0]), code)
        for row in TABLE.values()
        for message, code in zip(MESSAGES, row, strict=True)
        if code not in (LEGAL, PHASE, VALUE)
    }
    refused_moves = {
        ("act", refused["code"])
        for file in (conformance_folder() / "vectors" / "rules").glob("*.jsonl")
        for line in file.read_text("utf-8").splitlines()
        for refused in json.loads(line).get("refused", [])
    }
    return by_phase | refused_moves | {("", code) for _, code in LINES} | {("", PHASE), ("", VALUE)}


@pytest.mark.parametrize(("message", "code"), OCCASIONS)
def test_an_error_of_the_table_comes(message: str, code: str) -> None:
    assert code in OCCASIONS[message, code]()


def test_every_error_of_the_table_comes_in_one_of_these_tests() -> None:
    assert {(message, code) for message, errors in ANSWERS.items() for code in errors} == (
        seen_elsewhere() | OCCASIONS.keys()
    )


def test_the_table_has_every_message_and_leaves_out_what_only_a_bye_has() -> None:
    assert {kind for kind in ANSWERS if kind} == {
        TYPES.get(name, name.partition("_")[0]) for name in MESSAGES
    }
    named = {code for errors in ANSWERS.values() for code in errors}
    assert CURES.keys() - named == {
        *("game.over", "game.not_asked"),  # of the rules without a server
        *("auth.login_timeout", "server.too_slow", "server.taken_over"),
    }
