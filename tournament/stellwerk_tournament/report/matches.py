"""The matches of the report, each with a link to its replay.

Law: links are relative and stay in the tournament's folder, so that it can be published as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from stellwerk_tournament.report.markup import grouped
from stellwerk_tournament.store.match_line import MatchLine

MOST_MATCHES: Final = 1000  # with as many a page still opens at once on a phone


class MatchLink(NamedTuple):
    """The part of a match that a link to its replay needs."""

    match: str
    block: int
    rotation: int
    replay: str


def link_of(line: MatchLine) -> MatchLink:
    return MatchLink(line.match, line.block, line.rotation, line.replay)


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match with its result in words. `faults` are bots with their kinds of faults."""

    match: MatchLink
    game: str
    turns: int
    result: str
    faults: Sequence[str]


class ListedMatches:
    """The content of this section: of many matches, the last."""

    def __init__(self) -> None:
        self.count = 0
        self._last: deque[MatchLine] = deque(maxlen=MOST_MATCHES)

    def add(self, line: MatchLine) -> None:
        self.count += 1
        self._last.append(line)

    @property
    def rows(self) -> Sequence[MatchRow]:
        return [*map(_row, self._last)]


def _row(line: MatchLine) -> MatchRow:
    out = {forfeit.team for forfeit in line.forfeits}
    order = sorted(range(len(line.players)), key=lambda i: line.ranks[i])
    return MatchRow(
        link_of(line),
        line.game,
        line.turns,
        ", ".join(
            f"{line.ranks[i]}. {line.players[i]} {grouped(line.points[i])}{' (forfeit)' if i in out else ''}"
            for i in order
        ),
        sorted({f"{seat.bot}: {fault.kind}" for seat in line.bots for fault in seat.faults}),
    )
