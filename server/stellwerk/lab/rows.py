"""The results of matches as plain records, one for each seat: what `pandas.DataFrame(rows)` reads.

Law: a row has texts, numbers and one plain dict, so that it can be written as JSON, and read without
Stellwerk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from stellwerk.lab.match_here import PlayedHere
from stellwerk.matches.planned_games import PlannedGame
from stellwerk_processes.seat_report import Breakdown
from stellwerk_protocol.names import Seat
from stellwerk_protocol.results import TeamResult
from stellwerk_tournament.ratings.outcomes import scores_of
from stellwerk_tournament.store.match_line import FILE, MatchLine, MatchLinesError, WholeBlocks


class PointsRow(TypedDict):
    """How the points of a seat came about. `ticket_points` are `completed_points` less `failed_points`."""

    route_points: int
    ticket_points: int
    completed: int
    completed_points: int
    failed: int
    failed_points: int
    bonus_points: int
    bonuses: dict[str, int]
    longest_path: int


class SeatRow(PointsRow):
    """One seat of one match, wherever it was played. Partners share points and rank. `score` is the share of
    opponents that the seat was ahead of, a tie counting a half. `used_ms` is what its `asks` answers took.
    `replay` is the file, or empty."""

    match: str
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
    turns: int
    reason: str
    asks: int
    used_ms: float
    slowest_ms: float
    replay: str


class Row(SeatRow):
    """One seat of one match. `refused` answers were illegal, `raised` ended in an exception, `late` took
    longer than `move_s`; `problem` is the first of all that went wrong. `record` is what the player says of
    itself, if it has a dict of that name."""

    number: int
    unused_cards: int
    refused: int
    raised: int
    late: int
    problem: str
    record: dict[str, Any]  # Any: what an author puts there


class TournamentRow(SeatRow):
    """One seat of one match of a tournament. `rank` and `score` count, with forfeits: `forfeits` says whether
    the bot's is one. `defaults` are moves that the server made for it, `faults` the kinds of its faults."""

    rotation: int
    round: int
    seconds: float
    defaults: int
    faults: str
    forfeits: bool


def tournament_rows(folder: str | PathLike[str]) -> list[TournamentRow]:
    """Return a record for each seat of each match in a tournament's folder, also while it is played: of
    complete blocks. OSError if there is no such file. ValueError if it is damaged."""
    path = Path(folder)
    try:
        with open(path / FILE, "rb") as file:
            lines = [line for block in WholeBlocks(file) for line in block.matches]
    except MatchLinesError as error:
        raise ValueError(f"{path / FILE}: {error}") from None
    return [row for line in lines for row in _of_line(line, path)]


def _of_line(line: MatchLine, folder: Path) -> Iterator[TournamentRow]:
    scores = scores_of(line.ranks)
    for seat in line.bots:
        yield {
            "match": line.match,
            "block": line.block,
            "rotation": line.rotation,
            "round": line.round,
            "seed": line.seed,
            "game": line.game,
            "options": "+".join(line.options),
            "players": len(line.bots),
            "seat": seat.seat,
            "team": seat.team,
            "bot": seat.bot,
            "rank": line.ranks[seat.team],
            "score": scores[seat.team],
            "points": seat.points,
            **_points(seat.breakdown),
            "turns": line.turns,
            "reason": line.reason,
            "seconds": line.seconds,
            "asks": seat.asks,
            "used_ms": seat.used_ms,
            "slowest_ms": seat.slowest_ms,
            "defaults": seat.defaults,
            "faults": "+".join(fault.kind for fault in seat.faults),
            "forfeits": any(forfeit.team == seat.team for forfeit in line.forfeits),
            "replay": str(folder / line.replay),
        }


def rows_of(planned: PlannedGame, played: PlayedHere, replay: str) -> list[Row]:
    """Return a record for each seat. `replay` is the file, or empty."""
    return [_row(planned, played, seat, replay) for seat in range(played.plan.game.seat_count)]


def _row(planned: PlannedGame, played: PlayedHere, seat: Seat, replay: str) -> Row:
    game, result, conduct = played.plan.game, played.result, played.conduct[seat]
    team = result.team_of(seat)
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
        **_points(team),
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


def _points(of: TeamResult | Breakdown) -> PointsRow:
    completed = [ticket.points for ticket in of.tickets if ticket.completed]
    failed = [-ticket.points for ticket in of.tickets if not ticket.completed]
    bonuses: Counter[str] = Counter()
    for bonus in of.bonuses:
        bonuses[bonus.bonus.partition(":")[0]] += bonus.points
    return PointsRow(
        route_points=of.route_points,
        ticket_points=sum(completed) - sum(failed),
        completed=len(completed),
        completed_points=sum(completed),
        failed=len(failed),
        failed_points=sum(failed),
        bonus_points=bonuses.total(),
        bonuses=dict(bonuses),
        longest_path=of.longest_path,
    )
