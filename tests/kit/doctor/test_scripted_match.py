"""The doctor's matches are real ones: every line follows the protocol, and every decision occurs."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from stellwerk_engine import engine
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.doctor.patient import clocks, encode, hello, patience
from stellwerk_kit.doctor.scripted_match import (
    DECISIONS,
    ScriptedMatch,
    at_decision,
    in_the_last_round,
    offered_games,
)
from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.messages import Act, EventMessage, FromServer, Wants, Welcome
from stellwerk_protocol.moves import KeepTickets, Pass

GAMES = tuple(RULE_SETS)
MAX_LINE = 60_000  # bytes of a server's line

read = msgspec.json.Decoder(FromServer, strict=True).decode


def messages_of(match: ScriptedMatch) -> list[FromServer]:
    """Return the messages of a whole match, with random moves of the bot."""
    lines: list[FromServer] = [hello(), match.start(clocks(patience(5)), "bot"), *match.news()]
    match.others_move()
    while not match.over:
        lines += [*match.news(), match.ask(1000)]
        match.play_by_chance()
        lines += [match.ok(), *match.news()]
        match.others_move()
    return [*lines, *match.news(), match.end()]


@pytest.mark.parametrize("game", GAMES)
def test_every_line_of_a_match_is_one_of_the_protocol(game: str) -> None:
    for message in messages_of(ScriptedMatch(game, 1, "lines")):
        line = encode(message)
        assert len(line) < MAX_LINE
        assert encode(read(line)) == line


def test_a_welcome_with_all_games_is_one_of_the_protocol() -> None:
    welcome = Welcome("session", "key", "bot", Wants(), offered_games())
    assert read(encode(welcome)) == welcome
    assert {offered.game for offered in welcome.games} == set(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_events_are_numbered_without_a_gap(game: str) -> None:
    lines = messages_of(ScriptedMatch(game, 0, "numbers"))
    numbers = [line.number for line in lines if isinstance(line, EventMessage)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_repeated_events_are_the_same_events() -> None:
    match = ScriptedMatch("usa", 1, "again")
    first = match.news()
    match.others_move()
    match.play_by_chance()
    later = match.news()
    assert later
    assert match.events_after(0) == [*first, *later]
    assert match.events_after(len(first)) == later


def test_a_bot_that_wants_nothing_gets_nothing() -> None:
    match = ScriptedMatch("usa", 1, "wants")
    match.wants = Wants(legal=False, view=False, events=False)
    match.others_move()
    assert match.news() == []
    assert msgspec.to_builtins(match.ask(1000)).keys().isdisjoint({"legal", "legal_complete", "view"})


@pytest.mark.parametrize("game", GAMES)
def test_all_cards_of_others_are_hidden_from_the_bot(game: str) -> None:
    match = ScriptedMatch(game, 1, "hidden")
    dealt = [line.event for line in match.news() if type(line.event).__name__ == "CardsDealt"]
    shown = [event for event in msgspec.to_builtins(dealt) if "cards" in event]
    assert [event["seat"] for event in shown] == [1]


def test_every_kind_of_decision_comes_up() -> None:
    met = {at_decision(kind, game, 1, "doctor").decision for game in GAMES for kind in DECISIONS[game]}
    assert met == {str(kind.__struct_config__.tag) for kind in get_args(Decision)}


@pytest.mark.parametrize("game", GAMES)
def test_a_moment_goes_on_from_where_it_was_kept(game: str) -> None:
    for kind in DECISIONS[game]:
        moment = at_decision(kind, game, 1, "doctor")
        assert moment.decision == kind
        assert 1 in engine.owing(moment.state)
        moment.news()
        moment.play_by_chance()
        assert moment.news()


@pytest.mark.parametrize("game", GAMES)
def test_a_match_in_its_last_round_ends_soon(game: str) -> None:
    match = in_the_last_round(game, 1, "doctor")
    asks = 0
    while not match.over:
        match.play_by_chance()
        match.others_move()
        asks += 1
    assert 1 <= asks <= 30


def test_an_index_and_a_move_are_checked_alike() -> None:
    match = ScriptedMatch("usa", 0, "check")
    match.others_move()
    listed = engine.legal(match.state, 0)
    assert match.check(Act(match.id, 1, index=2)).wire == listed[2].wire
    assert match.check(Act(match.id, 1, move=listed[2].wire)).wire == listed[2].wire
    for act, pointer in (
        (Act(match.id, 1, index=len(listed)), "/index"),
        (Act(match.id, 1, move=Pass()), "/move/type"),
        (Act(match.id, 1, move=KeepTickets(())), "/move/tickets"),
    ):
        with pytest.raises(IllegalMoveError) as caught:
            match.check(act)
        assert caught.value.pointer == pointer


def test_the_same_seed_gives_the_same_match() -> None:
    one, same, other = (encode(messages_of(ScriptedMatch("card_game", 0, seed))) for seed in ("a", "a", "b"))
    assert one == same
    assert one != other
