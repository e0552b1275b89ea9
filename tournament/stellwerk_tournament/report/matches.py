"""The matches of the report, each with a link to its replay.

Law: links are relative and stay in the tournament's folder, so that it can be published as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_tournament.report.markup import grouped
from stellwerk_tournament.store.match_line import MatchLine

MOST_MATCHES: Final = 1000  # with as many a page still opens at once on a phone


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match with its result in words. `faults` are bots with their kinds of faults."""

    match: MatchLine
    result: str
    faults: Sequence[str]


@dataclass(frozen=True, slots=True)
class Matches:
    """The content of this section: of many matches, the last."""

    count: int
    rows: Sequence[MatchRow]


def matches(lines: Sequence[MatchLine]) -> Matches:
    """List the matches in the order in which they were played."""
    return Matches(len(lines), [_row(line) for line in lines[-MOST_MATCHES:]])


def _row(line: MatchLine) -> MatchRow:
    out = {forfeit.team for forfeit in line.forfeits}
    order = sorted(range(len(line.players)), key=lambda i: line.ranks[i])
    return MatchRow(
        line,
        ", ".join(
            f"{line.ranks[i]}. {line.players[i]} {grouped(line.points[i])}{' (forfeit)' if i in out else ''}"
            for i in order
        ),
        sorted({f"{seat.bot}: {fault.kind}" for seat in line.bots for fault in seat.faults}),
    )
