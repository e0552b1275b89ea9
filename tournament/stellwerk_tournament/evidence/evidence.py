"""The evidence of blocks: what each was worth to a bot, and which bots had faults.

Law: every figure of who is better is made of the `Worth` of blocks, and each block counts once. A new figure
is one more field of `Worth`, and one more sample in `Lead`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from stellwerk_tournament.evidence.sequential import Sample
from stellwerk_tournament.ratings.outcomes import ahead

if TYPE_CHECKING:
    from stellwerk_processes.faults import Fault
    from stellwerk_processes.seat_report import SeatReport

FAULTS_KEPT: Final = 20  # of each bot, with what it printed; others are counted only


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


def finishes_of(seats: Iterable[SeatReport]) -> dict[str, Finish]:
    return {seat.bot: Finish(seat.rank, seat.points) for seat in seats}


def worth_of(block: Sequence[Finishes], bot: str, others: Collection[str]) -> Worth:
    """Compute what a block was worth to a bot against those of the others that were at its tables."""
    wins = points = 0.0
    for match in block:
        own = match[bot]
        met = [finish for name, finish in match.items() if name in others]
        wins += sum(ahead(own.rank, each.rank) for each in met) / len(met)
        points += own.points - sum(each.points for each in met) / len(met)
    return Worth(wins / len(block), points / len(block))


@dataclass(slots=True)
class Lead:
    """The lead of a bot over others: the worths of blocks, added up."""

    wins: Sample = field(default_factory=Sample)
    points: Sample = field(default_factory=Sample)

    def add(self, worth: Worth) -> None:
        self.wins.add(worth.wins)
        self.points.add(worth.points)


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


class SeatFault(NamedTuple):
    """A fault of a bot, and where: `game` counts the games that are played, `match` the matches of a
    block."""

    bot: str
    game: int
    block: int
    match: int
    seat: int
    fault: Fault


@dataclass(slots=True)
class Evidence:
    """The blocks so far of one bot, the `hero`, against `rivals`: the names at the tables, each with the bot
    that it is a copy of. `by_game` counts the games, `by_rival` the matches. `faulty` is in how many matches
    a bot had a fault, and `faults` are the first."""

    hero: str
    rivals: Mapping[str, str]
    overall: Lead = field(default_factory=Lead)
    by_game: dict[int, Lead] = field(default_factory=dict[int, Lead])
    by_rival: dict[str, Versus] = field(default_factory=dict[str, Versus])
    match_count: int = 0
    faulty: Counter[str] = field(default_factory=Counter[str])
    faults: list[SeatFault] = field(default_factory=list[SeatFault])

    @property
    def block_count(self) -> int:
        return self.overall.wins.count

    def add(self, number: int, game: int, matches: Sequence[Sequence[SeatReport]]) -> None:
        """Count a block: the reports of the seats of each match."""
        block = [finishes_of(seats) for seats in matches]
        worth = worth_of(block, self.hero, self.rivals)
        self.overall.add(worth)
        self.by_game.setdefault(game, Lead()).add(worth)
        for match, (finishes, seats) in enumerate(zip(block, matches, strict=True)):
            self.match_count += 1
            for name in finishes.keys() & self.rivals.keys():
                versus = self.by_rival.setdefault(self.rivals[name], Versus())
                versus.add(finishes[self.hero], finishes[name])
            self.faulty.update({self._bot(seat) for seat in seats if seat.faults})
            for seat in seats:
                for fault in seat.faults:
                    self._keep(SeatFault(self._bot(seat), game, number, match, seat.seat, fault))

    def _bot(self, seat: SeatReport) -> str:
        return self.rivals.get(seat.bot, seat.bot)

    def _keep(self, found: SeatFault) -> None:
        """Keep the first faults of a bot, and the first of each kind."""
        kinds = [each.fault.kind for each in self.faults if each.bot == found.bot]
        if len(kinds) < FAULTS_KEPT or found.fault.kind not in kinds:
            self.faults.append(found)
