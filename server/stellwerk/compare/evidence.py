"""The evidence of the blocks: which version is better, by how much, and where its points come from.

Laws:
- blocks count in the order of their numbers, so the verdict does not depend on how many are played at once;
- the test looks when every game has had its part, which makes a round;
- all intervals are valid at any time: 95 % of comparisons have the truth in it after every round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from stellwerk.compare.block import PlayedBlock
from stellwerk.lab.rows import Row
from stellwerk_tournament.evidence.evidence import Lead, Worth
from stellwerk_tournament.evidence.sequential import Sample, interval_at_any_time

Word: TypeAlias = Literal["better", "worse", "alike", "undecided"]

EVEN: Final = 0.5  # the score of equals
SWINGS: Final = 3  # that are named, of each sign


@dataclass(frozen=True, slots=True)
class Swing:
    """A deal that one of the versions liked much better. `points` is how many more the new one has in a
    match, `totals` its points and those of the old one in each match."""

    block: PlayedBlock
    points: float
    totals: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Part:
    """Something that both versions have of each match: the mean of each, and of the difference with its
    interval."""

    key: str
    old: float
    new: float
    difference: Sample


@dataclass(slots=True)
class Evidence:
    """Names of the two versions, and all that was played. `margin` is how far from even still counts as
    alike."""

    old: str
    new: str
    margin: float
    game_count: int
    overall: Lead = field(default_factory=Lead)
    by_game: list[Lead] = field(default_factory=list[Lead])
    blocks: list[PlayedBlock] = field(default_factory=list[PlayedBlock])

    def __post_init__(self) -> None:
        self.by_game = [Lead() for _ in range(self.game_count)]

    def add(self, block: PlayedBlock) -> None:
        pairs = [self._pair(rows) for rows in block.matches]
        score = sum(_ahead(new, old) for new, old in pairs) / len(pairs)
        points = sum(new["points"] - old["points"] for new, old in pairs) / len(pairs)
        for lead in (self.overall, self.by_game[block.game]):
            lead.add(Worth(score, points))
        self.blocks.append(block)

    @property
    def is_round(self) -> bool:
        return len(self.blocks) % self.game_count == 0

    def verdict(self) -> Word:
        """Return what the blocks so far show."""
        interval = interval_at_any_time(self.overall.wins)
        if interval is None:
            return "undecided"
        if interval.low > EVEN:
            return "better"
        if interval.high < EVEN:
            return "worse"
        is_close = EVEN - self.margin <= interval.low and interval.high <= EVEN + self.margin
        return "alike" if is_close else "undecided"

    def parts(self) -> Iterator[Part]:
        """Yield where the points come from, and what else differs."""
        bonuses = dict.fromkeys(kind for rows in self._matches() for row in rows for kind in row["bonuses"])
        for key in (*_POINTS, *(f"{BONUS}{kind}" for kind in bonuses), *_COUNTS):
            yield self._part(key)

    def swings(self) -> list[Swing]:
        """Return the deals with the greatest differences, those first that the new version lost."""
        swings = sorted(map(self._swing, self.blocks), key=lambda swing: (swing.points, swing.block.number))
        worst = [swing for swing in swings[:SWINGS] if swing.points < 0]
        best = [swing for swing in reversed(swings[-SWINGS:]) if swing.points > 0]
        return worst + best

    def _swing(self, block: PlayedBlock) -> Swing:
        pairs = [self._pair(rows) for rows in block.matches]
        totals = tuple((new["points"], old["points"]) for new, old in pairs)
        return Swing(block, sum(new - old for new, old in totals) / len(totals), totals)

    def _part(self, key: str) -> Part:
        sample, totals = Sample(), {self.old: 0.0, self.new: 0.0}
        for block in self.blocks:
            means = {
                name: sum(value_of(key, self._own(rows, name)) for rows in block.matches) / len(block.matches)
                for name in totals
            }
            sample.add(means[self.new] - means[self.old])
            for name, mean in means.items():
                totals[name] += mean / len(self.blocks)
        return Part(key, totals[self.old], totals[self.new], sample)

    def _matches(self) -> Iterator[list[Row]]:
        for block in self.blocks:
            yield from block.matches

    def _pair(self, rows: Sequence[Row]) -> tuple[Row, Row]:
        """Return a row of the new version and one of the old. Partners share what is asked of these."""
        return self._own(rows, self.new)[0], self._own(rows, self.old)[0]

    @staticmethod
    def _own(rows: Sequence[Row], name: str) -> list[Row]:
        return [row for row in rows if row["bot"] == name]


def _ahead(row: Row, other: Row) -> float:
    return 0.5 if row["rank"] == other["rank"] else float(row["rank"] < other["rank"])


# -- parts -------------------------------------------------------------------------------------------

BONUS: Final = "bonus:"
_POINTS: Final = ("points", "routes", "tickets_completed", "tickets_failed")
_COUNTS: Final = (
    "completed_count",
    "failed_count",
    "longest_path",
    "unused_cards",
    "answer_ms",
    "slowest_ms",
)


def value_of(key: str, rows: Sequence[Row]) -> float:
    """Return a part of a match for a bot with these seats, which share all points."""
    row = rows[0]
    if key.startswith(BONUS):
        return row["bonuses"].get(key.removeprefix(BONUS), 0)
    match key:
        case "points":
            return row["points"]
        case "routes":
            return row["route_points"]
        case "tickets_completed":
            return row["completed_points"]
        case "tickets_failed":
            return -row["failed_points"]
        case "completed_count":
            return row["completed"]
        case "failed_count":
            return row["failed"]
        case "longest_path":
            return row["longest_path"]
        case "unused_cards":
            return sum(each["unused_cards"] for each in rows)
        case "answer_ms":
            return sum(each["used_ms"] for each in rows) / max(1, sum(each["asks"] for each in rows))
        case "slowest_ms":
            return max(each["slowest_ms"] for each in rows)
        case _:
            raise KeyError(key)
