"""How the game ends (ASIA-18)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import claim, play, set_hand, set_turn, started

ROUTE = "baroda-karachi"  # white, two spaces


def about_to_claim(left: int, partner: int, seat: int = 0, seats: int = 4) -> State:
    """Start this seat's turn; a claim of two leaves the seat and its partner these numbers of trains."""
    state = started("team_asia", seats)
    set_hand(state, seat, "2 white")
    state.trains[seat] = left + 2
    state.trains[seat ^ 1] = partner
    set_turn(state, seat)
    return state


def play_turn(state: State) -> Events:
    """Draw two cards blind."""
    (seat,) = engine.owing(state)
    events = play(state, seat, moves.DrawCard())
    events += play(state, seat, moves.PlaceCard("hand"))
    return events + play(state, seat, moves.DrawCard())


@pytest.mark.parametrize(("left", "partner"), [(0, 0), (0, 4), (4, 0), (2, 2), (1, 3), (3, 0)])
@pytest.mark.parametrize("seat", [0, 1])
def test_the_last_round_begins_with_no_more_than_four_trains_of_both_partners(
    left: int, partner: int, seat: int
) -> None:
    """ASIA-18."""
    state = about_to_claim(left, partner, seat)
    events = play(state, seat, claim(ROUTE, "2 white"))
    assert ev.LastRound(4) in events
    assert view(state, PUBLIC).turns_left == 4


@pytest.mark.parametrize(("left", "partner"), [(0, 5), (5, 0), (4, 1), (3, 2), (0, 27), (2, 27)])
@pytest.mark.parametrize("seat", [0, 1])
def test_with_five_trains_of_both_partners_the_game_goes_on(left: int, partner: int, seat: int) -> None:
    """ASIA-18."""
    state = about_to_claim(left, partner, seat)
    events = play(state, seat, claim(ROUTE, "2 white"))
    assert ev.LastRound(4) not in events
    assert not view(state, PUBLIC).turns_left


@pytest.mark.parametrize("seats", [4, 6])
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_every_player_has_one_more_turn_and_who_caused_it_has_the_last(seats: int, seat: int) -> None:
    """ASIA-18."""
    state = about_to_claim(1, 1, seat, seats)
    play(state, seat, claim(ROUTE, "2 white"))
    movers: list[int] = []
    while state.pending is not None:
        movers += engine.owing(state)
        play_turn(state)
    assert movers == [(seat + 1 + number) % seats for number in range(seats)]
    assert state.result is not None
    assert state.result.reason == "trains"


def test_a_player_without_trains_ends_nothing_and_plays_on() -> None:
    """ASIA-18."""
    state = about_to_claim(0, 27)
    play(state, 0, claim(ROUTE, "2 white"))
    for seat in (1, 2, 3):
        assert engine.owing(state) == (seat,)
        play_turn(state)
    assert engine.owing(state) == (0,)
    assert ev.LastRound(4) not in play_turn(state)
    assert state.pending is not None


def test_the_trains_of_neighbors_of_different_teams_end_nothing() -> None:
    """ASIA-18."""
    state = about_to_claim(0, 27, seat=1)
    state.trains[2] = 0
    events = play(state, 1, claim(ROUTE, "2 white"))
    events += play_turn(state)
    assert ev.LastRound(4) not in events


def test_a_claim_in_the_last_round_does_not_prolong_it() -> None:
    """ASIA-18."""
    state = about_to_claim(1, 1)
    play(state, 0, claim(ROUTE, "2 white"))
    play_turn(state)
    state.trains[2], state.trains[3] = 2, 0
    set_hand(state, 2, "2 green")
    events = play(state, 2, claim("cawnpore-delhi", "2 green"))
    assert not [event for event in events if isinstance(event, ev.LastRound)]
    assert view(state, PUBLIC).turns_left == 2
