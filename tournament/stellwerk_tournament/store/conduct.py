"""Forfeits and suspensions: pure functions of the lines, in the order of the file.

Laws:
- a match that has begun counts. Its result by the rules stays in its line and its replay; a forfeit changes
  the ranks beside it, and nothing else;
- one thing that went wrong is held against a bot once, by its first cause. So fallbacks for a bot that never
  started are no second reason;
- a suspension begins with the end of a block, in the order of `matches.jsonl`. From then on the bot forfeits
  every match whose line comes later. So the same file says the same of everybody, whichever matches were
  played at the same time;
- nothing here knows of matches that the machine failed: they have no lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import msgspec

from stellwerk_processes.faults import FaultKind
from stellwerk_processes.seat_report import SeatReport
from stellwerk_tournament.config.conduct import STANDARD, ConductTable
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.field import Field, WhyOut
from stellwerk_tournament.store.match_line import (
    Forfeit,
    ForfeitReason,
    MatchLine,
    Played,
    blocks_of,
)

GRAVEST_FIRST: Final[tuple[ForfeitReason, ...]] = (
    "suspended",
    "never_started",
    "absent",
    "gone",
    "defaults",
)
_GONE: Final[frozenset[FaultKind]] = frozenset({"crash", "out_of_memory", "disconnect", "left"})


# -- a match -----------------------------------------------------------------------------------------


def judged(
    matches: Iterable[MatchLine], conduct: ConductTable | None, suspended: Collection[str]
) -> tuple[MatchLine, ...]:
    """Add the forfeits to the lines of a block. `suspended` are the bots that were so before it."""
    return tuple(_judged(match, conduct, suspended) for match in matches)


def _judged(match: MatchLine, conduct: ConductTable | None, suspended: Collection[str]) -> MatchLine:
    by_rules = match.by_rules
    if conduct is None:
        return msgspec.structs.replace(match, ranks=by_rules, ranks_by_rules=(), forfeits=())
    forfeits = forfeits_of(match, conduct, suspended)
    ranks = ranks_with(by_rules, {forfeit.team for forfeit in forfeits})
    return msgspec.structs.replace(match, ranks=ranks, ranks_by_rules=by_rules, forfeits=forfeits)


def forfeits_of(
    match: MatchLine, conduct: ConductTable, suspended: Collection[str] = ()
) -> tuple[Forfeit, ...]:
    """Return who forfeits a match, team by team."""
    found: list[Forfeit] = []
    for team, bot in enumerate(match.players):
        judgments: list[ForfeitReason | None] = [
            _reason(match.bots[seat], conduct) for seat in match.seats[team]
        ]
        reasons: list[ForfeitReason] = [reason for reason in judgments if reason is not None]
        if bot in suspended:
            reasons.append("suspended")
        if reasons:
            found.append(Forfeit(team, bot, min(reasons, key=GRAVEST_FIRST.index)))
    return tuple(found)


def ranks_with(by_rules: Sequence[int], forfeiting: Collection[int]) -> tuple[int, ...]:
    """Return the ranks with forfeits: the teams that forfeit are last together, the others keep their
    order."""
    if not forfeiting:
        return tuple(by_rules)
    others = sorted(rank for team, rank in enumerate(by_rules) if team not in forfeiting)
    return tuple(
        1 + (len(others) if team in forfeiting else bisect_left(others, rank))
        for team, rank in enumerate(by_rules)
    )


def is_contest(match: MatchLine) -> bool:
    """Return whether at least two bots played the match to its end, whatever the tournament calls a
    forfeit."""
    return len(match.players) - len(forfeits_of(match, STANDARD)) >= 2


def _reason(seat: SeatReport, conduct: ConductTable) -> ForfeitReason | None:
    """Return the reason by the first cause. If that is no forfeit here, what follows from it is none."""
    if seat.suspended:
        return "suspended"
    kinds = {fault.kind for fault in seat.faults}
    if "start_failure" in kinds:
        return "never_started" if conduct.never_started else None
    if "absent" in kinds:
        return "absent" if conduct.absent else None
    if any(fault.kind in _GONE and not fault.came_back for fault in seat.faults):
        return "gone" if conduct.gone else None
    return "defaults" if conduct.defaults and seat.defaults >= conduct.defaults else None


# -- all matches -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Suspension:
    """The suspension of a bot: after which block, and how many forfeits in a row it then had."""

    bot: str
    block: int
    forfeits: int


class Suspensions:
    """The suspensions by the lines that were added, block by block. `field` has the organizer's decisions,
    by which other bots are out."""

    def __init__(
        self,
        conduct: ConductTable | None,
        lines: Iterable[MatchLine | Played] = (),
        field: Field | None = None,
    ) -> None:
        self.field = field or Field()
        self._conduct = conduct
        self._after = 0 if conduct is None else conduct.suspend_after
        self._in_a_row: Counter[str] = Counter()
        self.of: dict[str, Suspension] = {}
        self.names: frozenset[str] = frozenset()
        self._sets = [self.names]  # one after the other, as they grew
        for matches in blocks_of(lines):
            self.add(matches)

    def judge(self, matches: Sequence[MatchLine]) -> Sequence[MatchLine]:
        """Take in a block. Return its lines with their forfeits."""
        lines = judged(matches, self._conduct, self.names)
        self.add(lines)
        return lines

    def add(self, matches: Sequence[MatchLine | Played]) -> None:
        """Take in a block whose forfeits are known."""
        begin = {each.bot: each for each in self._begin(matches) if each.bot not in self.of}
        if begin:
            self.of |= begin
            self.names |= begin.keys()
            self._sets.append(self.names)

    def after(self, block: int) -> list[Suspension]:
        """Return the suspensions that began with the end of a block."""
        return [each for each in self.of.values() if each.block == block]

    @property
    def out(self) -> Mapping[str, WhyOut]:
        """Return the bots that play in no block to come, and are out of the ranking."""
        suspended: dict[str, WhyOut] = dict.fromkeys(self.of, "suspended")
        disqualified: dict[str, WhyOut] = dict.fromkeys(self.field.disqualified, "disqualified")
        return suspended | disqualified

    @property
    def sets(self) -> list[frozenset[str]]:
        """Return all that `out` can have been, what it is now last. Nothing says which suspension was before
        which decision."""
        nobody = frozenset[str]()
        decided = [*accumulate(self.field.disqualified, lambda out, bot: out | {bot}, initial=nobody)]
        return [suspended | disqualified for disqualified in decided for suspended in self._sets]

    def concern(self, block: Block) -> bool:
        """Return whether a bot that is out would play in the block."""
        return not self.out.keys().isdisjoint(block.entrants)

    def _begin(self, matches: Sequence[MatchLine | Played]) -> Iterator[Suspension]:
        for match in matches:
            forfeiting = {forfeit.bot for forfeit in match.forfeits}
            for bot in match.players:
                self._in_a_row[bot] = self._in_a_row[bot] + 1 if bot in forfeiting else 0
                if self._after and self._in_a_row[bot] == self._after:
                    yield Suspension(bot, match.block, self._after)
