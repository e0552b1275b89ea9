"""Recorded games, made again move by move."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.replays.executor import Executor
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.events import Event
from tests.support import fingerprint, table

SEED = bytes(range(32))


@pytest.mark.parametrize("game_id", ["usa", "card_game"])
def test_the_moves_of_a_game_lead_to_the_same_state_and_events(game_id: str) -> None:
    game = table(game_id, 2)
    events: list[Event] = []
    state = engine.new_game(game, Dice(SEED), events)
    again = Executor(game, SEED)
    assert again.events == events
    for number in range(1, 41):
        seat = engine.owing(state)[0]
        move = engine.legal(state, seat)[-1]
        new: list[Event] = []
        engine.apply(state, seat, move, new)
        events += new
        move_again = again.make(seat, move.wire)
        assert (move_again.seat, move_again.move.wire, move_again.events) == (seat, move.wire, new)
        assert (again.move_count, again.events) == (number, events)
        assert fingerprint(again.state) == fingerprint(state)


def test_a_move_that_cannot_be_made_changes_nothing() -> None:
    again = Executor(table("usa", 2), SEED)
    before, events = fingerprint(again.state), list(again.events)
    with pytest.raises(IllegalMoveError):
        again.make(0, engine.legal(again.state, 1)[0].wire)
    assert (fingerprint(again.state), again.events, again.move_count) == (before, events, 0)
