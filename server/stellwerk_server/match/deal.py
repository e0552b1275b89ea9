"""All that fixes a match beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Game
    from stellwerk_protocol.messages import Clocks


@dataclass(frozen=True, slots=True)
class Deal:
    """`seed` and `salt` are secret until the match is over; with `reveal_later`, until all matches of the
    same deal are."""

    match: str
    game: Game
    names: tuple[str, ...]
    seed: bytes
    salt: bytes
    clocks: Clocks
    reveal_later: bool = False

    def __repr__(self) -> str:
        return f"Deal({self.match!r}, {self.game.id!r}, {self.names!r})"
