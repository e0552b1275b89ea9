"""Logs: words for events, keys for data, one line each. For people on a terminal, as JSON elsewhere.

Laws: no token, no seed and no hidden hand in any log. That is why a traceback shows where and what, and never
the values of variables. And whatever becomes of standard error, the matches go on: a line that cannot be
written is dropped and counted.
"""

from __future__ import annotations

import io
import logging
import os
import select
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from structlog.typing import FilteringBoundLogger

LEVELS = ("debug", "info", "warning", "error")
PATIENCE_MS: Final = 100
"""How long a server stands still for a pipe that is full: long enough for a reader that keeps up, short for
matches. After that it does not wait again until the pipe has room."""
AGAIN_S: Final = 60.0
"""How often the log says that connections cannot be accepted."""


class Stream(Protocol):
    """Anything that a log can be written to."""

    def write(self, line: str, /) -> object: ...

    def isatty(self) -> bool: ...


class LogStream:
    """Standard error, or another stream with a descriptor, as the log of a server needs it: writing raises
    nothing, and waits for no reader. None is a stream that was closed from the start."""

    def __init__(self, stream: TextIO | None, *, patience_ms: int = PATIENCE_MS) -> None:
        self.dropped = 0
        """How many lines could not be written."""
        self.note: Callable[[int], str] = lambda count: f"{count} lines were dropped\n"
        """Returns what to write about dropped lines as soon as something can be written again."""
        self._descriptor = None if stream is None else stream.fileno()
        self._patience_ms = patience_ms
        self._is_terminal = stream is not None and stream.isatty()
        self._begun = b""  # the rest of a line that was written in part: it goes before all others
        self._unsaid = 0  # lines that were dropped, and that no line tells of yet
        self._is_stuck = False

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, line: str, /) -> None:
        """Write a line, or drop it and count it."""
        if self._put_line(b"") and self._unsaid and self._put_line(_encode(self.note(self._unsaid))):
            self._unsaid = 0
        if self._unsaid or not self._put_line(_encode(line)):
            self.dropped += 1
            self._unsaid += 1

    def _put_line(self, line: bytes) -> bool:
        """Write what is left of the line before, and this one. Return whether this one is written, or begun:
        its rest follows before the next one."""
        if self._descriptor is None:
            return False
        self._begun = self._write(self._descriptor, self._begun)
        if self._begun:
            return False
        rest = self._write(self._descriptor, line)
        if rest == line and line:
            return False
        self._begun = rest
        return True

    def _write(self, descriptor: int, data: bytes) -> bytes:
        """Write as much as there is room for. Return the rest."""
        while data and self._has_room(descriptor):
            try:
                data = data[os.write(descriptor, data[: select.PIPE_BUF]) :]
            except OSError:  # a full disk, a reader that has gone
                break
        return data

    def _has_room(self, descriptor: int) -> bool:
        """Return whether a write of `PIPE_BUF` bytes would not wait."""
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        self._is_stuck = not poll.poll(0 if self._is_stuck else self._patience_ms)
        return not self._is_stuck


def _encode(line: str) -> bytes:
    return line.encode("utf-8", "backslashreplace")


class _LineLogger:
    """The logger below structlog, which gets the text of each entry."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def msg(self, text: str) -> None:
        self._stream.write(f"{text}\n")

    debug = info = warning = error = msg


class _Unaccepted(logging.Handler):
    """A handler of what Trio says ten times a second, with a traceback, while connections cannot be accepted.
    It makes one line of that in a while."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        super().__init__()
        self._log = log
        self._next = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + AGAIN_S
            error = record.exc_info[1] if record.exc_info is not None else None
            why = error.strerror if isinstance(error, OSError) else record.getMessage()
            self._log.warning("connections.not_accepted", error=why, advice="raise the limit of open files")


def log_unaccepted(log: FilteringBoundLogger) -> None:
    """Let this log say that connections cannot be accepted, for want of descriptors."""
    trio_log = logging.getLogger("trio.serve_listeners")
    trio_log.handlers = [_Unaccepted(log)]
    trio_log.propagate = False


def make_log(stream: Stream, level: str = "info", *, json: bool | None = None) -> FilteringBoundLogger:
    """Make a logger that writes to `stream`: as JSON on request, or if it is not a terminal."""
    as_json = not stream.isatty() if json is None else json
    processors: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if as_json:
        tracebacks = structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        )
        processors += [tracebacks, structlog.processors.JSONRenderer()]
    else:
        plain = structlog.dev.plain_traceback
        processors.append(structlog.dev.ConsoleRenderer(exception_formatter=plain))

    def log_to(stream: Stream) -> FilteringBoundLogger:
        log: FilteringBoundLogger = structlog.wrap_logger(
            _LineLogger(stream),
            processors=processors,
            wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
            cache_logger_on_first_use=True,
        )
        return log

    def note(count: int) -> str:
        text = io.StringIO()
        log = log_to(text)
        log.warning("log.lines_dropped", count=count)
        return text.getvalue()

    if isinstance(stream, LogStream):
        stream.note = note
    return log_to(stream)
