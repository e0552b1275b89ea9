"""The bots of the report: the results of each against each other one, with the replays.

Law: what the cross table shows of two bots is here in full, and a link leads from there to here. With very
many bots that would be most of the page, so then only the cross table has it, and `crosstable.csv`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from stellwerk_tournament.evidence.worth import Versus
from stellwerk_tournament.ratings.ratings import RatingReport
from stellwerk_tournament.report.matches import MatchLink, link_of
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


class LastMatches:
    """The last matches of every two bots, by their names in alphabetical order."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, str], deque[MatchLink]] = {}

    def add(self, line: MatchLine) -> None:
        link = link_of(line)
        for pair in combinations(sorted(line.players), 2):
            self.of.setdefault(pair, deque(maxlen=MOST_REPLAYS)).append(link)


@dataclass(frozen=True, slots=True)
class PairRow:
    """One bot in the section of another. `last` are the matches whose replays are linked."""

    id: str
    name: str
    section: str
    versus: Versus
    likely_better: float | None
    last: Collection[MatchLink]


@dataclass(frozen=True, slots=True)
class BotSection:
    """A bot against each of those that it met."""

    id: str
    name: str
    match_count: int
    rows: Sequence[PairRow]


def bots(
    names: Sequence[str], standings: Standings, last: LastMatches, rated: RatingReport | None
) -> list[BotSection] | None:
    """Return a section for each bot, or None if they are too many. `names` are in the order of the
    ranking."""
    if len(names) > MOST_BOTS:
        return None
    known = () if rated is None else {rating.name for rating in rated.pooled.entrants}

    def row(number: int, name: str, other_number: int, other: str) -> PairRow:
        likely = rated.pooled.superiority(name, other) if rated and {name, other} <= {*known} else None
        one, two = sorted((name, other))
        return PairRow(
            pair_id(number, other_number),
            other,
            bot_id(other_number),
            standings.pairs[name, other],
            likely,
            last.of[one, two],
        )

    return [
        BotSection(
            bot_id(number),
            name,
            standings.of[name].matches,
            [
                row(number, name, other_number, other)
                for other_number, other in enumerate(names, 1)
                if (name, other) in standings.pairs
            ],
        )
        for number, name in enumerate(names, 1)
    ]
