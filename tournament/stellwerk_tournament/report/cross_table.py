"""The cross table of the report: each bot against each other, as a heat map with its numbers.

Law: the numbers are always there. With many bots the page opens with small cells that show the color only,
for the pattern that they make, and a box without any script brings the numbers back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from stellwerk_tournament.report.bots import MOST_BOTS, pair_id
from stellwerk_tournament.store.standings import Standings

STEPS: Final = 10  # of color, from always worse to always better
MANY: Final = MOST_BOTS  # from which on the page opens with small cells
FEW: Final = 26  # bots, up to which each cell shows in how many matches they met


@dataclass(frozen=True, slots=True)
class Cell:
    """A score in per cent with its step of color. `target` is the id of the row that has the details."""

    score: str
    step: int
    matches: int
    target: str


@dataclass(frozen=True, slots=True)
class CrossRow:
    """A bot against all. A cell is None where they never met, and "self" where it would be the bot itself."""

    name: str
    cells: Sequence[Cell | Literal["self"] | None]


@dataclass(frozen=True, slots=True)
class CrossTable:
    """The whole table. `met` are the different numbers of matches in which two bots met."""

    rows: Sequence[CrossRow]
    met: Sequence[int]
    size: Literal["counts", "few", "many"]
    has_links: bool


def cross_table(names: Sequence[str], standings: Standings) -> CrossTable:
    """Compute all cells. `names` are in the order of the ranking."""
    met = sorted({versus.matches for versus in standings.pairs.values()})
    rows = [
        CrossRow(name, [_cell(standings, names, number, other) for other in range(1, len(names) + 1)])
        for number, name in enumerate(names, 1)
    ]
    size: Literal["counts", "few", "many"] = (
        "many" if len(names) > MANY else "counts" if len(names) <= FEW and len(met) > 1 else "few"
    )
    return CrossTable(rows, met, size, has_links=len(names) <= MOST_BOTS)


def step_of(score: float) -> int:
    """Return the step of color of a score."""
    return int(STEPS * score + 0.5)


def _cell(
    standings: Standings, names: Sequence[str], number: int, other: int
) -> Cell | Literal["self"] | None:
    versus = standings.pairs.get((names[number - 1], names[other - 1]))
    if versus is None:
        return "self" if number == other else None
    score = versus.score
    return Cell(f"{100 * score:.0f}", step_of(score), versus.matches, pair_id(number, other))
