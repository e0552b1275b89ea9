"""Blocks that are played elsewhere: what a courier takes away, and what it brings back.

Law: the runner decides what is played, and keeps all results; a courier carries one block there and back, and
may lose it at any time. Then the block is due again, with the same deal, and nothing has been counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.match_line import MatchLine


@dataclass(frozen=True, slots=True)
class DueBlock:
    """A block to be played: those of its matches that are missing, and who has been suspended meanwhile."""

    block: Block
    seed: bytes = field(repr=False)
    rotations: tuple[int, ...]
    suspended: tuple[str, ...] = ()


class PlayedMatch(Struct, frozen=True):
    """A match that was played: its line, its replay without the seed, and the file of its answers' times.
    `printed` has, for each seat, the bot and the last lines that it printed."""

    line: MatchLine
    replay: bytes
    times: bytes
    printed: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class PlayedBlock:
    """All matches that were due. `failures` are those of the `machine` before it could play them: the
    rotation and the cause."""

    matches: tuple[PlayedMatch, ...]
    failures: tuple[tuple[int, str], ...] = ()
    machine: str = ""


class RunError(Exception):
    """An error that ends the tournament, though no bot is to blame; one line says why."""


class BlockFailedError(Exception):
    """A block that could not be played, through no bot's fault. `rotation` is the match that failed,
    `machine` the name of that where it did, if that is known."""

    def __init__(self, rotation: int, cause: str, machine: str = "") -> None:
        super().__init__(cause)
        self.rotation = rotation
        self.machine = machine


class Courier(Protocol):
    """Carries blocks. `most` is how many it can have at a time; `takes_more` says whether it takes any."""

    @property
    def most(self) -> int: ...

    @property
    def takes_more(self) -> bool: ...

    @property
    def brings_back(self) -> bool:
        """Return whether it brings blocks back while the tournament is played."""
        ...

    async def play(self, due: DueBlock) -> PlayedBlock | None:
        """Bring a block to where it is played, and its matches back. None if they come another time.
        BlockFailedError, or RunError if nothing can be played any more."""
        ...

    async def watch(self) -> None:
        """Look after the machines, until it is cancelled."""
        ...

    async def recall(self) -> None:
        """Take back the blocks that nobody has begun to play: the tournament stops."""
        ...
