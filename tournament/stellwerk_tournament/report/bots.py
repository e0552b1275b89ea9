"""The bots of the report: the results of each against each other one, with the replays.

Law: what the cross table shows of two bots is here in full, and a link leads from there to here. With very
many bots that would be most of the page, so then only the cross table has it, and `crosstable.csv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from stellwerk_tournament.ratings.ratings import RatingReport
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.standings import Standings

MOST_BOTS: Final = 40  # with a section each
MOST_REPLAYS: Final = 6  # of two bots: the last ones


def bot_id(number: int) -> str:
    """Return the id of a bot's section. Bots are counted from 1, in the order of the ranking."""
    return f"bot-{number}"


def pair_id(number: int, other: int) -> str:
    """Return the id of the row of one bot in the section of another."""
    return f"bot-{number}-{other}"


def section_of(number: int, count: int) -> str | None:
    """Return the id of a bot's section, if bots have sections."""
    return bot_id(number) if count <= MOST_BOTS else None


@dataclass(slots=True)
class Met:
    """The results of one bot against another."""

    better: int = 0
    equal: int = 0
    worse: int = 0
    points: int = 0
    others_points: int = 0
    matches: list[MatchLine] = field(default_factory=list[MatchLine])

    @property
    def score(self) -> float:
        return (self.better + 0.5 * self.equal) / len(self.matches)


@dataclass(frozen=True, slots=True)
class PairRow:
    """One bot in the section of another. `last` are the matches whose replays are linked."""

    id: str
    name: str
    section: str
    met: Met
    likely_better: float | None
    last: Sequence[MatchLine]


@dataclass(frozen=True, slots=True)
class BotSection:
    """A bot against each of those that it met."""

    id: str
    name: str
    match_count: int
    rows: Sequence[PairRow]


def bots(
    lines: Sequence[MatchLine], names: Sequence[str], standings: Standings, rated: RatingReport | None
) -> list[BotSection] | None:
    """Return a section for each bot, or None if they are too many.

    `lines` are in the order in which they were played, `names` in that of the ranking.
    """
    if len(names) > MOST_BOTS:
        return None
    met = _met(lines)
    return [
        BotSection(
            bot_id(number),
            name,
            standings.of[name].matches,
            [
                PairRow(
                    pair_id(number, other_number),
                    other,
                    bot_id(other_number),
                    met[name, other],
                    _probability(rated, name, other),
                    met[name, other].matches[-MOST_REPLAYS:],
                )
                for other_number, other in enumerate(names, 1)
                if (name, other) in met
            ],
        )
        for number, name in enumerate(names, 1)
    ]


def _met(lines: Sequence[MatchLine]) -> dict[tuple[str, str], Met]:
    met: dict[tuple[str, str], Met] = {}
    for line in lines:
        players = list(zip(line.players, line.ranks, line.points, strict=True))
        for name, rank, points in players:
            for other, others_rank, others_points in players:
                if name != other:
                    pair = met.setdefault((name, other), Met())
                    pair.better += rank < others_rank
                    pair.equal += rank == others_rank
                    pair.worse += rank > others_rank
                    pair.points += points
                    pair.others_points += others_points
                    pair.matches.append(line)
    return met


def _probability(rated: RatingReport | None, name: str, other: str) -> float | None:
    known = () if rated is None else {rating.name for rating in rated.pooled.entrants}
    return (
        rated.pooled.superiority(name, other) if rated is not None and {name, other} <= set(known) else None
    )
