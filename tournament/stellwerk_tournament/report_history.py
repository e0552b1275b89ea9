"""The running Elo of the report: how each bot's figure moved while the tournament was played.

It is the running Elo of `plain_scores`, and ends where that one does. It shows the course of a tournament; it
is no rating, for it depends on the order of the matches and has no error. The page says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from stellwerk_tournament.match_line import MatchLine, scores_of
from stellwerk_tournament.plain_scores import ELO_FOR_ODDS_OF_10, K
from stellwerk_tournament.report_markup import (
    Html,
    bot_cell,
    counted,
    element,
    head,
    number_cell,
    numbers,
    scrolling,
    signed,
    texts,
    unsorted,
)
from stellwerk_tournament.report_plot import Line, line_chart, lines_between, small_line

SAMPLES: Final = 100  # from one end of the chart to the other
NAMED: Final = 8  # lines with a name, and a color, in the chart


def running_elo(
    lines: Sequence[MatchLine], samples: int = SAMPLES
) -> dict[str, tuple[tuple[int, float], ...]]:
    """Of each bot: after so many matches of the tournament, so much. It begins with 0 when it first plays."""
    elo: dict[str, float] = {}
    found: dict[str, list[tuple[int, float]]] = {}
    every = max(1, len(lines) // samples)
    for number, line in enumerate(lines, 1):
        for name in line.players:
            if name not in elo:
                elo[name] = 0.0
                found[name] = [(number - 1, 0.0)]
        for name, move in _moves(line, elo):
            elo[name] += move
        if number % every == 0 or number == len(lines):
            for name, figure in elo.items():
                found[name].append((number, figure))
    return {name: tuple(points) for name, points in found.items()}


def _moves(line: MatchLine, elo: Mapping[str, float]) -> list[tuple[str, float]]:
    others = len(line.players) - 1
    moves: list[tuple[str, float]] = []
    for i, (name, score) in enumerate(zip(line.players, scores_of(line.ranks), strict=True)):
        expected = sum(
            1 / (1 + 10 ** ((elo[other] - elo[name]) / ELO_FOR_ODDS_OF_10))
            for j, other in enumerate(line.players)
            if j != i
        )
        moves.append((name, K * (score - expected / others)))
    return moves


def history(lines: Sequence[MatchLine], names: Sequence[str]) -> Iterator[Html]:
    """`lines` in the order in which they were played, `names` in that of the ranking."""
    yield element(
        "p",
        element("strong", "This is a running Elo, not the rating."),
        " It starts at 0 and moves a little with each match, so it depends on the order of the matches and "
        "has no error bars; the bots do not learn between matches. It shows the course of the tournament "
        "only.",
    )
    running = running_elo(lines)
    drawn = [
        Line(name, tuple((number / len(lines), figure) for number, figure in running[name]))
        for name in names
        if name in running
    ]
    if not drawn:
        return
    foot = f"From left to right: {counted(len(lines), 'match', 'matches')} in the order of their blocks."
    if len(drawn) > NAMED:
        foot += f" With a name: the first {NAMED} of the ranking; all others are the thin lines."
    yield line_chart(drawn[:NAMED], drawn[NAMED:], lines_between(drawn), foot)
    rows = (
        element(
            "tr",
            bot_cell(line.name),
            element("td", small_line(line), class_="sparks"),
            *(number_cell(signed(figure), figure) for figure in _figures(line)),
        )
        for line in drawn
    )
    columns = head(*texts("bot"), *unsorted("course"), *numbers("now", "highest", "lowest"))
    table = element("table", columns, element("tbody", *rows), class_="sortable")
    yield element(
        "details", element("summary", "The course of each bot"), scrolling(table, "Running Elo", "tall")
    )


def _figures(line: Line) -> tuple[float, float, float]:
    figures = [figure for _, figure in line.points]
    return figures[-1], max(figures), min(figures)
