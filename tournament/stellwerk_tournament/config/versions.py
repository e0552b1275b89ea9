"""The versions of bots, which tell the matches of one program from those of the next.

Laws:
- equal files make an equal version, on any machine: it does not matter where they are, nor when they were
  written. What interpreters cache does not count, nor does a repository's history;
- the version of a built-in bot is that of Stellwerk. A remote bot has the label that its table says, because
  its files are not here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from time import perf_counter
from typing import Final, TypeAlias

from stellwerk_processes.bot_spec import BotSpec
from stellwerk_tournament.config.settings import Entrant

DIGITS: Final = 12
MOST_FILES: Final = 100_000  # of a bot that count: more would take longer to look at than a match
LOOKING_SHARE: Final = 0.01  # of the time, at most, to see whether files have changed
LEFT_OUT: Final = frozenset({"__pycache__", ".git"})

Stamp: TypeAlias = tuple[str, int, int]
"""A file's name, its size, and the time of its last change."""


def version_of(entrant: Entrant, stellwerk: str) -> str:
    """Return the version of a bot as it is now. Empty if nothing tells it."""
    if entrant.is_remote:
        return entrant.label
    if entrant.bot.built_in:
        return stellwerk and f"stellwerk-{stellwerk}"
    digest = hashlib.sha256()
    for name, path in _files(entrant.bot):
        digest.update(b"%b\0%b\n" % (os.fsencode(name), _digest(path)))
    return digest.hexdigest()[:DIGITS]


class Versions:
    """The versions of bots, for whoever asks again and again."""

    def __init__(self, entrants: Mapping[str, Entrant], stellwerk: str) -> None:
        self._entrants = entrants
        self._stellwerk = stellwerk
        self._known: dict[str, str] = {}
        self._stamps: dict[str, list[Stamp]] = {}
        self._look_again_at: dict[str, float] = {}

    def of(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._known[name] for name in names)

    def unsure(self, names: Iterable[str]) -> list[str]:
        """Return those whose files have not been looked at for a while."""
        now = perf_counter()
        return [name for name in names if self._look_again_at.get(name, 0.0) <= now]

    def look(self, names: Iterable[str]) -> None:
        """Look at the files of these bots, and read them if they have changed. That can take a while."""
        for name in names:
            entrant, began = self._entrants[name], perf_counter()
            is_here = not (entrant.is_remote or entrant.bot.built_in)
            stamps = list(_stamps(entrant.bot)) if is_here else []
            took = perf_counter() - began
            if name not in self._known or stamps != self._stamps[name]:
                self._known[name] = version_of(entrant, self._stellwerk)
            self._stamps[name] = stamps
            self._look_again_at[name] = perf_counter() + took / LOOKING_SHARE if is_here else float("inf")


def _stamps(bot: BotSpec) -> Iterator[Stamp]:
    for name, path in _files(bot):
        with contextlib.suppress(OSError):  # it is gone, or nobody may look at it
            status = os.stat(path)
            yield name, status.st_size, status.st_mtime_ns


def _files(bot: BotSpec) -> Iterator[tuple[str, str]]:
    """Yield the files of a bot, with names and paths: those of its folders and those that its command names,
    or else its program."""
    folders = dict.fromkeys(each for each in (bot.folder, bot.directory) if each is not None)
    beneath = (
        (f"{number}/{os.path.relpath(path, folder)}", path)
        for number, folder in enumerate(folders)
        for path in _beneath(folder)
    )
    yield from islice(beneath, MOST_FILES)
    named = [
        (f"command/{number}", word)
        for number, word in enumerate(bot.command)
        if number and os.path.isabs(word) and os.path.isfile(word)
    ]
    yield from named
    if not folders and not named:
        program = shutil.which(bot.command[0], path=bot.environment.get("PATH"))
        yield "program", program or bot.command[0]


def _beneath(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        yield from (os.path.join(place, name) for name in sorted(names))


def _digest(path: str) -> bytes:
    """Return the SHA-256 of a file. Empty if it is no file, or nobody may read it."""
    with contextlib.suppress(OSError):
        if stat.S_ISREG(os.stat(path).st_mode):  # to open something else could wait for ever
            with open(path, "rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
    return b""
