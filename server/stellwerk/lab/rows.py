"""The result of a match as plain records, one for each seat: what `pandas.DataFrame(rows)` reads.

Law: a row has texts, numbers and one plain dict, so that it can be written as JSON, and read without
Stellwerk.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypedDict

from stellwerk_engine.core.state import Game
from stellwerk_protocol.names import Seat
from stellwerk_protocol.results import Result, TeamResult


class Row(TypedDict):
    """One seat of one match. Partners share points and rank. `score` is the share of opponents that the seat
    was ahead of, a tie counting a half. `ticket_points` are `completed_points` less `failed_points`.
    `used_ms` is what its `asks` answers took. `refused` answers were illegal, `raised` ended in an exception;
    `problem` is the first of all that went wrong. `replay` is the file, or empty. `record` is what the player
    says of itself, if it has a dict of that name."""

    match: str
    number: int
    block: int
    seed: str
    game: str
    options: str
    players: int
    seat: int
    team: int
    bot: str
    rank: int
    score: float
    points: int
    route_points: int
    ticket_points: int
    completed: int
    completed_points: int
    failed: int
    failed_points: int
    bonus_points: int
    bonuses: dict[str, int]
    longest_path: int
    unused_cards: int
    turns: int
    reason: str
    asks: int
    used_ms: float
    slowest_ms: float
    refused: int
    raised: int
    problem: str
    replay: str
    record: dict[str, Any]  # Any: what an author puts there


@dataclass(frozen=True, slots=True)
class SeatConduct:
    """The conduct of one seat, besides its points."""

    bot: str
    unused_cards: int
    asks: int
    used_ms: float
    slowest_ms: float
    refused: int = 0
    raised: int = 0
    problem: str = ""
    record: dict[str, Any] = field(default_factory=dict[str, Any])  # Any: what an author puts there


@dataclass(frozen=True, slots=True)
class Deal:
    """Which match it was. `block` counts the deals: matches of one block have the same."""

    match: str
    number: int
    block: int
    seed: str
    game: Game
    replay: str = ""


def rows_of(deal: Deal, result: Result, seats: list[SeatConduct]) -> list[Row]:
    return [_row(deal, result, seat, conduct) for seat, conduct in enumerate(seats)]


def _row(deal: Deal, result: Result, seat: Seat, conduct: SeatConduct) -> Row:
    team = result.team_of(seat)
    completed = [ticket.points for ticket in team.tickets if ticket.completed]
    failed = [-ticket.points for ticket in team.tickets if not ticket.completed]
    bonuses: Counter[str] = Counter()
    for bonus in team.bonuses:
        bonuses[bonus.bonus.partition(":")[0]] += bonus.points
    return Row(
        match=deal.match,
        number=deal.number,
        block=deal.block,
        seed=deal.seed,
        game=deal.game.rules.id,
        options="+".join(deal.game.options),
        players=deal.game.seat_count,
        seat=seat,
        team=team.team,
        bot=conduct.bot,
        rank=team.rank,
        score=_score(team, result),
        points=team.points,
        route_points=team.route_points,
        ticket_points=sum(completed) - sum(failed),
        completed=len(completed),
        completed_points=sum(completed),
        failed=len(failed),
        failed_points=sum(failed),
        bonus_points=bonuses.total(),
        bonuses=dict(bonuses),
        longest_path=team.longest_path,
        unused_cards=conduct.unused_cards,
        turns=result.turns,
        reason=result.reason,
        asks=conduct.asks,
        used_ms=round(conduct.used_ms, 3),
        slowest_ms=round(conduct.slowest_ms, 3),
        refused=conduct.refused,
        raised=conduct.raised,
        problem=conduct.problem,
        replay=deal.replay,
        record=conduct.record,
    )


def _score(team: TeamResult, result: Result) -> float:
    others = [other for other in result.teams if other.team != team.team]
    return sum(_ahead(team, other) for other in others) / len(others)


def _ahead(team: TeamResult, other: TeamResult) -> float:
    return 0.5 if team.rank == other.rank else float(team.rank < other.rank)
