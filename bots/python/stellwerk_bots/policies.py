"""Policies: players inside one process, which need no thinking time. Here is the one that chooses at random;
the planner's is in `planner/policy.py`.

The law: a policy gets the whole state, because it plays inside one process, but looks only at what a view
would show its seat: its own hand and tickets, the team's holders, and what is public. Hidden information
never changes its move. A policy keeps nothing between two moves, so it can continue from any state, also an
imagined one. So it does not know its on-track stack, unless the rules show it (CARD-05).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from stellwerk_engine.core.state import Move, Seat, State

Policy = Callable[[State, Seat, list[Move]], Move]
"""A function that returns one of the moves that `legal` lists for the seat."""


class RandomSource(Protocol):
    def random(self) -> float:
        """Return a number from 0 to below 1, like `random.Random`."""
        ...


def random_policy(source: RandomSource) -> Policy:
    """Return a random listed move, each with the same probability."""

    def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
        return moves[int(source.random() * len(moves))]

    return choose
