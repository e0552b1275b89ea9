"""The way down: a server that takes nothing new, and sends away each client that is in no match."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from stellwerk_server.lobby.refusal import RefusedError

if TYPE_CHECKING:
    from stellwerk_server.lobby.outbox import Outbox
    from stellwerk_server.lobby.session import Connection

LATER: Final = "a new connection later"


class Shutdown:
    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.has_begun = False
        self.on_idle: Callable[[], object] = lambda: None
        """Called when the last match has ended while the server goes down."""

    def refuse_newcomers(self) -> None:
        """Refuse a message that would begin something new. RefusedError"""
        if self.has_begun:
            raise RefusedError("server.shutting_down", LATER)

    def send_away(self, connection: Connection) -> None:
        """Say goodbye to a client that is in no match."""
        self._outbox.bye(connection, "server.shutting_down", LATER)

    def say_goodbye(self, connections: Iterable[Connection]) -> None:
        """Say goodbye to all clients, because the server stops now. Matches go on when it is started
        again."""
        for connection in connections:
            self._outbox.bye(connection, "server.shutting_down", "to come back, and resume")
