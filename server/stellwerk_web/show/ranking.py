"""The ranking of a plain server: of the matches that have ended while somebody listened.

Nobody drew these pairings, so there is no rating, only what was counted: the share of opponents that a bot
was ranked above, a tie counting half, and its mean points.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from msgspec import UNSET

from stellwerk_web.show.forms import Head, Ranking, RankingRow

MOST_BOTS: Final = 2000  # a name is free on an open server
ROWS: Final = 200
MATCHES_OF_A_BOT: Final = 50
NOTE: Final = "score: the share of opponents ranked below; nobody drew these pairings, so it is no rating"


@dataclass(slots=True)
class Tally:
    matches: int = 0
    score: float = 0.0
    points: int = 0

    def row(self, bot: str) -> RankingRow:
        return RankingRow(
            bot=bot,
            matches=self.matches,
            score=self.score / self.matches,
            points=self.points / self.matches,
        )


@dataclass(slots=True)
class BotRecord:
    whole: Tally = field(default_factory=Tally)
    against: dict[str, Tally] = field(default_factory=dict[str, Tally])
    matches: deque[Head] = field(default_factory=lambda: deque[Head](maxlen=MATCHES_OF_A_BOT))


class SeenMatches:
    """What the ended matches say of each bot. Beyond so many bots, new names are not counted."""

    def __init__(self) -> None:
        self.bots: dict[str, BotRecord] = {}
        self.count = 0

    def add(self, head: Head) -> None:
        if head.ranks is UNSET or head.points is UNSET:
            return
        self.count += 1
        for player in head.players:
            record = self._record(player.name)
            if record is None:
                continue
            record.matches.append(head)
            scores: list[float] = []
            points = head.points[player.seat]
            for other in head.players:
                if other.team == player.team:
                    continue
                score = _score(head.ranks[player.seat], head.ranks[other.seat])
                scores.append(score)
                if other.name in record.against or len(record.against) < MOST_BOTS:
                    _add(record.against.setdefault(other.name, Tally()), score, points)
            _add(record.whole, sum(scores) / max(len(scores), 1), points)

    def ranking(self) -> Ranking:
        rows = [record.whole.row(bot) for bot, record in self.bots.items()]
        rows.sort(key=lambda row: (-row.score, -row.matches, row.bot))
        return Ranking(
            rows=tuple(rows[:ROWS]),
            over=f"{self.count} {'match' if self.count == 1 else 'matches'} seen",
            note=NOTE,
        )

    def _record(self, bot: str) -> BotRecord | None:
        record = self.bots.get(bot)
        if record is None and len(self.bots) < MOST_BOTS:
            record = self.bots[bot] = BotRecord()
        return record


def _score(mine: int, other: int) -> float:
    return 1.0 if mine < other else 0.5 if mine == other else 0.0


def _add(tally: Tally, score: float, points: int) -> None:
    tally.matches += 1
    tally.score += score
    tally.points += points
