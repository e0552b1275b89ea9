"""The results of matches, for people: the score with its parts, and what went wrong with whom.

Law: a difference between two bots is never shown without how far it can be trusted. The unit is the block,
for its games share a deal: the interval is Student's, at 95 %, over the means of the complete blocks.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Final

from msgspec import UNSET

from stellwerk.matches.report import MatchReport, NotStarted
from stellwerk.shared.narration import END_REASONS
from stellwerk.shared.spread import Spread
from stellwerk_base.texts import aligned, counted, shown
from stellwerk_processes.faults import evidence_of, in_words
from stellwerk_processes.seat_report import SeatReport
from stellwerk_protocol.names import EndReason
from stellwerk_tournament.evidence.evidence import finishes_of
from stellwerk_tournament.evidence.sequential import interval
from stellwerk_tournament.evidence.strength import (
    deal_lines,
    deals_of,
    points_in_words,
    score_in_words,
    strength_of,
)
from stellwerk_tournament.evidence.worth import Deals, Finishes, Lead, worth_of

FEWEST_BLOCKS: Final = 4  # with fewer an interval says next to nothing


def lines_of_match(match: MatchReport) -> Iterator[str]:
    """Write a row for each team, the first in rank on top, with the parts of its score."""
    teams = sorted(
        {seat.team: seat for seat in match.seats}.values(), key=lambda seat: (seat.rank, seat.team)
    )
    bonuses = list(dict.fromkeys(_kind(bonus.bonus) for seat in teams for bonus in seat.breakdown.bonuses))
    rows = [("rank", "", "points", "routes", "tickets", *bonuses, "completed", "path")]
    for team in teams:
        parts = team.breakdown
        completed = sum(ticket.completed for ticket in parts.tickets)
        bonus_points = (
            sum(bonus.points for bonus in parts.bonuses if _kind(bonus.bonus) == kind) for kind in bonuses
        )
        rows.append(
            (
                str(team.rank),
                shown(team.bot),
                str(team.points),
                str(parts.route_points),
                str(sum(ticket.points for ticket in parts.tickets)),
                *map(str, bonus_points),
                f"{completed} of {len(parts.tickets)}",
                str(parts.longest_path),
            )
        )
    yield from aligned(rows, left={1})
    yield ""
    yield f"after {counted(match.turns, 'turn')}: {END_REASONS[match.reason]}"


def lines_of_faults(matches: Iterable[MatchReport]) -> Iterator[str]:
    """Describe each fault of each bot, with all that helps to find its cause."""
    for match in matches:
        for seat in match.seats:
            for fault in seat.faults:
                yield f"{shown(seat.bot)} in seat {seat.seat} of game {match.number}: {in_words(fault)}"
                yield from (f"    {line}" for line in evidence_of(fault))
            if seat.faults and seat.log is not UNSET:
                yield f"    log: {shown(seat.log, 1000)}"


def lines_of_missing(missing: Iterable[NotStarted]) -> Iterator[str]:
    for bot in missing:
        for fault in bot.faults:
            yield f"{shown(bot.bot)} in seat {bot.seat}: {in_words(fault)}"
            yield from (f"    {line}" for line in evidence_of(fault))
        if bot.log is not UNSET:
            yield f"    log: {shown(bot.log, 1000)}"


class Tally:
    """The results of many matches, added one by one, so that a million of them need little memory."""

    def __init__(self, block_size: int) -> None:
        """Count blocks of so many matches; only complete ones count in a comparison."""
        self._block_size = block_size
        self._rows: dict[str, _Row] = {}
        self._open: dict[int, list[Finishes]] = {}
        self._leads: dict[tuple[str, str], Lead] = {}
        self._deals = Deals()
        self._turns = Spread()
        self._reasons: Counter[EndReason] = Counter()

    @property
    def match_count(self) -> int:
        return self._turns.count

    def add(self, match: MatchReport) -> None:
        # One of the seats of each bot: these share points and rank.
        bots = {seat.bot: seat for seat in match.seats}
        winners = sum(seat.rank == 1 for seat in bots.values())
        for bot, seat in bots.items():
            self._rows.setdefault(bot, _Row()).add(seat, Fraction(seat.rank == 1, winners))
        self._turns.add(match.turns)
        self._reasons[match.reason] += 1
        block = self._open.setdefault(match.block, [])
        block.append(finishes_of(match.seats))
        if len(block) == self._block_size:
            del self._open[match.block]
            self._deals.add_table(block)
            for one, other in itertools.permutations(block[0], 2):
                self._leads.setdefault((one, other), Lead()).add(worth_of(block, one, (other,)))

    def lines(self) -> Iterator[str]:
        """Write a row for each bot, the best on top, and by how much each is ahead of the next."""
        rows = self._rows
        order = sorted(rows, key=lambda bot: (-rows[bot].wins, -rows[bot].points.mean))
        head = ("", "games", "wins", "points", "sd", "min", "max", "routes", "tickets", "bonuses")
        yield from aligned([head, *((shown(bot), *rows[bot].cells()) for bot in order)], left={0})
        yield ""
        for better, worse in itertools.pairwise(order):
            yield from self._comparison(better, worse)
        yield from (f"deals: {line}" for line in deal_lines(deals_of(self._deals)))
        yield ""
        turns = self._turns
        yield f"{turns.mean:.1f} turns a game ({turns.least} to {turns.greatest}), ended by:"
        for reason, count in self._reasons.most_common():
            yield f"  {END_REASONS[reason]}: {count:,}"

    def _comparison(self, better: str, worse: str) -> Iterator[str]:
        lead = self._leads.get((better, worse), Lead())
        strength = strength_of(lead, partial(interval, fewest=FEWEST_BLOCKS))
        names = f"{shown(better)} over {shown(worse)}"
        if strength is None or strength.score.low is None:
            yield f"{names}: too few deals for a comparison"
            return
        yield f"{names}: {points_in_words(strength)}, {counted(strength.blocks, 'deal')}"
        yield f"  ahead in {score_in_words(strength)}"


# -- helpers -----------------------------------------------------------------------------------------


class _Row:
    def __init__(self) -> None:
        self.points, self.routes, self.tickets, self.bonuses = Spread(), Spread(), Spread(), Spread()
        self.wins = Fraction(0)  # a win that k share counts 1/k for each

    def add(self, seat: SeatReport, won: Fraction) -> None:
        self.points.add(seat.points)
        self.routes.add(seat.breakdown.route_points)
        self.tickets.add(sum(ticket.points for ticket in seat.breakdown.tickets))
        self.bonuses.add(sum(bonus.points for bonus in seat.breakdown.bonuses))
        self.wins += won

    def cells(self) -> Sequence[str]:
        points = self.points
        return (
            f"{points.count:,}",
            f"{float(self.wins):,.1f}",
            f"{points.mean:.1f}",
            f"{points.deviation:.1f}",
            str(points.least),
            str(points.greatest),
            *(f"{part.mean:.1f}" for part in (self.routes, self.tickets, self.bonuses)),
        )


def _kind(bonus: str) -> str:
    return bonus.partition(":")[0].replace("_", " ")
