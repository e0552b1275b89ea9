"""Action B: laying cards in the rail yard, and raids (CARD-08 to CARD-10)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.cards import from_wire, total
from stellwerk_engine.core.state import Seat, State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from stellwerk_protocol.views import YardStack
from tests.support import (
    cards,
    listed_as,
    play,
    refused,
    set_discards,
    set_hand,
    set_market,
    set_stack,
    set_yard,
    started,
    wire,
)


def with_hand(hand: str, seats: int = 2) -> State:
    """Seat 0 is to move with this hand; the others hold nothing, and no yard holds a card."""
    state = started("card_game", seats)
    set_market(state, "5 yellow")
    for seat in range(seats):
        set_hand(state, seat, "")
    set_hand(state, 0, hand)
    return state


def lay(text: str) -> moves.LayCards:
    return moves.LayCards(wire(text))


def lays(state: State) -> list[moves.LayCards]:
    return listed_as(state, 0, moves.LayCards)


def yard_of(state: State, seat: Seat) -> tuple[YardStack, ...]:
    yard = view(state, PUBLIC).players[seat].yard
    assert isinstance(yard, tuple)
    return yard


# -- what may be laid --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("laid", "yard"),
    [
        ("2 red", YardStack("red", 2, 0)),
        ("5 red", YardStack("red", 5, 0)),
        ("red, locomotive", YardStack("red", 1, 1)),
        ("red, 3 locomotive", YardStack("red", 1, 3)),
        ("3 red, 2 locomotive", YardStack("red", 3, 2)),
        ("5 red, 3 locomotive", YardStack("red", 5, 3)),
    ],
)
def test_a_set_is_two_or_more_of_one_color_with_or_without_locomotives(laid: str, yard: YardStack) -> None:
    """CARD-08."""
    state = with_hand("5 red, 3 locomotive, green")
    assert lay(laid) in lays(state)
    events = play(state, 0, lay(laid))
    assert events[0] == ev.CardsLaid(0, wire(laid))
    assert yard_of(state, 0) == (yard,)
    assert state.hands[0] == cards("5 red, 3 locomotive, green") - cards(laid)


def test_three_cards_of_three_colors_may_be_laid() -> None:
    """CARD-08."""
    state = with_hand("red, blue, green, yellow")
    assert play(state, 0, lay("red, blue, yellow"))[0] == ev.CardsLaid(0, wire("red, blue, yellow"))
    assert yard_of(state, 0) == (
        YardStack("blue", 1, 0),
        YardStack("yellow", 1, 0),
        YardStack("red", 1, 0),
    )
    assert view(state, 0).players[0].hand == wire("green")


@pytest.mark.parametrize(
    "laid",
    [
        "",
        "red",  # a single card
        "locomotive",
        "2 locomotive",  # no card of a color
        "3 locomotive",
        "red, blue",  # two of two colors
        "red, blue, locomotive",  # a locomotive for a third color
        "red, 2 locomotive, blue",
        "2 red, blue",  # three of two colors
        "2 red, 2 blue",
        "2 red, blue, green",  # three colors, but four cards
        "red, blue, green, locomotive",
        "red, blue, green, yellow",  # four of four colors
    ],
)
def test_nothing_else_may_be_laid(laid: str) -> None:
    """CARD-08."""
    state = with_hand("3 red, 2 blue, green, yellow, 3 locomotive")
    assert refused(state, 0, lay(laid)) == "game.wrong_cards"
    assert lay(laid) not in lays(state)


@pytest.mark.parametrize("laid", ["3 red", "2 red, 2 locomotive", "red, blue, white", "10 blue"])
def test_only_cards_of_the_hand_may_be_laid(laid: str) -> None:
    """CARD-08."""
    state = with_hand("2 red, blue, green, locomotive")
    assert refused(state, 0, lay(laid)) == "game.not_enough_cards"


def test_all_sets_and_all_threes_are_listed() -> None:
    """CARD-08."""
    state = with_hand("2 red, blue, green, white, 2 locomotive")
    singles = [f"{color}, {n} locomotive" for color in ("blue", "green", "white") for n in (1, 2)]
    reds = ["red, locomotive", "red, 2 locomotive", "2 red", "2 red, locomotive", "2 red, 2 locomotive"]
    threes = ["red, blue, green", "red, blue, white", "red, green, white", "blue, green, white"]
    assert {move.cards for move in lays(state)} == {wire(text) for text in singles + reds + threes}
    assert len(lays(state)) == len(singles + reds + threes)
    assert engine.legal_complete(state, 0)


def test_of_very_many_sets_those_with_fewest_locomotives_for_their_size_are_listed() -> None:
    """CARD-08: and the others may be laid all the same."""
    state = with_hand("10 red, 10 blue, 10 green, 10 white, 10 black, 10 purple, 15 locomotive")
    with_red = [move.cards for move in lays(state) if move.cards.red]
    sets_of_red = [wire(f"{size} red") for size in range(2, 11)]
    sets_of_red += [wire(f"10 red, {locomotives} locomotive") for locomotives in range(1, 16)]
    assert [laid for laid in with_red if total(from_wire(laid)) == laid.red + laid.locomotive] == sets_of_red
    assert not engine.legal_complete(state, 0)
    assert lay("red, 5 locomotive") not in lays(state)
    play(state, 0, lay("red, 5 locomotive"))
    assert yard_of(state, 0) == (YardStack("red", 1, 5),)


def test_all_may_see_what_was_laid() -> None:
    """CARD-08."""
    state = with_hand("2 red, blue, locomotive")
    play(state, 0, lay("2 red, locomotive"))
    for viewer in (0, 1, PUBLIC):
        assert view(state, viewer).players[0].yard == (YardStack("red", 2, 1),)


def test_what_was_taken_openly_and_laid_is_no_longer_known_in_the_hand() -> None:
    """CARD-08, GEN-09."""
    state = with_hand("2 red, blue, locomotive")
    state.known[0] = cards("red, blue, locomotive")
    play(state, 0, lay("2 red, locomotive"))
    assert view(state, 1).players[0].known_cards == wire("blue")
    assert view(state, 1).players[0].hand_count == 1


# -- the player's own yard ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "laid", ["2 red", "4 red", "red, locomotive", "4 red, 2 locomotive", "red, blue, green"]
)
@pytest.mark.parametrize("lying", ["red", "2 red"])
def test_a_color_in_the_own_yard_is_not_added_to(lying: str, laid: str) -> None:
    """CARD-09."""
    state = with_hand("4 red, blue, green, 2 locomotive")
    set_yard(state, 0, lying)
    assert refused(state, 0, lay(laid)) == "game.wrong_cards"
    assert all(move.cards.red == 0 for move in lays(state))


def test_no_number_of_cards_is_enough_to_add_to_the_own_yard() -> None:
    """CARD-09."""
    state = with_hand("9 red, 15 locomotive")
    set_yard(state, 0, "red")
    assert refused(state, 0, lay("9 red, 15 locomotive")) == "game.wrong_cards"
    assert lays(state) == []


def test_other_colors_may_be_laid_beside_those_in_the_own_yard() -> None:
    """CARD-09."""
    state = with_hand("2 blue, 2 red")
    set_yard(state, 0, "2 red")
    play(state, 0, lay("2 blue"))
    assert yard_of(state, 0) == (YardStack("blue", 2, 0), YardStack("red", 2, 0))


def test_a_color_of_which_the_locomotives_are_gone_still_lies_there() -> None:
    """CARD-09."""
    state = started("card_game", 2)
    set_hand(state, 1, "3 red")
    set_yard(state, 1, "red", locomotives_on="red")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.Stop())
    assert yard_of(state, 1) == (YardStack("red", 1, 0),)
    assert refused(state, 1, lay("3 red")) == "game.wrong_cards"


def test_a_color_may_be_laid_again_as_soon_as_it_is_gone_from_there() -> None:
    """CARD-09, CARD-04: in the very turn in which its last card leaves."""
    state = started("card_game", 2)
    set_hand(state, 1, "3 red")
    set_yard(state, 1, "red")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.Stop())
    assert yard_of(state, 1) == ()
    play(state, 1, lay("3 red"))
    assert yard_of(state, 1) == (YardStack("red", 3, 0),)


# -- another player's yard ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lying", "on_it", "laid", "allowed"),
    [
        ("red", "", "2 red", True),
        ("2 red", "", "2 red", False),  # as many are not more
        ("2 red", "", "3 red", True),
        ("2 red", "", "2 red, locomotive", True),  # locomotives of the set count
        ("2 red", "", "red, locomotive", False),
        ("2 red", "", "red, 2 locomotive", True),
        ("red", "red", "2 red", False),  # those that lie there too
        ("red", "red", "red, locomotive", False),
        ("red", "red", "3 red", True),
        ("red", "2 red", "3 red", False),
        ("red", "2 red", "3 red, locomotive", True),
        ("3 red", "2 red", "3 red, 2 locomotive", False),
    ],
)
def test_a_color_in_another_yard_takes_more_cards_than_lie_there(
    lying: str, on_it: str, laid: str, allowed: bool
) -> None:
    """CARD-10."""
    state = with_hand("3 red, 3 locomotive")
    set_yard(state, 1, lying, locomotives_on=on_it)
    assert (lay(laid) in lays(state)) == allowed
    if allowed:
        play(state, 0, lay(laid))
        assert yard_of(state, 1) == ()
    else:
        assert refused(state, 0, lay(laid)) == "game.wrong_cards"


def test_raided_cards_are_discarded_with_the_locomotives_on_them() -> None:
    """CARD-10."""
    state = with_hand("5 red")
    set_yard(state, 1, "2 red, 2 blue", locomotives_on="2 red, blue")
    set_discards(state, "green")
    events = play(state, 0, lay("5 red"))
    assert events[:2] == [ev.CardsLaid(0, wire("5 red")), ev.Raided(1, "red", wire("2 red, 2 locomotive"))]
    assert view(state, 1).discards == wire("2 red, 2 locomotive, green")
    assert yard_of(state, 0) == (YardStack("red", 5, 0),)
    assert yard_of(state, 1) == (YardStack("blue", 2, 0),)  # the turn has begun and sent its locomotive on


def test_a_raid_leaves_other_colors_the_stack_and_the_hand_alone() -> None:
    """CARD-10."""
    state = with_hand("2 red, locomotive", seats=3)
    set_yard(state, 2, "2 red, 3 blue, green", locomotives_on="green")
    set_stack(state, 2, "2 red, black")
    set_hand(state, 2, "4 red")
    play(state, 0, lay("2 red, locomotive"))
    assert yard_of(state, 2) == (YardStack("blue", 3, 0), YardStack("green", 1, 1))
    assert state.stacks[2] == cards("2 red, black")
    assert state.hands[2] == cards("4 red")


def test_every_other_yard_counts_not_only_the_neighbors() -> None:
    """CARD-10."""
    state = with_hand("3 red, 3 blue", seats=4)
    set_yard(state, 2, "2 red")
    set_yard(state, 3, "3 blue")
    assert refused(state, 0, lay("2 red")) == "game.wrong_cards"
    assert refused(state, 0, lay("3 blue")) == "game.wrong_cards"
    assert {move.cards for move in lays(state)} == {wire("3 red")}
    assert ev.Raided(2, "red", wire("2 red")) in play(state, 0, lay("3 red"))
    assert yard_of(state, 3) == (YardStack("blue", 3, 0),)


def test_three_of_three_colors_never_raid() -> None:
    """CARD-10: one card is not more than those that lie there."""
    state = with_hand("red, blue, green, white")
    set_yard(state, 1, "red")
    assert refused(state, 0, lay("red, blue, green")) == "game.wrong_cards"
    assert {move.cards for move in lays(state)} == {wire("blue, green, white")}
    events = play(state, 0, lay("blue, green, white"))
    assert not any(isinstance(event, ev.Raided) for event in events)


def test_locomotives_on_another_color_do_not_protect() -> None:
    """CARD-10."""
    state = with_hand("3 red")
    set_yard(state, 1, "2 red, blue", locomotives_on="3 blue")
    events = play(state, 0, lay("3 red"))
    assert ev.Raided(1, "red", wire("2 red")) in events


def test_a_raided_player_may_raid_back() -> None:
    """CARD-10, CARD-09: the color has left that player's yard."""
    state = with_hand("3 red")
    set_yard(state, 1, "2 red")
    set_hand(state, 1, "4 red")
    play(state, 0, lay("3 red"))
    assert engine.owing(state) == (1,)
    assert ev.Raided(0, "red", wire("3 red")) in play(state, 1, lay("4 red"))
    assert view(state, PUBLIC).discards == wire("5 red")


def test_the_own_yard_is_not_raided() -> None:
    """CARD-10."""
    state = with_hand("2 red")
    set_yard(state, 0, "2 blue")
    events = play(state, 0, lay("2 red"))
    assert not any(isinstance(event, ev.Raided) for event in events)
    assert yard_of(state, 0) == (YardStack("blue", 2, 0), YardStack("red", 2, 0))
