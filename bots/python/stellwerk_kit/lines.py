"""Lines over two file descriptors (of a socket or of two pipes) or over TLS, never with an endless
wait.

The law: for anything that the other side does (nothing, half a line, endless bytes, closing, not reading),
every call returns or raises by its deadline, and the number of unread bytes that are kept is bounded.
"""

from __future__ import annotations

import os
import selectors
import ssl
import time
from functools import partial
from typing import IO, Final

from stellwerk_base.texts import shown

PIECE: Final = 1 << 16  # bytes read at once
MOST_UNREAD: Final = 1 << 20  # beyond this nothing more is read until the lines have been taken
LINE_BEFORE_LOGIN: Final = 4096  # bytes, as a server announces in `hello`
SHORT: Final = 1024  # bytes of a line that any system sends in one piece, if it is written at once
SHOWN_CHARACTERS: Final = 200  # of a line in a message
NOT_NOW: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class NoLineError(Exception):
    """A missing line; `came` describes what came instead. `ended`: nothing more can come. `silence`: nothing
    came, and it still can. `unfinished`: a piece of a line came, and the rest still can."""

    def __init__(
        self, came: str, *, ended: bool = False, silence: bool = False, unfinished: bool = False
    ) -> None:
        super().__init__(came)
        self.came = came
        self.ended = ended
        self.silence = silence
        self.unfinished = unfinished


class Lines:
    """Lines over `source` and `sink`, file descriptors that do not block; the same one for a socket."""

    def __init__(
        self, source: int, sink: int, longest: int = LINE_BEFORE_LOGIN, tls: ssl.SSLSocket | None = None
    ) -> None:
        """Use the descriptors. With `tls`, which has its own descriptor, all data is encrypted."""
        self.longest = longest  # bytes of a line that is accepted, without its newline
        self.in_pieces = 0  # short lines that came in more than one piece, so they were not written at once
        self._source = source
        self._sink = sink
        self._read_some = partial(os.read, source) if tls is None else tls.recv
        self._write_some = partial(os.write, sink) if tls is None else tls.send
        self._unread = bytearray()
        self._ended: str | None = None

    @property
    def is_over(self) -> bool:
        """Test whether the other side has ended the connection between two lines."""
        return self._ended is not None and not self._unread

    def receive(self, deadline: float) -> bytes:
        """Return the next line, without its newline. Raise NoLineError if none has come by the deadline."""
        begun = False
        while (end := self._unread.find(b"\n", 0, self.longest + 1)) < 0:
            if len(self._unread) > self.longest:
                raise NoLineError(f"more than {self.longest} bytes without a newline")
            if self._ended is not None:
                raise NoLineError(self._ended + self._shown_rest(", after"), ended=True)
            with selectors.DefaultSelector() as selector:
                selector.register(self._source, selectors.EVENT_READ)
                can_read = selector.select(max(0.0, deadline - time.monotonic()))
            if not can_read:
                is_begun = bool(self._unread)
                came = self._shown_rest("only") or "nothing"
                raise NoLineError(came, silence=not is_begun, unfinished=is_begun)
            begun = bool(self._unread)
            self._read_piece()
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self.in_pieces += begun and end <= SHORT
        return line

    def send(self, data: bytes, deadline: float) -> None:
        """Send all of the data. A peer that is gone is not an error here: `receive` reports it. Raise
        NoLineError if the peer does not read."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._write_some(rest) :]
            except NOT_NOW:
                if not self._wait_to_send(deadline):
                    raise NoLineError(f"it does not read: {len(rest)} bytes are still unsent") from None
            except OSError:
                return

    def _wait_to_send(self, deadline: float) -> bool:
        """Wait until sending is possible, and read meanwhile: the peer may be waiting for us to read."""
        while True:
            with selectors.DefaultSelector() as selector:
                selector.register(self._sink, selectors.EVENT_WRITE)
                if self._ended is None and len(self._unread) < MOST_UNREAD:
                    _watch_also(selector, self._source, selectors.EVENT_READ)
                ready = selector.select(max(0.0, deadline - time.monotonic()))
            if any(mask & selectors.EVENT_READ for _, mask in ready):
                self._read_piece()
            if not ready or any(mask & selectors.EVENT_WRITE for _, mask in ready):
                return bool(ready)

    def _read_piece(self) -> None:
        try:
            piece = self._read_some(PIECE)
        except NOT_NOW:
            return
        except OSError as error:
            self._ended = f"the end of the connection ({error.strerror or error})"
            return
        if piece:
            self._unread += piece
        else:
            self._ended = "the end of the connection"

    def _shown_rest(self, before: str) -> str:
        """Return the beginning of a line that has not ended."""
        if not self._unread:
            return ""
        return f"{before} a piece of a line, without its newline: {shown_line(bytes(self._unread))}"


def lines_over(output: IO[bytes], input_: IO[bytes], longest: int = LINE_BEFORE_LOGIN) -> Lines:
    """Return the lines over the pipes of a process: the one that it writes to, and the one that it reads."""
    os.set_blocking(output.fileno(), False)
    os.set_blocking(input_.fileno(), False)
    return Lines(output.fileno(), input_.fileno(), longest)


def shown_line(line: bytes) -> str:
    """Return a line for a message: on one line, shortened, with escapes for what a terminal would obey."""
    return shown(line.decode("utf-8", "backslashreplace"), SHOWN_CHARACTERS)


def _watch_also(selector: selectors.BaseSelector, descriptor: int, event: int) -> None:
    """Watch a descriptor for one more event."""
    if descriptor in selector.get_map():
        selector.modify(descriptor, selector.get_key(descriptor).events | event)
    else:
        selector.register(descriptor, event)
