"""Courses of play for properties: a variant, a deal, and a habit of choosing moves.

Hypothesis draws two numbers and a habit; everything else follows from them. Moves that are all equally likely
would rarely lead where a game gets narrow, so there are habits that look for rare moves, empty piles and many
tickets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

import msgspec
from hypothesis import Phase, settings
from hypothesis import strategies as st

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, Game, Move, State
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, ViewerId
from stellwerk_engine.parts.draw_cards import DrawFirst, DrawSecond, DrawThree, TakeFirst, TakeSecond
from stellwerk_engine.parts.tickets import DrawTicketsMove, Keep
from tests.support import dealt

Variant = tuple[str, int, tuple[str, ...]]
Habit = Callable[[Random, list[Move]], Move]

encode = msgspec.json.Encoder().encode


def any_move(chance: Random, moves: list[Move]) -> Move:
    return chance.choice(moves)


def any_kind(chance: Random, moves: list[Move]) -> Move:
    """Choose each kind of move as often as the others, however many moves there are of it."""
    kinds = sorted({type(move).__name__ for move in moves})
    kind = chance.choice(kinds)
    return chance.choice([move for move in moves if type(move).__name__ == kind])


def hoard_cards(chance: Random, moves: list[Move]) -> Move:
    """Empty the pile and keep it empty."""
    draws = [m for m in moves if isinstance(m, DrawFirst | TakeFirst | DrawSecond | TakeSecond | DrawThree)]
    return chance.choice(draws) if draws else any_kind(chance, moves)


def hoard_tickets(chance: Random, moves: list[Move]) -> Move:
    """Empty the ticket pile; every other time keep no more than necessary."""
    draws = [move for move in moves if isinstance(move, DrawTicketsMove)]
    if draws and chance.random() < 0.5:
        return draws[0]
    keeps = [move for move in moves if isinstance(move, Keep)]
    return keeps[chance.choice((0, -1))] if keeps else any_kind(chance, moves)


HABITS: Final[tuple[Habit, ...]] = (any_move, any_kind, hoard_cards, hoard_tickets)


@dataclass(frozen=True)
class Line:
    """A course of play, the same one each time."""

    deal: int
    chance: int
    habit: Habit


lines = st.builds(
    Line,
    deal=st.integers(0, 2**32 - 1),
    chance=st.integers(0, 2**32 - 1),
    habit=st.sampled_from(HABITS),
)


def examples(number: int) -> settings:
    """Try so many courses of play. One that fails is not shrunk, because a smaller seed is not a simpler
    game."""
    return settings(max_examples=number, phases=(Phase.explicit, Phase.reuse, Phase.generate))


def viewers(game: Game) -> tuple[ViewerId, ...]:
    return (*range(game.seat_count), PUBLIC, ALL_HANDS)


def played(variant: Variant, line: Line, events: Events | None = None) -> Iterator[State]:
    """Yield a game's state after the deal and after each move. It is always the same state object."""
    chance = Random(line.chance)
    state = dealt(*variant, seed=str(line.deal), events=events)
    yield state
    while state.pending is not None:
        for seat in engine.owing(state):
            engine.apply(state, seat, line.habit(chance, engine.legal(state, seat)), events)
            yield state


def moments(variant: Variant, line: Line, number: int) -> list[State]:
    """Return so many moments of a game before its end, each kind of decision as often as the others if
    possible."""
    by_kind: dict[str, list[State]] = {}
    for state in played(variant, line):
        if state.pending is not None:
            by_kind.setdefault(type(state.pending).__name__, []).append(state.copy())
    chance = Random(line.chance)
    for states in by_kind.values():
        chance.shuffle(states)
    chosen: list[State] = []
    while by_kind and len(chosen) < number:
        for kind in sorted(by_kind):
            chosen.append(by_kind[kind].pop())
            if not by_kind[kind]:
                del by_kind[kind]
    return chosen[:number]


def play_on(state: State, chance: Random, habit: Habit = any_move) -> None:
    """Play to the end."""
    while state.pending is not None:
        for seat in engine.owing(state):
            engine.apply(state, seat, habit(chance, engine.legal(state, seat)))
