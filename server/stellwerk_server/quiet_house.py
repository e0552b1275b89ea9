"""The server as it is embedded for one match of bots that are started for it: quiet, its journal in memory.

Law: no file says during a match what a bot must not know. So a match is kept in memory while it is played,
and written down when it is over: there is nobody who would go on with it after a crash.
"""

from __future__ import annotations

import secrets
from collections import Counter
from pathlib import Path
from typing import Final, cast

from stellwerk_engine.game import Game
from stellwerk_server.journal import Journal, read_record
from stellwerk_server.lobby import House
from stellwerk_server.rooms import GameShelf
from stellwerk_server.settings import Limits, Time

SERVER: Final = "stellwerk"


class Notes:
    """A log that keeps what has to be told: bugs of ours, and what was wrong with the lines of those who
    never logged in, by address."""

    def __init__(self) -> None:
        self.bugs: list[BaseException] = []
        self.strangers: dict[str, Counter[str]] = {}

    def info(self, event: str, **data: object) -> None:
        if event == "connection.closed" and data["name"] is None:
            errors = cast(dict[str, int], data["errors"])  # as the lobby says it
            self.strangers.setdefault(str(data["address"]), Counter()).update(errors)

    def warning(self, event: str, **data: object) -> None:
        pass

    def error(self, event: str, **data: object) -> None:
        bug = data.get("exc_info")
        if isinstance(bug, BaseException):
            self.bugs.append(bug)


class MemoryJournal:
    """What becomes a replay."""

    def __init__(self) -> None:
        self._lines = bytearray()

    def append(self, lines: bytes) -> None:
        self._lines += lines

    def finish(self) -> Path | None:
        return None

    def abandon(self) -> None:
        self._lines.clear()

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
    )
