"""The pages of matches, in the folder `pages/`: one for each of the last matches, which the report links.

Law: the report says for how many matches there are pages, so `verify` knows which there must be. A page is a
function of the replay, to the byte, but for the times of the answers, which cannot be verified.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from stellwerk_base.files import write_whole
from stellwerk_page.one_file import page_of, times_in
from stellwerk_protocol.answer_times import AnswerTimes, read_times, times_beside
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import MatchLine

FOLDER: Final = "pages"
MARK: Final = re.compile(r'<meta name="match-pages" content="(\d+) of (\d+)">')
_REPLAY: Final = re.compile(r"replays/[A-Za-z0-9_.-]+\.jsonl")  # no other file gets into a page
_HEAD: Final = 4000  # characters of the report, which begins with the mark


@dataclass(frozen=True, slots=True)
class Paged:
    """The matches that have pages: the last `count` of the first `of` lines of `matches.jsonl`."""

    count: int = 0
    of: int = 0

    def lines(self, cup: Cup) -> Iterator[MatchLine]:
        """Read their lines, in the order of the blocks' numbers."""
        blocks = sorted(match.block for match in islice(cup.results, self.of))
        start = max(0, len(blocks) - self.count)
        last = blocks[start:]
        skipped = start - bisect_left(blocks, last[0]) if last else 0
        lines = islice(cup.lines(dict.fromkeys(last)), skipped, None)
        return (line for line in lines if _REPLAY.fullmatch(line.replay))


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


def write_pages(cup: Cup, paged: Paged) -> Iterator[int]:
    """Write the pages of these matches, and yield the bytes of each. OSError if a replay cannot be read, or a
    page not be written."""
    (cup.folder / FOLDER).mkdir(exist_ok=True)
    for line in paged.lines(cup):
        replay = cup.folder / line.replay
        page = page_of(replay.read_bytes(), replay.name, cup.version, _times_of(replay)).encode()
        write_whole(cup.folder / page_path(line), page)
        yield len(page)


def wrong_page(cup: Cup, line: MatchLine) -> str:
    """Say why the page of a match is not what its replay makes. Empty if it is. OSError if it cannot be
    read."""
    path = cup.folder / page_path(line)
    if not path.exists():
        return "is not there"
    page = path.read_text("utf-8", "replace")
    replay = cup.folder / line.replay
    is_right = page == page_of(replay.read_bytes(), replay.name, cup.version, times_in(page))
    return "" if is_right else f"is not the page of {line.replay}"


def _times_of(replay: Path) -> AnswerTimes | None:
    try:
        return read_times(times_beside(replay).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None  # the page is good without them
