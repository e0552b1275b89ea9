"""The sums of the matches for each bot, added up line by line: for progress and for files.

A bot's score in a match is the share of opponents that it was better than, a tie counting a half; its score
is the mean over its matches, as in `plain_scores`. It depends on who the
opponents were; ratings do not, and are shown beside it if there are any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

from msgspec import UNSET

from stellwerk_processes.bot_spec import STARTED
from stellwerk_processes.faults import BREAKDOWNS, Fault
from stellwerk_processes.seat_report import SeatReport
from stellwerk_tournament.evidence.worth import Finish, Versus
from stellwerk_tournament.ratings.outcomes import scores_of
from stellwerk_tournament.store.match_line import MatchLine

LONGEST_CAUSE: Final = 1000  # characters


@dataclass(slots=True)
class Sums:
    """The sums of one bot. `faults` by kind, and `faulty`: in how many matches. `causes` says of each kind
    what the bot printed last, or what went wrong, when it first occurred. `forfeits` by reason."""

    matches: int = 0
    score: float = 0.0
    points: int = 0
    faulty: int = 0
    faults: Counter[str] = field(default_factory=Counter[str])
    causes: dict[str, str] = field(default_factory=dict[str, str])
    forfeits: Counter[str] = field(default_factory=Counter[str])
    asks: int = 0
    used_ms: int = 0
    slowest_ms: int = 0
    cpu_ms: int = 0
    """Of the matches in which it was no remote bot: of those nobody knows it."""
    cpu_matches: int = 0

    @property
    def mean_score(self) -> float:
        return self.score / self.matches if self.matches else 0.0


class Standings:
    """The sums of all bots, and each bot against each other one that it met."""

    def __init__(self, names: Iterable[str] = (), lines: Iterable[MatchLine] = ()) -> None:
        self.of = {name: Sums() for name in names}
        self.pairs: dict[tuple[str, str], Versus] = {}
        for line in lines:
            self.add(line)

    def add(self, line: MatchLine) -> None:
        for name, score, points in zip(line.players, scores_of(line.ranks), line.points, strict=True):
            row = self.of.setdefault(name, Sums())
            row.matches += 1
            row.score += score
            row.points += points
            self._add_seats(row, [seat for seat in line.bots if seat.bot == name])
        for forfeit in line.forfeits:
            self.of[forfeit.bot].forfeits[forfeit.reason] += 1
        self._add_pairs(line)

    def list_first(self, names: Iterable[str]) -> None:
        """Add the bots that have not played yet, and list all in this order."""
        self.of = {name: self.of.get(name, Sums()) for name in names} | self.of

    def order(self) -> list[str]:
        """Return the bots, the best first."""
        return sorted(self.of, key=lambda name: (-self.of[name].mean_score, name))

    def _add_seats(self, row: Sums, seats: Sequence[SeatReport]) -> None:
        """Add the seats of one bot in a match. This runs for each line of a tournament: hence no generators
        for lists of one seat, which mostly has no fault."""
        faults: set[str] = set()
        has_process = False
        for seat in seats:
            row.asks += seat.asks
            row.used_ms += seat.used_ms
            row.slowest_ms = max(row.slowest_ms, seat.slowest_ms)
            if seat.faults:
                faults.update(fault.kind for fault in seat.faults)
                for fault in seat.faults:
                    row.causes.setdefault(fault.kind, _cause(fault))
            if seat.cpu_ms is not UNSET and seat.process in STARTED:
                row.cpu_ms += seat.cpu_ms
                has_process = True
        row.cpu_matches += has_process
        if faults:
            row.faulty += 1
            row.faults.update(faults)

    def _add_pairs(self, line: MatchLine) -> None:
        players = [*zip(line.players, map(Finish, line.ranks, line.points), strict=True)]
        for (name, own), (other, others) in permutations(players, 2):
            self.pairs.setdefault((name, other), Versus()).add(own, others)


def _cause(fault: Fault) -> str:
    """Return the line of an exception that ended a bot, or else what happened."""
    printed = [line for line in fault.last_lines if line.strip() and fault.kind in BREAKDOWNS]
    return (printed[-1].strip() if printed else fault.detail)[:LONGEST_CAUSE]
