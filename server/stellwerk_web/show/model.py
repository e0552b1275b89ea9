"""The model: all that is shown, told by a source, and read by pages through channels.

Sources report events. `tick` publishes them in batches, so the cost of the overview does not grow with the
number of matches. Only a reader of one match gets each of its events at once.

Law: memory has bounds: heads of so many matches, the events of few, the last changes of each channel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import msgspec

from stellwerk_web.show.channel import Channel
from stellwerk_web.show.forms import Head, JsonObject, Kind, Ranking, encode
from stellwerk_web.show.match import ShownMatch
from stellwerk_web.show.ranking import SeenMatches
from stellwerk_web.show.wall import Wall

RUNNING_LISTED: Final = 200
ENDED_LISTED: Final = 100
HEADS_KEPT: Final = 10_000  # of ended matches; a source may find older ones
FOUND_KEPT: Final = 1000  # of those that a source found
WHOLE_KEPT: Final = 60  # ended matches whose events stay here, because a reader may look again
RANKING_EVERY_S: Final = 2.0
CHANNEL_STAYS_S: Final = 60.0  # after its last reader, who may come back and ask for what it has missed
WALL_STAYS_S: Final = 30.0  # after its last reader, who may be reloading the page
BOARDS_KEPT: Final = 64


class _PlayedOn(msgspec.Struct):
    board: msgspec.Raw
    board_digest: str


_played_on = msgspec.json.Decoder(_PlayedOn).decode


@dataclass(frozen=True, slots=True)
class ShowSettings:
    """The settings that a web process was started with. `life` is random for each process."""

    title: str
    kind: Kind
    source: str
    life: str
    pace: float = 2.0  # moves a second
    tables: int = 4


class Show:
    """`now` is in seconds, by any clock that only goes forward. `on_wanted` is called when `wanted` may have
    changed."""

    def __init__(self, shape: ShowSettings) -> None:
        self.shape = shape
        self.now = 0.0
        self.on_wanted: Callable[[], object] = lambda: None
        self.overview = Channel(f"{shape.life}o", self._write_overview)
        self.wall = Channel(f"{shape.life}w", self._write_wall)
        self.seen = SeenMatches()
        self._matches: dict[str, ShownMatch] = {}
        self._running: dict[str, None] = {}  # in their order
        self._ended: deque[str] = deque()
        self._whole: deque[str] = deque()
        self._found: deque[str] = deque()
        self._tables = Wall(self._matches, self._running, shape.tables, shape.pace)
        self._wall_readers = 0
        self._wall_until = -1.0
        self._counts = {"running": 0, "ended": 0, "failed": 0}
        self.is_connected = False
        self._tournament: JsonObject | None = None
        self._ranking: Ranking | None = None
        self._has_ranking = False  # of its own: the source brings it
        self._ranked_at = -RANKING_EVERY_S
        self._ranked_version = 0
        self._lives = 0
        self._unread: dict[str, float] = {}  # since when a match has had no reader, in that order
        self._boards: dict[str, str] = {}  # by digest, those that are not shipped among them
        # what the overview has to say at the next tick
        self._listed: dict[str, None] = {}
        self._changed: dict[str, None] = {}
        self._list_changed = False
        self._news: dict[str, Any] = {}  # Any: values of JSON

    # -- sources say -----------------------------------------------------------------------------

    def connected(self, is_connected: bool) -> None:
        """Note whether the source is there."""
        if self.is_connected == is_connected:
            return
        self.is_connected = self._news["connected"] = is_connected
        for match in self._matches.values():
            self._put_change(match, {"connected": is_connected})

    def began_anew(self) -> None:
        """Forget all matches: the source begins another list. Matches with readers stay as they are
        until they are listed again, or until the list is complete."""
        for match in list(self._matches.values()):
            match.is_listed = False
            if not match.readers:
                del self._matches[match.head.match]
        self._running.clear()
        self._ended.clear()
        self._whole.clear()
        self._found.clear()
        self._tables.clear()
        self._counts = {"running": 0, "ended": 0, "failed": 0}
        self.seen = SeenMatches()
        self._ranked_version = -1
        self._listed, self._changed, self._news = {}, {}, {}
        self._list_changed = True
        self.overview.begin_anew()
        self.wall.begin_anew()

    def list_complete(self) -> None:
        """Note that all matches have been listed. One that ran and is not in the list was lost with its
        server."""
        for match in self._matches.values():
            if not match.is_listed and match.head.state == "running":
                match.head = msgspec.structs.replace(match.head, state="failed")
                self._put_change(match, {"head": match.head_now(self.now)})

    def match_listed(self, head: Head, began_s_ago: float = 0.0, *, is_news: bool = True) -> None:
        """Take a public match, or its new state. One that is no news has ended long ago: it does not wait for
        a table of the wall."""
        match = self._matches.get(head.match)
        if match is None:
            before = None
            match = self._matches[head.match] = ShownMatch(head, self.now - began_s_ago)
        else:
            before = match.head.state if match.is_listed else None
            match.head, match.is_listed = head, True
        if before != head.state:
            self._move_in_list(head, before, is_news=is_news)
        self._changed[head.match] = None
        self._put_change(match, {"head": match.head_now(self.now)})

    def match_found(self, head: Head, began_s_ago: float = 0.0) -> None:
        """Take a match that is not listed any more, because a reader wants to see it. It is counted
        already."""
        if head.match in self._matches:
            return
        match = self._matches[head.match] = ShownMatch(head, self.now - began_s_ago)
        match.is_listed = False
        self._found.append(head.match)
        if len(self._found) > FOUND_KEPT:
            oldest = self._matches.get(self._found.popleft())
            if oldest is not None and not oldest.is_listed:  # the list forgets its own
                self._forget_match(oldest.head.match)

    def started(self, name: str, start: bytes) -> None:
        """Take the public `start` of a match, from which its events follow, all of them."""
        match = self._matches.get(name)
        if match is None:
            return
        self._tables.begins_again(match)
        match.begin(start)
        self._keep_board(start)
        if match.channel is not None:
            match.channel.begin_anew()

    def happened(self, name: str, events: Sequence[bytes]) -> None:
        """Take public events of a match, each as JSON."""
        match = self._matches.get(name)
        if match is None or match.start is None or not events:
            return
        match.add(events)
        self._changed[name] = None
        if match.channel is not None:
            match.channel.put(b'{"events":[%b]}' % b",".join(events))

    def seat_changed(self, name: str, seat: int, state: str) -> None:
        """Take a change of a seat: lost, back, left, by_default."""
        match = self._matches.get(name)
        if match is None or match.start is None:
            return
        match.seats[str(seat)] = state
        if match.channel is not None:
            self._put_change(match, {"seat": {str(seat): state}})

    def ended(self, name: str, end: bytes) -> None:
        """Take the public `end` of a match."""
        match = self._matches.get(name)
        if match is None or match.start is None:
            return
        match.end = end
        if match.channel is not None:
            match.channel.put(b'{"end":%b}' % end)
        self._keep_whole(name)

    def cannot_be_watched(self, name: str) -> None:
        """Note that the source does not get a match: it is too old, for one."""
        self._tables.give_up(name)

    def tournament(self, state: JsonObject | None) -> None:
        if state != self._tournament:
            self._tournament = self._news["tournament"] = state

    def ranking(self, ranking: Ranking) -> None:
        """Take the ranking of the source, instead of one of the matches seen here."""
        self._has_ranking = True
        self._set_ranking(ranking)

    # -- pages say -------------------------------------------------------------------------------

    def is_known(self, name: str) -> bool:
        return name in self._matches

    def head(self, name: str) -> Head | None:
        match = self._matches.get(name)
        return None if match is None else match.head_now(self.now)

    def board(self, digest: str) -> str | None:
        """Return a board that a match was begun on here, as text. It may not be what its digest says."""
        return self._boards.get(digest)

    def match_channel(self, name: str) -> Channel | None:
        """Return the channel of a match, if the match is known."""
        match = self._matches.get(name)
        if match is None:
            return None
        if match.channel is None:
            self._unread[name] = self.now
            self._lives += 1
            match.channel = Channel(
                f"{self.shape.life}m{self._lives}",
                lambda: match.state(self.now, is_connected=self.is_connected),
            )
        return match.channel

    def match_read(self, name: str, readers: int) -> None:
        """Note how many readers a match has now."""
        match = self._matches.get(name)
        if match is None:
            return
        match.readers = readers
        self._unread.pop(name, None)
        if not readers:
            self._unread[name] = self.now
        self.on_wanted()

    def wall_read(self, readers: int) -> None:
        """Note how many readers the wall has now. Without any it stands still."""
        self._wall_readers = readers
        self._wall_until = self.now + WALL_STAYS_S
        self.on_wanted()

    def wanted(self) -> list[str]:
        """Return the matches that readers look at, or soon will. The source brings them, as many as it
        can: the first first."""
        on_wall = self._tables.wanted() if self._wall_runs else []
        on_pages = [name for name, match in self._matches.items() if match.readers]
        return list(dict.fromkeys([*on_wall, *on_pages]))

    def is_here(self, name: str) -> bool:
        """Return whether all of an ended match is here already."""
        match = self._matches.get(name)
        return match is not None and match.is_whole

    @property
    def _wall_runs(self) -> bool:
        return self._wall_readers > 0 or self.now < self._wall_until

    # -- time ------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Say what has changed. To be called a few times a second."""
        self.now = now
        self._update_ranking()
        self._drop_channels()
        self._news |= self._take_list_news()
        if self._news:
            self.overview.put(encode(self._news))
        else:
            self.overview.drop_kept_state()
        self._tick_wall({key: value for key, value in self._news.items() if key not in ("matches", "gone")})
        self._news = {}

    def _drop_channels(self) -> None:
        """Forget the changes of matches that have had no reader for a while."""
        for name, since in list(self._unread.items()):
            if self.now - since < CHANNEL_STAYS_S:
                return  # those after it were left later
            del self._unread[name]
            match = self._matches.get(name)
            if match is not None and not match.readers:
                match.channel = None

    def _tick_wall(self, overview: dict[str, Any]) -> None:  # Any: values of JSON
        if not self._wall_runs:
            self.wall.drop_kept_state()
            return
        change = self._tables.tick(self.now) or {}
        if overview:
            change["overview"] = overview
        if change:
            self.wall.put(encode(change))
            self.on_wanted()
        else:
            self.wall.drop_kept_state()

    def _take_list_news(self) -> dict[str, Any]:  # Any: values of JSON
        """Return what has changed in the list: which matches are new in it or have changed, and which are
        gone."""
        if not self._changed and not self._list_changed:
            return {}
        listed = dict.fromkeys(
            [*islice(self._running, RUNNING_LISTED), *islice(reversed(self._ended), ENDED_LISTED)]
        )
        put = [name for name in listed if name in self._changed or name not in self._listed]
        gone = [name for name in self._listed if name not in listed]
        self._listed, self._changed = listed, {}
        news: dict[str, Any] = {}
        if put:
            news["matches"] = [self._matches[name].head_now(self.now) for name in put]
        if gone:
            news["gone"] = gone
        if self._list_changed:
            news["counts"] = self._counts
            self._list_changed = False
        return news

    def _update_ranking(self) -> None:
        if self._has_ranking or self.seen.version == self._ranked_version:
            return
        if self.now - self._ranked_at >= RANKING_EVERY_S:
            self._ranked_at, self._ranked_version = self.now, self.seen.version
            self._set_ranking(self.seen.ranking())

    def _set_ranking(self, ranking: Ranking) -> None:
        if ranking != self._ranking:
            self._ranking = self._news["ranking"] = ranking

    # -- the list --------------------------------------------------------------------------------

    def _move_in_list(self, head: Head, before: str | None, *, is_news: bool) -> None:
        """Put a match where it belongs by its new state."""
        self._list_changed = True
        if before in self._counts:
            self._counts[before] -= 1
        if head.state in self._counts:
            self._counts[head.state] += 1
        self._running.pop(head.match, None)
        if head.state == "running":
            self._running[head.match] = None
        elif head.state in ("ended", "failed"):
            self._ended.append(head.match)
            if head.state == "ended" and not self._has_ranking:
                self.seen.add(head)
            if head.state == "ended" and is_news:
                self._tables.has_ended(head.match)
            if len(self._ended) > HEADS_KEPT:
                self._forget_match(self._ended.popleft())

    def _forget_match(self, name: str) -> None:
        match = self._matches.get(name)
        if match is not None and not match.readers:
            del self._matches[name]

    def _keep_board(self, start: bytes) -> None:
        played_on = _played_on(start)
        if played_on.board_digest not in self._boards:
            if len(self._boards) >= BOARDS_KEPT:
                del self._boards[next(iter(self._boards))]
            self._boards[played_on.board_digest] = bytes(played_on.board).decode(errors="replace")

    def _keep_whole(self, name: str) -> None:
        """Keep the events of a match that has ended, and forget the events of the oldest without
        readers."""
        self._whole.append(name)
        wanted = set(self.wanted())
        for _ in range(len(self._whole) - WHOLE_KEPT):
            oldest = self._whole.popleft()
            match = self._matches.get(oldest)
            if match is None or oldest in self._whole:
                continue
            if oldest in wanted:
                self._whole.append(oldest)
            else:
                match.unload()

    # -- what channels say -----------------------------------------------------------------------

    def _put_change(self, match: ShownMatch, change: dict[str, Any]) -> None:  # Any: values of JSON
        if match.channel is not None:
            match.channel.put(encode(change))

    def _summarize(self) -> dict[str, Any]:  # Any: values of JSON
        return {
            "title": self.shape.title,
            "kind": self.shape.kind,
            "source": self.shape.source,
            "connected": self.is_connected,
            "counts": self._counts,
            "ranking": self._ranking,
            "tournament": self._tournament,
        }

    def _write_overview(self) -> bytes:
        heads = [self._matches[name].head_now(self.now) for name in self._listed if name in self._matches]
        return encode({**self._summarize(), "matches": heads})

    def _write_wall(self) -> bytes:
        return encode({"overview": self._summarize(), **self._tables.state(self.now)})
