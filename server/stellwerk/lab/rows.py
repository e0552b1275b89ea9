"""The result of a match as plain records, one for each seat: what `pandas.DataFrame(rows)` reads.

Law: a row has texts, numbers and one plain dict, so that it can be written as JSON, and read without
Stellwerk.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypedDict

from stellwerk.lab.match_here import PlayedHere
from stellwerk.matches.planned_games import PlannedGame
from stellwerk_protocol.names import Seat
from stellwerk_tournament.ratings.outcomes import scores_of


class Row(TypedDict):
    """One seat of one match. Partners share points and rank. `score` is the share of opponents that the seat
    was ahead of, a tie counting a half. `ticket_points` are `completed_points` less `failed_points`.
    `used_ms` is what its `asks` answers took. `refused` answers were illegal, `raised` ended in an exception,
    `late` took longer than `move_s`; `problem` is the first of all that went wrong. `replay` is the file, or
    empty. `record` is what the player says of itself, if it has a dict of that name."""

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
    late: int
    problem: str
    replay: str
    record: dict[str, Any]  # Any: what an author puts there


def rows_of(planned: PlannedGame, played: PlayedHere, replay: str) -> list[Row]:
    """Return a record for each seat. `replay` is the file, or empty."""
    return [_row(planned, played, seat, replay) for seat in range(played.plan.game.seat_count)]


def _row(planned: PlannedGame, played: PlayedHere, seat: Seat, replay: str) -> Row:
    game, result, conduct = played.plan.game, played.result, played.conduct[seat]
    team = result.team_of(seat)
    completed = [ticket.points for ticket in team.tickets if ticket.completed]
    failed = [-ticket.points for ticket in team.tickets if not ticket.completed]
    bonuses: Counter[str] = Counter()
    for bonus in team.bonuses:
        bonuses[bonus.bonus.partition(":")[0]] += bonus.points
    return Row(
        match=planned.match,
        number=planned.number,
        block=planned.block,
        seed=planned.seed_text,
        game=game.id,
        options="+".join(game.options),
        players=game.seat_count,
        seat=seat,
        team=team.team,
        bot=played.plan.names[seat],
        rank=team.rank,
        score=scores_of([each.rank for each in result.teams])[result.teams.index(team)],
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
        unused_cards=played.unused_cards[seat],
        turns=result.turns,
        reason=result.reason,
        asks=conduct.asks,
        used_ms=round(conduct.used_ms, 3),
        slowest_ms=round(conduct.slowest_ms, 3),
        refused=conduct.refused,
        raised=conduct.raised,
        late=conduct.late,
        problem=conduct.problem,
        replay=replay,
        record=conduct.record,
    )
