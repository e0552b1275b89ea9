"""A file with all that one bot process prints, without control characters, and of bounded size.

Law: a log never harms a match. A disk that refuses ends the log, not the match, and `error` says so.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self

from stellwerk_protocol.names import Seat

MOST_BYTES: Final = 16 * 1024 * 1024  # of a file: a bot that prints without end must not fill the disk
LONGEST_LINE: Final = 64 * 1024  # bytes, after which a line is broken

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True, slots=True)
class MatchLogs:
    """Where what the bots of one match print is written. A process gets a file when it starts: its name
    begins with `stem`. A process that plays several matches keeps its file, with a heading for each match."""

    folder: Path
    stem: str
    title: str

    def open(self, seat: Seat, name: str) -> BotLog:
        log = BotLog(self.folder / f"{self.stem}-{seat}-{name}.log")
        log.begin(self.heading(seat))
        return log

    def heading(self, seat: Seat) -> str:
        return f"{self.title}, seat {seat}"


class BotLog:
    """To be used in a `with` block."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.error: OSError | None = None
        self._file: IO[bytes] | None = None
        self._unfinished = bytearray()
        self._left = MOST_BYTES
        with self._note_errors():
            self._file = path.open("wb", buffering=0)  # who looks into it sees what is there

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_line()
        self._close()

    def begin(self, heading: str) -> None:
        """Start the part of a match."""
        self._end_line()
        self._put_lines(f"--- {heading}\n".encode())

    def write(self, data: bytes | bytearray) -> None:
        if self._left <= 0 or self._file is None:
            return  # no work for what is not kept
        *lines, rest = (bytes(self._unfinished) + data).split(b"\n")
        self._unfinished[:] = rest
        self._put_lines(b"".join(map(_make_readable, lines)))
        if len(self._unfinished) > LONGEST_LINE:
            self._end_line()

    def _end_line(self) -> None:
        if self._unfinished:
            self._put_lines(_make_readable(bytes(self._unfinished)))
            self._unfinished.clear()

    def _put_lines(self, lines: bytes) -> None:
        if self._file is None or self._left <= 0:
            return
        if len(lines) > self._left:
            lines = lines[: self._left] + f"\n--- cut after {MOST_BYTES:,} bytes\n".encode()
        self._left -= len(lines)
        with self._note_errors():
            self._file.write(lines)

    @contextlib.contextmanager
    def _note_errors(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            self.error = self.error or error
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # nothing is buffered that could be lost
                self._file.close()
        self._file = None


def readable(text: str) -> str:
    """Return one line without what a terminal would obey."""
    if text.isprintable():
        return text.rstrip()
    plain = _ESCAPES.sub("", text).replace("\t", "    ")
    return "".join(filter(str.isprintable, plain)).rstrip()


def _make_readable(line: bytes) -> bytes:
    return readable(line.decode("utf-8", "backslashreplace")).encode() + b"\n"
