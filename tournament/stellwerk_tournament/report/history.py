"""The ratings of the report over time: the fit to all matches up to each round.

Law: it is the rating of the ranking, of fewer matches, and the last point of a line is the ranking's figure.
The curve starts at the first round after which all bots are connected: earlier ratings refer to a different
mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_tournament.ratings.ratings import RatingReport, Ratings, estimates
from stellwerk_tournament.report.markup import Html
from stellwerk_tournament.report.plot import CourseLine, line_chart, lines_between, small_line
from stellwerk_tournament.store.match_line import Played, outcome_of

MOST_FITS: Final = 24  # from one end of the chart to the other
FEWEST_FITS: Final = 4
BOTS_AND_FITS: Final = 800  # most bots times fits: with many bots a fit takes seconds
NAMED: Final = 8  # lines with a name, and a color, in the chart


def course(matches: Sequence[Played], rated: Ratings) -> dict[int, dict[str, float]]:
    """Return the rating of each bot after some rounds, by the round: the last one always, and before it as
    many as take bearable time, at equal distances."""
    rounds = sorted({match.round for match in matches})
    last = {rating.name: rating.elo for rating in rated.entrants}
    groups = {frozenset(group) for group in rated.groups}
    outcomes = [(match.round, outcome_of(match)) for match in matches]  # once for all fits
    found: dict[int, dict[str, float]] = {}
    for round in _chosen(rounds[:-1], min(MOST_FITS, max(FEWEST_FITS, BOTS_AND_FITS // len(last))) - 1):
        then = estimates([outcome for of_round, outcome in outcomes if of_round <= round])
        if {frozenset(group) for group in then} == groups:
            found[round] = {name: elo for group in then for name, elo in group.items()}
    return {**found, rounds[-1]: last}


def _chosen(rounds: Sequence[int], most: int) -> list[int]:
    count = min(most, len(rounds))
    return [rounds[(number + 1) * len(rounds) // count - 1] for number in range(count)]


@dataclass(frozen=True, slots=True)
class CourseRow:
    """A bot with its line, and its rating now, at its highest and at its lowest."""

    name: str
    drawing: Html
    figures: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class History:
    """The content of this section, from round `first` to `last`. Rounds are counted from 1 here."""

    chart: Html
    first: int
    last: int
    steps: int
    is_whole: bool
    rows: Sequence[CourseRow]


def history(matches: Sequence[Played], names: Sequence[str], rated: RatingReport | None) -> History | None:
    """Draw the course of the ratings, or return None if there are too few rounds for one.

    `names` are in the order of the ranking.
    """
    after = {} if rated is None else course(matches, rated.pooled)
    if len(after) < 2:
        return None
    first, last = min(after), max(after)
    drawn = [
        CourseLine(
            name, tuple(((round - first) / (last - first), figures[name]) for round, figures in after.items())
        )
        for name in names
        if name in after[last]
    ]
    return History(
        chart=line_chart(drawn[:NAMED], drawn[NAMED:], lines_between(drawn)),
        first=first + 1,
        last=last + 1,
        steps=len(after),
        is_whole=len(after) == last - first + 1,
        rows=[CourseRow(line.name, small_line(line), _figures(line)) for line in drawn],
    )


def _figures(line: CourseLine) -> tuple[float, float, float]:
    figures = [figure for _, figure in line.points]
    return figures[-1], max(figures), min(figures)
