"""The server as `stellwerk play` embeds it: for bots of this machine, quiet, and with its journals in memory.

Law: no file says during a game what a bot must not know. So a game is kept in memory while it is played, and
written down when it is over: there is nobody who would go on with it after a crash.
"""

from __future__ import annotations

import secrets
from collections import Counter
from pathlib import Path
from typing import Final, cast

from stellwerk.choose_game import GameChoice
from stellwerk_server.journal import Journal, NoJournal, read_record
from stellwerk_server.lobby import House
from stellwerk_server.rooms import GameShelf
from stellwerk_server.settings import Limits, Time

SERVER: Final = "stellwerk play"


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


class Journals:
    """By the ids of their matches. None is kept unless somebody wants the replays."""

    def __init__(self, *, are_wanted: bool) -> None:
        self._are_wanted = are_wanted
        self._open: dict[str, MemoryJournal] = {}

    def open(self, match: str) -> Journal:
        if not self._are_wanted:
            return NoJournal()
        journal = self._open[match] = MemoryJournal()
        return journal

    def take(self, match: str) -> bytes | None:
        """The replay of a match that is over, once."""
        journal = self._open.pop(match, None)
        return None if journal is None else journal.replay()


def house_for(choice: GameChoice, time: Time, notes: Notes, journals: Journals) -> House:
    """Nobody is to log in later than a game would wait."""
    return House(
        server=SERVER,
        limits=Limits(login_ms=max(1, time.set_up_ms)),
        time=time,
        games=GameShelf({choice.game_id: choice.board}),
        log=notes,
        entropy=secrets.token_bytes,
        house_bots={},
        open_journal=journals.open,
    )
