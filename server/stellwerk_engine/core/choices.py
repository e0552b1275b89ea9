"""Decisions that several owe at once (GEN-03): answers wait until the last is in, then take effect in
seat order."""

from __future__ import annotations

from stellwerk_engine.core.state import Decision, Move, Seat, State
from stellwerk_protocol.errors import IllegalMoveError


def ask_all(state: State, decision: Decision) -> None:
    state.pending = decision
    state.choices = (None,) * len(decision.seats)


def choose(state: State, decision: Decision, seat: Seat, move: Move) -> tuple[Move, ...] | None:
    """Note the seat's choice. Return all choices, in the order of the seats, once the last is in."""
    place = decision.seats.index(seat)
    choices = (*state.choices[:place], move, *state.choices[place + 1 :])
    all_choices = tuple([choice for choice in choices if choice is not None])
    if len(all_choices) < len(choices):
        state.choices = choices
        return None
    state.choices = ()
    return all_choices


def owing(state: State) -> tuple[Seat, ...]:
    """Return the seats that owe a move now."""
    if state.pending is None:
        return ()
    if not state.choices:
        return state.pending.seats
    return tuple(
        seat for seat, choice in zip(state.pending.seats, state.choices, strict=True) if choice is None
    )


def decision_for(state: State, seat: Seat) -> Decision:
    """Return the decision that this seat owes. IllegalMoveError if it owes none."""
    if state.pending is None:
        raise IllegalMoveError("game.over", "", "no move, because the game is over")
    if seat not in owing(state):
        raise IllegalMoveError("game.not_asked", "", "no move of this seat now")
    return state.pending
