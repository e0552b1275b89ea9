"""The report of `stellwerk play` on its matches. With `--json` it is one object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from stellwerk.matches.planned_games import PlannedGame
from stellwerk_processes.bench.levels import Isolation, Wanted
from stellwerk_processes.bot_spec import Process
from stellwerk_processes.faults import BREAKDOWNS, Fault, faults_of
from stellwerk_processes.seat_report import Played, SeatReport, seat_reports
from stellwerk_protocol.names import Count, EndReason, Seat

if TYPE_CHECKING:  # games without processes need no more than the reports
    from stellwerk_processes.started_match import MatchResult


class MatchReport(Struct, frozen=True, omit_defaults=True):
    """`block` counts the deals: matches of one block have the same. `unused_cards` is how many each seat
    still had in its hand."""

    match: str
    number: int
    block: int
    seed: str
    turns: Count
    reason: EndReason
    seats: tuple[SeatReport, ...]
    unused_cards: tuple[Count, ...] = ()
    replay: str | UnsetType = UNSET


class NotStarted(Struct, frozen=True, omit_defaults=True):
    """A bot without which the first game did not begin."""

    seat: Seat
    bot: str
    faults: tuple[Fault, ...]
    log: str | UnsetType = UNSET


class PlayReport(Struct, frozen=True, omit_defaults=True):
    """The output of `--json`. `not_started` are the bots whose failure kept the first game from beginning;
    then there are no matches. `decisions` is how many answers the bots gave in all games, and `cpu_seconds`
    what games without processes cost."""

    game: str
    rules_version: int
    options: tuple[str, ...]
    board: str
    players: int
    bots: tuple[str, ...]
    seed: str
    jobs: int
    process: Process
    not_started: list[NotStarted]
    matches: list[MatchReport]
    decisions: int
    isolation: Isolation | UnsetType = UNSET
    sandbox: Wanted | UnsetType = UNSET
    cpu_seconds: float | UnsetType = UNSET


def decisions_of(match: MatchReport) -> int:
    return sum(seat.asks for seat in match.seats)


def has_breakdown(match: MatchReport) -> bool:
    return any(fault.kind in BREAKDOWNS for seat in match.seats for fault in seat.faults)


def not_started(seat: Seat, bot: Played) -> NotStarted:
    log = UNSET if bot.log is None else str(bot.log.path)
    return NotStarted(seat, bot.bot, faults_of(bot.conduct), log)


def match_report(planned: PlannedGame, played: MatchResult) -> MatchReport:
    """Report a match. The report does not say yet where its replay is written."""
    return MatchReport(
        match=played.plan.match,
        number=planned.number,
        block=planned.block,
        seed=planned.seed_text,
        turns=played.result.turns,
        reason=played.result.reason,
        seats=seat_reports(played.result, played.seats),
        unused_cards=played.unused_cards,
    )
