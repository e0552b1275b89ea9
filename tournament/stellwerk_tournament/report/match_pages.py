"""The pages of matches, in the folder `pages/`: one for each of the last matches, which the report links.

Law: the report says for how many matches there are pages, so `verify` knows which there must be. A page is a
function of the replay, to the byte, but for the times of the answers, which nobody can verify.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from stellwerk_base.files import write_whole
from stellwerk_page.one_file import page_of, times_in
from stellwerk_protocol.answer_times import AnswerTimes, read_times, times_beside
from stellwerk_tournament.store.match_line import MatchLine

FOLDER: Final = "pages"
MARK: Final = re.compile(r'<meta name="match-pages" content="(\d+) of (\d+)">')
_REPLAY: Final = re.compile(r"replays/[A-Za-z0-9_.-]+\.jsonl")  # no other file gets into a page
_HEAD: Final = 4000  # characters of the report, which begins with the mark


@dataclass(frozen=True, slots=True)
class Paged:
    """The matches that have pages: the last `count` when `matches.jsonl` had `of` lines."""

    count: int = 0
    of: int = 0

    def lines(self, lines: Sequence[MatchLine]) -> Sequence[MatchLine]:
        """Return them, out of all lines in the order of the file."""
        played = sorted(lines[: self.of], key=lambda line: (line.block, line.rotation))
        last = played[max(0, len(played) - self.count) :]
        return [line for line in last if _REPLAY.fullmatch(line.replay)]


NO_PAGES: Final = Paged()


def paged_in(report: Path) -> Paged:
    """Return which matches have pages, by what a report says. OSError if it cannot be read."""
    if not report.exists():
        return NO_PAGES
    with open(report, encoding="utf-8", errors="replace") as text:
        mark = MARK.search(text.read(_HEAD))
    return NO_PAGES if mark is None else Paged(int(mark[1]), int(mark[2]))


def page_path(line: MatchLine) -> str:
    """Return where the page of a match is, relative to the tournament's folder."""
    return f"{FOLDER}/{PurePosixPath(line.replay).stem}.html"


def write_pages(
    folder: Path, lines: Sequence[MatchLine], version: str, wrote: Callable[[int], object] = lambda _: None
) -> int:
    """Write the pages of these matches, and return their bytes. OSError if a replay cannot be read, or a page
    not be written. `wrote` gets how many there are so far."""
    (folder / FOLDER).mkdir(exist_ok=True)
    size = 0
    for number, line in enumerate(lines, 1):
        replay = folder / line.replay
        page = page_of(replay.read_bytes(), replay.name, version, _times_of(replay)).encode()
        write_whole(folder / page_path(line), page)
        size += len(page)
        wrote(number)
    return size


def wrong_pages(folder: Path, lines: Sequence[MatchLine], version: str) -> Iterator[tuple[Path, str]]:
    """Yield which page is not what its replay makes, and why. OSError if one cannot be read."""
    for line in lines:
        path = folder / page_path(line)
        if not path.exists():
            yield path, "is not there"
            continue
        page = path.read_text("utf-8", "replace")
        replay = folder / line.replay
        if page != page_of(replay.read_bytes(), replay.name, version, times_in(page)):
            yield path, f"is not the page of {line.replay}"


def _times_of(replay: Path) -> AnswerTimes | None:
    try:
        return read_times(times_beside(replay).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None  # the page is good without them
