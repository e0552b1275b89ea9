"""Bytes as they come, cut into lines.

Law: the lines do not depend on how the bytes were cut into pieces, and never more is kept than the longest
line that is allowed.
"""

from __future__ import annotations


class LineSplitter:
    """A splitter of bytes. `limit` counts a line without its newline. After a longer line, `overflowed` is
    true and no more lines come out."""

    __slots__ = ("_begun", "limit", "overflowed")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.overflowed = False
        self._begun = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that are complete now, without their newlines."""
        if self.overflowed:
            return []
        if self._begun:
            data = self._begun + data
        if data.find(b"\n") + 1 == len(data) > 0 and len(data) <= self.limit:  # one line, as nearly always
            self._begun = b""
            return [data[:-1]]
        lines = data.split(b"\n")
        self._begun = lines.pop()
        for number, line in enumerate(lines):
            if len(line) > self.limit:
                return self._overflow(lines[:number])
        if len(self._begun) > self.limit:
            return self._overflow(lines)
        return lines

    def _overflow(self, lines: list[bytes]) -> list[bytes]:
        self.overflowed = True
        self._begun = b""
        return lines
