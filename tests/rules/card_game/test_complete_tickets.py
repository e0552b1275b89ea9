"""The scoring of the tickets, after the last round (CARD-13, CARD-14)."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.core.state import Seat, State
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.support import (
    cards,
    listed_as,
    play,
    play_last_turn,
    refused,
    set_hand,
    set_stack,
    set_tickets,
    set_yard,
    started,
    wire,
)


def at_the_scoring(stack: str, *tickets: str, seats: int = 2) -> State:
    """Seat 0 has this stack and these tickets and is asked which to complete; so are the others, who have
    neither."""
    state = started("card_game", seats)
    for seat in range(seats):
        set_hand(state, seat, "")
        set_tickets(state, seat)
    set_stack(state, 0, stack)
    set_tickets(state, 0, *tickets)
    play_last_turn(state, seats - 1)
    return state


def complete(*tickets: str) -> moves.CompleteTickets:
    return moves.CompleteTickets(tickets)


def fallback(state: State, seat: Seat) -> frozenset[str]:
    """Return the tickets that the fallback completes."""
    move = engine.fallback(state, seat).wire
    assert isinstance(move, moves.CompleteTickets)
    return frozenset(move.tickets)


# -- taking up the stacks ----------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_all_choose_at_once_after_the_last_turn(seats: int) -> None:
    """CARD-13, GEN-03."""
    state = at_the_scoring("yellow", "chicago-new_york-1", seats=seats)
    everybody = tuple(range(seats))
    assert engine.owing(state) == everybody
    assert view(state, PUBLIC).pending == decisions.CompleteTickets(everybody, "pile")


def test_each_player_sees_the_own_stack_now_and_no_other() -> None:
    """CARD-13."""
    state = started("card_game", 3)
    for seat, stack in enumerate(("2 red, locomotive", "blue", "green, yellow")):
        set_stack(state, seat, stack)
    events = play_last_turn(state, 2)
    assert [event for event in events if isinstance(event, ev.StackTakenUp)] == [
        ev.StackTakenUp(0, 3, wire("2 red, locomotive")),
        ev.StackTakenUp(1, 1, wire("blue")),
        ev.StackTakenUp(2, 2, wire("green, yellow")),
    ]
    stacks = [player.stack for player in view(state, 1).players]
    assert stacks == [UNSET, wire("blue"), UNSET]
    assert all(player.stack is UNSET for player in view(state, PUBLIC).players)


# -- what a ticket takes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stack",
    [
        "white, 2 blue, purple",
        "white, 2 blue, purple, red, 3 locomotive",
        "white, blue, purple, locomotive",
        "2 blue, purple, locomotive",
        "white, 3 locomotive",
        "4 locomotive",
    ],
)
def test_a_ticket_is_completed_with_the_cards_that_it_shows_or_locomotives(stack: str) -> None:
    """CARD-13: Los Angeles - Pittsburgh shows one white, two blue and one purple card."""
    state = at_the_scoring(stack, "los_angeles-pittsburgh")
    play(state, 0, complete("los_angeles-pittsburgh"))
    play(state, 1, complete())
    assert view(state, 1).players[0].completed == ("los_angeles-pittsburgh",)


@pytest.mark.parametrize(
    "stack",
    [
        "",
        "white, blue, purple",  # one blue card too few
        "3 white, blue, 3 purple",
        "white, blue, locomotive",
        "10 red, 3 locomotive",
        "white, 2 blue, red",  # four cards, but not these
    ],
)
def test_with_other_cards_it_is_not(stack: str) -> None:
    """CARD-13."""
    state = at_the_scoring(stack, "los_angeles-pittsburgh")
    assert refused(state, 0, complete("los_angeles-pittsburgh")) == "game.wrong_tickets"
    assert listed_as(state, 0, moves.CompleteTickets) == [complete()]


@pytest.mark.parametrize("place", ["hand", "yard"])
def test_cards_in_the_hand_or_the_yard_do_not_count(place: str) -> None:
    """CARD-13."""
    state = started("card_game", 2)
    set_hand(state, 0, "")
    set_tickets(state, 0, "chicago-new_york-1")
    set_stack(state, 0, "blue")
    if place == "hand":
        set_hand(state, 0, "5 yellow, 3 locomotive")
    else:
        set_yard(state, 0, "5 yellow", locomotives_on="3 yellow")
    play_last_turn(state, 1)
    assert refused(state, 0, complete("chicago-new_york-1")) == "game.wrong_tickets"
    assert fallback(state, 0) == frozenset()


def test_each_card_serves_one_ticket() -> None:
    """CARD-13: both tickets show a black card and a white one."""
    tickets = ("los_angeles-vancouver", "seattle-los_angeles")
    both = complete(*tickets)
    assert refused(at_the_scoring("black, white", *tickets), 0, both) == "game.wrong_tickets"
    assert refused(at_the_scoring("2 black, white", *tickets), 0, both) == "game.wrong_tickets"
    play(at_the_scoring("2 black, 2 white", *tickets), 0, both)


def test_each_locomotive_serves_one_ticket() -> None:
    """CARD-13."""
    tickets = ("los_angeles-vancouver", "chicago-new_york-1")  # black and white; yellow
    both = complete(*tickets)
    assert refused(at_the_scoring("black, locomotive", *tickets), 0, both) == "game.wrong_tickets"
    play(at_the_scoring("black, 2 locomotive", *tickets), 0, both)


def test_a_locomotive_stands_for_any_color_not_only_the_one_it_was_laid_with() -> None:
    """CARD-13."""
    state = started("card_game", 2)
    set_hand(state, 0, "red, locomotive")
    set_tickets(state, 0, "chicago-new_york-1")
    play(state, 0, moves.LayCards(wire("red, locomotive")))
    play(state, 1, moves.DrawCard())
    play(state, 1, moves.Stop())
    assert state.stacks[0] == cards("locomotive")
    play_last_turn(state, 1)
    play(state, 0, complete("chicago-new_york-1"))


# -- the choice --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chosen",
    [
        (),
        ("chicago-new_york-1",),
        ("chicago-new_york-2",),
        ("chicago-montreal",),
        ("chicago-new_york-1", "chicago-new_york-2"),
        ("chicago-new_york-2", "chicago-new_york-1"),
    ],
)
def test_any_set_that_the_stack_pays_for_may_be_chosen_the_empty_one_too(chosen: tuple[str, ...]) -> None:
    """CARD-13: as many as possible is an aim, not a duty."""
    state = at_the_scoring("yellow, blue", "chicago-new_york-1", "chicago-new_york-2", "chicago-montreal")
    play(state, 0, complete(*chosen))
    play(state, 1, complete())
    completed = view(state, PUBLIC).players[0].completed
    assert isinstance(completed, tuple)
    assert set(completed) == set(chosen)


def test_only_own_tickets_each_once_are_completed() -> None:
    """CARD-13."""
    state = started("card_game", 2)
    set_stack(state, 0, "5 yellow, 5 blue")
    set_tickets(state, 0, "chicago-new_york-1")
    set_tickets(state, 1, "chicago-new_york-2")
    play_last_turn(state, 1)
    twice = complete("chicago-new_york-1", "chicago-new_york-1")
    assert refused(state, 0, twice) == "game.wrong_tickets"
    assert refused(state, 0, complete("chicago-new_york-2")) == "game.wrong_tickets"
    assert refused(state, 0, complete("chicago-montreal")) == "game.wrong_tickets"
    assert refused(state, 0, complete("paris-brest")) == "game.unknown_name"
    assert refused(state, 0, moves.KeepTickets(())) == "game.wrong_move"
    assert refused(state, 0, moves.Pass()) == "game.wrong_move"


def test_the_listed_sets_are_those_to_which_no_ticket_can_be_added() -> None:
    """CARD-13."""
    state = at_the_scoring("yellow, blue", "chicago-new_york-1", "chicago-new_york-2", "chicago-montreal")
    assert [set(move.tickets) for move in listed_as(state, 0, moves.CompleteTickets)] == [
        {"chicago-new_york-1", "chicago-new_york-2"},
        {"chicago-montreal"},
    ]
    assert not engine.legal_complete(state, 0)


def test_nobody_learns_of_a_choice_before_all_have_chosen() -> None:
    """CARD-13, GEN-03."""
    state = at_the_scoring("yellow", "chicago-new_york-1", seats=3)
    before = [view(state, viewer) for viewer in (1, 2, PUBLIC, ALL_HANDS)]
    assert play(state, 0, complete("chicago-new_york-1")) == []
    assert engine.owing(state) == (1, 2)
    assert [view(state, viewer) for viewer in (1, 2, PUBLIC, ALL_HANDS)] == before
    assert refused(state, 0, complete()) == "game.not_asked"


def test_the_choices_take_effect_in_seat_order_whoever_chose_first() -> None:
    """CARD-13, GEN-03."""
    state = started("card_game", 2)
    set_stack(state, 0, "yellow")
    set_stack(state, 1, "blue")
    set_tickets(state, 0, "chicago-new_york-1")
    set_tickets(state, 1, "chicago-new_york-2")
    play_last_turn(state, 1)
    assert play(state, 1, complete("chicago-new_york-2")) == []
    events = play(state, 0, complete("chicago-new_york-1"))
    assert events[:2] == [
        ev.TicketsCompleted(0, ("chicago-new_york-1",), 5),
        ev.TicketsCompleted(1, ("chicago-new_york-2",), 5),
    ]


def test_completed_tickets_are_public_and_bring_their_points_at_once() -> None:
    """CARD-13."""
    state = at_the_scoring("yellow, blue", "chicago-montreal", "seattle-miami", seats=4)
    assert view(state, PUBLIC).players[0].completed == ()
    play(state, 0, complete("chicago-montreal"))
    for seat in (1, 2, 3):
        play(state, seat, complete())
    for viewer in (0, 1, PUBLIC):
        shown = view(state, viewer).players[0]
        assert shown.completed == ("chicago-montreal",)
        assert shown.points == 7
        assert shown.ticket_count == 1
    assert view(state, 0).players[0].tickets == ("seattle-miami",)
    assert view(state, 1).players[0].tickets is UNSET


# -- the fallback ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stack", "tickets", "best"),
    [
        # the greatest value
        ("green, blue", ["new_york-kansas_city", "dallas-washington"], {"dallas-washington"}),
        (
            "white, blue, 2 locomotive",  # 20 for one ticket, 10 for two
            ["chicago-new_york-1", "chicago-new_york-2", "los_angeles-new_york"],
            {"los_angeles-new_york"},
        ),
        (
            "yellow, blue",  # 7 for one ticket, 10 for two
            ["chicago-montreal", "chicago-new_york-1", "chicago-new_york-2"],
            {"chicago-new_york-1", "chicago-new_york-2"},
        ),
        # of equal value the most tickets: 10 for one or for two
        (
            "yellow, locomotive",
            ["chicago-miami", "chicago-new_york-1", "chicago-new_york-2"],
            {"chicago-new_york-1", "chicago-new_york-2"},
        ),
        # of equally many the ids that come first, in the order of their letters and not of the board
        ("black, green", ["seattle-denver", "dallas-helena"], {"dallas-helena"}),
        ("blue, red", ["new_york-new_orleans", "new_york-miami"], {"new_york-miami"}),
        (
            "black, white, green, locomotive",  # 20 for any two of the three
            ["los_angeles-vancouver", "los_angeles-dallas", "seattle-denver"],
            {"los_angeles-dallas", "los_angeles-vancouver"},
        ),
        # nothing can be completed
        ("red", ["chicago-new_york-1"], set[str]()),
        ("5 red", [], set[str]()),
    ],
)
def test_the_fallback_is_the_best_set(stack: str, tickets: list[str], best: set[str]) -> None:
    """CARD-13."""
    assert fallback(at_the_scoring(stack, *tickets), 0) == best


@pytest.mark.parametrize("number", range(12))
def test_the_fallback_is_the_best_of_all_sets(number: int) -> None:
    """CARD-13: against all sets, tried one by one."""
    random = Random(number)
    state = started("card_game", 2)
    board = state.game.board.file
    held = random.sample(board.tickets, 9)
    for seat in range(2):
        set_hand(state, seat, "")
        set_tickets(state, seat)
    colors = ["purple", "blue", "orange", "white", "green", "yellow", "black", "red", "locomotive"]
    stack = {color: random.choice((0, 1, 1, 2)) for color in colors}
    set_stack(state, 0, ", ".join(f"{count} {color}" for color, count in stack.items() if count))
    set_tickets(state, 0, *(ticket.id for ticket in held))
    play_last_turn(state, 1)

    payable: list[tuple[int, int, list[str]]] = []
    for size in range(len(held) + 1):
        for chosen in combinations(held, size):
            needs = {color: sum(ticket.cards.get(color, 0) for ticket in chosen) for color in colors[:-1]}
            missing = sum(max(0, need - stack[color]) for color, need in needs.items())
            if missing <= stack["locomotive"]:
                value = sum(ticket.points for ticket in chosen)
                payable.append((-value, -size, sorted(ticket.id for ticket in chosen)))
    best = min(payable)
    assert fallback(state, 0) == frozenset(best[2])
    assert -best[0] > 0


# -- the end for two or three ------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3])
def test_with_two_or_three_players_the_game_ends_there(seats: int) -> None:
    """CARD-14."""
    state = at_the_scoring("yellow", "chicago-new_york-1", seats=seats)
    for seat in range(seats - 1):
        play(state, seat, complete())
    events = play(state, seats - 1, complete())
    result = view(state, PUBLIC).result
    assert result is not UNSET
    assert result.reason == "pile"
    assert events[-1] == ev.GameEnded(result)
    assert not any(isinstance(event, ev.HalfStarted) for event in events)
    assert engine.owing(state) == ()
    assert view(state, PUBLIC).half == 1
    assert refused(state, 0, moves.DrawTickets()) == "game.over"


def test_with_four_players_it_does_not() -> None:
    """CARD-14, CARD-15."""
    state = at_the_scoring("yellow", "chicago-new_york-1", seats=4)
    for seat in range(4):
        play(state, seat, complete())
    assert view(state, PUBLIC).result is UNSET
    assert engine.owing(state) == (0,)
