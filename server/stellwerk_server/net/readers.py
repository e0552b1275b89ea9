"""The tasks that wait for clients: one for each connection, or one for very many sockets.

A task of its own costs a call of the kernel and several of Trio for each line: Trio's waits for a socket are
for one time. With very many sockets, one task waits instead for an epoll that has them all, and reads each of
those that are ready. With few it has nothing to share, and would only be a detour.

The answers to the lines are sent for several connections together. Calls of the kernel one after the other
cost half as much as between two decisions, which take its code out of the processor's caches.

Law: whoever reads, a connection is served once in a round, and what goes wrong in that ends it alone. All
that is sent of a round is sent in the round, so that no clock of a player runs meanwhile for more than
`ServerClock` lets a round count.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import trio

from stellwerk_server.net.transports import RECEIVE_BYTES, Transport

if TYPE_CHECKING:
    import socket

Hear: TypeAlias = Callable[[bytes], bool]
"""Takes what has come. Returns whether more is to be read."""
SendNews: TypeAlias = Callable[[], None]
"""Sends what follows from all that has been heard. Raises nothing: it would be no connection's own."""


class Reader(Protocol):
    async def read(self, transport: Transport, hear: Hear) -> bool:
        """Let `hear` have what comes, until it wants no more. Return False if the end came before. Raises
        what `hear` raises, and OSError or trio.BrokenResourceError if the connection is broken."""
        ...


class OwnReader:
    """The task that calls it waits for its own connection."""

    def __init__(self, send_news: SendNews) -> None:
        self._send_news = send_news

    async def read(self, transport: Transport, hear: Hear) -> bool:
        while data := await transport.receive():
            reads_on = hear(data)
            self._send_news()
            if not reads_on:
                return True
        return False


SENT_TOGETHER: Final = 16  # connections; more would save little, and the first of them wait for the last
HAS_EPOLL: Final = hasattr(select, "epoll")


class SharedReader:
    """One task, `run`, reads for all that call `read`. For sockets without TLS."""

    def __init__(self, send_news: SendNews) -> None:
        self._send_news = send_news
        self._epoll = select.epoll()
        self._readings: dict[int, _Reading] = {}

    async def run(self) -> None:
        with self._epoll:
            while True:
                await trio.lowlevel.wait_readable(self._epoll.fileno())
                self._read_what_is_there()

    def _read_what_is_there(self) -> None:
        ready = self._epoll.poll(0, len(self._readings) or 1)
        for begin in range(0, len(ready), SENT_TOGETHER):
            for descriptor, _ in ready[begin : begin + SENT_TOGETHER]:
                reading = self._readings.get(descriptor)
                if reading is not None and not reading.take():
                    self._stop_reading(descriptor)
                    reading.is_over.set()
            self._send_news()

    async def read(self, transport: Transport, hear: Hear) -> bool:
        sock = transport.plain_socket
        assert sock is not None
        descriptor = sock.fileno()
        reading = self._readings[descriptor] = _Reading(sock, hear)
        self._epoll.register(descriptor, select.EPOLLIN)
        try:
            await reading.is_over.wait()
        finally:
            if not reading.is_over.is_set():
                self._stop_reading(descriptor)
        error, reading.error = reading.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # else it and this frame would keep each other until the collector runs
        return not reading.is_at_end

    def _stop_reading(self, descriptor: int) -> None:
        del self._readings[descriptor]
        with suppress(ValueError):  # closed: the server ends
            self._epoll.unregister(descriptor)


class _Reading:
    __slots__ = ("_hear", "_socket", "error", "is_at_end", "is_over")

    def __init__(self, sock: socket.socket, hear: Hear) -> None:
        self._socket = sock
        self._hear = hear
        self.is_over = trio.Event()
        self.is_at_end = False
        self.error: Exception | None = None

    def take(self) -> bool:
        """Read what is there. Return whether more is to be read."""
        try:
            data = self._socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return True
        except OSError as error:
            self.error = error
            return False
        if not data:
            self.is_at_end = True
            return False
        try:
            return self._hear(data)
        except Exception as error:
            self.error = error
            return False
