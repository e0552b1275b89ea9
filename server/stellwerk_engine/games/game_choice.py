"""Which game, how many players, which options, whose board: all that makes a game, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from msgspec import UNSET, UnsetType

from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Game, RuleSet
from stellwerk_engine.games.described import parts_of, rules_named
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_protocol.parts import Parts


@dataclass(frozen=True, slots=True)
class GameChoice:
    """A game, its options, its board and its number of seats, in a form that can be sent to another
    process. `parts` and `rules_version` describe a game that is not shipped."""

    game_id: str
    seat_count: int
    options: tuple[str, ...]
    board: BoardFile
    parts: Parts | UnsetType = field(default=UNSET, hash=False)
    rules_version: int = 0

    @classmethod
    def of(cls, rules: RuleSet, seat_count: int, options: Sequence[str], board: BoardFile) -> Self:
        """Choose a game by its rules. Raise GameError or BoardError if there is no such game."""
        shipped = RULE_SETS.get(rules.id)
        if shipped is None:
            game = make_game(rules, board, seat_count, options)
            choice = cls(rules.id, seat_count, game.options, board, parts_of(game.rules), rules.rules_version)
        elif shipped is rules:
            choice = cls(rules.id, seat_count, tuple(sorted(set(options))), board)
        else:
            raise GameError(f"a game of your own needs another id than {rules.id}, which is shipped")
        choice.make()
        return choice

    @property
    def rules(self) -> RuleSet:
        return rules_named(self.game_id, self.rules_version, self.seat_count, self.options, self.parts)

    def make(self) -> Game:
        """Make the game. Raises GameError or BoardError if there is no such game."""
        return _make(self)


@lru_cache(maxsize=32)
def _make(choice: GameChoice) -> Game:
    return make_game(choice.rules, choice.board, choice.seat_count, choice.options)
