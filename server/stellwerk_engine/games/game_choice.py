"""Which game, how many players, which options, whose board: all that makes a game, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Game
from stellwerk_engine.games.shipped import RULE_SETS


@dataclass(frozen=True, slots=True)
class GameChoice:
    """A game, its options, its board and its number of seats, in a form that can be sent to another
    process."""

    game_id: str
    seat_count: int
    options: tuple[str, ...]
    board: BoardFile

    def make(self) -> Game:
        """Make the game. Raises GameError or BoardError if there is no such game."""
        return _make(self)


@lru_cache(maxsize=32)
def _make(choice: GameChoice) -> Game:
    return make_game(RULE_SETS[choice.game_id], choice.board, choice.seat_count, choice.options)
