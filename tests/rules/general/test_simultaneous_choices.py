"""Choices that several players make at the same time (GEN-03)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.support import dealt, fingerprint, listed, refused, set_stack, set_tickets, started


def first_tickets(seats: int = 4) -> State:
    return dealt("usa", seats)


def first_shared_tickets() -> State:
    """Let all partners keep their tickets, so that they are asked which one to share."""
    state = dealt("team_asia", 4)
    for seat in range(4):
        engine.apply(state, seat, engine.fallback(state, seat))
    return state


def scoring_of_the_card_game() -> State:
    """Play to the end of the last turn; every seat can then complete tickets in more ways than one."""
    state = started("card_game", 3)
    for seat in range(3):
        set_tickets(state, seat)
    set_tickets(state, 0, "chicago-dallas", "dallas-raleigh")
    set_tickets(state, 1, "new_york-sault_st_marie", "dallas-miami")
    set_tickets(state, 2, "chicago-charleston", "chicago-miami")
    for seat in range(3):
        set_stack(state, seat, "green, yellow, red, blue")
    state.turns_left = 1
    while not isinstance(view(state, PUBLIC).pending, decisions.CompleteTickets):
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat))
    return state


every_choice = pytest.mark.parametrize(
    "choice",
    [first_tickets, first_shared_tickets, scoring_of_the_card_game],
    ids=lambda choice: choice.__name__,
)
Choice = Callable[[], State]


def shown(state: State, viewer: int) -> bytes:
    return msgspec.json.encode(view(state, viewer))


@every_choice
def test_everybody_who_owes_a_choice_is_asked_at_once(choice: Choice) -> None:
    """GEN-03."""
    state = choice()
    seats = tuple(range(state.game.seat_count))
    assert engine.owing(state) == seats
    pending = view(state, PUBLIC).pending
    assert pending
    assert pending.seats == seats


@every_choice
def test_nothing_tells_the_others_that_one_has_chosen_or_what(choice: Choice) -> None:
    """GEN-03: no event, no view, and no list of legal moves."""
    state = choice()
    seats = list(engine.owing(state))
    for seat in (*seats[1:-1], seats[0]):
        waiting = [viewer for viewer in (PUBLIC, *seats) if viewer != seat]
        before = {viewer: shown(state, viewer) for viewer in waiting}
        legal = {other: listed(state, other) for other in engine.owing(state) if other != seat}
        events: Events = []
        engine.apply(state, seat, engine.legal(state, seat)[-1], events)
        assert events == []
        assert {viewer: shown(state, viewer) for viewer in waiting} == before
        assert {other: listed(state, other) for other in engine.owing(state)} == legal


@every_choice
def test_nobody_chooses_twice(choice: Choice) -> None:
    """GEN-03."""
    state = choice()
    move = engine.legal(state, 1)[0]
    engine.apply(state, 1, move)
    assert refused(state, 1, move.wire) == "game.not_asked"
    assert 1 not in engine.owing(state)


@every_choice
def test_choices_take_effect_together_in_the_order_of_the_seats(choice: Choice) -> None:
    """GEN-03: it does not matter who answers first."""
    state = choice()
    events: Events = []
    for seat in reversed(engine.owing(state)):
        assert not events
        engine.apply(state, seat, engine.legal(state, seat)[0], events)
    kinds = (ev.TicketsKept, ev.TicketsShared, ev.TicketsCompleted)
    effects = [event.seat for event in events if isinstance(event, kinds)]
    assert effects == list(range(state.game.seat_count))


@every_choice
def test_the_order_of_the_answers_changes_nothing(choice: Choice) -> None:
    """GEN-03."""
    states: list[State] = []
    for step in (1, -1):
        state = choice()
        for seat in engine.owing(state)[::step]:
            engine.apply(state, seat, engine.legal(state, seat)[-1])
        states.append(state)
    assert fingerprint(states[0]) == fingerprint(states[1])


@every_choice
def test_the_question_names_no_secret(choice: Choice) -> None:
    """GEN-03: a seat that is asked sees the same question as everybody else."""
    state = choice()
    asked = {msgspec.json.encode(view(state, viewer).pending) for viewer in (PUBLIC, *engine.owing(state))}
    assert len(asked) == 1


def test_a_partner_does_not_learn_what_the_other_one_kept() -> None:
    """GEN-03: when all have chosen, partners know of each other's secret tickets the number only."""
    state = dealt("team_asia", 4)
    events: Events = []
    for seat in range(4):
        engine.apply(state, seat, engine.legal(state, seat)[seat], events)
    kept = [redact(event, state.game, 1) for event in events if isinstance(event, ev.TicketsKept)]
    assert kept[0] == ev.TicketsKept(0, 3, 2)
    assert not view(state, 1).players[0].tickets
    assert not view(state, 1).players[0].offered


def test_a_choice_that_is_not_legal_is_refused_at_once() -> None:
    """GEN-03: not only when all have chosen."""
    state = first_tickets()
    assert refused(state, 2, moves.KeepTickets(())) == "game.wrong_tickets"
    assert engine.owing(state) == (0, 1, 2, 3)
