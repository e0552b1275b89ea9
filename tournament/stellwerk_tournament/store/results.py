"""Results of the lines of `matches.jsonl`: their sums, and columns with what counts of each match.

A runner, a status and ratings need no more than this. A line itself is read again by whoever asks for it
(`Cup.lines`).

Laws:
- results come from lines alone, block by block, in the order of the file;
- nothing depends on the checkpoint: without it, all lines are read. It is believed only if it is whole and
  the file begins with the bytes that it was made from, whose SHA-256 is computed again each time. The lines
  after these are read.
"""

from __future__ import annotations

import contextlib
import sys
from array import array
from collections import Counter
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final, Generic, TypeAlias, TypeVar, cast, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stellwerk_base.files import write_whole
from stellwerk_processes.bench.levels import SandboxRecord
from stellwerk_tournament.evidence.worth import Versus
from stellwerk_tournament.ratings.outcomes import Outcome, scores_of
from stellwerk_tournament.schedule.schedule import Met
from stellwerk_tournament.store.blind_sums import BlindSums, add_block
from stellwerk_tournament.store.conduct import is_contest
from stellwerk_tournament.store.match_line import (
    Forfeit,
    MatchLine,
    Played,
    WholeBlocks,
    decode,
    outcome_of,
)
from stellwerk_tournament.store.standings import Standings, Sums

CHECKPOINT: Final = "matches.checkpoint"
FORMAT: Final = f"3 {sys.byteorder}"  # another number whenever the same lines come to something else
BYTES_AT_ONCE: Final = 2**20
_SEAL_SIZE: Final = sha256().digest_size

T = TypeVar("T", bound=Hashable)

Lineup: TypeAlias = tuple[str, tuple[str, ...]]
"""A game, and who plays its teams."""
Ending: TypeAlias = tuple[tuple[int, ...], tuple[Forfeit, ...]]
"""The ranks that count, and the forfeits."""
GameKind: TypeAlias = tuple[str, int, tuple[str, ...]]
"""A game, its number of seats and its options."""


class Durations(Struct):
    """How many matches were played, and how many seconds they took in all."""

    matches: int = 0
    seconds: float = 0.0


class _Checkpoint(Struct, frozen=True):
    """The content of the file behind its seal. `sha256` is that of the first `size` bytes of lines."""

    format: str
    size: int
    sha256: bytes
    sums: dict[str, Sums]
    pairs: dict[tuple[str, str], Versus]
    blind: dict[str, BlindSums]
    durations: dict[GameKind, Durations]
    sandbox: SandboxRecord | None
    has_contest: bool
    blocks: bytes
    rounds: bytes
    firsts: bytes
    begins: bytes
    lineups: list[Lineup]
    lineup_rows: bytes
    endings: list[Ending]
    ending_rows: bytes


class _Column(Generic[T]):
    """A column in which few values come again and again: a row is the number of its value."""

    def __init__(self, values: Iterable[T] = (), rows: bytes = b"") -> None:
        self.values = [*values]
        self.rows = array("L", rows)
        self._numbers = {value: number for number, value in enumerate(self.values)}

    def __getitem__(self, row: int) -> T:
        return self.values[self.rows[row]]

    def append(self, value: T) -> None:
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        self.rows.append(number)


