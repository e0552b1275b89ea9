"""The journal of a match that is kept in memory, for a program that plays matches itself.

Law: no file says during the match what a bot must not know.
"""

from __future__ import annotations

from pathlib import Path

from stellwerk_server.journal.journal import replay_of


class MemoryJournal:
    """A journal that becomes a replay, and never a file."""

    def __init__(self) -> None:
        self._lines = bytearray()

    def append(self, lines: bytes) -> None:
        self._lines += lines

    def finish(self, times: bytes) -> Path | None:
        return None

    def leave(self) -> Path | None:
        return None

    def discard(self) -> None:
        self._lines.clear()

    def abandon(self) -> None:
        self._lines.clear()

    def read(self) -> bytes:
        return bytes(self._lines)

    def note(self, lines: bytes) -> None:
        pass

    def forget(self) -> None:
        pass

    def replay(self) -> bytes:
        """Return the replay: the journal without its private records."""
        return replay_of(bytes(self._lines))
