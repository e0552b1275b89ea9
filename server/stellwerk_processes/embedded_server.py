"""The server as it is embedded for one match of bots that are started for it: quiet, its journal in memory.

Law: no file says during a match what a bot must not know. So a match is kept in memory while it is played,
and written down when it is over: there is nobody who would go on with it after a crash.
"""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stellwerk_engine.core.state import Game
from stellwerk_server.journal.journal import Journal, read_record
from stellwerk_server.lobby.connection import Connection
from stellwerk_server.lobby.lobby import House
from stellwerk_server.lobby.rooms import GameShelf
from stellwerk_server.match.refusals import Refused
from stellwerk_server.operate.settings import Limits, Time

SERVER: Final = "stellwerk"


@dataclass(slots=True)
class Stranger:
    """What was seen of a client that never took its seat. `connected` is None if nobody can know."""

    connected: bool | None = None
    errors: Counter[str] = field(default_factory=Counter[str])
    first_refused: dict[str, Refused] = field(default_factory=dict[str, Refused])
    forgot_token: bool = False

    def add(self, connection: Connection) -> None:
        self.connected = True
        self.errors += connection.errors
        self.first_refused = connection.first_refused | self.first_refused
        self.forgot_token |= connection.session is not None


class Notes:
    """What has to be reported of a server that serves one match: our own bugs, and by their addresses the
    connections that ended without a seat."""

    def __init__(self) -> None:
        self.bugs: list[BaseException] = []
        self.strangers: dict[str, Stranger] = {}

    def closed(self, connection: Connection) -> None:
        if has_no_seat(connection):
            self.strangers.setdefault(connection.address, Stranger()).add(connection)

    def info(self, event: str, **data: object) -> None:
        pass

    def warning(self, event: str, **data: object) -> None:
        pass

    def error(self, event: str, **data: object) -> None:
        bug = data.get("exc_info")
        if isinstance(bug, BaseException):
            self.bugs.append(bug)


def has_no_seat(connection: Connection) -> bool:
    """Whether it never logged in, or without the token of a seat."""
    return connection.session is None or connection.session.seat_token_hash is None


class MemoryJournal:
    """What becomes a replay."""

    def __init__(self) -> None:
        self._lines = bytearray()

    def append(self, lines: bytes) -> None:
        self._lines += lines

    def finish(self) -> Path | None:
        return None

    def leave(self) -> Path | None:
        return None

    def abandon(self) -> None:
        self._lines.clear()

    def read(self) -> bytes:
        return bytes(self._lines)

    def note(self, lines: bytes) -> None:
        pass

    def forget(self) -> None:
        pass

    def replay(self) -> bytes:
        """Without the private records."""
        lines = bytes(self._lines).splitlines(keepends=True)
        return b"".join(line for line in lines if read_record(line) is None)


def quiet_house(game: Game, time: Time, notes: Notes, journal: MemoryJournal) -> House:
    """Nobody is to log in later than a match would wait."""

    def open_journal(match: str) -> Journal:
        return journal

    return House(
        server=SERVER,
        limits=Limits(login_ms=max(1, time.set_up_ms)),
        time=time,
        games=GameShelf({game.id: game.board.file}),
        log=notes,
        entropy=secrets.token_bytes,
        house_bots={},
        open_journal=open_journal,
        on_closed=notes.closed,
    )
