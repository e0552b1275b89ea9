"""What is written down of a match, and what waits to be written while the disk refuses.

Law: lines come into the journal whole and in their order; nothing overtakes what could not be written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stellwerk_engine.replays.writer import ReplayWriter

if TYPE_CHECKING:
    from stellwerk_server.journal.journal import Journal


class MatchLog:
    __slots__ = ("error", "journal", "left_behind", "refused_since", "replay", "unwritten", "writer")

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.writer = ReplayWriter()
        self.unwritten = b""
        self.refused_since: float | None = None  # since when the disk has taken nothing
        self.error = ""  # and why
        self.replay: Path | None = None  # what the journal became
        self.left_behind: Path | None = None  # the journal that no replay could be made of

    def write(self, lines: bytes, now: float) -> bool:
        """Whether it could be written. If not, what comes later waits behind it, until `write_again`."""
        if self.unwritten:
            self.unwritten += lines
            return False
        return self._append(lines, now)

    def write_again(self, now: float) -> bool:
        """Try to write what waits."""
        return self._append(self.unwritten, now)

    def finish(self, now: float) -> bool:
        """Make the replay. Whether that could be done."""
        try:
            self.replay = self.journal.finish()
        except OSError as error:
            self._refused(error, now)
            return False
        self._taken()
        return True

    def leave(self) -> None:
        """Give up making the replay: the next server can do it."""
        self.left_behind = self.journal.leave()

    def _append(self, lines: bytes, now: float) -> bool:
        try:
            self.journal.append(lines)
        except OSError as error:
            self.unwritten = lines
            self._refused(error, now)
            return False
        if self.unwritten:
            self._taken()
        return True

    def _refused(self, error: OSError, now: float) -> None:
        self.error = str(error)
        if self.refused_since is None:
            self.refused_since = now

    def _taken(self) -> None:
        self.unwritten = b""
        self.refused_since = None
        self.error = ""
