"""The transports of connections: a TCP socket, TLS on one, or any stream of Trio's (pipes, memory).

Sockets are where speed matters, so they are asked directly, without a stream in between. `try_send` never
waits; what it does not take is sent by `send_all`.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol, TypeVar

import trio

T = TypeVar("T")

RECEIVE_BYTES: Final = 65_536
LINGER_SECONDS: Final = 1.0
LINGER_BYTES: Final = 1_048_576


class Transport(Protocol):
    @property
    def is_open(self) -> bool:
        """Whether something can be sent and received: over TLS, after the handshake."""
        ...

    @property
    def plain_socket(self) -> socket.socket | None:
        """The socket, if all that comes over it can be read from it as it is."""
        ...

    async def open(self) -> None:
        """Make the handshake. OSError or trio.BrokenResourceError if it fails."""
        ...

    async def receive(self) -> bytes:
        """Return the bytes that have come, or nothing at the end. OSError or trio.BrokenResourceError if the
        connection is broken."""
        ...

    def try_send(self, data: bytes) -> int:
        """Send what fits at once. Return how many bytes were taken."""
        ...

    async def send_all(self, data: bytes) -> None: ...

    async def close(self, *, lingers: bool) -> None:
        """Close after the last line. If it `lingers`, what the peer still sends is thrown away for a while,
        so that the last line reaches it: a socket that is closed with something unread is reset."""
        ...


class SocketTransport:
    __slots__ = ("_socket", "is_open")

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._socket = sock
        self.is_open = True

    @property
    def plain_socket(self) -> socket.socket | None:
        return self._socket

    async def open(self) -> None:
        pass

    async def receive(self) -> bytes:
        while True:
            await trio.lowlevel.wait_readable(self._socket)
            with contextlib.suppress(BlockingIOError):
                return self._socket.recv(RECEIVE_BYTES)

    def try_send(self, data: bytes) -> int:
        try:
            return self._socket.send(data)
        except OSError:  # full, or broken: who receives will see which
            return 0

    async def send_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            await trio.lowlevel.wait_writable(self._socket)
            with contextlib.suppress(BlockingIOError):
                rest = rest[self._socket.send(rest) :]

    async def close(self, *, lingers: bool) -> None:
        with contextlib.suppress(OSError, trio.ClosedResourceError):
            self._socket.shutdown(socket.SHUT_WR)
            with contextlib.suppress(BlockingIOError):
                self._socket.recv(RECEIVE_BYTES)
            with trio.move_on_after(LINGER_SECONDS if lingers else 0):
                thrown_away = 0
                while thrown_away < LINGER_BYTES and (data := await SocketTransport.receive(self)):
                    thrown_away += len(data)
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()


class TlsTransport(SocketTransport):
    """TLS over a socket. Its memory (some 50 kB) is taken from `open` on, and freed with the socket. Trio's
    own stream is in a cycle: halves of a handshake would fill the memory until the collector runs."""

    __slots__ = ("_secured", "_tls")

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        super().__init__(sock)
        self.is_open = False
        self._tls = context
        self._secured: ssl.SSLSocket | None = None

    @property
    def plain_socket(self) -> socket.socket | None:
        return None

    async def open(self) -> None:
        self._secured = self._socket = self._tls.wrap_socket(
            self._socket, server_side=True, do_handshake_on_connect=False
        )
        await self._when_ready(self._secured.do_handshake)
        self.is_open = True

    async def receive(self) -> bytes:
        await trio.lowlevel.checkpoint()  # something may be here already, decrypted or not
        return await self._when_ready(partial(self._socket.recv, RECEIVE_BYTES))

    def try_send(self, data: bytes) -> int:
        rest = memoryview(data)
        with contextlib.suppress(OSError):  # full, or broken: who receives will see which
            while rest:
                rest = rest[self._socket.send(rest) :]  # a record at a time
        return len(data) - len(rest)

    async def send_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[await self._when_ready(partial(self._socket.send, rest)) :]

    async def close(self, *, lingers: bool) -> None:
        if self._secured is not None and self.is_open:
            with contextlib.suppress(OSError):  # it has gone, or its own goodbye is still to come
                self._secured.unwrap()
        await super().close(lingers=lingers and self.is_open)  # what comes now is not decrypted any more

    async def _when_ready(self, do: Callable[[], T]) -> T:
        while True:
            try:
                return do()
            except ssl.SSLWantReadError:
                await trio.lowlevel.wait_readable(self._socket)
            except ssl.SSLWantWriteError:
                await trio.lowlevel.wait_writable(self._socket)


class StreamTransport:
    __slots__ = ("_stream", "is_open")

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self.is_open = True

    @property
    def plain_socket(self) -> socket.socket | None:
        return None

    async def open(self) -> None:
        pass

    async def receive(self) -> bytes:
        return bytes(await self._stream.receive_some(RECEIVE_BYTES))

    def try_send(self, data: bytes) -> int:
        return 0

    async def send_all(self, data: bytes) -> None:
        await self._stream.send_all(data)

    async def close(self, *, lingers: bool) -> None:
        with trio.move_on_after(LINGER_SECONDS):
            await self._stream.aclose()
