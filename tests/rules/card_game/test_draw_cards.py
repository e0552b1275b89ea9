"""Phase 2 of a turn is one action; action A: drawing train cards (CARD-06, CARD-07)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.support import (
    cards,
    listed,
    listed_as,
    play,
    refused,
    set_hand,
    set_market,
    set_pile_top,
    started,
    wire,
)


def at_the_market(open_cards: str, *pile: str, hand: str = "") -> State:
    """Seat 0 is to move with this hand; these cards are open, and these come next."""
    state = started("card_game", 2)
    set_hand(state, 0, "")
    set_hand(state, 1, "")
    set_market(state, open_cards)
    set_hand(state, 0, hand)
    set_pile_top(state, *pile)
    return state


# -- exactly one action ------------------------------------------------------------------------------


def test_there_are_three_actions() -> None:
    """CARD-06."""
    state = at_the_market("5 red", hand="2 blue")
    assert {type(move) for move in listed(state, 0)} == {
        moves.DrawCard,
        moves.TakeCard,
        moves.LayCards,
        moves.DrawTickets,
    }


def test_an_action_has_to_be_taken() -> None:
    """CARD-06, GEN-05."""
    state = at_the_market("5 red")
    assert refused(state, 0, moves.Pass()) == "game.not_available"


@pytest.mark.parametrize(
    "other",
    [
        moves.ClaimRoute("chicago-dallas", wire("red")),
        moves.ShareTickets(("chicago-dallas",)),
        moves.BuyTechnology("booster", wire("2 locomotive")),
        moves.CompleteTickets(()),
        moves.KeepTickets(()),
        moves.Stop(),
    ],
)
def test_there_is_no_other_action(other: moves.Move) -> None:
    """CARD-06."""
    assert refused(at_the_market("5 red", hand="2 locomotive, red"), 0, other) == "game.wrong_move"


def test_after_drawing_cards_the_turn_is_over() -> None:
    """CARD-06."""
    state = at_the_market("5 red", hand="2 blue")
    play(state, 0, moves.DrawCard())
    for other in (moves.LayCards(wire("2 blue")), moves.DrawTickets(), moves.Pass()):
        assert refused(state, 0, other) == "game.wrong_move"
    play(state, 0, moves.DrawCard())
    assert engine.owing(state) == (1,)


def test_after_laying_cards_the_turn_is_over() -> None:
    """CARD-06."""
    state = at_the_market("5 red", hand="2 blue, 2 green")
    play(state, 0, moves.LayCards(wire("2 blue")))
    assert engine.owing(state) == (1,)


def test_after_drawing_tickets_the_turn_is_over() -> None:
    """CARD-06."""
    state = at_the_market("5 red", hand="2 blue")
    play(state, 0, moves.DrawTickets())
    for other in (moves.LayCards(wire("2 blue")), moves.DrawCard(), moves.DrawTickets()):
        assert refused(state, 0, other) == "game.wrong_move"
    play(state, 0, moves.KeepTickets(()))
    assert engine.owing(state) == (1,)


# -- one or two cards --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "hand"),
    [
        (moves.DrawCard(), moves.DrawCard(), "white, black"),
        (moves.DrawCard(), moves.TakeCard("red"), "white, red"),
        (moves.TakeCard("red"), moves.DrawCard(), "red, black"),
        (moves.TakeCard("red"), moves.TakeCard("blue"), "red, blue"),
        (moves.TakeCard("red"), moves.TakeCard("red"), "2 red"),
    ],
)
def test_two_cards_are_drawn_each_open_or_blind(first: moves.Move, second: moves.Move, hand: str) -> None:
    """CARD-07."""
    state = at_the_market("2 red, 2 blue, green", "white", "black", "yellow")
    play(state, 0, first)
    assert engine.owing(state) == (0,)
    play(state, 0, second)
    assert view(state, 0).players[0].hand == wire(hand)
    assert engine.owing(state) == (1,)
    assert state.turn == 2


@pytest.mark.parametrize(("first", "hand"), [(moves.DrawCard(), "white"), (moves.TakeCard("blue"), "blue")])
def test_one_card_is_enough(first: moves.Move, hand: str) -> None:
    """CARD-07."""
    state = at_the_market("2 red, 2 blue, green", "white", "black")
    play(state, 0, first)
    decision = view(state, 0).pending
    assert isinstance(decision, decisions.SecondCard)
    assert decision.may_stop
    assert moves.Stop() in listed(state, 0)
    events = play(state, 0, moves.Stop())
    assert events == [ev.Stopped(0), ev.TurnStarted(1, 2)]
    assert view(state, 0).players[0].hand == wire(hand)


def test_no_card_is_not_enough() -> None:
    """CARD-07."""
    state = at_the_market("5 red")
    assert refused(state, 0, moves.Stop()) == "game.wrong_move"
    assert moves.Stop() not in listed(state, 0)


def test_there_is_no_third_card() -> None:
    """CARD-07."""
    state = at_the_market("5 red")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.DrawCard())
    assert refused(state, 0, moves.DrawCard()) == "game.not_asked"


def test_an_open_card_is_replaced_before_the_second_card() -> None:
    """CARD-07."""
    state = at_the_market("2 red, 2 blue, green", "white", "black")
    events = play(state, 0, moves.TakeCard("red"))
    assert events[:2] == [ev.CardTaken(0, "red", "hand"), ev.CardsLaidOpen(wire("white"))]
    assert view(state, 1).market == wire("red, 2 blue, green, white")
    play(state, 0, moves.TakeCard("white"))
    assert view(state, 1).market == wire("red, 2 blue, green, black")


def test_a_blind_card_leaves_the_market_as_it_is_and_is_secret() -> None:
    """CARD-07."""
    state = at_the_market("2 red, 2 blue, green", "white")
    left = len(state.pile)
    play(state, 0, moves.DrawCard())
    shown = view(state, 1)
    assert shown.market == wire("2 red, 2 blue, green")
    assert shown.pile == left - 1
    assert shown.players[0].hand_count == 1
    assert shown.players[0].known_cards == wire("")


def test_only_an_open_color_can_be_taken() -> None:
    """CARD-07."""
    state = at_the_market("2 red, 2 blue, green", "white")
    assert {move.card for move in listed_as(state, 0, moves.TakeCard)} == {"red", "blue", "green"}
    assert refused(state, 0, moves.TakeCard("white")) == "game.not_available"
    play(state, 0, moves.DrawCard())
    assert refused(state, 0, moves.TakeCard("yellow")) == "game.not_available"


# -- locomotives -------------------------------------------------------------------------------------


def test_an_open_locomotive_ends_the_action() -> None:
    """CARD-07."""
    state = at_the_market("locomotive, 4 red", "white")
    play(state, 0, moves.TakeCard("locomotive"))
    assert view(state, 1).players[0].known_cards == wire("locomotive")
    assert view(state, 1).market == wire("4 red, white")
    assert engine.owing(state) == (1,)


@pytest.mark.parametrize("first", [moves.DrawCard(), moves.TakeCard("red")])
def test_an_open_locomotive_is_not_taken_as_the_second_card(first: moves.Move) -> None:
    """CARD-07."""
    state = at_the_market("locomotive, 4 red", "white", "black")
    play(state, 0, first)
    assert refused(state, 0, moves.TakeCard("locomotive")) == "game.not_available"
    assert moves.TakeCard("locomotive") not in listed(state, 0)


def test_nor_is_one_that_replaced_the_first_card() -> None:
    """CARD-07."""
    state = at_the_market("5 red", "locomotive")
    play(state, 0, moves.TakeCard("red"))
    assert view(state, 0).market == wire("4 red, locomotive")
    assert refused(state, 0, moves.TakeCard("locomotive")) == "game.not_available"


def test_a_blind_locomotive_counts_as_one_card() -> None:
    """CARD-07."""
    state = at_the_market("5 red", "locomotive", "locomotive", "white")
    play(state, 0, moves.DrawCard())
    assert engine.owing(state) == (0,)
    play(state, 0, moves.DrawCard())
    assert view(state, 0).players[0].hand == wire("2 locomotive")
    assert engine.owing(state) == (1,)


@pytest.mark.parametrize("locomotives", [3, 4, 5])
def test_three_open_locomotives_stay(locomotives: int) -> None:
    """CARD-07."""
    state = at_the_market(f"{locomotives - 1} locomotive, {6 - locomotives} red", "locomotive", "white")
    events = play(state, 0, moves.TakeCard("red"))
    assert not any(isinstance(event, ev.MarketExchanged) for event in events)
    assert view(state, 0).market == wire(f"{locomotives} locomotive, {5 - locomotives} red")
    assert view(state, 0).discards == wire("")


# -- the hand ----------------------------------------------------------------------------------------


def test_a_hand_may_grow_without_limit() -> None:
    """CARD-07."""
    hand = "10 blue, 10 green, 10 white, 10 black, 10 purple, 10 orange, 10 yellow, 10 locomotive"
    state = at_the_market("5 red", "red", "red", hand=hand)
    assert moves.DrawCard() in listed(state, 0)
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.DrawCard())
    assert view(state, PUBLIC).players[0].hand_count == 82
    assert state.hands[0] == cards(f"{hand}, 2 red")
