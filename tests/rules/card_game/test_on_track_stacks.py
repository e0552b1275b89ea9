"""Phase 1 of a turn: cards go from the rail yard onto the on-track stack (CARD-04, CARD-05)."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, Seat, State
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from stellwerk_protocol.views import YardStack
from tests.support import (
    cards,
    listed,
    play,
    set_hand,
    set_market,
    set_stack,
    set_turn,
    set_yard,
    started,
    wire,
)


def turn_of(state: State, seat: Seat) -> Events:
    """Play on to this seat's turn; in each turn before it, the seat draws one card and stops."""
    events: Events = []
    while not events or engine.owing(state) != (seat,):
        (now,) = engine.owing(state)
        events += play(state, now, moves.DrawCard())
        events += play(state, now, moves.Stop())
    return events


def sent(events: Events) -> list[ev.CardsSent]:
    return [event for event in events if isinstance(event, ev.CardsSent)]


def yard_of(state: State, seat: Seat) -> dict[str, tuple[int, int]]:
    """Return the plain cards of each color and the locomotives on them, as everybody sees them."""
    yard = view(state, PUBLIC).players[seat].yard
    assert isinstance(yard, tuple)
    return {stack.color: (stack.cards, stack.locomotives) for stack in yard}


# -- what moves --------------------------------------------------------------------------------------


def test_one_card_of_each_color_goes_onto_the_stack_at_the_start_of_the_turn() -> None:
    """CARD-04."""
    state = started("card_game", 2)
    set_yard(state, 1, "3 red, 2 blue, green")
    events = turn_of(state, 1)
    assert events[-2:] == [ev.TurnStarted(1, 2), ev.CardsSent(1, wire("red, blue, green"))]
    assert yard_of(state, 1) == {"blue": (1, 0), "red": (2, 0)}
    assert state.stacks[1] == cards("red, blue, green")
    assert engine.owing(state) == (1,)


def test_all_of_a_yard_goes_onto_the_stack_turn_by_turn() -> None:
    """CARD-04."""
    state = started("card_game", 2)
    set_yard(state, 1, "3 red, 2 blue")
    by_turn = [sent(turn_of(state, 1)) for _ in range(4)]
    assert by_turn == [
        [ev.CardsSent(1, wire("red, blue"))],
        [ev.CardsSent(1, wire("red, blue"))],
        [ev.CardsSent(1, wire("red"))],
        [],
    ]
    assert yard_of(state, 1) == {}
    assert state.stacks[1] == cards("3 red, 2 blue")


def test_locomotives_lie_on_top_and_go_first() -> None:
    """CARD-04."""
    state = started("card_game", 2)
    set_yard(state, 1, "2 red", locomotives_on="2 red")
    yards: list[dict[str, tuple[int, int]]] = []
    events: list[ev.CardsSent] = []
    for _ in range(4):
        events += sent(turn_of(state, 1))
        yards.append(yard_of(state, 1))
    assert [event.cards for event in events] == [
        wire("locomotive"),
        wire("locomotive"),
        wire("red"),
        wire("red"),
    ]
    assert yards == [{"red": (2, 1)}, {"red": (2, 0)}, {"red": (1, 0)}, {}]


def test_locomotives_go_only_for_the_color_that_they_lie_on() -> None:
    """CARD-04."""
    state = started("card_game", 2)
    set_yard(state, 1, "red, 2 blue, green", locomotives_on="2 blue")
    assert sent(turn_of(state, 1)) == [ev.CardsSent(1, wire("red, green, locomotive"))]
    assert yard_of(state, 1) == {"blue": (2, 1)}


def test_locomotives_of_two_colors_go_in_one_turn() -> None:
    """CARD-04."""
    state = started("card_game", 2)
    set_yard(state, 1, "red, blue", locomotives_on="red, blue")
    assert sent(turn_of(state, 1)) == [ev.CardsSent(1, wire("2 locomotive"))]
    assert yard_of(state, 1) == {"red": (1, 0), "blue": (1, 0)}


def test_only_the_yard_of_who_is_to_move_is_moved() -> None:
    """CARD-04."""
    state = started("card_game", 3)
    for seat, yard in enumerate(("2 red", "2 blue", "2 green")):
        set_yard(state, seat, yard)
    assert sent(turn_of(state, 1)) == [ev.CardsSent(1, wire("blue"))]
    assert [yard_of(state, seat) for seat in range(3)] == [
        {"red": (2, 0)},
        {"blue": (1, 0)},
        {"green": (2, 0)},
    ]


