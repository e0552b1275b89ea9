"""`matches.jsonl` as a spectator follows it: the blocks that have become complete since it last looked.

Laws:
- it takes no lock and writes nothing, so a runner never waits for it, nor fails because of it;
- it reads each byte once, and what it gives are whole blocks: a torn line, or the beginning of a block, is
  looked at again when the file has grown;
- a file that is not the one that was read so far is a tournament that begins anew.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from stellwerk_tournament.store.match_line import FILE, MatchLine, MatchLinesError, WholeBlocks
from stellwerk_tournament.store.store import StoreError

BYTES_AT_ONCE: Final = 4_000_000  # about 1,500 lines: a spectator of a long file sees it grow
LONGEST_BLOCK: Final = 2**26  # no block comes near that: then this is no file of matches
SEAM: Final = 4096  # bytes before those that are new, which must be what they were


@dataclass(frozen=True, slots=True)
class NewLines:
    """The new lines of whole blocks. `is_anew`: all lines before are void. `has_more`: there is more to read
    at once."""

    lines: tuple[MatchLine, ...] = ()
    is_anew: bool = False
    has_more: bool = False


class Follower:
    """Reads the lines of a tournament as they come. Each call of `read` waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._size = 0
        self._seam = b""
        self._blocks: set[int] = set()

    def read(self) -> NewLines:
        """Return what has come since the last call. StoreError if the file cannot be read, or is damaged;
        then the next call tries the same again."""
        try:
            with open(self._path, "rb") as file:
                return self._read(file)
        except FileNotFoundError:
            return NewLines(is_anew=self._begin_anew())
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be read: {error.strerror or error}") from None

    def _read(self, file: BinaryIO) -> NewLines:
        size = os.fstat(file.fileno()).st_size
        is_anew = not self._continues(file, size) and self._begin_anew()
        most = BYTES_AT_ONCE
        while size > self._size:
            file.seek(self._size)
            text = file.read(min(most, size - self._size))
            is_all = self._size + len(text) >= size
            found = self._complete(text)
            if found or is_all:
                return NewLines(found, is_anew, has_more=not is_all)
            if most >= LONGEST_BLOCK:
                raise StoreError(f"{self._path}: byte {self._size}: no block is that long")
            most *= 4
        return NewLines(is_anew=is_anew)

    def _continues(self, file: BinaryIO, size: int) -> bool:
        """Return whether the file still has what was read of it. Its end tells that: no two lines of matches
        are the same."""
        if size < self._size:
            return False
        file.seek(self._size - len(self._seam))
        return file.read(len(self._seam)) == self._seam

    def _begin_anew(self) -> bool:
        """Forget all. Return whether there was anything."""
        had_read = self._size > 0
        self._size = 0
        self._seam = b""
        self._blocks = set()
        return had_read

    def _complete(self, text: bytes) -> tuple[MatchLine, ...]:
        """Return the whole blocks at the beginning of a text, and go on behind them."""
        blocks = WholeBlocks(BytesIO(text), self._blocks)
        try:
            lines = tuple(match for block in blocks for match in block.matches)
        except MatchLinesError as error:
            raise StoreError(f"{self._path}: after byte {self._size}: {error}") from None
        self._blocks |= {line.block for line in lines}
        self._size += blocks.size
        self._seam = (self._seam + text[: blocks.size])[-SEAM:]
        return lines
