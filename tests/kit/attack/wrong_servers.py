"""Servers that are wrong in one way: the real one, behind a proxy that changes what it sends."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, Final

Message = dict[str, Any]  # Any: a message of whatever kind
Spoil = Callable[[Message], Iterable[Message | bytes]]
"""The replacements of a message; bytes are sent as they are."""

PIECE: Final = 1 << 16


class WrongServer:
    """A proxy before the real server. `spoil` changes what the server sends. A client that sends `alarm`
    makes all other connections break."""

    def __init__(self, port: int, spoil: Spoil, alarm: bytes = b"") -> None:
        self._real = ("127.0.0.1", port)
        self._spoil = spoil
        self._alarm = alarm
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._clients: list[socket.socket] = []
        self._servers: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._listen)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self._break([*self._clients, *self._servers])
        for thread in self._threads:
            thread.join()
        for connection in (self._listener, *self._clients, *self._servers):
            connection.close()

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._clients.append(client)
                server = socket.create_connection(self._real)
                self._servers.append(server)
                for connection in (client, server):
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._start(self._hear, client, server)
                self._start(self._tell, client, server)

    def _hear(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := client.recv(PIECE):
                if self._alarm and self._alarm in piece:
                    self._break(other for other in self._clients if other is not client)
                server.sendall(piece)
        self._break([server], socket.SHUT_WR)

    def _tell(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError), server.makefile("rb") as lines:
            for line in lines:
                for message in self._spoil(json.loads(line)):
                    data = message if isinstance(message, bytes) else json.dumps(message).encode()
                    client.sendall(data + b"\n")
        self._break([client], socket.SHUT_WR)

    def _break(self, connections: Iterable[socket.socket], how: int = socket.SHUT_RDWR) -> None:
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(how)


@contextmanager
def wrong_server(port: int, spoil: Spoil, alarm: bytes = b"") -> Generator[WrongServer]:
    server = WrongServer(port, spoil, alarm)
    try:
        yield server
    finally:
        server.close()


# -- ways to be wrong --------------------------------------------------------------------------------


def right(message: Message) -> Iterable[Message]:
    yield message


def but(kind: str, **fields: Any) -> Spoil:  # Any: fields of many types
    """Change these fields of such messages."""

    def spoil(message: Message) -> Iterable[Message]:
        yield message | fields if message["type"] == kind else message

    return spoil


def changed(kind: str, change: Callable[[Message], Message]) -> Spoil:
    def spoil(message: Message) -> Iterable[Message]:
        yield change(message) if message["type"] == kind else message

    return spoil


def code_instead(code: str, other: str) -> Spoil:
    return changed("error", lambda error: error | {"code": other} if error["code"] == code else error)


def beyond(count: int, kind: str, **instead: Any) -> Spoil:  # Any: fields of many types
    """Send something else instead of such messages, after this number of them."""
    numbers = itertools.count(1)

    def spoil(message: Message) -> Iterable[Message]:
        yield instead if message["type"] == kind and next(numbers) > count else message

    return spoil


def without(kind: str, field: str = "") -> Spoil:
    """Leave out such messages, or such fields of them."""

    def spoil(message: Message) -> Iterable[Message]:
        if message["type"] != kind:
            yield message
        elif field:
            yield {name: value for name, value in message.items() if name != field}

    return spoil


def followed(kind: str, *extra: Message | bytes, **fields: Any) -> Spoil:  # Any: fields of many types
    """Send something after such a message; without `extra` the same message once more."""

    def spoil(message: Message) -> Iterable[Message | bytes]:
        yield message
        if message["type"] == kind and all(message.get(name) == fields[name] for name in fields):
            yield from extra or (message,)

    return spoil


def shows_hands(ask: Message) -> Message:
    players = [player if "hand" in player else player | {"hand": {}} for player in ask["view"]["players"]]
    return ask | {"view": ask["view"] | {"players": players}}


def tells_tickets(message: Message) -> Message:
    event = message["event"]
    if event["type"] == "tickets_kept" and "tickets" not in event:
        return message | {"event": event | {"tickets": ["boston-miami"]}}
    return message


def with_points(reply: Message) -> Message:
    """List matches with one point more for everybody."""
    matches = [
        each | {"points": [points + 1 for points in each["points"]]} if "points" in each else each
        for each in reply["matches"]
    ]
    return reply | {"matches": matches}


def for_nobody(welcome: Message) -> Message:
    """Offer games that no number of players can play."""
    return welcome | {"games": [game | {"players": []} for game in welcome["games"]]}


def of_a_match(kind: str, **fields: Any) -> Callable[[Message], Message]:  # Any: fields of many types
    return lambda message: {"type": kind, "match": message["match"], **fields}


def followed_in_its_match(kind: str, make: Callable[[Message], Message]) -> Spoil:
    def spoil(message: Message) -> Iterable[Message]:
        yield message
        if message["type"] == kind:
            yield make(message)

    return spoil
