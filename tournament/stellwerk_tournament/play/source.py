"""The protocol by which the runner gets its blocks: what is due, what has ended, and whether it is over.

Laws:
- the runner knows no rounds, and not who meets whom; a source knows no processes, no deals and no disk;
- a block has one number for ever. The runner asks for more when every block that it has been given has begun;
- a block that was given ends once, complete or void, unless it is called off because a bot is out. So
  what is due may depend on what has ended, and on nothing that is still being played;
- a runner that is resumed gets every block again that is not over. It leaves out those that are;
- the field may grow: a block may have entrants that were not there before. How they play (games, clocks,
  sandbox) follows from the settings, which never change.

The schedule of a tournament is one source (`scheduled.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

from stellwerk_tournament.config.settings import Entrant
from stellwerk_tournament.play.record import Record
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.store import KnownBlock


class BlockSource(Protocol):
    """A source of blocks. The runner calls `due` and `ended` in a thread, one call after the other."""

    @property
    def entrants(self) -> Mapping[str, Entrant]:
        """Return all bots that play, by their names. It can grow."""
        ...

    @property
    def total(self) -> int | None:
        """Return how many matches there are in all, if that is known."""
        ...

    @property
    def is_over(self) -> bool:
        """Return whether no block will be due any more."""
        ...

    def due(self, running: Collection[Block]) -> Sequence[Block]:
        """Return the next blocks. Empty if none is due before one of those that run has ended, or before the
        source calls `wake`."""
        ...

    def ended(self, block: Block, lines: Sequence[MatchLine]) -> None:
        """Take in the end of a block. It has no lines if it is void."""
        ...


NewSource: TypeAlias = Callable[[Record, Mapping[int, KnownBlock], Callable[[], object]], BlockSource]
"""Makes a source, from what has been played, the blocks that the folder has by their numbers, and `wake`. The
source calls that in Trio's thread when a block may be due although nothing has ended."""
