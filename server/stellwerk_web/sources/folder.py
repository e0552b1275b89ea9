"""A folder of replays as a source: of `stellwerk serve`, of `play --replays`, or any other.

Laws:
- a match is shown when its replay is whole and its seed is in it, and not before: a replay without its seed
  is of a deal that is still being played. Journals of running matches are not looked at;
- each file is read once, and again only when it has changed; a file that is no replay is passed over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time
from typing import TYPE_CHECKING, Final

import trio
from msgspec.structs import replace

from stellwerk_engine.replays.reader import ReplayError
from stellwerk_web.show.forms import Head
from stellwerk_web.sources.recorded import NO_CLOCKS, digest_of, head_of, id_of, summary
from stellwerk_web.sources.source import Source
from stellwerk_web.sources.wanted import Wake, bring_wanted, whole_page

if TYPE_CHECKING:
    from stellwerk_web.show.model import Show

LOOK_EVERY_S: Final = 1.0
LOOK_SHARE: Final = 0.05  # of the time, at most, for looks into a folder with very many files
AT_ONCE: Final = 200  # files that are read in a row, before the others get their turn
WAITING: Final = 20  # of the matches that were there before, these wait for a table of the wall

Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _File:
    """A file that is new, or has changed. `ended_at` is in the time of files."""

    path: Path
    ended_at: float


class FolderSource(Source):
    """The replays of a folder, which need not exist yet, and may go away and come back."""

    def __init__(self, folder: Path, version: str, log: Callable[..., object]) -> None:
        super().__init__()
        self._folder = folder
        self._version = version
        self._log = log
        self._stamps: dict[str, Stamp] = {}  # of the files that were looked at, by name
        self._heads: dict[str, Head] = {}  # by match
        self._replays: dict[str, Path] = {}  # by match

    async def run(self, show: Show) -> None:
        self._show = show
        wake = Wake()
        show.on_wanted = wake.ring
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bring_wanted, show, wake, self._replays.get, lambda: NO_CLOCKS, self._log)
            nursery.start_soon(self._follow_folder, show)

    async def _follow_folder(self, show: Show) -> None:
        is_first = True
        while True:
            began = perf_counter()
            files = await trio.to_thread.run_sync(self._find_changed)
            if files is None:
                show.connected(False)
                if self._heads:
                    self._heads.clear()
                    self._replays.clear()
                    show.began_anew()
            else:
                for start in range(0, len(files), AT_ONCE):
                    some = files[start : start + AT_ONCE]
                    heads = await trio.to_thread.run_sync(_read_heads, some)
                    for number, (file, head) in enumerate(zip(some, heads, strict=True), start):
                        is_news = not is_first or number >= len(files) - WAITING
                        self._take_file(show, file, head, is_news=is_news)
                show.connected(True)
                is_first = False
            await trio.sleep(max(LOOK_EVERY_S, (perf_counter() - began) / LOOK_SHARE))

    def _find_changed(self) -> list[_File] | None:
        """Return the files that are new or have changed, the oldest first. None if there is no folder, or
        all of its replays are gone. This waits for the disk."""
        found: list[_File] = []
        stamps: dict[str, Stamp] = {}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if entry.name.endswith(".jsonl") and entry.is_file():
                        stat = entry.stat()
                        stamps[entry.name] = (stat.st_size, stat.st_mtime_ns)
                        if self._stamps.get(entry.name) != stamps[entry.name]:
                            found.append(_File(Path(entry.path), stat.st_mtime))
        except OSError:
            self._stamps = {}
            return None
        is_gone = bool(self._stamps) and not stamps
        self._stamps = stamps
        return None if is_gone else sorted(found, key=lambda file: (file.ended_at, file.path.name))

    def _take_file(self, show: Show, file: _File, head: Head | str, *, is_news: bool) -> None:
        if isinstance(head, str):
            self._log("source.passed_over", file=file.path.name, why=head)
            return
        other = self._replays.get(head.match)
        if other is not None and other != file.path:
            head = replace(head, match=digest_of(file.path.name))  # two files say the same id
        self._heads[head.match], self._replays[head.match] = head, file.path
        show.match_listed(head, max(0.0, time() - file.ended_at), is_news=is_news)

    # -- pages -----------------------------------------------------------------------------------

    def find(self, match: str) -> bool:
        head = self._heads.get(match)
        if head is None or self._show is None:
            return False
        self._show.match_found(head)
        return True

    async def replay_page(self, match: str) -> str | None:
        replay = self._replays.get(match)
        if replay is None:
            return None
        return await trio.to_thread.run_sync(whole_page, replay, self._version)


def _read_heads(files: Sequence[_File]) -> list[Head | str]:
    """Return the heads of replays, or why a file has none. This waits for the disk."""
    heads: list[Head | str] = []
    for file in files:
        try:
            found = summary(file.path)
        except (ReplayError, OSError) as error:
            heads.append(str(error))
        else:
            heads.append(replace(head_of(found, id_of(found.header, file.path.name)), page=True))
    return heads
