"""A ranking as a table in text: `ratings` prints it, and a tournament's commands do.

Law: no rating is shown without its interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from stellwerk_base.texts import aligned, interval, shown, signed


class RankedRow(NamedTuple):
    """A row. `figures` are the cells behind the rating, which each command chooses."""

    place: str
    name: str
    elo: float | None
    low: float | None
    high: float | None
    figures: Sequence[str]


def ranking_lines(who: str, figures: Sequence[str], rows: Iterable[RankedRow]) -> Iterator[str]:
    """Write the table. `who` is the heading of the names, `figures` are those of the other cells."""
    cells = [
        (
            row.place,
            shown(row.name),
            "" if row.elo is None else signed(row.elo),
            interval(row.low, row.high),
            *row.figures,
        )
        for row in rows
    ]
    yield from aligned([("", who, "elo", "95 %", *figures), *cells], left={1})
