"""What many games come to: points, wins, turns and speed, counted game by game and shown as a table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from stellwerk.simulate.simulation import GameRecord, PolicyName
from stellwerk_engine.core.game import Game


@dataclass(slots=True)
class Spread:
    """Mean, standard deviation (of a sample), least and greatest of whole numbers."""

    count: int = 0
    least: int = 0
    greatest: int = 0
    _sum: int = 0
    _sum_of_squares: int = 0

    def add(self, number: int) -> None:
        self.least = min(self.least, number) if self.count else number
        self.greatest = max(self.greatest, number) if self.count else number
        self.count += 1
        self._sum += number
        self._sum_of_squares += number * number

    @property
    def mean(self) -> float:
        return self._sum / self.count

    @property
    def deviation(self) -> float:
        if self.count < 2:
            return 0.0
        squares = Fraction(self._sum_of_squares) - Fraction(self._sum**2, self.count)
        return math.sqrt(squares / (self.count - 1))


@dataclass(slots=True)
class Row:
    """One policy, in one team or in all."""

    points: Spread = field(default_factory=Spread)
    wins: Fraction = Fraction(0)  # a win that k teams share counts 1/k for each


class Tally:
    def __init__(self, game: Game) -> None:
        self._game = game
        self._rows: dict[tuple[PolicyName, int | None], Row] = {}
        self._turns = Spread()
        self._reasons: Counter[str] = Counter()
        self.decision_count = 0
        self.longest_list = 0

    def add(self, record: GameRecord) -> None:
        self._turns.add(record.turns)
        self._reasons[record.reason] += 1
        self.decision_count += record.decisions
        self.longest_list = max(self.longest_list, record.longest_list)
        teams = [record.seats[seats[0]] for seats in self._game.seats_of_team]
        winners = sum(team.rank == 1 for team in teams)
        for team in teams:
            won = Fraction(1, winners) if team.rank == 1 else Fraction(0)
            for place in (None, team.team):
                row = self._rows.setdefault((team.policy, place), Row())
                row.points.add(team.points)
                row.wins += won

    def lines(self) -> Iterator[str]:
        yield from _aligned([_HEAD, *self._table()])
        yield ""
        turns = self._turns
        yield f"turns         {turns.mean:.1f} a game ({turns.least} to {turns.greatest})"
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in self._reasons.most_common())
        yield f"ended by      {reasons}"
        yield f"legal moves   at most {self.longest_list:,} in a list"

    def _table(self) -> Iterator[Sequence[str]]:
        policies = dict.fromkeys(policy for policy, _ in self._rows)
        for policy in policies:
            yield self._cells(policy, self._rows[policy, None])
            for team, seats in enumerate(self._game.seats_of_team):
                row = self._rows.get((policy, team))
                if row is not None:
                    yield self._cells(
                        f"  seat{'s' if len(seats) > 1 else ''} {'+'.join(map(str, seats))}", row
                    )

    def _cells(self, label: str, row: Row) -> Sequence[str]:
        points = row.points
        return (
            label,
            f"{points.count:,}",
            f"{points.mean:.1f}",
            f"{points.deviation:.1f}",
            str(points.least),
            str(points.greatest),
            f"{float(row.wins):,.1f}",
            f"{float(100 * row.wins / self._turns.count):.1f} %",
        )


_HEAD = ("", "played", "mean", "sd", "min", "max", "wins", "of all")


def _aligned(rows: list[Sequence[str]]) -> Iterator[str]:
    """The first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for label, *cells in rows:
        numbers = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([f"{label:<{widths[0]}}", *numbers])
