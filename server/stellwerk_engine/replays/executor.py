"""A recorded game, made again move by move: to verify a replay, and to continue a match after a crash.

Law: the seed and the moves alone decide what comes of them. A move that cannot be made changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Events, Move, Seat

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Game
    from stellwerk_protocol.moves import Move as WireMove


@dataclass(frozen=True, slots=True)
class MoveAgain:
    """A move that was made again, with the events that it led to."""

    seat: Seat
    move: Move
    events: Events


class Executor:
    """A game that is dealt again, and then makes its moves again. `events` are all that have happened."""

    __slots__ = ("events", "move_count", "state")

    def __init__(self, game: Game, seed: bytes) -> None:
        self.events: Events = []
        self.state = engine.new_game(game, Dice(seed), self.events)
        self.move_count = 0

    def make(self, seat: Seat, move: WireMove) -> MoveAgain:
        """Make a recorded move. IllegalMoveError if this seat cannot make it now."""
        events: Events = []
        move_made = engine.play(self.state, seat, move, events)
        self.events += events
        self.move_count += 1
        return MoveAgain(seat, move_made, events)
