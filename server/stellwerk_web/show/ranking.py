"""The ranking of a source that is no tournament: of the matches that ended while this process ran.

No schedule drew these pairings. A rating takes account of who met whom, a score does not. So there are both,
and the ranking says what it is made of.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from stellwerk_base.texts import counted as in_words
from stellwerk_web.show.forms import Head, Ranking
from stellwerk_web.show.results import NOT_RATED, BotPage, Counted, PairPage, Rated, Results

MOST_BOTS: Final = 2000  # a name is free on an open server
MOST_MATCHES: Final = 5000  # that count: the last ones
ROWS: Final = 200
NOTE: Final = "Nobody drew these pairings: players chose their opponents, and when to play."


class SeenMatches:
    """The record of each bot in the ended matches: the last so many, by the first so many names. `count` is
    how many have ended, `version` changes whenever the ranking may have."""

    def __init__(self) -> None:
        self.count = 0
        self.version = 0
        self._last: deque[Counted] = deque()
        self._names: set[str] = set()
        self._results = Results(knows_conduct=False)
        self._rated = NOT_RATED

    def add(self, head: Head) -> None:
        self.count += 1
        self.version += 1
        match = counted(head, self.count)
        if match is None:
            return
        new = {*match.sides} - self._names
        if len(self._names) + len(new) > MOST_BOTS:
            return
        self._names |= new
        self._last.append(match)
        self._results.add(match)
        if len(self._last) > 1.2 * MOST_MATCHES:
            while len(self._last) > MOST_MATCHES:
                self._last.popleft()
            self._results = Results(knows_conduct=False)
            for each in self._last:
                self._results.add(each)
            self._names = {name for each in self._last for name in each.sides}

    def counted(self) -> list[Counted]:
        """Return what is to be rated, in a list of its own."""
        return self._results.counted()

    def take(self, rated: Rated) -> None:
        """Take ratings of what was counted a while ago."""
        self.version += 1
        self._rated = rated

    def _rank_all(self) -> Ranking:
        kept, seen = len(self._last), in_words(self.count, "match", "matches")
        over = f"{seen} seen" if kept >= self.count else f"{kept:,} of {seen} seen"
        return self._results.ranking(self._rated, {}, over, NOTE)

    def ranking(self) -> Ranking:
        """Return the first rows of the ranking, with the ratings that there are."""
        ranking = self._rank_all()
        return replace(ranking, rows=ranking.rows[:ROWS])

    def bot(self, name: str) -> BotPage | None:
        """Return the data of a bot's page, or None if it has played nothing here."""
        return self._results.bot_page(name, self._rank_all(), self._rated)

    def pair(self, one: str, other: str) -> PairPage | None:
        """Return the data of a pairing's page, or None if the two have not met here."""
        return self._results.pair_page(one, other, self._rank_all(), self._rated)


def counted(head: Head, number: int) -> Counted | None:
    """Return what an ended match counts, or None if its head does not say how it ended."""
    if head.ranks is UNSET or head.points is UNSET:
        return None
    first: dict[int, int] = {}
    members: dict[int, list[str]] = {}
    for player in head.players:
        first.setdefault(player.team, player.seat)
        members.setdefault(player.team, []).append(player.name)
    seats = [first[team] for team in sorted(first)]
    if any(seat >= len(head.ranks) or seat >= len(head.points) for seat in seats):
        return None
    return Counted(
        head=head,
        sides=tuple(" + ".join(sorted({*members[team]})) for team in sorted(members)),
        ranks=tuple(head.ranks[seat] for seat in seats),
        points=tuple(head.points[seat] for seat in seats),
        order=(number, 0),
    )
