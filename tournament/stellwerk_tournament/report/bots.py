"""The bots of the report: what each came to against each other one, with the replays.

Law: what the cross table shows of two bots is here in full, and a link leads from there to here. With very
many bots that would be most of the page, so then only the cross table has it, and `crosstable.csv`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from stellwerk_protocol.figures import counted
from stellwerk_tournament.ratings.ratings import Report
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
    tenths,
    texts,
    unsorted,
)
from stellwerk_tournament.report.matches import match_label
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.standings import Standings

MOST_BOTS: Final = 40  # with a section each
MOST_REPLAYS: Final = 6  # of two bots: the last ones


def bot_id(number: int) -> str:
    """Of a bot's section; bots are counted from 1, in the order of the ranking."""
    return f"bot-{number}"


def pair_id(number: int, other: int) -> str:
    """Of the row of one bot in the section of another."""
    return f"bot-{number}-{other}"


def section_of(number: int, count: int) -> str | None:
    """Return the id of a bot's section, if bots have sections."""
    return bot_id(number) if count <= MOST_BOTS else None


@dataclass(slots=True)
class _Met:
    """What one bot came to against another."""

    better: int = 0
    equal: int = 0
    worse: int = 0
    points: int = 0
    others_points: int = 0
    matches: list[MatchLine] = field(default_factory=list[MatchLine])

    @property
    def score(self) -> float:
        return (self.better + 0.5 * self.equal) / len(self.matches)


def bots(
    lines: Sequence[MatchLine], names: Sequence[str], standings: Standings, rated: Report | None
) -> Iterator[Html]:
    """`lines` in the order in which they were played, `names` in that of the ranking."""
    if len(names) > MOST_BOTS:
        yield element(
            "p",
            f"With more than {MOST_BOTS} bots, what each came to against each other one is in the ",
            element("a", "cross table", href="#cross-table"),
            " and in ",
            element("a", "crosstable.csv", href="crosstable.csv"),
            ".",
        )
        return
    yield element(
        "p",
        "Each bot against each other one, in the order of the ranking. The score is the share of their "
        "matches in which it was better, a tie counting a half. How likely it is to be the better of the two "
        "follows from all matches, also from those with other bots.",
    )
    met = _met(lines)
    for number, name in enumerate(names, 1):
        sums = standings.of[name]
        summary = f" {counted(sums.matches, 'match', 'matches')}"
        rows = [
            _row(number, other_number, other, met[name, other], _probability(rated, name, other))
            for other_number, other in enumerate(names, 1)
            if (name, other) in met
        ]
        columns = head(
            *texts("against"),
            *numbers("score", "likely better", "matches", "better", "equal", "worse", "points", "its points"),
            *unsorted("last replays"),
        )
        table = element("table", columns, element("tbody", *rows), class_="sortable pairs")
        yield element(
            "details",
            element("summary", element("b", f"{number}. {name}"), summary),
            scrolling(table, f"{name} against each other bot") if rows else "",
            id=bot_id(number),
            class_="bot",
        )


def _met(lines: Sequence[MatchLine]) -> dict[tuple[str, str], _Met]:
    met: dict[tuple[str, str], _Met] = {}
    for line in lines:
        players = list(zip(line.players, line.ranks, line.points, strict=True))
        for name, rank, points in players:
            for other, others_rank, others_points in players:
                if name != other:
                    pair = met.setdefault((name, other), _Met())
                    pair.better += rank < others_rank
                    pair.equal += rank == others_rank
                    pair.worse += rank > others_rank
                    pair.points += points
                    pair.others_points += others_points
                    pair.matches.append(line)
    return met


def _probability(rated: Report | None, name: str, other: str) -> float | None:
    known = () if rated is None else {rating.name for rating in rated.pooled.entrants}
    return (
        rated.pooled.superiority(name, other) if rated is not None and {name, other} <= set(known) else None
    )


def _row(number: int, other_number: int, other: str, met: _Met, better: float | None) -> Html:
    count = len(met.matches)
    links: list[str] = []
    for line in met.matches[-MOST_REPLAYS:]:
        links += [" " if links else "", _replay(line)]
    return element(
        "tr",
        bot_cell(other, bot_id(other_number)),
        number_cell(percent(met.score), met.score),
        number_cell("" if better is None else probability(better), -1 if better is None else better),
        number_cell(f"{count:,}", count),
        number_cell(f"{met.better:,}", met.better),
        number_cell(f"{met.equal:,}", met.equal),
        number_cell(f"{met.worse:,}", met.worse),
        number_cell(tenths(met.points / count)),
        number_cell(tenths(met.others_points / count)),
        element("td", *links, class_="links"),
        id=pair_id(number, other_number),
    )


def _replay(line: MatchLine) -> Html:
    label = f"{line.block}.{line.rotation}"
    if not line.replay:
        return element("span", label)
    return element("a", label, href=f"./{quote(line.replay)}", aria_label=f"replay of {match_label(line)}")
