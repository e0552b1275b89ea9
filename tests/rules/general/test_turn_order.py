"""Whose turn it is (GEN-01)."""

from __future__ import annotations

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events
from stellwerk_protocol import events as ev
from tests.support import dealt, every_variant, started


@every_variant
def test_seat_0_begins(variant: tuple[str, int, tuple[str, ...]]) -> None:
    """GEN-01."""
    for seed in ("one", "two", "three"):
        assert engine.owing(started(*variant, seed)) == (0,)


@every_variant
def test_play_goes_from_seat_to_seat_and_from_the_last_to_the_first(
    variant: tuple[str, int, tuple[str, ...]],
) -> None:
    """GEN-01."""
    events: Events = []
    state = dealt(*variant)
    seats = variant[1]
    while state.turn <= 2 * seats:
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat), events)
    turns = [(event.turn, event.seat) for event in events if isinstance(event, ev.TurnStarted)]
    assert turns == [(turn, (turn - 1) % seats) for turn in range(1, 2 * seats + 2)]


@every_variant
def test_in_a_turn_only_its_player_is_asked(variant: tuple[str, int, tuple[str, ...]]) -> None:
    """GEN-01."""
    state = started(*variant)
    seats = variant[1]
    while state.turn <= 2 * seats:
        mover = (state.turn - 1) % seats
        assert engine.owing(state) == (mover,)
        engine.apply(state, mover, engine.fallback(state, mover))
