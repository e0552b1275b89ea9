"""How a match ended for one seat, and what its bot needed and did wrong, as commands and files report it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from stellwerk_processes.bot_spec import STARTED, Process
from stellwerk_processes.faults import Conduct, Fault, faults_of
from stellwerk_protocol.names import Count, Points, Seat, Team
from stellwerk_protocol.results import Bonus, Result, TicketScore
from stellwerk_server.match.players import LinkKind

if TYPE_CHECKING:  # games without processes need no more than the reports
    from stellwerk_processes.bench.local_bot import Measured
    from stellwerk_processes.bot_log import BotLog


class Breakdown(Struct, frozen=True):
    """The points are the sum of all that is here. Partners share it."""

    route_points: Points
    tickets: tuple[TicketScore, ...]
    bonuses: tuple[Bonus, ...]
    longest_path: Count


class SeatReport(Struct, frozen=True, omit_defaults=True):
    """`used_ms` is what the bot's answers to its `asks` took by the match's clock, `cpu_ms` what its process
    used: one that is used again, while the match was played. None for remote
    bots (not measured here) and house bots (they run inside the server).
    `transport` is how it was connected last. `log` is the file with all that a started bot printed.
    `suspended`: the bot was not started, and the match did not wait for it.

    Of a bot that was started here: `answer_cpu_ms` is what its processes used while it was asked, and
    `slowest_answer_cpu_ms` the most for one answer. `waited_ms` is how long its threads were ready to run
    then and had to wait for a processor, `stolen_ms` what other guests of the host took meanwhile. `frozen`:
    whether it was stopped whenever it was not asked, if that was wanted. `processors`: how many it had for
    itself."""

    seat: Seat
    team: Team
    bot: str
    rank: int
    points: Points
    breakdown: Breakdown
    faults: tuple[Fault, ...]
    defaults: int
    asks: int
    used_ms: int
    slowest_ms: int
    cpu_ms: int | UnsetType = UNSET
    answer_cpu_ms: int | UnsetType = UNSET
    slowest_answer_cpu_ms: int | UnsetType = UNSET
    waited_ms: int | UnsetType = UNSET
    stolen_ms: int | UnsetType = UNSET
    frozen: bool | UnsetType = UNSET
    processors: int = 0
    max_rss_kb: int | UnsetType = UNSET
    process: Process = "fresh"
    transport: LinkKind | UnsetType = UNSET
    log: str | UnsetType = UNSET
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """One bot in one seat after a match. `printed` are the last lines that it wrote to standard error, `log`
    has all of them."""

    bot: str
    conduct: Conduct
    asks: int
    used_ms: float
    slowest_ms: float
    printed: tuple[str, ...] = ()
    log: BotLog | None = None
    process: Process = "fresh"
    transport: LinkKind | None = None  # of a remote bot
    measured: Measured | None = None  # of a bot that was started here


def seat_reports(result: Result, seats: Sequence[Played]) -> tuple[SeatReport, ...]:
    """Return a report for each seat. `seats` has one entry for each seat."""
    return tuple(_seat_report(seat, played, result) for seat, played in enumerate(seats))


def _seat_report(seat: Seat, played: Played, result: Result) -> SeatReport:
    team = result.team_of(seat)
    process = played.conduct.report
    measured = played.measured
    times = None if measured is None else measured.times
    return SeatReport(
        seat=seat,
        team=team.team,
        bot=played.bot,
        rank=team.rank,
        points=team.points,
        breakdown=Breakdown(team.route_points, team.tickets, team.bonuses, team.longest_path),
        faults=faults_of(played.conduct),
        defaults=played.conduct.defaults.total(),
        asks=played.asks,
        used_ms=round(played.used_ms),
        slowest_ms=round(played.slowest_ms),
        cpu_ms=process.cpu_ms if played.process in STARTED else UNSET,
        answer_cpu_ms=UNSET if times is None else round(times.cpu_ms),
        slowest_answer_cpu_ms=UNSET if times is None else round(times.slowest_cpu_ms),
        waited_ms=UNSET if times is None else round(times.waited_ms),
        stolen_ms=UNSET if times is None else round(times.stolen_ms),
        frozen=UNSET if measured is None or measured.frozen is None else measured.frozen,
        processors=0 if measured is None else measured.own_processors,
        max_rss_kb=UNSET if process.max_rss_kb is None else process.max_rss_kb,
        process=played.process,
        transport=UNSET if played.transport is None else played.transport,
        log=UNSET if played.log is None else str(played.log.path),
        suspended=played.conduct.suspended,
    )
