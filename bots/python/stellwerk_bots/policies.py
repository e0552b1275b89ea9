"""Policies: players inside one process, which need no messages.

The law: a policy gets the whole state, because it plays inside one process, but looks only at what a view
would show its seat: its own hand and tickets, the team's holders, and what is public. Hidden information
never changes its move. So it does not know its on-track stack, unless the rules show it (CARD-05).
"""

from __future__ import annotations

from collections.abc import Callable

from stellwerk_bots.random_bot import chance_of
from stellwerk_engine.core.state import Move, Seat, State

Policy = Callable[[State, Seat, list[Move]], Move]
"""A function that returns one of the moves that `legal` lists for the seat."""


def random_policy(seed_text: str, match: str) -> Policy:
    """Return the policy of one seat in one match that chooses what the bot `random` answers there. It must be
    asked for each of its moves, in their order."""
    chance = chance_of(seed_text, match).random
    chance()  # the number of ask 0, which there is not

    def choose(state: State, seat: Seat, moves: list[Move]) -> Move:
        return moves[int(chance() * len(moves))]

    return choose
