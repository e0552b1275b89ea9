"""The parts of a lobby that never change: limits, games, bots of the house, where it logs and writes.

Law: the log is for people, the listener for programs. A bug is told to both, in one place.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from stellwerk_server.journal.journal import Journal
from stellwerk_server.lobby.admission import LOOPBACK, Network
from stellwerk_server.lobby.news import Bug, Listener, nobody_listens
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.lobby.tokens import Tokens
from stellwerk_server.match.players import NewHousePlayer
from stellwerk_server.operate.settings import Limits, Time


class Log(Protocol):
    """The methods of a structlog logger that the server calls."""

    def info(self, event: str, **data: object) -> object: ...

    def warning(self, event: str, **data: object) -> object: ...

    def error(self, event: str, **data: object) -> object: ...


@dataclass(frozen=True, kw_only=True)
class LobbySetup:
    """The settings of a lobby, which never change."""

    server: str  # name and version, as `hello` has them
    limits: Limits
    time: Time
    games: GameShelf
    log: Log
    entropy: Callable[[int], bytes]
    house_bots: Mapping[str, NewHousePlayer]
    open_journal: Callable[[str], Journal] = lambda _: Journal()
    log_lines_dropped: Callable[[], int] = lambda: 0  # those that could not be written
    tokens: Tokens | None = None  # at the start; without, everybody may log in
    plaintext_tokens: bool = False
    may_join: bool = True  # else the program that embeds the server seats everybody
    may_connect: Callable[[], bool] = lambda: True  # whether there are descriptors left
    listener: Listener = nobody_listens
    trusted: tuple[Network, ...] = LOOPBACK  # networks that no limit for an address concerns

    def new_id(self) -> str:
        return self.entropy(9).hex()

    def new_secret(self) -> str:
        return base64.urlsafe_b64encode(self.entropy(18)).decode()

    def note_bug(self, event: str, error: Exception, match: str | None = None, **data: object) -> None:
        """Log a bug of ours under the name of this event, and tell the listener."""
        of_match = {} if match is None else {"match": match}
        self.log.error(event, **of_match, **data, exc_info=error)
        self.listener(Bug(error, match))

    def note_disk_error(self, match: str, error: Exception) -> None:
        """Log that a client hears of the end of a match without all that came before it."""
        why = str(error) if isinstance(error, OSError) else type(error).__name__
        self.log.error("end.not_repeated_in_full", match=match, error=why)
