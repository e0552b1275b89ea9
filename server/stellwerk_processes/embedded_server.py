"""A server inside a program that plays matches: without a log, with its journals in memory, and followed.

Law: no file says during a match what a bot must not know. So a match is kept in memory while it is played,
and written down when it is over: no server would continue it after a crash.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

import trio

from stellwerk_engine.core.state import Game
from stellwerk_server.journal.journal import Journal, MemoryJournal
from stellwerk_server.lobby.news import Bug, ConnectionClosed, Listener, LobbyEvent, PresenceChanged
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.lobby.session import Connection
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.lobby.tokens import Tokens
from stellwerk_server.match.refusals import RefusedLines
from stellwerk_server.net.server import Server, open_server
from stellwerk_server.operate.settings import Limits, Time

SERVER: Final = "stellwerk"
LOOPBACK: Final = "127.0.0.1"


class Signal:
    """A change that tasks wait for. They look again at each one whether it is what they wait for."""

    def __init__(self) -> None:
        self._changed = trio.Event()

    def send(self) -> None:
        """Wake all tasks that wait."""
        self._changed.set()
        self._changed = trio.Event()

    async def wait(self) -> None:
        """Wait for the next change. Changes since the last checkpoint count as past."""
        await self._changed.wait()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return as soon as the condition holds. All that it looks at must send this signal."""
        while not condition():
            await self._changed.wait()


class LobbyFollower:
    """The listener of an embedded lobby: it keeps the bugs, hands each event to those who subscribed, and
    wakes the tasks that wait for a change."""

    def __init__(self) -> None:
        self.bugs: list[Bug] = []
        self.changed = Signal()
        """Sent after each event, and by the tasks of a match for what they change themselves."""
        self.presence = Signal()
        """Sent when a session has got or lost its connection."""
        self._subscribers: list[Listener] = []

    def hear(self, event: LobbyEvent) -> None:
        """Take an event from the lobby."""
        if isinstance(event, Bug):
            self.bugs.append(event)
        for listener in tuple(self._subscribers):
            listener(event)
        self.changed.send()
        if isinstance(event, PresenceChanged):
            self.presence.send()

    @contextmanager
    def telling(self, listener: Listener) -> Generator[None]:
        """Hand all events to this listener, too, for as long as the block runs."""
        self._subscribers.append(listener)
        try:
            yield
        finally:
            self._subscribers.remove(listener)

    def bug_in(self, match: str, since: int = 0) -> Exception | None:
        """Return a bug of this match, or of no match, which may have cost it something. The first `since` of
        all bugs are older than the match."""
        return next((bug.error for bug in self.bugs[since:] if bug.match in (None, match)), None)


@dataclass(slots=True)
class Stranger:
    """The observations of a client that never took its seat. `connected` is None if that is unknown."""

    connected: bool | None = None
    refused: RefusedLines = field(default_factory=RefusedLines)
    forgot_token: bool = False

    def add(self, connection: Connection) -> None:
        """Count what came over one more connection."""
        self.connected = True
        self.refused.add_later(connection.refused)
        self.forgot_token |= connection.session is not None


class Strangers:
    """The clients without a seat, by address, of a server that serves one match alone."""

    def __init__(self) -> None:
        self._gone: dict[str, Stranger] = {}

    def hear(self, event: LobbyEvent) -> None:
        """Take an event from the lobby."""
        if isinstance(event, ConnectionClosed):
            _add_stranger(self._gone, event.connection)

    def seen(self, still_open: Iterable[Connection]) -> dict[str, Stranger]:
        """Return what was seen of them over all connections, those that are open included."""
        strangers = copy.deepcopy(self._gone)
        for connection in still_open:
            _add_stranger(strangers, connection)
        return strangers


def _add_stranger(strangers: dict[str, Stranger], connection: Connection) -> None:
    """Count a connection that never logged in, or logged in without the token of a seat."""
    if connection.session is None or connection.session.seat_token_hash is None:
        strangers.setdefault(connection.address, Stranger()).add(connection)


class MemoryJournals:
    """The journals of the matches that an embedded server plays."""

    def __init__(self) -> None:
        self._journals: dict[str, MemoryJournal] = {}

    def open(self, match: str) -> Journal:
        journal = self._journals[match] = MemoryJournal()
        return journal

    def take_replay(self, match: str) -> bytes:
        """Return the replay of a match, and forget it. It is empty if the match never began."""
        journal = self._journals.pop(match, None)
        return b"" if journal is None else journal.replay()


class NoLog:
    """The log of an embedded server, which drops everything: its program gets all that happens as events."""

    def info(self, event: str, **data: object) -> None:
        pass

    def warning(self, event: str, **data: object) -> None:
        pass

    def error(self, event: str, **data: object) -> None:
        pass


@dataclass(slots=True)
class EmbeddedServer:
    """A server, what it tells, and where its matches are written. `address` is where bots of this machine
    find it over TCP, once it listens there."""

    server: Server
    follower: LobbyFollower
    journals: MemoryJournals
    address: str = ""

    async def listen_on_loopback(self) -> None:
        """Let bots of this machine connect. OSError if that cannot be."""
        host, port = await self.server.listen(LOOPBACK, 0)
        self.address = f"tcp://{host}:{port}"


@asynccontextmanager
async def open_embedded(
    games: Iterable[Game],
    limits: Limits,
    *,
    tokens: Tokens | None = None,
    plaintext_tokens: bool = False,
    may_join: bool = True,
    may_connect: Callable[[], bool] = lambda: True,
) -> AsyncGenerator[EmbeddedServer]:
    """Run a server for these games, on the boards that they are played on, for as long as the block runs."""
    follower, journals = LobbyFollower(), MemoryJournals()
    setup = LobbySetup(
        server=SERVER,
        limits=limits,
        time=Time(),  # for rooms that clients open; matches that are planned have their own clocks
        games=GameShelf({game.id: game.board.file for game in games}),
        log=NoLog(),
        entropy=secrets.token_bytes,
        house_bots={},
        open_journal=journals.open,
        listener=follower.hear,
        tokens=tokens,
        plaintext_tokens=plaintext_tokens,
        may_join=may_join,
        may_connect=may_connect,
    )
    async with open_server(setup) as server:
        yield EmbeddedServer(server, follower, journals)
