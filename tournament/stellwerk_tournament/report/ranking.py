"""The ranking of the report: who stands where, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from stellwerk_base.texts import counted
from stellwerk_tournament.ratings.game_words import game_title
from stellwerk_tournament.ratings.opponents import Bound
from stellwerk_tournament.ratings.plain_scores import PlainScore
from stellwerk_tournament.ratings.ratings import Rating, RatingReport
from stellwerk_tournament.ratings.warnings import warning_lines
from stellwerk_tournament.report.bots import section_of
from stellwerk_tournament.report.forfeits import out_last
from stellwerk_tournament.report.markup import Html
from stellwerk_tournament.report.plot import PlottedInterval, Scale, axis, grid, interval_drawing, scale_of
from stellwerk_tournament.store.field import WhyOut
from stellwerk_tournament.store.standings import Standings, Sums

GRID: Final = "ranking-grid"
OUT: Final[Mapping[WhyOut, int]] = {"suspended": -2, "disqualified": -3}  # the numbers of their groups
_MARKS: Final = {"few blocks": "\N{DAGGER}", "few wins or losses": "\N{DOUBLE DAGGER}"}
_REMARKS: Final = {  # by the warning
    "no_interval": "few blocks",
    "few_blocks": "few blocks",
    "few_upsets": "few wins or losses",
}


@dataclass(frozen=True, slots=True)
class RankedBot:
    """A row of the ranking. `place` counts within the group of opponents; a bot that is out of the
    ranking has none."""

    name: str
    place: int
    rating: Rating | None
    score: PlainScore | None
    out: WhyOut | None = None

    @property
    def group(self) -> int:
        """Return the group of opponents. Bots without a rating come after all groups, and those that are
        out last."""
        if self.out is not None:
            return OUT[self.out]
        return -1 if self.rating is None else self.rating.group


def ranked(
    standings: Standings, rated: RatingReport | None, out: Mapping[str, WhyOut]
) -> tuple[RankedBot, ...]:
    """Sort group by group, the best first; then those without a rating, the best score first; then those that
    are `out`."""
    scores = {} if rated is None else {score.name: score for score in rated.plain_scores}
    ratings = () if rated is None else out_last(rated.pooled, out)
    playing = sorted((each for each in ratings if each.name not in out), key=lambda each: each.group)
    entrants: list[RankedBot] = []
    for _, group in groupby(playing, key=lambda rating: rating.group):
        entrants += [
            RankedBot(rating.name, place, rating, scores.get(rating.name))
            for place, rating in enumerate(group, 1)
        ]
    known = {*(entrant.name for entrant in entrants), *out}
    rest = [name for name in standings.order() if name not in known]
    entrants += [RankedBot(name, place, None, None) for place, name in enumerate(rest, len(entrants) + 1)]
    rating_of = {rating.name: rating for rating in ratings}
    last = sorted((name for name in standings.order() if name in out), key=lambda name: -OUT[out[name]])
    entrants += [RankedBot(name, 0, rating_of.get(name), scores.get(name), out[name]) for name in last]
    return tuple(entrants)


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A bot in the table. `mark` and `remark` warn about its interval, `width` is what that is sorted by."""

    name: str
    place: int
    section: str | None
    rating: Rating | None
    score: PlainScore | None
    sums: Sums
    drawing: Html | None = None
    width: float = 0.0
    mark: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class RankingGroup:
    """Bots that can be compared. The title is empty if all can."""

    title: str
    rows: Sequence[RankedRow]


@dataclass(frozen=True, slots=True)
class RankingTable:
    """The content of this section. `marks` are those that occur, with what they mean."""

    warnings: Sequence[str]
    grid: Html
    axis: Html
    groups: Sequence[RankingGroup]
    marks: Sequence[tuple[str, str]]


def ranking(
    entrants: Sequence[RankedBot], standings: Standings, rated: RatingReport | None, unrated: str
) -> RankingTable:
    """Lay out the table. `unrated` says why there are no ratings, where there are none."""
    warnings = () if rated is None else rated.pooled.warnings
    remarks = {
        name: _REMARKS[warning.code]
        for warning in warnings
        if warning.code in _REMARKS
        for name in warning.entrants
    }
    scale = scale_of([interval_of(entrant.rating) for entrant in entrants if entrant.rating is not None])
    rows = [
        _row(
            entrant,
            standings.of[entrant.name],
            scale,
            remarks.get(entrant.name),
            section_of(number, len(entrants)),
        )
        for number, entrant in enumerate(entrants, 1)
    ]
    groups = [
        (number, [row for _, row in group])
        for number, group in groupby(zip(entrants, rows, strict=True), key=lambda pair: pair[0].group)
    ]
    is_only = sum(number >= 0 for number, _ in groups) == 1
    return RankingTable(
        warnings=[unrated] if rated is None else list(warning_lines(rated, game_title)),
        grid=grid(scale, GRID),
        axis=axis(scale),
        groups=[
            RankingGroup(_group_title(number, len(rows), is_only) if len(groups) > 1 else "", rows)
            for number, rows in groups
        ],
        marks=[(mark, remark) for remark, mark in _MARKS.items() if remark in remarks.values()],
    )


def interval_of(rating: Rating) -> PlottedInterval:
    return PlottedInterval(
        rating.elo, rating.low, rating.high, is_bounded_only=rating.bound is not Bound.BOTH
    )


def _group_title(number: int, count: int, is_only: bool) -> str:
    """Return the title of a group. `is_only`: there is no other group of opponents."""
    out = next((why for why, group in OUT.items() if group == number), None)
    if out is not None:
        title = out.capitalize()
    elif number < 0:
        title = "Without a rating"
    else:
        title = "Ranked" if is_only else f"Group {number + 1}"
    return f"{title}: {counted(count, 'bot')}"


def _row(entrant: RankedBot, sums: Sums, scale: Scale, remark: str | None, section: str | None) -> RankedRow:
    rating = entrant.rating
    return RankedRow(
        entrant.name,
        entrant.place,
        section,
        rating,
        entrant.score,
        sums,
        drawing=None if rating is None else interval_drawing(interval_of(rating), scale, GRID),
        width=0.0 if rating is None else _width(rating),
        mark="" if remark is None else _MARKS[remark],
        remark=remark or "",
    )


def _width(rating: Rating) -> float:
    """Return what the interval is sorted by: those without one come last."""
    return 1e6 if rating.low is None or rating.high is None else rating.high - rating.low
