"""What is on the wire is what the types, and so the schemas, say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.knowledge.view import view
from stellwerk_protocol.messages import Act, Ask, Error, Leave, Ping, Pong, Watch
from stellwerk_protocol.schemas import bundle, single_schema
from stellwerk_server.match.lines import ask_line, line, lines
from stellwerk_server.operate.settings import Time
from tests.properties.playing import Line, Variant, examples, moments
from tests.properties.playing import lines as courses
from tests.server.support import EVERY_GAME, World, decode, encode, peek
from tests.support import every_variant, variant_id

LONGEST = 60_000  # so that readers with a buffer of 64 KiB need not think about it


@every_variant
@examples(2)
@given(course=courses)
def test_an_ask_put_together_from_texts_is_the_encoding_of_its_struct(variant: Variant, course: Line) -> None:
    for state in moments(variant, course, 4):
        for seat in engine.owing(state):
            legal = engine.legal(state, seat)
            fallback = engine.fallback(state, seat)
            seen = view(state, seat)
            assert seen.pending is not UNSET
            for wants_view in (True, False):
                for wants_legal in (True, False):
                    whole = Ask(
                        match="a-match",
                        ask=7,
                        after_event=21,
                        decision=seen.pending,
                        move_ms=999,
                        bank_ms=0,
                        tries=3,
                        fallback=fallback.wire,
                        view=seen if wants_view else UNSET,
                        legal=tuple(move.wire for move in legal) if wants_legal else UNSET,
                        legal_complete=engine.legal_complete(state, seat) if wants_legal else UNSET,
                    )
                    line = ask_line(
                        match="a-match",
                        ask=7,
                        after_event=21,
                        decision=seen.pending,
                        move_ms=999,
                        bank_ms=0,
                        tries=3,
                        fallback=fallback,
                        view=seen if wants_view else None,
                        legal=legal if wants_legal else None,
                        legal_complete=engine.legal_complete(state, seat),
                    )
                    assert line == encode(whole) + b"\n"
                    assert decode(line) == whole
                    assert len(line) < LONGEST


def test_many_lines_are_each_a_line() -> None:
    messages = [Pong(number) for number in range(3)]
    assert lines(messages) == b"".join(line(message) for message in messages)
    assert lines([]) == b""


@cache
def lines_of_a_match(variant: Variant) -> tuple[bytes, ...]:
    """Return all that the players and a spectator of a whole match were sent, with all that can go wrong."""
    world = World(time=Time(move_ms=500, bank_ms=500))
    clients = world.seated(variant, max_matches=2)
    spectator = world.player("spectator")
    spectator.say(Watch(clients[0].match))
    spectator.say(b"nonsense", Ping(1), b'{"type":"join","game":"usa","players":4}')
    clients[0].say(Act(clients[0].match, 1, index=999), Act(clients[0].match, 77, index=0))
    world.play_turns(clients, 20)
    clients[1].drop()
    world.wait(2_000)
    clients[1] = clients[1].resume()
    world.play_turns(clients, 20)
    world.wait(2_000)
    clients[-1].say(Leave(match=clients[0].match))
    world.play(clients[:-1])
    return tuple(text for client in world.clients.values() for text in client.lines)


@pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)
def test_every_line_of_a_match_is_read_back_and_written_again_as_it_was(variant: Variant) -> None:
    kinds: set[str] = set()
    for text in lines_of_a_match(variant):
        message = decode(text)
        assert encode(message) + b"\n" == text
        assert len(text) < LONGEST
        kinds.add(peek(text).type)
    assert kinds >= {"hello", "welcome", "joined", "start", "event", "ask", "ok", "error", "default"}
    assert kinds >= {"seat", "left", "end", "pong"}


@pytest.mark.parametrize("variant", EVERY_GAME, ids=variant_id)
def test_the_lines_of_a_match_keep_to_the_schema(variant: Variant) -> None:
    """The first of each kind of message, of event and of decision, and then every so many."""
    schema = Draft202012Validator(single_schema(bundle(), "FromServer"))
    for text in _some(lines_of_a_match(variant)):
        # the stub of jsonschema leaves a parameter of an overload untyped
        errors = schema.iter_errors(json.loads(text))  # pyright: ignore[reportUnknownMemberType]
        assert [error.message[:300] for error in errors] == []


def _some(lines: tuple[bytes, ...]) -> Iterator[bytes]:
    seen: set[tuple[str, ...]] = set()
    for number, text in enumerate(lines):
        message: dict[str, Any] = json.loads(text)  # Any: that is what JSON holds
        inner: dict[str, Any] = message.get("event", message.get("decision", {}))
        kind = (message["type"], inner.get("type", ""), message.get("code", ""), message.get("reason", ""))
        if kind not in seen or number % 97 == 0:
            seen.add(kind)
            yield text


def test_texts_of_a_client_in_an_error_stay_short() -> None:
    """Quotes of them in an error stay within the bounds of the fields."""
    world = World()
    client = world.player("player")
    name = b"x" * 10_000
    for text in (
        b'{"type":"%b"}' % name,
        b'{"type":"ping","%b":1}' % name,
        b'{"type":"join","game":"%b","players":2}' % name,
        b'{"type":"join","game":"usa","players":2,"options":["%b"]}' % name[:30],
        b'{"type":"ready","match":"%b"}' % name[:64],
    ):
        (error,) = client.say(text)
        assert isinstance(error, Error)
        assert len(client.lines[-1]) < 1_000