def test_cards_laid_do_not_move_before_the_next_turn_of_their_player() -> None:
    """CARD-04."""
    state = started("card_game", 2)
    set_hand(state, 0, "2 red")
    events = play(state, 0, moves.LayCards(wire("2 red")))
    assert sent(events) == []
    assert yard_of(state, 0) == {"red": (2, 0)}
    assert sent(turn_of(state, 0)) == [ev.CardsSent(0, wire("red"))]


def test_it_is_forced_and_comes_before_the_action() -> None:
    """CARD-04: nobody is asked, so no action can prevent it."""
    state = started("card_game", 2)
    set_yard(state, 1, "2 blue")
    set_market(state, "5 red")
    turn_of(state, 1)
    kinds = {type(move) for move in listed(state, 1)}
    assert kinds <= {moves.DrawCard, moves.TakeCard, moves.LayCards, moves.DrawTickets}
    assert state.stacks[1] == cards("blue")
    play(state, 1, moves.TakeCard("red"))
    assert state.stacks[1] == cards("blue")


def test_with_an_empty_yard_it_is_skipped() -> None:
    """CARD-04."""
    state = started("card_game", 2)
    set_stack(state, 1, "2 red")
    events = turn_of(state, 1)
    assert events[-1] == ev.TurnStarted(1, 2)
    assert state.stacks[1] == cards("2 red")
    assert state.progress_turn == 1  # the card that seat 0 drew


def test_moved_cards_are_added_to_those_that_lie_on_the_stack() -> None:
    """CARD-04."""
    state = started("card_game", 2)
    set_stack(state, 1, "2 red, locomotive")
    set_yard(state, 1, "red, green")
    turn_of(state, 1)
    assert state.stacks[1] == cards("3 red, green, locomotive")


# -- what is seen ------------------------------------------------------------------------------------


@pytest.mark.parametrize("viewer", [0, 1, 2, PUBLIC, ALL_HANDS])
def test_a_view_tells_only_the_size_of_a_stack(viewer: int) -> None:
    """CARD-05."""
    state = started("card_game", 3)
    set_stack(state, 1, "2 red, locomotive")
    players = view(state, viewer).players
    assert [player.stack for player in players] == [UNSET, UNSET, UNSET]
    assert [player.stack_count for player in players] == [0, 3, 0]


@pytest.mark.parametrize("viewer", [0, 1, PUBLIC, ALL_HANDS])
def test_views_do_not_depend_on_what_lies_on_the_stacks(viewer: int) -> None:
    """CARD-05."""
    texts: set[bytes] = set()
    for stack in ("3 red", "blue, green, locomotive", "black, white, yellow"):
        state = started("card_game", 2)
        set_turn(state, 1)
        for seat in range(2):
            set_stack(state, seat, stack)
        texts.add(msgspec.json.encode(view(state, viewer)))
    assert len(texts) == 1


@pytest.mark.parametrize("viewer", [0, 1, 2, PUBLIC])
def test_with_open_stacks_the_owner_sees_the_own_one_and_nobody_another_one(viewer: int) -> None:
    """CARD-05."""
    state = started("card_game", 3, ("open_stacks",))
    stacks = ["2 red, locomotive", "blue", "green, yellow"]
    for seat, stack in enumerate(stacks):
        set_stack(state, seat, stack)
    players = view(state, viewer).players
    assert [player.stack_count for player in players] == [3, 1, 2]
    assert [player.stack for player in players] == [
        wire(stack) if viewer == seat else UNSET for seat, stack in enumerate(stacks)
    ]


def test_a_stack_seen_by_its_owner_stays_secret_from_the_others_when_it_is_taken_up() -> None:
    """CARD-05, CARD-13."""
    state = started("card_game", 2)
    set_stack(state, 0, "2 red, locomotive")
    taken_up = ev.StackTakenUp(0, 3, wire("2 red, locomotive"))
    assert redact(taken_up, state.game, 0) == taken_up
    for viewer in (1, PUBLIC):
        assert redact(taken_up, state.game, viewer) == ev.StackTakenUp(0, 3)


def test_yards_lie_open() -> None:
    """CARD-05, CARD-08: only stacks are hidden."""
    state = started("card_game", 2)
    set_yard(state, 0, "2 red, blue", locomotives_on="2 red")
    for viewer in (0, 1, PUBLIC):
        assert view(state, viewer).players[0].yard == (YardStack("blue", 1, 0), YardStack("red", 2, 2))
