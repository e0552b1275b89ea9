"""What `stellwerk play` has to tell of its matches; as `--json` it is one object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET, Struct, UnsetType

from stellwerk.play_faults import Conduct, Fault, faults_of
from stellwerk.play_plan import PlannedGame
from stellwerk_protocol.names import Count, EndReason, Points, Seat, Team
from stellwerk_protocol.results import Bonus, Result, TeamResult, TicketScore
from stellwerk_server.bot_process import Isolation


class Breakdown(Struct, frozen=True):
    """The points are the sum of all that is here. Partners share it."""

    route_points: Points
    tickets: tuple[TicketScore, ...]
    bonuses: tuple[Bonus, ...]
    longest_path: Count


class SeatReport(Struct, frozen=True, omit_defaults=True):
    """`used_ms` is what the bot's answers took by the match's clock, `cpu_ms` what its process used."""

    seat: Seat
    team: Team
    bot: str
    rank: int
    points: Points
    breakdown: Breakdown
    faults: tuple[Fault, ...]
    defaults: int
    used_ms: int
    slowest_ms: int
    cpu_ms: int
    max_rss_kb: int | UnsetType = UNSET


class MatchReport(Struct, frozen=True, omit_defaults=True):
    """`block` counts the deals: matches of one block have the same."""

    match: str
    number: int
    block: int
    seed: str
    turns: Count
    reason: EndReason
    seats: tuple[SeatReport, ...]
    replay: str | UnsetType = UNSET


class Report(Struct, frozen=True):
    game: str
    rules_version: int
    options: tuple[str, ...]
    board: str
    players: int
    bots: tuple[str, ...]
    seed: str
    isolation: Isolation
    matches: list[MatchReport]


@dataclass(frozen=True, slots=True)
class Played:
    """One bot in one seat after a match."""

    bot: str
    conduct: Conduct
    used_ms: float
    slowest_ms: float


def match_report(planned: PlannedGame, match: str, result: Result, seats: Sequence[Played]) -> MatchReport:
    """`seats` has one for each seat. Where the replay is has yet to be told."""
    return MatchReport(
        match=match,
        number=planned.number,
        block=planned.block,
        seed=planned.seed_text,
        turns=result.turns,
        reason=result.reason,
        seats=tuple(_seat_report(seat, played, result) for seat, played in enumerate(seats)),
    )


def _seat_report(seat: Seat, played: Played, result: Result) -> SeatReport:
    team = _team_of(seat, result)
    process = played.conduct.report
    return SeatReport(
        seat=seat,
        team=team.team,
        bot=played.bot,
        rank=team.rank,
        points=team.points,
        breakdown=Breakdown(team.route_points, team.tickets, team.bonuses, team.longest_path),
        faults=faults_of(played.conduct),
        defaults=played.conduct.defaults.total(),
        used_ms=round(played.used_ms),
        slowest_ms=round(played.slowest_ms),
        cpu_ms=process.cpu_ms,
        max_rss_kb=UNSET if process.max_rss_kb is None else process.max_rss_kb,
    )


def _team_of(seat: Seat, result: Result) -> TeamResult:
    [team] = [team for team in result.teams if seat in team.seats]
    return team
