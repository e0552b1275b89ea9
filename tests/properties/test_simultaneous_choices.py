"""Decisions that several owe at once (GEN-03): it makes no difference who is first, and nobody sees who
was."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, Move, Seat, State
from stellwerk_engine.knowledge.view import view
from stellwerk_protocol.errors import IllegalMoveError
from tests.properties.playing import Line, Variant, encode, examples, lines, played, viewers
from tests.support import every_variant, fingerprint


def _shared_decisions(variant: Variant, line: Line) -> list[State]:
    """Return each moment of a game at which all are asked and nobody has answered."""
    moments: list[State] = []
    for state in played(variant, line):
        if len(state.choices) > 1 and not any(state.choices):
            moments.append(state.copy())
    return moments


def _choose(state: State, chance: Random) -> dict[Seat, Move]:
    return {seat: chance.choice(engine.legal(state, seat)) for seat in engine.owing(state)}


def _answer(state: State, order: list[Seat], choices: dict[Seat, Move]) -> Events:
    events: Events = []
    for seat in order:
        engine.apply(state, seat, choices[seat], events)
    return events


@every_variant
@examples(3)
@given(line=lines, chance=st.randoms(use_true_random=False))
def test_the_order_of_the_answers_makes_no_difference(variant: Variant, line: Line, chance: Random) -> None:
    """The same events in the same order, and the same state."""
    for state in _shared_decisions(variant, line):
        other = state.copy()
        seats = list(engine.owing(state))
        choices = _choose(state, chance)
        events = _answer(state, seats, choices)
        chance.shuffle(seats)
        assert _answer(other, seats, choices) == events
        assert fingerprint(other) == fingerprint(state)


@every_variant
@examples(3)
@given(line=lines, chance=st.randoms(use_true_random=False))
def test_nobody_sees_who_has_answered(variant: Variant, line: Line, chance: Random) -> None:
    """Until the last answer is in there is no event, and every view stays as it is. A seat that has answered
    is not asked again."""
    for state in _shared_decisions(variant, line):
        seen = [encode(view(state, viewer)) for viewer in viewers(state.game)]
        choices = _choose(state, chance)
        seats = list(choices)
        chance.shuffle(seats)
        for seat, following in pairwise(seats):
            assert _answer(state, [seat], choices) == []
            assert [encode(view(state, viewer)) for viewer in viewers(state.game)] == seen
            with pytest.raises(IllegalMoveError, match=r"game\.not_asked"):
                engine.check(state, seat, choices[seat].wire)
            assert seat not in engine.owing(state)
            assert following in engine.owing(state)
        assert _answer(state, seats[-1:], choices)


def test_every_kind_of_shared_decision_is_among_those_above() -> None:
    kinds = {
        type(state.pending).__name__
        for variant in (("team_asia", 4, ()), ("card_game", 4, ()))
        for state in _shared_decisions(variant, Line(0, 0, lambda chance, moves: chance.choice(moves)))
    }
    assert kinds == {"KeepTickets", "ShareTicket", "CompleteTickets"}
