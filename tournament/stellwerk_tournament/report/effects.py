"""The effects of seats and games, in the report: seats, each game's figures, and each bot in each game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from stellwerk_protocol.names import EndReason
from stellwerk_tournament.ratings.deal_worth import TableWorth
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


@dataclass(slots=True)
class GameSums:
    """Matches that are alike but for the deal, added up. `teams` took part in them in all."""

    title: str
    players: int
    matches: int = 0
    blocks: int = 0
    teams: int = 0
    points: int = 0
    winners_points: int = 0
    drawn: int = 0
    turns: int = 0
    seconds: float = 0.0
    ends: Counter[EndReason] = field(default_factory=Counter[EndReason])

    def add(self, line: MatchLine) -> None:
        self.matches += 1
        self.blocks += line.rotation == 0
        self.teams += len(line.points)
        self.points += sum(line.points)
        self.winners_points += max(line.points)
        self.drawn += line.by_rules.count(1) > 1
        self.turns += line.turns
        self.seconds += line.seconds
        self.ends[line.reason] += 1

    @property
    def causes(self) -> Sequence[tuple[str, int]]:
        return [(ENDS[reason], count) for reason, count in self.ends.most_common()]


class GamesPlayed:
    """The sums of each game, with its players, options and board."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, int, tuple[str, ...], str], GameSums] = {}

    def add(self, line: MatchLine) -> None:
        kind = (line.game, len(line.bots), line.options, line.board)
        sums = self.of.get(kind)
        if sums is None:
            options = f" ({', '.join(line.options)})" if line.options else ""
            sums = self.of[kind] = GameSums(game_title(line.game) + options, len(line.bots))
        sums.add(line)


@dataclass(frozen=True, slots=True)
class SeatEffectRow:
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

    games: Sequence[GameSums]
    is_rated: bool = False
    seats: Sequence[SeatEffectRow] = ()
    grid: Html | None = None
    axis: Html | None = None
    parts: Sequence[PartTable] = ()
    deals: Sequence[TableWorth] = ()


def effects(played: GamesPlayed, names: Sequence[str], rated: RatingReport | None) -> Effects:
    """Compute all tables. `names` are in the order of the ranking."""
    games = [*played.of.values()]
    if rated is None:
        return Effects(games)
    seats = rated.pooled.seat_effects
    intervals = [PlottedInterval(effect.elo, effect.low, effect.high) for effect in seats]
    scale = scale_of(intervals)
    rows = [
        SeatEffectRow(effect, interval_drawing(interval, scale, SEAT_GRID), _table_of(effect))
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
    return Effects(games, True, rows, grid(scale, SEAT_GRID), axis(scale), parts, rated.deals)


def _table_of(effect: SeatEffect) -> str:
    return f"{effect.players} teams" if has_teams(effect.game) else str(effect.players)


def _part(title: str, ratings: Mapping[str, Ratings], names: Sequence[str]) -> PartTable:
    by_name = [part.by_name for part in ratings.values()]
    return PartTable(
        title, list(ratings), [PartRow(name, [part.get(name) for part in by_name]) for name in names]
    )
