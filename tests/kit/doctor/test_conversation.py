"""The unusual forms of the doctor's messages are still allowed for a server."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.doctor.conversation import (
    LONGEST_LINE,
    padded,
    respelled,
    with_carriage_return,
    with_unknown_fields,
)
from stellwerk_kit.doctor.login_steps import LONG_ID
from stellwerk_kit.doctor.patient import clocks, encode, hello, patience
from stellwerk_kit.doctor.scripted_match import DECISIONS, at_decision, offered_games
from stellwerk_protocol.messages import Ask, FromServer, Wants, Welcome


def messages(game: str) -> list[FromServer]:
    """Return the longest messages, besides `hello`."""
    moments = [at_decision(kind, game, 0, "doctor") for kind in DECISIONS[game]]
    welcome = Welcome("session", "key", "bot", Wants(), offered_games())
    asks = [moment.ask(1000) for moment in moments]
    return [hello(), welcome, moments[0].start(clocks(patience(5)), "bot"), *asks]


@pytest.mark.parametrize("game", RULE_SETS)
@pytest.mark.parametrize("change", [respelled, with_carriage_return, with_unknown_fields, padded])
def test_a_line_stays_one_line_and_within_its_limit(change: Callable[[FromServer], bytes], game: str) -> None:
    for message in messages(game):
        line = change(message)
        assert b"\n" not in line
        assert len(line) + 1 <= LONGEST_LINE < 60_000
        message = json.loads(line)
        known = json.loads(encode(message))
        assert {name: message[name] for name in known} == known


@pytest.mark.parametrize("game", RULE_SETS)
def test_an_ask_is_padded_to_the_longest_line_that_there_is(game: str) -> None:
    lengths = {len(padded(message)) + 1 for message in messages(game) if isinstance(message, Ask)}
    assert lengths == {LONGEST_LINE}


def test_the_longest_id_is_one() -> None:
    assert len(LONG_ID) == 64
    assert set(LONG_ID) <= set("0123456789_-x")


@pytest.mark.parametrize("game", RULE_SETS)
def test_a_game_has_the_decisions_that_it_is_said_to_have(game: str) -> None:
    met = {at_decision(kind, game, 0, "doctor").decision for kind in DECISIONS[game]}
    assert met == set(DECISIONS[game])
