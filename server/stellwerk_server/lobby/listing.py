"""The list of public matches: the running ones, and the last ones that ended.

It is a feed of changes. Each match is in it once, at its latest change: it began, ended or failed. A client
asks for what has changed after the cursor in the reply before. The server keeps nothing for its readers.

Laws:
- a match whose deal others have yet to play is never in the list, and leaves no gap in it (L15);
- noting a change takes the same short time however many matches are listed; text is made when a client asks;
- of the matches that are over, the last `ended_matches` are kept;
- a client that asks until there is no `more` has every listed match, each as it was when the reply was made.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from stellwerk_protocol.messages import MOST_LISTED, ListedMatch, MatchList
from stellwerk_server.match.lines import line

if TYPE_CHECKING:
    from stellwerk_protocol.results import Result
    from stellwerk_server.lobby.setup import LobbySetup
    from stellwerk_server.match.ended_match import EndedMatch
    from stellwerk_server.match.match_session import MatchSession

MOST_OUTDATED: Final = 64  # changes that later ones have replaced, beyond one for each match


@dataclass(frozen=True, slots=True)
class _Running:
    number: int
    match: MatchSession


@dataclass(frozen=True, slots=True)
class _Ended:
    """A match that is over. `turns` is None if it failed: then it has no result."""

    number: int
    match: EndedMatch
    turns: int | None = None
    ranks: tuple[int, ...] = ()
    points: tuple[int, ...] = ()


_Change: TypeAlias = tuple[int, str]
"""The number of a change, and the match that has changed."""


class Listing:
    def __init__(self, setup: LobbySetup, most_listed: int = MOST_LISTED) -> None:
        self._setup = setup
        self._most_listed = most_listed
        self._by_id: dict[str, _Running | _Ended] = {}
        self._changes: list[_Change] = []  # in their order; later ones have replaced some of them
        self._ended: deque[_Change] = deque()  # the first to go first
        self._newest = 0
        self._forgotten = 0  # the last change that is listed no more
        self._life = ""

    # -- what happens ----------------------------------------------------------------------------

    def began(self, match: MatchSession) -> None:
        """Note that a match begins, or continues after a restart."""
        if match.plan.is_watchable:
            self._append(match.id, _Running(self._newest + 1, match))

    def never_began(self, match: str) -> None:
        """Forget a match that no client has seen."""
        self._by_id.pop(match, None)

    def ended(self, match: EndedMatch, result: Result | None) -> None:
        """Note that a match is over. Without a result it has failed."""
        if not match.plan.is_watchable:
            return
        number = self._newest + 1
        if result is None:
            ended = _Ended(number, match)
        else:
            points = {seat: team.points for team in result.teams for seat in team.seats}
            by_seat = tuple([points[seat] for seat in sorted(points)])
            ended = _Ended(number, match, result.turns, result.ranks, by_seat)
        self._append(match.id, ended)
        self._ended.append((number, match.id))
        if len(self._ended) > self._setup.limits.ended_matches:
            self._forgotten, oldest = self._ended.popleft()
            if self._find_current(self._forgotten, oldest) is not None:
                del self._by_id[oldest]

    def _append(self, id: str, listed: _Running | _Ended) -> None:
        """Put a match at the end of the list."""
        self._newest = listed.number
        self._by_id[id] = listed
        self._changes.append((listed.number, id))
        if len(self._changes) > 2 * len(self._by_id) + MOST_OUTDATED:
            self._changes = [change for change in self._changes if self._find_current(*change) is not None]

    def _find_current(self, number: int, id: str) -> _Running | _Ended | None:
        """Return the match of a change, unless a later one has replaced it."""
        listed = self._by_id.get(id)
        return listed if listed is not None and listed.number == number else None

    # -- what clients ask ------------------------------------------------------------------------

    def ended_match(self, id: str) -> EndedMatch | None:
        """Return a match that is over and still listed."""
        listed = self._by_id.get(id)
        return listed.match if isinstance(listed, _Ended) else None

    def reply(self, after: str | UnsetType) -> bytes:
        """Return the line with what has changed after a cursor. Without one, or if something may be forgotten
        that its reader has to know, the list begins anew."""
        known = None if after is UNSET else self._read_cursor(after)
        last, since = known or (0, self._newest)
        entries: list[ListedMatch] = []
        has_more = False
        for index in range(bisect_right(self._changes, last, key=itemgetter(0)), len(self._changes)):
            number, id = self._changes[index]
            listed = self._find_current(number, id)
            if listed is None:
                continue
            if len(entries) == self._most_listed:
                has_more = True
                break
            entries.append(_write_entry(listed))
            last = number
        cursor = self._write_cursor(last, since)
        return line(MatchList(cursor, tuple(entries), anew=known is None, more=has_more))

    def _write_cursor(self, last: int, since: int) -> str:
        """Return a cursor: the life of this list, the last change that its reader knows, and the newest one
        when the list began anew for it. A match that had ended by then was never shown to it as running, so
        it misses nothing if that is forgotten while it reads on. Otherwise no reader could get to the
        end of a long list."""
        if not self._life:
            self._life = self._setup.new_id()
        return f"{self._life}-{last}-{since}"

    def _read_cursor(self, cursor: str) -> tuple[int, int] | None:
        """Return the numbers of a cursor. None if it is of another life, or if a match may be forgotten that
        its reader knows as running."""
        life, *numbers = cursor.split("-")
        if not life or life != self._life or len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
            return None
        last, since = map(int, numbers)
        return (last, since) if self._forgotten <= max(last, since) <= self._newest else None


def _write_entry(listed: _Running | _Ended) -> ListedMatch:
    plan = listed.match.plan
    entry = ListedMatch(plan.match, "running", plan.game.id, plan.game.options, plan.players)
    match listed:
        case _Running(match=running):
            return replace(entry, decisions=running.decision_count)
        case _Ended(turns=None):
            return replace(entry, state="failed")
        case _Ended(turns=turns, ranks=ranks, points=points):
            return replace(entry, state="ended", turns=turns, ranks=ranks, points=points)
        case _:
            assert_never(listed)
