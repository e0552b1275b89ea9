"""What `stellwerk play` has to tell of its matches; as `--json` it is one object."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from stellwerk.play_plan import PlannedGame
from stellwerk_protocol.names import Count, EndReason
from stellwerk_protocol.results import Result
from stellwerk_server.bot_process import Isolation
from stellwerk_server.seat_report import Played, SeatReport, seat_reports


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


def match_report(planned: PlannedGame, match: str, result: Result, seats: Sequence[Played]) -> MatchReport:
    """`seats` has one for each seat. Where the replay is has yet to be told."""
    return MatchReport(
        match=match,
        number=planned.number,
        block=planned.block,
        seed=planned.seed_text,
        turns=result.turns,
        reason=result.reason,
        seats=seat_reports(result, seats),
    )
