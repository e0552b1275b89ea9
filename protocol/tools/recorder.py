"""A server whose sessions are recorded: the real one without its sockets, in virtual time.

Its entropy follows from a name, and its time passes when a client lets it. A client is one connection.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final

from stellwerk.shared.house_bots import house_bots
from stellwerk_server.lobby.lobby import Lobby
from stellwerk_server.lobby.session import Connection
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.operate.settings import Limits, Time
from tests.server.support import ListLog, MemoryJournal, entropy, shelf

Message = dict[str, Any]  # Any: a message of any kind

SERVER: Final = "stellwerk 0.1.0"  # a fixed version, so that a release does not make the files stale
MOST_ROUNDS: Final = 10_000


class Server:
    """A server and its time, and the lines of the clients that are recorded."""

    def __init__(self, name: str, *, numbers_connections: bool) -> None:
        """With `numbers_connections` each record names its connection. Otherwise there is one client, and a
        record of its own when it connects again."""
        self.journal = MemoryJournal()
        self.lobby = Lobby(
            LobbySetup(
                server=SERVER,
                limits=Limits(),
                time=Time(),
                games=shelf(),
                log=ListLog(),
                entropy=entropy(name),
                house_bots=house_bots(),
                open_journal=lambda _: self.journal,
            )
        )
        self.now = 0.0
        self.lines: list[bytes] = []
        self.numbers_connections = numbers_connections
        self._clients: dict[Connection, Client] = {}

    def connect(self, *, is_recorded: bool = True) -> Client:
        recorded = sum(client.number > 0 for client in self._clients.values())
        connection = self.lobby.connect("127.0.0.1", "tcp", True, self.now)
        client = Client(self, connection, recorded + 1 if is_recorded else 0)
        self._clients[connection] = client
        if client.number > 1 and not self.numbers_connections:
            self.record({"from": "client", "connection": client.number})
        self.read()
        return client

    def explain(self, about: str) -> None:
        """Record an explanation of the next lines."""
        self.record({"about": about})

    def record(self, record: Message) -> None:
        self.lines.append(_text(record) + b"\n")

    def read(self) -> None:
        """Let every client read what the server has sent."""
        for connection, data in self.lobby.outbox.data_to_send():
            for line in data.splitlines():
                self._clients[connection].take(line)

    def drain(self) -> None:
        """Shut the server down, as SIGTERM does."""
        self.lobby.drain()
        self.read()

    def wait(self, milliseconds: float) -> None:
        """Let time pass, and let the server do what becomes due."""
        until = self.now + milliseconds
        while self.lobby.deadlines.next <= until:
            self.now = max(self.now, self.lobby.deadlines.next)
            self.lobby.run_due(lambda: self.now)
            self.read()
        self.now = until

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        for _ in range(MOST_ROUNDS):
            if is_so():
                return
            self.wait(max(0.0, self.lobby.deadlines.next - self.now))
        raise AssertionError("the message never arrives")


class Client:
    """One connection, what came over it, and its number among those that are recorded, or 0."""

    def __init__(self, server: Server, connection: Connection, number: int) -> None:
        self.server = server
        self.connection = connection
        self.number = number
        self.messages: list[Message] = []

    def take(self, line: bytes) -> None:
        self.messages.append(json.loads(line))
        if self.number:
            number = b'"connection":%d,' % self.number if self.server.numbers_connections else b""
            self.server.lines.append(b'{%b"from":"server","line":%b}\n' % (number, line))

    def _record(self, **fields: Any) -> None:  # Any: fields of many types
        if self.number:
            number = {"connection": self.number} if self.server.numbers_connections else {}
            self.server.record(number | {"from": "client"} | fields)

    def say(self, type: str, **fields: Any) -> None:  # Any: as above
        self.send(_text({"type": type, **fields}))

    def send(self, line: bytes, *, reads_on: bool = True) -> None:
        self._record(**_line_or_bytes(line))
        self.server.lobby.receive(self.connection, line, self.server.now)
        if reads_on:
            self.server.read()

    def send_too_much(self, size: int) -> None:
        """Record a line beyond the limit, which the server does not read to its end."""
        self._record(bytes_in_a_line=size)
        self.server.lobby.overlong(self.connection)
        self.server.read()

    def lose(self) -> None:
        """Lose the connection, and with it all lines that nobody has read."""
        self.server.lobby.disconnect(self.connection, "lost", self.server.now)
        self.connection.out = []
        if self.server.numbers_connections:
            self._record(lost=True)
        self.server.read()

    def newest(self, *types: str) -> Message:
        """Return the newest message of one of these types."""
        return next(message for message in reversed(self.messages) if message["type"] in types)

    def has(self, *types: str) -> bool:
        return any(message["type"] in types for message in self.messages)

    def wait_for_another(self, type: str) -> Message:
        def count() -> int:
            return sum(message["type"] == type for message in self.messages)

        before = count()
        self.server.wait_until(lambda: count() > before)
        return self.newest(type)


def _text(message: Message) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def _line_or_bytes(line: bytes) -> Message:
    """Return a line as JSON if it is canonical JSON, else in base64."""
    try:
        value = json.loads(line)
    except ValueError:
        return {"base64": base64.b64encode(line).decode()}
    return {"line": value} if _text(value) == line else {"base64": base64.b64encode(line).decode()}
