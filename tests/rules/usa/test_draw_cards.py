"""Drawing train cards, and what others see of a hand (USA-04, USA-05, USA-09)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import (
    listed,
    listed_as,
    play,
    refused,
    set_discards,
    set_hand,
    set_market,
    set_pile_top,
    started,
    wire,
)


def at_the_market(open_cards: str, *pile: str, seats: int = 2) -> State:
    """Seat 0 is to draw, with an empty hand; these cards are open, and these come next."""
    state = started("usa", seats)
    set_hand(state, 0, "")
    set_market(state, open_cards)
    set_pile_top(state, *pile)
    return state


# -- two cards ---------------------------------------------------------------------------------------


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
def test_two_cards_are_drawn_each_of_them_open_or_blind(
    first: moves.Move, second: moves.Move, hand: str
) -> None:
    """USA-04."""
    state = at_the_market("2 red, 2 blue, green", "white", "black", "yellow")
    play(state, 0, first)
    assert engine.owing(state) == (0,)
    play(state, 0, second)
    assert view(state, 0).players[0].hand == wire(hand)
    assert engine.owing(state) == (1,)
    assert state.turn == 2


def test_an_open_card_is_replaced_before_the_second_card_is_taken() -> None:
    """USA-04."""
    state = at_the_market("2 red, 2 blue, green", "white")
    events = play(state, 0, moves.TakeCard("red"))
    assert events[:2] == [ev.CardTaken(0, "red", "hand"), ev.CardsLaidOpen(wire("white"))]
    assert view(state, 0).market == wire("red, 2 blue, green, white")
    play(state, 0, moves.TakeCard("white"))
    assert view(state, 0).players[0].hand == wire("red, white")


def test_the_second_open_card_is_replaced_too() -> None:
    """USA-04."""
    state = at_the_market("2 red, 2 blue, green", "white", "black")
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.TakeCard("blue"))
    assert view(state, 1).market == wire("red, blue, green, white, black")


def test_a_blind_card_leaves_the_market_as_it_is() -> None:
    """USA-04."""
    state = at_the_market("2 red, 2 blue, green", "white")
    left = len(state.pile)
    play(state, 0, moves.DrawCard())
    assert view(state, 0).market == wire("2 red, 2 blue, green")
    assert view(state, 0).pile == left - 1


def test_only_an_open_color_can_be_taken() -> None:
    """USA-04."""
    state = at_the_market("2 red, 2 blue, green", "white")
    assert {move.card for move in listed_as(state, 0, moves.TakeCard)} == {"red", "blue", "green"}
    assert refused(state, 0, moves.TakeCard("white")) == "game.not_available"
    play(state, 0, moves.DrawCard())
    assert refused(state, 0, moves.TakeCard("white")) == "game.not_available"


def test_the_second_card_is_not_optional() -> None:
    """USA-04: it is taken if one may legally be taken, though the published rule has "may"."""
    state = at_the_market("2 red, 2 blue, green", "white", "black")
    play(state, 0, moves.TakeCard("red"))
    assert refused(state, 0, moves.Stop()) == "game.wrong_move"
    assert refused(state, 0, moves.Pass()) == "game.wrong_move"
    decision = view(state, 0).pending
    assert decision
    assert not getattr(decision, "may_stop", True)


def test_no_other_action_comes_between_the_two_cards() -> None:
    """USA-04."""
    state = at_the_market("2 red, 2 blue, green", "white", "black")
    set_hand(state, 0, "2 red")
    play(state, 0, moves.DrawCard())
    claim = moves.ClaimRoute("dallas-houston-1", wire("red"))
    assert refused(state, 0, claim) == "game.wrong_move"
    assert refused(state, 0, moves.DrawTickets()) == "game.wrong_move"
    assert refused(state, 1, moves.DrawCard()) == "game.not_asked"
    assert {type(move) for move in listed(state, 0)} == {moves.DrawCard, moves.TakeCard}


# -- locomotives -------------------------------------------------------------------------------------


def test_an_open_locomotive_ends_the_action() -> None:
    """USA-05."""
    state = at_the_market("red, 2 blue, green, locomotive", "white")
    play(state, 0, moves.TakeCard("locomotive"))
    assert view(state, 0).players[0].hand == wire("locomotive")
    assert view(state, 0).market == wire("red, 2 blue, green, white")
    assert engine.owing(state) == (1,)


@pytest.mark.parametrize("first", [moves.DrawCard(), moves.TakeCard("red")])
def test_an_open_locomotive_is_not_taken_as_the_second_card(first: moves.Move) -> None:
    """USA-05: one that was there already before the first card."""
    state = at_the_market("red, 2 blue, green, locomotive", "white", "black")
    play(state, 0, first)
    assert moves.TakeCard("locomotive") not in listed(state, 0)
    assert refused(state, 0, moves.TakeCard("locomotive")) == "game.not_available"


def test_a_locomotive_that_has_come_up_as_the_replacement_is_not_taken_as_the_second_card() -> None:
    """USA-05."""
    state = at_the_market("2 red, 2 blue, green", "locomotive", "black")
    play(state, 0, moves.TakeCard("red"))
    assert view(state, 0).market == wire("red, 2 blue, green, locomotive")
    assert moves.TakeCard("locomotive") not in listed(state, 0)
    assert refused(state, 0, moves.TakeCard("locomotive")) == "game.not_available"


def test_a_locomotive_drawn_blind_counts_as_one_card() -> None:
    """USA-05."""
    state = at_the_market("2 red, 2 blue, green", "locomotive", "locomotive", "black")
    play(state, 0, moves.DrawCard())
    assert engine.owing(state) == (0,)
    play(state, 0, moves.DrawCard())
    assert view(state, 0).players[0].hand == wire("2 locomotive")
    assert engine.owing(state) == (1,)


def test_a_locomotive_drawn_blind_may_be_followed_by_an_open_card() -> None:
    """USA-05."""
    state = at_the_market("2 red, 2 blue, green", "locomotive", "black")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.TakeCard("red"))
    assert view(state, 0).players[0].hand == wire("locomotive, red")


# -- the hand ----------------------------------------------------------------------------------------


def test_a_hand_may_hold_any_number_of_cards() -> None:
    """USA-09."""
    state = started("usa", 2)
    set_market(state, "2 red, 2 blue, green")
    set_discards(state, "")
    set_hand(state, 1, "")
    set_hand(state, 0, "12 purple, 12 orange, 12 white, 12 yellow, 12 black, 14 locomotive")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.DrawCard())
    assert view(state, 1).players[0].hand_count == 76


def test_the_number_of_cards_in_a_hand_is_public_and_their_colors_are_not() -> None:
    """USA-09."""
    state = at_the_market("2 red, 2 blue, green", "white", "black")
    set_hand(state, 0, "3 red, 2 locomotive")
    play(state, 0, moves.DrawCard())
    for viewer in (PUBLIC, 1):
        player = view(state, viewer).players[0]
        assert player.hand_count == 6
        assert player.known_cards == wire("")
        assert not player.hand
    assert view(state, 0).players[0].hand == wire("3 red, white, 2 locomotive")


def test_who_takes_an_open_card_is_known_to_hold_it_until_it_is_played() -> None:
    """USA-09."""
    state = at_the_market("2 red, 2 blue, green", "white", "black", "yellow")
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.DrawCard())
    for viewer in (PUBLIC, 0, 1):
        assert view(state, viewer).players[0].known_cards == wire("red")
    play(state, 1, moves.DrawCard())
    play(state, 1, moves.DrawCard())
    play(state, 0, moves.ClaimRoute("dallas-houston-1", wire("red")))
    assert view(state, PUBLIC).players[0].known_cards == wire("")


def test_of_known_cards_no_more_are_forgotten_than_are_played() -> None:
    """USA-09: two red cards were seen, so after a claim with one of three one is known for certain."""
    state = at_the_market("3 red, blue, green", "white", "black")
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.TakeCard("red"))
    play(state, 1, moves.DrawCard())
    play(state, 1, moves.DrawCard())
    known = state.known[0]
    set_hand(state, 0, "3 red")
    state.known[0] = known
    play(state, 0, moves.ClaimRoute("dallas-houston-1", wire("red")))
    assert view(state, PUBLIC).players[0].known_cards == wire("red")
