"""Paths of this machine, and what a tournament's files say in their place.

Law: no file that a tournament writes says where on this machine it was played, whose home directory that
was, or where the bots were. So a folder can be moved, and published as it is. Only what bots print, what went
wrong with the machine, and the commands in `resolved.json` can hold such a path: all of it passes `hidden`.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from stellwerk_processes.bench.local_bot import LONGEST_LINE
from stellwerk_protocol.canonical import JsonValue
from stellwerk_tournament.config.settings import Entrant

HOME: Final = "~"
ELSEWHERE: Final = "..."
PRIVATE: Final = "{directory}"  # as `wrap` calls it
_CUT: Final = re.compile(r"\.\.\.")  # so messages say that they shorten something
_SHORTEST_BEGINNING: Final = 4  # characters of a path that was cut off: fewer say nothing


class MachinePaths:
    """The paths that `hidden` replaces: those of the tournament's folder become relative to it."""

    def __init__(self, folder: Path, entrants: Iterable[Entrant] = ()) -> None:
        own = os.path.abspath(folder)
        names = dict.fromkeys(_spellings(own), "")
        for path, name in (*_of_bots(own, entrants), *_of_this_process(), (os.path.dirname(own), ELSEWHERE)):
            for spelling in _spellings(path):
                names.setdefault(spelling, name)
        names.pop("/", None)
        self._names = names
        self._longest_first = sorted(names, key=lambda path: (-len(path), path))
        known = "|".join(map(re.escape, self._longest_first))
        roots = "|".join(map(re.escape, _spellings(tempfile.gettempdir())))
        self._pattern = re.compile(
            rf"(?P<private>(?:{roots})/stellwerk-\w+(?:/[0-9a-f]{{32}})?)"
            rf"|(?P<path>{known})(?:(?P<slash>/+)(?=[^\s/'\"<>|:;,)])|(?![\w-]|\.\w))"
        )

    def hidden(self, text: str) -> str:
        """Replace every path of this machine in a text, also those that were cut off in the middle."""
        ends = [cut.start() for cut in _CUT.finditer(text)]
        if len(text) >= LONGEST_LINE:
            ends.append(len(text))
        for end in reversed(ends):
            text = self._without_beginning(text[:end]) + text[end:]
        return self._pattern.sub(self._name, text)

    def hidden_lines(self, lines: Iterable[str]) -> list[str]:
        return list(map(self.hidden, lines))

    def hidden_in(self, value: JsonValue) -> JsonValue:
        """Replace them in all texts of a value, whatever its form."""
        if isinstance(value, str):
            return self.hidden(value)
        if isinstance(value, Mapping):
            return {key: self.hidden_in(inner) for key, inner in value.items()}
        if isinstance(value, Sequence):
            return [self.hidden_in(inner) for inner in value]
        return value

    def _name(self, match: re.Match[str]) -> str:
        if match["private"]:
            return PRIVATE
        name = self._names[match["path"]]
        if match["slash"]:
            return f"{name}/" if name else ""
        return name or "."

    def _without_beginning(self, text: str) -> str:
        for path in self._longest_first:
            for length in range(len(path) - 1, _SHORTEST_BEGINNING - 1, -1):
                if text.endswith(path[:length]):
                    return text[:-length]
        return text


def _spellings(path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((os.path.abspath(path), os.path.realpath(path))))


def _of_bots(folder: str, entrants: Iterable[Entrant]) -> Iterator[tuple[str, str]]:
    """Yield the folders outside the tournament that contain bots or files of their commands."""
    for entrant in entrants:
        bot = entrant.bot
        words = () if bot.built_in else bot.command
        for path in (*words, *filter(None, (bot.directory, bot.folder))):
            if os.path.isabs(path) and not f"{path}/".startswith(f"{folder}/"):
                yield os.path.dirname(os.path.normpath(path)), ELSEWHERE


def _of_this_process() -> Iterator[tuple[str, str]]:
    yield os.path.expanduser("~"), HOME
    with contextlib.suppress(KeyError):  # a user without an entry
        yield pwd.getpwuid(os.getuid()).pw_dir, HOME
    yield sys.prefix, ELSEWHERE
    for path in sys.path:  # tracebacks of the bots that come with Stellwerk name these
        if os.path.isabs(path):
            yield path, ELSEWHERE
