"""Many games in figures: points, wins, turns and speed, counted game by game and shown as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from stellwerk.shared.spread import Spread
from stellwerk.shared.terminal import aligned
from stellwerk.simulate.simulation import GameRecord, PolicyName
from stellwerk_engine.core.state import Game


@dataclass(slots=True)
class PolicyRow:
    """One policy, in one team or in all."""

    points: Spread = field(default_factory=Spread)
    wins: Fraction = Fraction(0)  # a win that k teams share counts 1/k for each


class Tally:
    def __init__(self, game: Game) -> None:
        self._game = game
        self._rows: dict[tuple[PolicyName, int | None], PolicyRow] = {}
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
                row = self._rows.setdefault((team.policy, place), PolicyRow())
                row.points.add(team.points)
                row.wins += won

    def lines(self) -> Iterator[str]:
        yield from aligned([_HEAD, *self._table()], left={0})
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

    def _cells(self, label: str, row: PolicyRow) -> Sequence[str]:
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
