"""When the pile runs out (CARD-12)."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, Seat, State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.support import (
    listed,
    listed_as,
    play,
    refused,
    set_hand,
    set_market,
    set_pile,
    set_yard,
    started,
    wire,
)

each_table = pytest.mark.parametrize("seats", [2, 3, 4])


def with_pile(*pile: str, market: str, seats: int = 2) -> State:
    """Seat 0 is to move; all hands are empty. All cards that are not in pile or market are discards."""
    state = started("card_game", seats)
    for seat in range(seats):
        set_hand(state, seat, "")
    set_market(state, market)
    set_pile(state, *pile)
    state.discards, state.hands[-1] = state.hands[-1], 0
    return state


def idle_turn(state: State) -> tuple[Seat, Events]:
    """Draw tickets and keep none."""
    (seat,) = engine.owing(state)
    return seat, play(state, seat, moves.DrawTickets()) + play(state, seat, moves.KeepTickets(()))


# -- the trigger -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pile", "market", "turn"),
    [
        (["white"], "5 red", [moves.DrawCard(), moves.Stop()]),
        (["white"], "5 red", [moves.DrawCard(), moves.TakeCard("red")]),
        (["white", "black"], "5 red", [moves.DrawCard(), moves.DrawCard()]),
        (["white"], "5 red", [moves.TakeCard("red"), moves.Stop()]),  # laid open as a replacement
        (["white"], "5 red", [moves.TakeCard("red"), moves.TakeCard("white")]),
        (["white", "black"], "5 red", [moves.TakeCard("red"), moves.TakeCard("red")]),
        (["white", "black"], "5 red", [moves.TakeCard("red"), moves.DrawCard()]),
        (["white"], "4 red, locomotive", [moves.TakeCard("locomotive")]),
    ],
)
def test_the_last_card_of_the_pile_brings_the_last_round(
    pile: list[str], market: str, turn: list[moves.Move]
) -> None:
    """CARD-12: drawn, or laid open in the market."""
    state = with_pile(*pile, market=market)
    events = [event for move in turn for event in play(state, 0, move)]
    assert events[-2:] == [ev.LastRound(2), ev.TurnStarted(1, 2, turns_left=2)]
    assert view(state, 0).pile == 0
    assert view(state, 0).turns_left == 2


def test_with_a_card_left_in_the_pile_it_is_not_yet_the_last_round() -> None:
    """CARD-12."""
    state = with_pile("white", "black", market="5 red")
    play(state, 0, moves.TakeCard("red"))
    events = play(state, 0, moves.Stop())
    assert events[-1] == ev.TurnStarted(1, 2)
    assert view(state, 0).pile == 1
    assert view(state, 0).turns_left is UNSET


def test_the_turn_that_takes_the_last_card_is_played_to_its_end() -> None:
    """CARD-12, GEN-08."""
    state = with_pile("white", market="5 red")
    events = play(state, 0, moves.DrawCard())
    assert not any(isinstance(event, ev.LastRound) for event in events)
    assert engine.owing(state) == (0,)
    assert view(state, 0).turns_left is UNSET
    assert set(listed(state, 0)) == {moves.TakeCard("red"), moves.Stop()}


# -- the round ---------------------------------------------------------------------------------------


@each_table
def test_each_has_one_more_turn_who_took_the_last_card_too(seats: int) -> None:
    """CARD-12."""
    state = with_pile("white", market="5 red", seats=seats)
    idle_turn(state)
    play(state, 1, moves.DrawCard())
    play(state, 1, moves.Stop())
    turns_left: list[object] = []
    order: list[Seat] = []
    for _ in range(seats):
        turns_left.append(view(state, PUBLIC).turns_left)
        order.append(idle_turn(state)[0])
    assert order == [*range(2, seats), 0, 1]
    assert turns_left == list(range(seats, 0, -1))
    everybody = tuple(range(seats))
    assert view(state, PUBLIC).pending == decisions.CompleteTickets(everybody, "pile")
    assert engine.owing(state) == everybody


def test_a_turn_of_the_last_round_has_both_phases() -> None:
    """CARD-12, CARD-04."""
    state = with_pile("white", market="5 red")
    set_yard(state, 1, "2 blue")
    play(state, 0, moves.DrawCard())
    assert play(state, 0, moves.Stop())[-1] == ev.CardsSent(1, wire("blue"))


def test_the_last_round_is_announced_once_and_nothing_makes_it_longer() -> None:
    """CARD-12, GEN-08."""
    state = with_pile("white", market="5 red", seats=3)
    events = play(state, 0, moves.DrawCard()) + play(state, 0, moves.Stop())
    for seat in (1, 2, 0):
        events += play(state, seat, moves.TakeCard("red"))
        events += play(state, seat, moves.Stop())
    assert [event for event in events if isinstance(event, ev.LastRound)] == [ev.LastRound(3)]
    started_turns = [(e.seat, e.turns_left) for e in events if isinstance(e, ev.TurnStarted)]
    assert started_turns == [(1, 3), (2, 2), (0, 1)]
    assert isinstance(view(state, 0).pending, decisions.CompleteTickets)


# -- no new pile -------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [moves.DrawCard(), moves.TakeCard("red")])
def test_the_discards_are_not_shuffled_in(first: moves.Move) -> None:
    """CARD-12."""
    state = with_pile("white", market="5 red")
    discards = view(state, 0).discards
    assert discards.red > 0
    events = play(state, 0, first)
    events += play(state, 0, moves.TakeCard("red"))
    assert not any(isinstance(event, ev.PileShuffled) for event in events)
    assert view(state, 0).pile == 0
    assert view(state, 0).discards == discards


def test_cards_of_a_raid_in_the_last_round_stay_discards_too() -> None:
    """CARD-12, CARD-10."""
    state = with_pile("white", market="4 red")
    set_yard(state, 0, "2 blue", locomotives_on="blue")
    set_hand(state, 1, "4 blue")
    discards = state.discards
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.Stop())
    events = play(state, 1, moves.LayCards(wire("4 blue")))
    assert ev.Raided(0, "blue", wire("2 blue, locomotive")) in events
    assert not any(isinstance(event, ev.PileShuffled | ev.CardsLaidOpen) for event in events)
    shown = view(state, 0)
    assert shown.pile == 0
    assert shown.market == wire("4 red")
    assert state.discards != discards
    assert shown.turns_left == 1


def test_the_market_is_not_filled_any_more() -> None:
    """CARD-12."""
    state = with_pile("white", market="5 red")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.TakeCard("red"))
    play(state, 1, moves.TakeCard("red"))
    play(state, 1, moves.TakeCard("red"))
    assert view(state, 0).market == wire("2 red")


# -- the last cards ----------------------------------------------------------------------------------


@pytest.mark.parametrize("market", ["", "locomotive"])
def test_a_single_last_card_of_the_pile_may_be_taken(market: str) -> None:
    """CARD-07, CARD-12: there is no second one, because an open locomotive can only be the first."""
    state = with_pile("white", market=market)
    assert moves.DrawCard() in listed(state, 0)
    events = play(state, 0, moves.DrawCard())
    assert events[-1] == ev.TurnStarted(1, 2, turns_left=2)
    assert view(state, 0).players[0].hand == wire("white")


def test_a_single_last_open_card_may_be_taken() -> None:
    """CARD-12."""
    state = with_pile("white", market="green")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.Stop())
    assert listed_as(state, 1, moves.TakeCard) == [moves.TakeCard("green")]
    play(state, 1, moves.TakeCard("green"))
    assert engine.owing(state) == (0,)


def test_without_a_pile_open_cards_can_be_taken_and_none_drawn() -> None:
    """CARD-12."""
    state = with_pile("white", market="2 green, locomotive")
    play(state, 0, moves.DrawCard())
    assert refused(state, 0, moves.DrawCard()) == "game.not_available"
    play(state, 0, moves.Stop())
    assert refused(state, 1, moves.DrawCard()) == "game.not_available"
    assert moves.DrawCard() not in listed(state, 1)
    play(state, 1, moves.TakeCard("green"))
    play(state, 1, moves.TakeCard("green"))
    assert view(state, 1).players[1].hand == wire("2 green")


def test_with_no_open_card_and_no_pile_no_cards_are_drawn() -> None:
    """CARD-12."""
    state = with_pile("white", market="")
    set_hand(state, 1, "2 blue")
    play(state, 0, moves.DrawCard())
    assert set(listed(state, 1)) == {moves.LayCards(wire("2 blue")), moves.DrawTickets()}
    assert refused(state, 1, moves.DrawCard()) == "game.not_available"
    assert refused(state, 1, moves.TakeCard("red")) == "game.not_available"
    assert refused(state, 1, moves.Pass()) == "game.not_available"
