"""The planner as a policy: the listed move of the highest value by rules of thumb.

It keeps the law of `policies.py`: it looks only at what a view would show its seat.
"""

from __future__ import annotations

from stellwerk_bots.planner.map_worth import map_worth
from stellwerk_bots.planner.yard_worth import yard_worth
from stellwerk_engine.core.state import Move, Seat, State


def planner(state: State, seat: Seat, moves: list[Move]) -> Move:
    """Return the move with the highest value by a rule of thumb, the first of equal ones; no chance, no
    search."""
    if len(moves) == 1:
        return moves[0]
    return max(moves, key=yard_worth(state, seat) if state.yards else map_worth(state, seat))
