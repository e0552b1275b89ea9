"""The versions of bots, which tell the matches of one program from those of the next.

Laws:
- equal files make an equal version, on any machine: it does not matter where they are, nor when they were
  written. What interpreters cache does not count, nor does a repository's history;
- a bot may write into its own folder, in every match. So a run reads all files of a bot once, and after that
  only those that its command names;
- the version of a built-in bot is that of Stellwerk. A remote bot has the label that its table says, because
  its files are not here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from stellwerk_processes.bot_spec import BotSpec
from stellwerk_tournament.config.settings import Entrant

DIGITS: Final = 12
MOST_FILES: Final = 100_000  # of a bot that count: more would take longer to read than a match
LEFT_OUT: Final = frozenset({"__pycache__", ".git"})


class Versions:
    """The versions of bots during a run. `stellwerk` is that of Stellwerk."""

    def __init__(self, stellwerk: str = "") -> None:
        self.stellwerk = stellwerk
        self._files: dict[str, _Files] = {}

    def of(self, entrants: Iterable[Entrant]) -> tuple[str, ...]:
        """Return the versions of bots, as they were read last. Empty for a bot of which nothing tells it."""
        return tuple(map(self._version, entrants))

    def changed(self, entrants: Iterable[Entrant]) -> list[Entrant]:
        """Return the bots that have not been read yet, or whose commands name a file that has changed."""
        here = (entrant for entrant in entrants if _has_files(entrant))
        return [each for each in here if each.name not in self._files or self._files[each.name].have_changed]

    def read(self, entrants: Iterable[Entrant]) -> None:
        """Read files of bots: all of them the first time. That can take a while."""
        for entrant in filter(_has_files, entrants):
            if entrant.name in self._files:
                self._files[entrant.name].read_named()
            else:
                self._files[entrant.name] = _Files(entrant.bot)

    def _version(self, entrant: Entrant) -> str:
        if entrant.is_remote or entrant.label:
            return entrant.label
        if entrant.bot.built_in:
            return self.stellwerk and f"stellwerk-{self.stellwerk}"
        return self._files[entrant.name].version


def _has_files(entrant: Entrant) -> bool:
    return not (entrant.is_remote or entrant.label or entrant.bot.built_in)


class _Files:
    """The files of a bot: those of its folders and those that its command names, or else its program."""

    def __init__(self, bot: BotSpec) -> None:
        folders = dict.fromkeys(each for each in (bot.folder, bot.directory) if each is not None)
        beneath = (
            (f"{number}/{os.path.relpath(path, folder)}", path)
            for number, folder in enumerate(folders)
            for path in _paths_beneath(folder)
        )
        paths = dict(islice(beneath, MOST_FILES))
        words = {os.path.normpath(os.path.join(bot.directory or "", word)) for word in bot.command}
        self._named = {name: path for name, path in paths.items() if os.path.normpath(path) in words}
        for number, word in enumerate(bot.command):
            if number and os.path.isabs(word) and os.path.isfile(word):
                self._named[f"command/{number}"] = word
        if not folders and not self._named:
            program = shutil.which(bot.command[0], path=bot.environment.get("PATH"))
            self._named["program"] = program or bot.command[0]
        self._digests = {name: _digest(path) for name, path in paths.items() if name not in self._named}
        self.read_named()

    @property
    def have_changed(self) -> bool:
        """Return whether a file that the command names has another size or another time than before."""
        return self._stamps != list(map(_stamp, self._named.values()))

    def read_named(self) -> None:
        """Read the files that the command names."""
        self._stamps = list(map(_stamp, self._named.values()))
        self._digests |= {name: _digest(path) for name, path in self._named.items()}
        all_of_them = hashlib.sha256()
        for name, digest in sorted(self._digests.items()):
            all_of_them.update(b"%b\0%b\n" % (os.fsencode(name), digest))
        self.version = all_of_them.hexdigest()[:DIGITS]


def _paths_beneath(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        yield from (os.path.join(place, name) for name in sorted(names))


def _stamp(path: str) -> tuple[int, int]:
    """Return the size of a file and the time of its last change, or zeros if it is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _digest(path: str) -> bytes:
    """Return the SHA-256 of a file. Empty if it is no file, or nobody may read it."""
    with contextlib.suppress(OSError):
        if stat.S_ISREG(os.stat(path).st_mode):  # to open something else could wait for ever
            with open(path, "rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
    return b""