class Results:
    """The results of complete blocks. `size` is how many bytes their lines take. `sandbox` is that of the
    last line. `has_contest`: whether two bots played any match to its end."""

    def __init__(self) -> None:
        self.size = 0
        self.standings = Standings()
        self.blind: dict[str, BlindSums] = {}
        self.durations: dict[GameKind, Durations] = {}
        self.sandbox: SandboxRecord | UnsetType = UNSET
        self.has_contest = False
        self._digest = sha256()
        self._blocks = array("q")  # their numbers
        self._rounds = array("q")
        self._firsts = array("q")  # the first row of each block in the columns of matches
        self._begins = array("q")  # where the lines of each block begin in the file
        self._lineups = _Column[Lineup]()
        self._endings = _Column[Ending]()
        self._places: dict[int, int] = {}  # of blocks in their columns, by their numbers
        self._history: list[Met] = []  # as far as it was asked for

    def __len__(self) -> int:
        """Return the number of matches."""
        return len(self._endings.rows)

    def __iter__(self) -> Iterator[Played]:
        """Yield the matches in the order of the file."""
        for place in range(len(self._blocks)):
            yield from self._matches(place)

    def __contains__(self, block: object) -> bool:
        return block in self._places

    @property
    def blocks(self) -> Sequence[int]:
        """Return the numbers of the blocks, in the order of the file."""
        return self._blocks

    @property
    def has_forfeits(self) -> bool:
        return any(forfeits for _, forfeits in self._endings.values)

    def outcomes(
        self,
        *,
        with_forfeits: bool = True,
        unrated: Container[int] = (),
        without: Collection[str] = (),
    ) -> list[Outcome]:
        """Return the outcomes for ratings: of all matches, or of those without any forfeit; but not of
        `unrated` blocks, nor of those that a bot of `without` played in."""
        return [
            outcome_of(match)
            for match in self.by_number()
            if (with_forfeits or not match.forfeits)
            and match.block not in unrated
            and not (without and any(name in without for name in match.players))
        ]

    def by_number(self) -> Iterator[Played]:
        """Yield the matches in the order of their blocks' numbers."""
        for block in sorted(self._blocks):
            yield from self._matches(self._places[block])

    def lines(self, file: BinaryIO, blocks: Iterable[int]) -> Iterator[MatchLine]:
        """Read the lines of these blocks again, one by one."""
        for block in blocks:
            place = self._places[block]
            file.seek(self._begins[place])
            for _ in self._rows(place):
                yield decode(file.readline())

    def begin_of(self, block: int) -> int:
        """Return how many bytes the lines before a block take."""
        return self._begins[self._places[block]]

    def met(self, block: int) -> Met:
        """Combine all matches of a block."""
        matches = [*self._matches(self._places[block])]
        sums = dict.fromkeys(matches[0].players, 0.0)
        for match in matches:
            for name, score in zip(match.players, scores_of(match.ranks), strict=True):
                sums[name] += score / len(matches)
        return Met(block, matches[0].round, sums)

    def history(self) -> Sequence[Met]:
        """Combine the matches of each block, in the order of the file."""
        self._history += map(self.met, self._blocks[len(self._history) :])
        return self._history

    def add(self, matches: Sequence[MatchLine], text: bytes) -> None:
        """Take in a block whose lines, this text, are in the file."""
        block = matches[0].block
        self._places[block] = len(self._blocks)
        self._blocks.append(block)
        self._rounds.append(matches[0].round)
        self._firsts.append(len(self))
        self._begins.append(self.size)
        for match in matches:
            self._lineups.append((match.game, match.players))
            self._endings.append((match.ranks, match.forfeits))
            self.standings.add(match)
            kind = match.game, len(match.bots), match.options
            durations = self.durations.setdefault(kind, Durations())
            durations.matches += 1
            durations.seconds += match.seconds
            self.has_contest = self.has_contest or is_contest(match)
        add_block(self.blind, matches)
        self.sandbox = matches[-1].sandbox
        self.size += len(text)
        self._digest.update(text)

    def read_on(self, file: BinaryIO) -> str:
        """Take in the blocks that a file has after `size`. Return what follows them, in words, if anything
        does. MatchLinesError."""
        file.seek(self.size)
        blocks = WholeBlocks(file, self._places.keys(), len(self))
        for block in blocks:
            self.add(block.matches, block.text)
        return blocks.cut

    def _matches(self, place: int) -> Iterator[Played]:
        block, round = self._blocks[place], self._rounds[place]
        for row in self._rows(place):
            yield Played(block, round, *self._lineups[row], *self._endings[row])

    def _rows(self, place: int) -> range:
        """Return the rows of a block in the columns of matches."""
        is_last = place + 1 == len(self._blocks)
        return range(self._firsts[place], len(self) if is_last else self._firsts[place + 1])

    # -- the checkpoint --------------------------------------------------------------------------

    @classmethod
    def from_checkpoint(cls, folder: Path, file: BinaryIO) -> Results:
        """Return the results that a checkpoint in the folder holds of the lines in this file; or, if it does
        not fit them, results of no line yet."""
        try:
            sealed = (folder / CHECKPOINT).read_bytes()
        except OSError:
            return cls()
        content = sealed[_SEAL_SIZE:]
        if sha256(content).digest() != sealed[:_SEAL_SIZE]:
            return cls()
        try:
            checkpoint = msgspec.msgpack.decode(content, type=_Checkpoint, dec_hook=_counter)
        except msgspec.DecodeError:
            return cls()
        results = cls()
        results._hash_prefix(file, checkpoint.size)
        if checkpoint.format != FORMAT or results._digest.digest() != checkpoint.sha256:
            return cls()
        results._take(checkpoint)
        return results

    def write_checkpoint(self, folder: Path) -> None:
        """Write the checkpoint, if that can be done."""
        checkpoint = _Checkpoint(
            FORMAT,
            self.size,
            self._digest.digest(),
            {name: sums for name, sums in sorted(self.standings.of.items()) if sums.matches},
            self.standings.pairs,
            self.blind,
            self.durations,
            None if self.sandbox is UNSET else self.sandbox,
            self.has_contest,
            self._blocks.tobytes(),
            self._rounds.tobytes(),
            self._firsts.tobytes(),
            self._begins.tobytes(),
            self._lineups.values,
            self._lineups.rows.tobytes(),
            self._endings.values,
            self._endings.rows.tobytes(),
        )
        content = msgspec.msgpack.encode(checkpoint)
        with contextlib.suppress(OSError):
            write_whole(folder / CHECKPOINT, sha256(content).digest() + content)

    def _hash_prefix(self, file: BinaryIO, size: int) -> None:
        file.seek(0)
        while size > 0 and (text := file.read(min(size, BYTES_AT_ONCE))):
            self._digest.update(text)
            size -= len(text)

    def _take(self, checkpoint: _Checkpoint) -> None:
        self.size = checkpoint.size
        self.standings.of, self.standings.pairs = checkpoint.sums, checkpoint.pairs
        self.blind, self.durations = checkpoint.blind, checkpoint.durations
        self.sandbox = UNSET if checkpoint.sandbox is None else checkpoint.sandbox
        self.has_contest = checkpoint.has_contest
        self._blocks = array("q", checkpoint.blocks)
        self._rounds = array("q", checkpoint.rounds)
        self._firsts = array("q", checkpoint.firsts)
        self._begins = array("q", checkpoint.begins)
        self._lineups = _Column(checkpoint.lineups, checkpoint.lineup_rows)
        self._endings = _Column(checkpoint.endings, checkpoint.ending_rows)
        self._places = {block: place for place, block in enumerate(self._blocks)}


def _counter(kind: type, value: object) -> object:
    """Make what `Sums` has, and msgspec does not know."""
    if get_origin(kind) is Counter and isinstance(value, dict):
        return Counter(cast(dict[str, int], value))
    raise NotImplementedError
