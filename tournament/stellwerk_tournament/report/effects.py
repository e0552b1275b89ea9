"""The effects of seats and games, in the report: seats, each game's figures, and each bot in each game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_protocol.names import EndReason
from stellwerk_tournament.ratings.game_words import game_title, has_teams
from stellwerk_tournament.ratings.ratings import Rating, RatingReport, Ratings, SeatEffect
from stellwerk_tournament.report.markup import Html
from stellwerk_tournament.report.plot import PlottedInterval, axis, grid, interval_drawing, scale_of
from stellwerk_tournament.store.match_line import MatchLine

SEAT_GRID: Final = "seat-grid"
ENDS: Final[Mapping[EndReason, str]] = {
    "trains": "a player ran out of trains",
    "pile": "the pile ran out",
    "all_passed": "all passed",
    "idle": "nothing happened any more",
}


@dataclass(frozen=True, slots=True)
class GameRow:
    """Matches that are alike but for the deal, with their means. `ends` are causes with their shares."""

    title: str
    players: int
    matches: int
    blocks: int
    points: float
    winners_points: float
    drawn: float
    turns: float
    seconds: float
    ends: Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class SeatRow:
    """The worth of a seat. `table` says how many play at such a table."""

    effect: SeatEffect
    drawing: Html
    table: str


@dataclass(frozen=True, slots=True)
class PartRow:
    """A bot in each of several fits; None where it did not play."""

    name: str
    ratings: Sequence[Rating | None]


@dataclass(frozen=True, slots=True)
class PartTable:
    """Ratings from fits to parts of the matches, a column each."""

    title: str
    columns: Sequence[str]
    rows: Sequence[PartRow]


@dataclass(frozen=True, slots=True)
class Effects:
    """The content of this section. Without ratings it has the games only."""

    games: Sequence[GameRow]
    is_rated: bool = False
    seats: Sequence[SeatRow] = ()
    grid: Html | None = None
    axis: Html | None = None
    parts: Sequence[PartTable] = ()


def effects(lines: Sequence[MatchLine], names: Sequence[str], rated: RatingReport | None) -> Effects:
    """Compute all tables. `names` are in the order of the ranking."""
    games = list(_games(lines))
    if rated is None:
        return Effects(games)
    seats = rated.pooled.seat_effects
    intervals = [PlottedInterval(effect.elo, effect.low, effect.high) for effect in seats]
    scale = scale_of(intervals)
    rows = [
        SeatRow(effect, interval_drawing(interval, scale, SEAT_GRID), _table_of(effect))
        for effect, interval in zip(seats, intervals, strict=True)
    ]
    by_game = {game_title(game): ratings for game, ratings in rated.by_game.items()}
    by_size = {f"tables of {size}": ratings for size, ratings in rated.by_size.items()}
    parts = [
        _part(title, ratings, names)
        for title, ratings in (
            ("Ratings in each game", by_game),
            ("Ratings at each size of table", by_size),
        )
        if ratings
    ]
    return Effects(games, True, rows, grid(scale, SEAT_GRID), axis(scale), parts)


def _games(lines: Sequence[MatchLine]) -> Iterator[GameRow]:
    kinds: dict[tuple[str, int, tuple[str, ...], str], list[MatchLine]] = {}
    for line in lines:
        kinds.setdefault((line.game, len(line.bots), line.options, line.board), []).append(line)
    for (game, players, options, _), matches in kinds.items():
        count = len(matches)
        points = [points for match in matches for points in match.points]
        ends = Counter[EndReason](match.reason for match in matches)
        yield GameRow(
            title=game_title(game) + (f" ({', '.join(options)})" if options else ""),
            players=players,
            matches=count,
            blocks=len({match.block for match in matches}),
            points=sum(points) / len(points),
            winners_points=sum(max(match.points) for match in matches) / count,
            drawn=sum(match.by_rules.count(1) > 1 for match in matches) / count,
            turns=sum(match.turns for match in matches) / count,
            seconds=sum(match.seconds for match in matches) / count,
            ends=[(ENDS[reason], number / count) for reason, number in ends.most_common()],
        )


def _table_of(effect: SeatEffect) -> str:
    return f"{effect.players} teams" if has_teams(effect.game) else str(effect.players)


def _part(title: str, ratings: Mapping[str, Ratings], names: Sequence[str]) -> PartTable:
    by_name = [{rating.name: rating for rating in part.entrants} for part in ratings.values()]
    return PartTable(
        title, list(ratings), [PartRow(name, [part.get(name) for part in by_name]) for name in names]
    )
