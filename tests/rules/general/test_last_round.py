"""When the last round begins, and that it is not prolonged (GEN-08)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.support import (
    buy,
    claim,
    play,
    set_hand,
    set_market,
    set_pile,
    started,
)


def last_rounds(events: Events) -> list[ev.Event]:
    return [event for event in events if isinstance(event, ev.LastRound)]


def test_what_happens_in_the_last_round_does_not_prolong_it() -> None:
    """GEN-08: others run out of trains in it, and who began it does again."""
    state = started("usa", 3)
    events: Events = []
    for seat in range(3):
        set_hand(state, seat, "2 red, 2 blue")
        state.trains[seat] = 4
    events += play(state, 0, claim("boston-new_york-red", "2 red"))
    events += play(state, 1, claim("dallas-oklahoma_city-1", "2 red"))
    events += play(state, 2, claim("raleigh-washington-1", "2 red"))
    events += play(state, 0, claim("kansas_city-saint_louis-blue", "2 blue"))
    assert last_rounds(events) == [ev.LastRound(3)]
    assert state.result
    assert state.result.turns == 4


@pytest.mark.parametrize("first", [moves.DrawCard(), moves.TakeCard("red")])
def test_a_turn_in_which_the_pile_runs_out_is_played_to_its_end(first: moves.Move) -> None:
    """GEN-08: in the card game the second card is still taken, and only then begins the last round."""
    state = started("card_game", 2)
    set_hand(state, 0, "")
    set_market(state, "4 red, blue")
    set_pile(state, "white")
    assert not last_rounds(play(state, 0, first))
    assert isinstance(view(state, PUBLIC).pending, decisions.SecondCard)
    assert not view(state, PUBLIC).turns_left
    events = play(state, 0, moves.TakeCard("red"))
    assert events[-2:] == [ev.LastRound(2), ev.TurnStarted(1, 2, turns_left=2)]


def test_a_turn_with_two_claims_is_played_to_its_end() -> None:
    """GEN-08: the first of them leaves too few trains, and still the second is made."""
    state = started("united_kingdom", 2, ("advanced_technologies",))
    set_hand(state, 0, "2 red, blue, locomotive")
    state.trains[0] = 3
    play(state, 0, buy("thermocompressor", "locomotive"))
    assert not last_rounds(play(state, 0, claim("cambridge-norwich", "2 red")))
    assert engine.owing(state) == (0,)
    events = play(state, 0, claim("brighton-london", "blue"))
    assert view(state, PUBLIC).players[0].trains == 0
    assert events[-2:] == [ev.LastRound(2), ev.TurnStarted(1, 2, turns_left=2)]


def test_the_trains_are_counted_when_the_turn_has_ended() -> None:
    """GEN-08."""
    state = started("usa", 2)
    set_hand(state, 0, "2 red")
    state.trains[0] = 4
    kinds = [type(event) for event in play(state, 0, claim("boston-new_york-red", "2 red"))]
    assert kinds == [ev.RouteClaimed, ev.LastRound, ev.TurnStarted]


def test_a_turn_whose_tickets_are_still_to_be_chosen_has_not_ended() -> None:
    """GEN-08."""
    state = started("usa", 2)
    state.trains[0] = 2
    assert not last_rounds(play(state, 0, moves.DrawTickets()))
    assert last_rounds(play(state, 0, engine.fallback(state, 0).wire)) == [ev.LastRound(2)]


def test_of_a_team_the_turn_that_leaves_too_few_trains_begins_the_last_round_once() -> None:
    """GEN-08: the partner's turn comes next and begins no other."""
    state = started("team_asia", 4)
    state.trains[0], state.trains[1] = 3, 2
    events: Events = []
    set_hand(state, 0, "red")
    events += play(state, 0, claim("calcutta-dacca-red", "red"))
    for seat in (1, 2, 3, 0):
        set_market(state, "5 locomotive")
        events += play(state, seat, moves.TakeCard("locomotive"))
    assert last_rounds(events) == [ev.LastRound(4)]
    assert state.result
    assert state.result.turns == 5


def test_in_the_card_game_the_last_round_begins_once() -> None:
    """GEN-08: the pile stays empty all the while."""
    state = started("card_game", 2)
    set_market(state, "2 red, 3 blue")
    set_pile(state, "white")
    events = play(state, 0, moves.DrawCard())
    events += play(state, 0, moves.Stop())
    for seat in (1, 0):
        set_hand(state, seat, "2 red")
        events += play(state, seat, moves.TakeCard("blue"))
        events += play(state, seat, moves.Stop())
    assert last_rounds(events) == [ev.LastRound(2)]
    assert isinstance(view(state, PUBLIC).pending, decisions.CompleteTickets)
