"""The results of matches, for people: the score with its parts, and what went wrong with whom.

Law: a difference between two bots is never shown without how far it can be trusted. The unit is the block,
for its games share a deal: the interval is Student's, at 95 %, over the means of the complete blocks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from msgspec import UNSET

from stellwerk.play.report import MatchReport, NotStarted
from stellwerk.shared.narration import END_REASONS
from stellwerk.shared.spread import Spread
from stellwerk.shared.terminal import aligned
from stellwerk_processes.faults import Fault, in_words
from stellwerk_processes.seat_report import SeatReport
from stellwerk_protocol.canonical import shown
from stellwerk_protocol.figures import counted
from stellwerk_server.match.refusals import Refused
from stellwerk_tournament.ratings.student import quantile

FEWEST_BLOCKS: Final = 4  # with fewer an interval says next to nothing


@dataclass(frozen=True, slots=True)
class Margin:
    """By how much one bot is ahead of another: the mean over blocks, and half the width of its interval."""

    mean: float
    half_width: float
    block_count: int

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width


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


def lines_of_matches(matches: Sequence[MatchReport], complete: Sequence[int]) -> Iterator[str]:
    """Write a row for each bot, the best on top, and by how much each is ahead of the next.

    `complete` are the blocks that count for that.
    """
    rows = {bot: _Row() for match in matches for bot in _bots(match)}
    for match in matches:
        winners = sum(seat.rank == 1 for seat in _bots(match).values())
        for bot, seat in _bots(match).items():
            rows[bot].add(seat, Fraction(seat.rank == 1, winners))
    order = sorted(rows, key=lambda bot: (-rows[bot].wins, -rows[bot].points.mean))
    head = ("", "games", "wins", "points", "sd", "min", "max", "routes", "tickets", "bonuses")
    yield from aligned([head, *((shown(bot), *rows[bot].cells()) for bot in order)], left={0})
    yield ""
    for better, worse in itertools.pairwise(order):
        yield from _comparison(matches, complete, better, worse)


def lines_of_faults(matches: Iterable[MatchReport]) -> Iterator[str]:
    """Describe each fault of each bot, with all that helps to find its cause."""
    for match in matches:
        for seat in match.seats:
            for fault in seat.faults:
                yield f"{shown(seat.bot)} in seat {seat.seat} of game {match.number}: {in_words(fault)}"
                yield from _evidence(fault)
            if seat.faults and seat.log is not UNSET:
                yield f"    log: {shown(seat.log, 1000)}"


def lines_of_missing(missing: Iterable[NotStarted]) -> Iterator[str]:
    for bot in missing:
        for fault in bot.faults:
            yield f"{shown(bot.bot)} in seat {bot.seat}: {in_words(fault)}"
            yield from _evidence(fault)
        if bot.log is not UNSET:
            yield f"    log: {shown(bot.log, 1000)}"


def _evidence(fault: Fault) -> Iterator[str]:
    yield from (f"    | {shown(line, len(line))}" for line in fault.last_lines)
    if fault.first is not UNSET:
        yield f"    first: {_first(fault.first)}"
    if fault.hint:
        yield f"    hint: {shown(fault.hint, 1000)}"


def _first(refused: Refused) -> str:
    """Write `at ask 12 in turn 6 game.route_taken at /move/route: expected an open route, it sent {...}`."""
    when = "" if refused.ask is UNSET else f"at ask {refused.ask} in turn {refused.turn} "
    where = f" at {shown(refused.pointer)}" if refused.pointer else ""
    sent = f", it sent {refused.line}" if refused.line else ""
    return f"{when}{refused.code}{where}: expected {shown(refused.expected)}{sent}"


def margin(values: Sequence[float]) -> Margin | None:
    """Return the mean of the values of blocks with its interval; None if they are too few."""
    count = len(values)
    if count < FEWEST_BLOCKS:
        return None
    mean = sum(values) / count
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    return Margin(mean, quantile(0.975, count - 1) * deviation / math.sqrt(count), count)


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


def _comparison(
    matches: Sequence[MatchReport], complete: Sequence[int], better: str, worse: str
) -> Iterator[str]:
    """Compare points and wins: a win is 1, a loss 0, anything between is a half."""
    by_block: dict[int, list[tuple[float, float]]] = {block: [] for block in complete}
    for match in matches:
        if match.block in by_block:
            one, other = _bots(match)[better], _bots(match)[worse]
            won = 0.5 if one.rank == other.rank else float(one.rank < other.rank)
            by_block[match.block].append((one.points - other.points, won))
    blocks = [
        [sum(column) / len(games) for column in zip(*games, strict=True)] for games in by_block.values()
    ]
    points = margin([block[0] for block in blocks])
    share = margin([block[1] for block in blocks])
    names = f"{shown(better)} over {shown(worse)}"
    if points is None or share is None:
        yield f"{names}: too few deals for a comparison"
        return
    lead = f"{points.low:+.1f} to {points.high:+.1f}, {points.block_count} deals"
    yield f"{names}: {points.mean:+.1f} points a game (95 %: {lead})"
    low, high = max(0.0, share.low), min(1.0, share.high)
    trust = f"95 %: {100 * low:.1f} to {100 * high:.1f} %" if low < high else "in every deal alike"
    yield f"  ahead in {100 * share.mean:.1f} % of the games ({trust})"


def _bots(match: MatchReport) -> dict[str, SeatReport]:
    """Return each bot with one of its seats: these share points and rank."""
    return {seat.bot: seat for seat in match.seats}


def _kind(bonus: str) -> str:
    return bonus.partition(":")[0].replace("_", " ")
