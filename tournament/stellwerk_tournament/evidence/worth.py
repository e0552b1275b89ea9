"""The worth of matches and blocks to a bot: how it finished, against whom, and by how much.

Law: every figure of who is better is made of the `Worth` of blocks, and each block counts once. A new figure
is one more field of `Worth`, and one more sample in `Lead`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, Literal, NamedTuple, TypeAlias

from stellwerk_tournament.evidence.sequential import FAR_IN_POINTS, Sample
from stellwerk_tournament.ratings.deal_worth import SharedDeals
from stellwerk_tournament.ratings.outcomes import ahead

Measure: TypeAlias = Literal["wins", "points"]
"""What a bot is judged by. The two are different questions: who wins more often may get fewer points."""

EVEN: Final[dict[Measure, float]] = {"wins": 0.5, "points": 0.0}


class Finish(NamedTuple):
    """How a match ended for a bot. Partners are one bot."""

    rank: int
    points: int


Finishes: TypeAlias = Mapping[str, Finish]
"""How a match ended for each bot at the table."""


class Worth(NamedTuple):
    """The worth of a block to a bot, as means over its matches. `wins` is the share of the others that it was
    ahead of, a tie counting a half; `points` is its lead over their mean."""

    wins: float
    points: float


def worth_of(block: Sequence[Finishes], bot: str, others: Collection[str]) -> Worth:
    """Compute what a block was worth to a bot against those of the others that were at its tables."""
    return mean_of([worth_of_match(match, bot, others) for match in block])


def worth_of_match(match: Finishes, bot: str, others: Collection[str]) -> Worth:
    own = match[bot]
    met = [finish for name, finish in match.items() if name in others]
    wins = sum(ahead(own.rank, each.rank) for each in met) / len(met)
    return Worth(wins, own.points - sum(each.points for each in met) / len(met))


def mean_of(worths: Sequence[Worth]) -> Worth:
    wins, points = (sum(values) / len(worths) for values in zip(*worths, strict=True))
    return Worth(wins, points)


def sample_of_points() -> Sample:
    return Sample(FAR_IN_POINTS)


@dataclass(slots=True)
class Lead:
    """The lead of a bot over others: the worths of blocks, added up."""

    wins: Sample = field(default_factory=Sample)
    points: Sample = field(default_factory=sample_of_points)

    def add(self, worth: Worth) -> None:
        self.wins.add(worth.wins)
        self.points.add(worth.points)

    def by(self, measure: Measure) -> Sample:
        return self.wins if measure == "wins" else self.points


@dataclass(slots=True)
class Deals:
    """The deals that blocks played in every seat, by both measures."""

    wins: SharedDeals = field(default_factory=SharedDeals)
    points: SharedDeals = field(default_factory=SharedDeals)

    def add(self, lineup: Hashable, series: Sequence[Sequence[Worth]], free: int = 1) -> None:
        """Count a block, as `SharedDeals` does."""
        self.wins.add(lineup, [[worth.wins for worth in worths] for worths in series], free)
        self.points.add(lineup, [[worth.points for worth in worths] for worths in series], free)

    def add_table(self, block: Sequence[Finishes]) -> None:
        """Count a block of any two of its bots."""
        names = sorted(block[0])
        pairs = combinations(names, 2)
        series = [[worth_of_match(match, one, (other,)) for match in block] for one, other in pairs]
        self.add((*names,), series, len(names) - 1)


@dataclass(slots=True)
class Versus:
    """One bot against another, over the matches in which both played."""

    better: int = 0
    equal: int = 0
    worse: int = 0
    points: int = 0
    others_points: int = 0

    @property
    def matches(self) -> int:
        return self.better + self.equal + self.worse

    @property
    def score(self) -> float:
        """Return the share of the matches in which the bot was ahead, a tie counting a half."""
        return (self.better + 0.5 * self.equal) / self.matches

    def add(self, own: Finish, other: Finish) -> None:
        self.better += own.rank < other.rank
        self.equal += own.rank == other.rank
        self.worse += own.rank > other.rank
        self.points += own.points
        self.others_points += other.points
