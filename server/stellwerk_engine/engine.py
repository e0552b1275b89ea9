"""The functions that servers, bots and tools call.

`check` is the law: it turns a struct from the wire into a move, or says why not. `legal` is a service: its
list of moves is bounded, and every move in it passes `check`. `apply` takes only moves from these two.
"""

from __future__ import annotations

from stellwerk_engine.core.choices import decision_for, owing
from stellwerk_engine.core.set_up import new_game
from stellwerk_engine.core.state import Events, Move, Seat, State
from stellwerk_protocol import moves as wire_moves

__all__ = ["apply", "check", "fallback", "legal", "legal_complete", "new_game", "owing", "play"]


def legal(state: State, seat: Seat) -> list[Move]:
    """Return the moves listed for the seat; never empty. IllegalMoveError if it owes none."""
    return decision_for(state, seat).legal(state, seat)


def legal_complete(state: State, seat: Seat) -> bool:
    """Return whether `legal` lists every move that `check` accepts."""
    return decision_for(state, seat).legal_complete(state, seat)


def check(state: State, seat: Seat, wire: wire_moves.Move) -> Move:
    """Return the move that the struct describes. IllegalMoveError if it is not legal now. The state does not
    change."""
    return decision_for(state, seat).check(state, seat, wire)


def apply(state: State, seat: Seat, move: Move, events: Events | None = None) -> None:
    """Change the state by a move that `legal` or `check` gave for it, and append what happened to
    `events`."""
    move.apply(state, seat, events)


def play(state: State, seat: Seat, wire: wire_moves.Move, events: Events | None = None) -> Move:
    """Check and apply."""
    move = check(state, seat, wire)
    move.apply(state, seat, events)
    return move


def fallback(state: State, seat: Seat) -> Move:
    """Return the harmless move that is made for who fails to answer."""
    return decision_for(state, seat).fallback(state, seat)
