"""Streams of events: one channel, any number of readers.

When the channel has changed, one pass over the readers hands each of them what comes after its position,
without waiting. Only a reader whose socket is full has work for its own task: it sends the rest, and then
what comes after that. So no reader has a queue. One that was slow gets what has changed since, or the state
if that is too much.

A task for each change of each reader would cost ten times as much.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

import trio

COMMENT_SECONDS: Final = 15.0  # proxies close what is silent for longer, often for 60 seconds
COMMENT: Final = b":\n\n"
PIECE: Final = 65_536  # bytes of what is left to send, for which a reader has its patience


class Feed(Protocol):
    """A feed that readers follow. `show/channel.py` is one."""

    def position_of(self, last: str | None) -> int:
        """Return the position that a client names, or a newcomer's if this feed does not have it."""
        ...

    def after(self, position: int) -> tuple[bytes, int]:
        """Return the records after a position, or the state, and the position behind them."""
        ...


class Stream:
    """A feed and its readers. `on_readers` is called with their number whenever that changes."""

    def __init__(self, feed: Feed, on_readers: Callable[[int], object] = lambda _: None) -> None:
        self.feed = feed
        self._on_readers = on_readers
        self._readers: dict[StreamReader, None] = {}

    @property
    def readers(self) -> int:
        return len(self._readers)

    def ring(self) -> None:
        """Let all readers have what is new, once the caller has said all that it has to say."""
        if self._readers:
            trio.lowlevel.current_trio_token().run_sync_soon(self._hand_out, idempotent=True)

    def _hand_out(self) -> None:
        chunks: dict[int, tuple[bytes, int]] = {}  # by position: nearly all readers have the same one
        for reader in self._readers:
            if not reader.is_behind:
                reader.push(self.feed, chunks)

    async def serve(self, reader: StreamReader, patience_s: float) -> None:
        """Serve a reader until it hangs up, or says anything, for which there is no reason. A reader that
        takes nothing for so long is given up."""
        self._readers[reader] = None
        self._on_readers(len(self._readers))
        try:
            while await reader.rest():
                await reader.catch_up(patience_s)
                reader.push(self.feed, {})
        finally:
            del self._readers[reader]
            self._on_readers(len(self._readers))


class StreamReader:
    """A client that reads a stream, over a socket that does not block. Over HTTP/1.1 what it gets is in
    chunks."""

    __slots__ = ("_is_chunked", "_is_gone", "_position", "_resting", "_sent_at", "_socket", "_unsent")

    def __init__(self, sock: socket.socket, position: int, head: bytes, *, is_chunked: bool) -> None:
        """`head` is sent first."""
        self._socket = sock
        self._position = position
        self._is_chunked = is_chunked
        self._unsent = head
        self._is_gone = False
        self._resting: trio.CancelScope | None = None
        self._sent_at = trio.current_time()

    @property
    def is_behind(self) -> bool:
        return bool(self._unsent)

    def push(self, feed: Feed, chunks: dict[int, tuple[bytes, int]]) -> None:
        """Hand over what comes after the reader's position, without waiting."""
        found = chunks.get(self._position)
        if found is None:
            data, position = feed.after(self._position)
            found = chunks[self._position] = (_make_chunk(data), position)
        chunk, position = found
        if position == self._position:
            return
        self._position = position
        self._send(chunk)

    async def rest(self) -> bool:
        """Wait until the reader has something to send, after a while a comment. Return whether it is still
        there."""
        if self._is_gone:
            return False
        if self._unsent:
            return True
        with trio.CancelScope(deadline=self._sent_at + COMMENT_SECONDS) as self._resting:
            await trio.lowlevel.wait_readable(self._socket)
            return False  # it hangs up, or speaks
        if not self.is_behind and trio.current_time() >= self._sent_at + COMMENT_SECONDS:
            self._send(_make_chunk(COMMENT))
        return not self._is_gone

    async def catch_up(self, patience_s: float) -> None:
        """Send what the socket did not take at once."""
        while self._unsent:
            aim = max(0, len(self._unsent) - PIECE)
            with trio.fail_after(patience_s):
                while len(self._unsent) > aim:
                    await trio.lowlevel.wait_writable(self._socket)
                    with suppress(BlockingIOError):
                        self._unsent = self._unsent[self._socket.send(self._unsent) :]

    def _send(self, chunk: bytes) -> None:
        data = chunk if self._is_chunked else chunk[chunk.index(b"\n") + 1 : -2]
        self._sent_at = trio.current_time()
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._is_gone = True
            sent = len(data)
        self._unsent = data[sent:]
        if (self._unsent or self._is_gone) and self._resting is not None:
            self._resting.cancel()


def _make_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
