"""How the base game ends (USA-14)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import claim, play, refused, set_hand, set_turn, started


def with_trains(trains: int, seats: int = 2, seat: int = 0) -> State:
    """Start this seat's turn with so many trains left and the cards for a claim of two."""
    state = started("usa", seats)
    set_hand(state, seat, "2 red")
    state.trains[seat] = trains
    set_turn(state, seat)
    return state


def play_turn(state: State) -> Events:
    """Draw two cards blind."""
    seat = engine.owing(state)[0]
    return play(state, seat, moves.DrawCard()) + play(state, seat, moves.DrawCard())


@pytest.mark.parametrize("left", [0, 1, 2])
def test_the_last_round_begins_with_no_more_than_two_trains_left(left: int) -> None:
    """USA-14."""
    state = with_trains(left + 2)
    events = play(state, 0, claim("boston-new_york-red", "2 red"))
    assert events[-2:] == [ev.LastRound(2), ev.TurnStarted(1, 2, turns_left=2)]
    assert view(state, PUBLIC).turns_left == 2


def test_with_three_trains_left_the_game_goes_on() -> None:
    """USA-14."""
    state = with_trains(5)
    events = play(state, 0, claim("boston-new_york-red", "2 red"))
    assert events[-1] == ev.TurnStarted(1, 2)
    assert not view(state, PUBLIC).turns_left


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize("seat", [0, 1])
def test_every_player_has_one_more_turn_and_who_caused_it_has_the_last(seats: int, seat: int) -> None:
    """USA-14."""
    state = with_trains(4, seats, seat)
    play(state, seat, claim("boston-new_york-red", "2 red"))
    movers: list[int] = []
    while state.pending is not None:
        movers += engine.owing(state)
        play_turn(state)
    assert movers == [(seat + 1 + number) % seats for number in range(seats)]


def test_who_caused_the_last_round_may_claim_with_the_trains_left() -> None:
    """USA-14."""
    state = with_trains(3)
    play(state, 0, claim("boston-new_york-red", "2 red"))
    play_turn(state)
    set_hand(state, 0, "blue")
    events = play(state, 0, claim("dallas-houston-1", "blue"))
    assert isinstance(events[-1], ev.GameEnded)


def test_the_turns_of_the_last_round_are_counted_down() -> None:
    """USA-14."""
    state = with_trains(4, seats=3)
    play(state, 0, claim("boston-new_york-red", "2 red"))
    assert play_turn(state)[-1] == ev.TurnStarted(2, 3, turns_left=2)
    assert play_turn(state)[-1] == ev.TurnStarted(0, 4, turns_left=1)
    ended = play_turn(state)[-1]
    assert isinstance(ended, ev.GameEnded)
    assert ended.result.reason == "trains"
    assert ended.result.turns == 4
    assert engine.owing(state) == ()


def test_the_trains_are_counted_after_any_turn() -> None:
    """USA-14."""
    state = with_trains(2)
    assert ev.LastRound(2) in play_turn(state)


def test_nobody_moves_after_the_end() -> None:
    """USA-14."""
    state = with_trains(4)
    state.turns_left = 1
    play_turn(state)
    assert view(state, PUBLIC).result == state.result
    assert refused(state, 0, moves.DrawCard()) == "game.over"
    assert refused(state, 1, moves.Pass()) == "game.over"
