"""Ratings as JSON: what `stellwerk ratings --json` prints.

Figures are rounded to a hundredth of an Elo: far below any error, and above what another processor rounds
differently. Values that the matches do not determine are null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from stellwerk_tournament.ratings.deal_worth import TableWorth
from stellwerk_tournament.ratings.elo import hundredths
from stellwerk_tournament.ratings.plain_scores import PlainScore
from stellwerk_tournament.ratings.ratings import (
    Rating,
    RatingReport,
    Ratings,
    SeatEffect,
)


class EntrantLine(Struct, frozen=True):
    name: str
    elo: float
    stderr: float | None
    low: float | None
    high: float | None
    bound: str  # both, at_least, at_most, none: on which sides the matches bound the rating
    matches: int
    blocks: int
    group: int
    superiority: float | None  # how likely to be better than the next one


class SeatLine(Struct, frozen=True):
    game: str
    players: int
    seat: int
    elo: float
    stderr: float | None
    low: float | None
    high: float | None


class TieLine(Struct, frozen=True):
    game: str
    players: int
    tied: int
    weight: float


class PairLine(Struct, frozen=True):
    better: str
    than: str
    probability: float


class WarningLine(Struct, frozen=True):
    code: str
    message: str
    entrants: tuple[str, ...]


class RatingTable(Struct, frozen=True):
    entrants: tuple[EntrantLine, ...]  # the best first
    seat_effects: tuple[SeatLine, ...]
    ties: tuple[TieLine, ...]
    warnings: tuple[WarningLine, ...]
    matches: int
    blocks: int


class PlainLine(Struct, frozen=True):
    """No ratings: a score depends on the opponents, a running Elo on the order of the matches."""

    name: str
    matches: int
    wins: float
    score: float
    mean_rank: float
    running_elo: float


class RatingFile(RatingTable, frozen=True):
    """All matches, and apart from them each size of table and each game, where there are several. `deals`:
    what it was worth to play one deal in every seat, where that can be computed."""

    groups: tuple[tuple[str, ...], ...]
    by_size: Mapping[str, RatingTable]
    by_game: Mapping[str, RatingTable]
    not_ratings: tuple[PlainLine, ...]
    pairs: tuple[PairLine, ...]
    deals: tuple[TableWorth, ...]


def rating_file(report: RatingReport, *, with_pairs: bool = False) -> RatingFile:
    pooled = rating_table(report.pooled)
    return RatingFile(
        entrants=pooled.entrants,
        seat_effects=pooled.seat_effects,
        ties=pooled.ties,
        warnings=pooled.warnings,
        matches=pooled.matches,
        blocks=pooled.blocks,
        groups=report.pooled.groups,
        by_size={str(size): rating_table(ratings) for size, ratings in report.by_size.items()},
        by_game={game: rating_table(ratings) for game, ratings in report.by_game.items()},
        not_ratings=tuple(map(_plain, report.plain_scores)),
        pairs=tuple(pairs(report.pooled)) if with_pairs else (),
        deals=report.deals,
    )


def rating_table(ratings: Ratings) -> RatingTable:
    return RatingTable(
        entrants=tuple(map(entrant_line, ratings.entrants)),
        seat_effects=tuple(map(_seat, ratings.seat_effects)),
        ties=tuple(
            TieLine(term.game, term.players, term.tied, round(term.weight, 4)) for term in ratings.tie_terms
        ),
        warnings=tuple(
            WarningLine(warning.code, warning.message, warning.entrants) for warning in ratings.warnings
        ),
        matches=ratings.match_count,
        blocks=ratings.block_count,
    )


def pairs(ratings: Ratings) -> Iterator[PairLine]:
    """Yield every two whose distance has an error, the higher one first."""
    for place, higher in enumerate(ratings.entrants):
        for lower in ratings.entrants[place + 1 :]:
            probability = ratings.superiority(higher.name, lower.name)
            if probability is not None:
                yield PairLine(higher.name, lower.name, round(probability, 4))


def entrant_line(rating: Rating) -> EntrantLine:
    return EntrantLine(
        name=rating.name,
        elo=hundredths(rating.elo),
        stderr=_figure(rating.stderr),
        low=_figure(rating.low),
        high=_figure(rating.high),
        bound=rating.bound.value,
        matches=rating.matches,
        blocks=rating.blocks,
        group=rating.group,
        superiority=None if rating.superiority is None else round(rating.superiority, 4),
    )


def _seat(effect: SeatEffect) -> SeatLine:
    return SeatLine(
        game=effect.game,
        players=effect.players,
        seat=effect.seat,
        elo=hundredths(effect.elo),
        stderr=_figure(effect.stderr),
        low=_figure(effect.low),
        high=_figure(effect.high),
    )


def _plain(score: PlainScore) -> PlainLine:
    return PlainLine(
        name=score.name,
        matches=score.matches,
        wins=round(score.wins, 4),
        score=round(score.score, 4),
        mean_rank=round(score.mean_rank, 4),
        running_elo=hundredths(score.running_elo),
    )


def _figure(elo: float | None) -> float | None:
    return None if elo is None else hundredths(elo)
