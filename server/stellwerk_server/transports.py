"""What a connection runs over: a TCP socket, or any stream of Trio's (TLS, pipes, memory).

A plain socket is where speed matters, so it is asked directly, without a stream in between. `try_send` never
waits; what it does not take is sent by `send_all`.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Final, Protocol, cast

import trio

RECEIVE_BYTES: Final = 65_536
LINGER_SECONDS: Final = 1.0
LINGER_BYTES: Final = 1_048_576


class Transport(Protocol):
    async def receive(self) -> bytes:
        """What has come; nothing at the end. OSError or trio.BrokenResourceError if it is broken."""
        ...

    def try_send(self, data: bytes) -> int:
        """How many bytes were taken at once."""
        ...

    async def send_all(self, data: bytes) -> None: ...

    async def close(self) -> None:
        """After the last line. What the peer still sends is thrown away, so that the last line reaches it."""
        ...


class SocketTransport:
    __slots__ = ("_socket",)

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._socket = sock

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

    async def close(self) -> None:
        with contextlib.suppress(OSError, trio.ClosedResourceError):
            self._socket.shutdown(socket.SHUT_WR)
            with trio.move_on_after(LINGER_SECONDS):
                thrown_away = 0
                while thrown_away < LINGER_BYTES and (data := await self.receive()):
                    thrown_away += len(data)
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()


class StreamTransport:
    __slots__ = ("_stream",)

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream

    async def receive(self) -> bytes:
        return bytes(await self._stream.receive_some(RECEIVE_BYTES))

    def try_send(self, data: bytes) -> int:
        return 0

    async def send_all(self, data: bytes) -> None:
        await self._stream.send_all(data)

    async def close(self) -> None:
        with trio.move_on_after(LINGER_SECONDS):
            stream: object = self._stream
            if isinstance(stream, trio.SSLStream):
                # isinstance cannot tell what it runs over; the server puts TLS on sockets only
                await _end_tls(cast("trio.SSLStream[trio.SocketStream]", stream))
            else:
                await self._stream.aclose()


async def _end_tls(stream: trio.SSLStream[trio.SocketStream]) -> None:
    """Say that nothing more comes, and wait until the peer is through as well: a socket that is closed with
    something unread is reset, and the last line may be lost with that."""
    below = stream.transport_stream
    try:
        with contextlib.suppress(trio.BrokenResourceError):  # it goes on talking, or has gone
            await stream.unwrap()
        with contextlib.suppress(trio.BrokenResourceError):
            await below.send_eof()
            thrown_away = 0
            while thrown_away < LINGER_BYTES and (data := await below.receive_some(RECEIVE_BYTES)):
                thrown_away += len(data)
    finally:
        await trio.aclose_forcefully(below)
