"""What a connection runs over: a TCP socket, or any stream of Trio's (TLS, pipes, memory).

A plain socket is where speed matters, so it is asked directly, without a stream in between. `try_send` never
waits; what it does not take is sent by `send_all`.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Final, Protocol

import trio

if TYPE_CHECKING:
    import ssl

RECEIVE_BYTES: Final = 65_536
LINGER_SECONDS: Final = 1.0
LINGER_BYTES: Final = 1_048_576


class Transport(Protocol):
    @property
    def is_open(self) -> bool:
        """Whether something can be sent and received: over TLS, after the handshake."""
        ...

    async def open(self) -> None:
        """Make the handshake. OSError or trio.BrokenResourceError if it fails."""
        ...

    async def receive(self) -> bytes:
        """What has come; nothing at the end. OSError or trio.BrokenResourceError if it is broken."""
        ...

    def try_send(self, data: bytes) -> int:
        """How many bytes were taken at once."""
        ...

    async def send_all(self, data: bytes) -> None: ...

    async def close(self, *, lingers: bool) -> None:
        """After the last line. If it `lingers`, what the peer still sends is thrown away for a while, so that
        the last line reaches it: a socket that is closed with something unread is reset."""
        ...


class SocketTransport:
    __slots__ = ("_socket",)
    is_open: Final = True

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._socket = sock

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
            self.try_receive()
            with trio.move_on_after(LINGER_SECONDS if lingers else 0):
                thrown_away = 0
                while thrown_away < LINGER_BYTES and (data := await self.receive()):
                    thrown_away += len(data)
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()


class StreamTransport:
    __slots__ = ("_stream",)
    is_open: Final = True

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream

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


class TlsTransport:
    """TLS over a socket. What it takes (some 80 kB) is there from `open` on, which makes the handshake."""

    __slots__ = ("_below", "_context", "_stream", "is_open")

    def __init__(self, below: trio.SocketStream, context: ssl.SSLContext) -> None:
        self._below = below
        self._context = context
        self.is_open = False
        self._stream: trio.SSLStream[trio.SocketStream]

    async def open(self) -> None:
        self._stream = trio.SSLStream(self._below, self._context, server_side=True, https_compatible=True)
        await self._stream.do_handshake()
        self.is_open = True

    async def receive(self) -> bytes:
        return bytes(await self._stream.receive_some(RECEIVE_BYTES))

    def try_receive(self) -> bytes | None:
        return None

    def try_send(self, data: bytes) -> int:
        return 0

    async def send_all(self, data: bytes) -> None:
        await self._stream.send_all(data)

    async def close(self, *, lingers: bool) -> None:
        try:
            if self.is_open:
                with trio.move_on_after(LINGER_SECONDS if lingers else 0):
                    await self._end()
        finally:
            await trio.aclose_forcefully(self._below)

    async def _end(self) -> None:
        """Say that nothing more comes, and wait until the peer is through as well."""
        with contextlib.suppress(trio.BrokenResourceError):  # it goes on talking, or has gone
            await self._stream.unwrap()
        with contextlib.suppress(trio.BrokenResourceError):
            await self._below.send_eof()
            thrown_away = 0
            while thrown_away < LINGER_BYTES and (data := await self._below.receive_some(RECEIVE_BYTES)):
                thrown_away += len(data)
