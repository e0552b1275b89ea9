"""The ranking of the report: who stands where, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from stellwerk_protocol.figures import counted
from stellwerk_tournament.ratings.game_words import game_title
from stellwerk_tournament.ratings.opponents import Bound
from stellwerk_tournament.ratings.plain_scores import PlainScore
from stellwerk_tournament.ratings.ratings import Rating, Report
from stellwerk_tournament.ratings.warnings import warnings_told
from stellwerk_tournament.report.bots import section_of
from stellwerk_tournament.report.markup import (
    Html,
    bot_cell,
    element,
    head,
    number_cell,
    numbers,
    percent,
    probability,
    scrolling,
    signed,
    tenths,
    texts,
)
from stellwerk_tournament.report.plot import Interval, Scale, axis, grid, interval_drawing, scale_of
from stellwerk_tournament.store.standings import Standings

GRID: Final = "ranking-grid"
_NUMBERS_BEHIND: Final = (
    "better than next",
    "score",
    "wins",
    "points",
    "matches",
    "blocks",
    "faulty",
)
_MARKS: Final = {"few blocks": "\N{DAGGER}", "few wins or losses": "\N{DOUBLE DAGGER}"}
_REMARKS: Final = {  # by the warning
    "no_interval": "few blocks",
    "few_blocks": "few blocks",
    "few_upsets": "few wins or losses",
}
_COLUMNS: Final = 5 + len(_NUMBERS_BEHIND)


@dataclass(frozen=True, slots=True)
class Entrant:
    """A row of the ranking. `place` counts within the group of opponents."""

    name: str
    place: int
    rating: Rating | None
    score: PlainScore | None

    @property
    def group(self) -> int:
        """Who has no rating comes after all groups."""
        return -1 if self.rating is None else self.rating.group


def ranked(standings: Standings, rated: Report | None) -> tuple[Entrant, ...]:
    """Group by group, the best first; then those without a rating, the best score first."""
    scores = {} if rated is None else {score.name: score for score in rated.plain_scores}
    ratings = () if rated is None else sorted(rated.pooled.entrants, key=lambda rating: rating.group)
    entrants: list[Entrant] = []
    for _, group in groupby(ratings, key=lambda rating: rating.group):
        entrants += [
            Entrant(rating.name, place, rating, scores.get(rating.name))
            for place, rating in enumerate(group, 1)
        ]
    known = {entrant.name for entrant in entrants}
    rest = [name for name in standings.order() if name not in known]
    entrants += [Entrant(name, place, None, None) for place, name in enumerate(rest, len(entrants) + 1)]
    return tuple(entrants)


def ranking(
    entrants: Sequence[Entrant], standings: Standings, rated: Report | None, unrated: str
) -> Iterator[Html]:
    """`unrated` says why there are no ratings, where there are none."""
    warnings = () if rated is None else rated.pooled.warnings
    told = [] if rated is None else list(warnings_told(rated, game_title))
    yield from warning_box([unrated] if unrated else told)
    intervals = [interval_of(entrant.rating) for entrant in entrants if entrant.rating is not None]
    scale = scale_of(intervals)
    yield grid(scale, GRID)
    columns = head(
        *numbers("#"),
        *texts("bot"),
        *numbers("Elo", "95 % interval"),
        *texts("plot"),
        *numbers(*_NUMBERS_BEHIND),
    )
    remarks = {
        name: _REMARKS[warning.code]
        for warning in warnings
        if warning.code in _REMARKS
        for name in warning.entrants
    }
    sections = {entrant.name: section_of(number, len(entrants)) for number, entrant in enumerate(entrants, 1)}
    groups = [(number, list(group)) for number, group in groupby(entrants, key=lambda entrant: entrant.group)]
    bodies = (
        element(
            "tbody",
            *_group_title(number, group, len(groups)),
            *(
                _row(entrant, standings, scale, remarks.get(entrant.name), sections.get(entrant.name))
                for entrant in group
            ),
        )
        for number, group in groups
    )
    foot = element(
        "tr",
        element("td", colspan=4),
        element("td", axis(scale), class_="plot"),
        element("td", colspan=len(_NUMBERS_BEHIND)),
    )
    table = element("table", columns, *bodies, element("tfoot", foot), class_="ranking sortable")
    yield scrolling(table, "Ranking")
    marked = [f"{mark} {remark}" for remark, mark in _MARKS.items() if remark in remarks.values()]
    if marked:
        yield element("p", "; ".join(marked), ": see above", class_="small")
    yield element("p", _LEGEND, class_="small")


_LEGEND = (
    "Elo comes from one fit to all matches, with terms for seats and ties; the mean is 0, and 400 points "
    "are odds of ten to one. A dot with a line is an estimate with its 95 % interval, computed from how "
    "much blocks of the same deal differ. A hollow diamond, and brackets around the figure, mean that the "
    "matches set a limit on one side only; an arrow points to where the line goes on. Two bots whose "
    "intervals overlap may well stand in the other order. The score is the mean over a bot's matches "
    "of the share of opponents that it was better than, a tie counting a half; it depends on who they were."
)


def warning_box(messages: Sequence[str]) -> Iterator[Html]:
    """Nothing, if there is nothing to warn of."""
    if messages:
        title = element("strong", "Read this with care")
        yield element(
            "aside",
            title,
            element("ul", *(element("li", message) for message in messages)),
            class_="warning",
            role="note",
        )


def interval_of(rating: Rating) -> Interval:
    return Interval(rating.elo, rating.low, rating.high, is_bounded_only=rating.bound is not Bound.BOTH)


def elo_text(rating: Rating) -> str:
    return signed(rating.elo) if rating.bound is Bound.BOTH else f"({signed(rating.elo)})"


def interval_text(low: float | None, high: float | None) -> str:
    match low, high:
        case None, None:
            return "unknown"
        case float(), None:
            return f"at least {signed(low)}"
        case None, float():
            return f"at most {signed(high)}"
        case _:
            return f"{signed(low or 0.0)} to {signed(high or 0.0)}"


def _group_title(number: int, group: Sequence[Entrant], groups: int) -> Iterator[Html]:
    if groups > 1:
        told = (
            f"Without a rating: {counted(len(group), 'bot')}"
            if number < 0
            else f"Group {number + 1}: {counted(len(group), 'bot')}"
        )
        yield element("tr", element("th", told, colspan=_COLUMNS, scope="rowgroup"), class_="group")


def _row(
    entrant: Entrant, standings: Standings, scale: Scale, remark: str | None, section: str | None
) -> Html:
    sums = standings.of[entrant.name]
    rating, score = entrant.rating, entrant.score
    cells = [number_cell(str(entrant.place)), bot_cell(entrant.name, section)]
    if rating is None:
        why = "no rating" if sums.matches else "no match yet"
        cells += [number_cell("", -1e6), number_cell(why, 1e6), element("td"), number_cell("", -1)]
    else:
        cells += [
            number_cell(elo_text(rating), rating.elo),
            _interval_cell(rating, remark),
            element(
                "td",
                interval_drawing(interval_of(rating), scale, GRID),
                class_="plot",
                data_v=f"{rating.elo:.6g}",
            ),
            _superiority_cell(rating.superiority),
        ]
    cells += [
        number_cell(percent(sums.mean_score) if sums.matches else ""),
        number_cell("" if score is None else percent(score.wins / score.matches)),
        number_cell(tenths(sums.points / sums.matches) if sums.matches else ""),
        number_cell(f"{sums.matches:,}", sums.matches),
        number_cell("" if rating is None else f"{rating.blocks:,}", 0 if rating is None else rating.blocks),
        number_cell(f"{sums.faulty:,}", sums.faulty),
    ]
    return element("tr", *cells)


def _superiority_cell(superiority: float | None) -> Html:
    return number_cell("", -1) if superiority is None else number_cell(probability(superiority), superiority)


def _interval_cell(rating: Rating, remark: str | None) -> Html:
    mark = "" if remark is None else element("sup", _MARKS[remark], title=remark)
    return element(
        "td", interval_text(rating.low, rating.high), mark, class_="num span", data_v=f"{_width(rating):.6g}"
    )


def _width(rating: Rating) -> float:
    """What the interval is sorted by; those without one come last."""
    return 1e6 if rating.low is None or rating.high is None else rating.high - rating.low
