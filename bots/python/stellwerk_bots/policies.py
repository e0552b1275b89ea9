"""Two policies that need no thinking time: one chooses at random, the other by rules of thumb that plan
ahead.

The law: a policy gets the whole state, because it plays inside one process, but looks only at what a view
would show its seat: its own hand and tickets, the team's holders, and what is public. Hidden information
never changes its move. A policy keeps nothing between two moves, so it can continue from any state, also an
imagined one. So it does not know its on-track stack, unless the rules show it (CARD-05).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from stellwerk_bots.planner.map_worth import map_worth
from stellwerk_bots.planner.yard_worth import yard_worth
from stellwerk_engine.core.decision import Move, Seat
from stellwerk_engine.core.state import State

Policy = Callable[[State, Seat, list[Move]], Move]
"""A function that returns one of the moves that `legal` lists for the seat."""


class RandomSource(Protocol):
    def random(self) -> float:
        """From 0 to below 1, like `random.Random`."""
        ...


def random_policy(source: RandomSource) -> Policy:
    """Return a random listed move, each with the same probability."""

    def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
        return moves[int(source.random() * len(moves))]

    return choose


def planner(state: State, seat: Seat, moves: list[Move]) -> Move:
    """Return the move with the highest value by a rule of thumb, the first of equal ones; no chance, no
    search."""
    if len(moves) == 1:
        return moves[0]
    return max(moves, key=yard_worth(state, seat) if state.game.rules.rail_yards else map_worth(state, seat))
