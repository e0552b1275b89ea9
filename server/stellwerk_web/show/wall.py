"""The wall: a few tables, on which matches are played at a pace that people can follow.

A free table takes a match that runs for longer already than a fast one takes, and shows it live. Otherwise
it takes one that has ended, and plays it move by move. Ended matches wait in a queue. If there are more than
a person could watch at this pace, the oldest are dropped, and counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from stellwerk_web.show.forms import Head, encode, with_standing
from stellwerk_web.show.match import ShownMatch
from stellwerk_web.show.standing import PublicStanding

SLOW_AFTER_S: Final = 3.0  # a match that runs for so long is worth being watched live
REST_S: Final = 6.0  # on a result
PATIENCE_S: Final = 8.0  # for a match to be here after it was chosen
WAITING: Final = 50  # matches in the queue
BEHIND: Final = 12  # moves that a live match may be ahead of its table before the table hurries
HURRY: Final = 4.0  # times the pace
MAIN_LOOKS_BACK_S: Final = 12.0
MAIN_STAYS_S: Final = 10.0
TICK_S: Final = 0.25


class _WallTable:
    """`shown` events of `match` are on the table. `points` are the last gains, with their times."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.match: ShownMatch | None = None
        self.start: bytes | None = None
        self.shown = 0
        self.is_over = False
        self.chosen_at = self.put_at = self.moved_at = self.next_at = self.rests_until = 0.0
        self.standing: PublicStanding | None = None
        self.gains: deque[tuple[float, int]] = deque()

    @property
    def is_playing(self) -> bool:
        return self.match is not None and self.start is not None

    @property
    def is_live(self) -> bool:
        match = self.match
        return match is not None and match.end is None and self._steps_behind(match) <= BEHIND

    def _steps_behind(self, match: ShownMatch) -> int:
        behind = 0
        for step in reversed(match.steps):
            if step <= self.shown:
                break
            behind += 1
        return behind

    def hurries(self) -> bool:
        match = self.match
        return match is not None and match.end is None and self._steps_behind(match) > BEHIND

    def head(self, now: float) -> Head | None:
        """Return the head of the match with what has been shown here."""
        if self.match is None or self.start is None:
            return None
        head = self.match.head
        if not self.is_over:
            head = msgspec.structs.replace(
                head, state="running", ranks=msgspec.UNSET, points=msgspec.UNSET, turn=msgspec.UNSET
            )
            if self.standing is not None:
                head = with_standing(head, self.standing.turn, self.standing.points)
        began = self.match.began_at if self.match.end is None else self.put_at
        return msgspec.structs.replace(head, began_ms_ago=max(0, round((now - began) * 1000)))

    def text(self, now: float) -> bytes:
        """Write the table."""
        head = self.head(now)
        if head is None or self.match is None:
            return b'{"table":%d,"head":null}' % self.number
        return b'{"table":%d,"head":%b,"start":%b,"events":[%b],"end":%b,"is_live":%b,"since_ms":%d}' % (
            self.number,
            encode(head),
            self.start or b"null",
            b",".join(self.match.events[: self.shown]),
            (self.match.end or b"null") if self.is_over else b"null",
            encode(self.is_live),
            max(0, round((now - self.moved_at) * 1000)),
        )

    def gained(self, now: float) -> int:
        """Return the points that were won here in the last seconds."""
        while self.gains and self.gains[0][0] < now - MAIN_LOOKS_BACK_S:
            self.gains.popleft()
        return sum(gain for _, gain in self.gains)


class Wall:
    """`matches` are all that are known, by id; `running` the ids of those that run, in their order."""

    def __init__(
        self, matches: Mapping[str, ShownMatch], running: Iterable[str], tables: int, pace: float
    ) -> None:
        self._matches = matches
        self._running = running
        self._tables = [_WallTable(number) for number in range(tables)]
        self._step_s = 1 / pace
        self._queue: deque[str] = deque()
        self.not_shown = 0
        self.main = 0
        self._main_since = 0.0
        self._put: list[bytes] = []
        self._moved: list[bytes] = []

    # -- what happens ----------------------------------------------------------------------------

    def has_ended(self, match: str) -> None:
        """Let a match that has ended wait for a table."""
        if any(table.match is not None and table.match.head.match == match for table in self._tables):
            return
        self._queue.append(match)
        if len(self._queue) > WAITING:
            self._queue.popleft()
            self.not_shown += 1

    def clear(self) -> None:
        """Forget all matches: the source begins anew."""
        self._queue.clear()
        for number in range(len(self._tables)):
            self._tables[number] = _WallTable(number)

    def begins_again(self, match: ShownMatch) -> None:
        """Show a match from its start again, because the source has brought it again."""
        for table in self._tables:
            if table.match is match:
                table.start = None

    def give_up(self, name: str) -> None:
        """Show no match that does not come: free the table that waits for it, and its place in the queue."""
        if name in self._queue:
            self._queue.remove(name)
            self.not_shown += 1
        for table in self._tables:
            if table.match is not None and table.match.head.match == name and table.start is None:
                self._free_table(table)

    def wanted(self) -> list[str]:
        """Return the matches that the tables show, and the next in the queue."""
        on_tables = [table.match.head.match for table in self._tables if table.match is not None]
        return [*on_tables, *list(self._queue)[-2:]]

    def tick(self, now: float) -> dict[str, Any] | None:  # Any: values of JSON
        """Go on, and return the change, if there is any."""
        before = (len(self._queue), self.not_shown, self.main)
        self._put, self._moved = [], []
        for table in self._tables:
            self._go_on(table, now)
        self._choose_main(now)
        change: dict[str, Any] = {}
        if self._put:
            change["put"] = [msgspec.Raw(text) for text in self._put]
        if self._moved:
            change["tables"] = [msgspec.Raw(text) for text in self._moved]
        if self.main != before[2]:
            change["main"] = self.main
        if (len(self._queue), self.not_shown) != before[:2]:
            change |= {"waiting": len(self._queue), "not_shown": self.not_shown}
        return change or None

    def state(self, now: float) -> dict[str, Any]:  # Any: values of JSON
        return {
            "tables": [msgspec.Raw(table.text(now)) for table in self._tables],
            "main": self.main,
            "waiting": len(self._queue),
            "not_shown": self.not_shown,
        }

    # -- a table ---------------------------------------------------------------------------------

    def _go_on(self, table: _WallTable, now: float) -> None:
        if table.match is not None and table.match.head.match not in self._matches:
            self._free_table(table)  # forgotten meanwhile
        if (table.is_over and now >= table.rests_until) or table.match is None:
            self._take_next(table, now)
        if table.match is None or table.is_over:
            return
        if table.start is None:
            self._put_match(table, now)
            return
        self._show_moves(table, now)

    def _free_table(self, table: _WallTable) -> None:
        was_playing = table.is_playing
        number = table.number
        table.__init__(number)  # type: ignore[misc]  # all as it was in the beginning
        if was_playing:
            self._put.append(table.text(0))

    def _take_next(self, table: _WallTable, now: float) -> None:
        match = self._next_match(now)
        if match is None:
            return  # the last result stays
        number = table.number
        table.__init__(number)  # type: ignore[misc]  # all as it was in the beginning
        table.match, table.chosen_at = match, now

    def _next_match(self, now: float) -> ShownMatch | None:
        taken = {table.match.head.match for table in self._tables if table.match is not None}
        for name in self._running:
            match = self._matches[name]
            if now - match.began_at < SLOW_AFTER_S:
                break  # those after it are younger
            if name not in taken:
                return match
        while self._queue:
            waiting = self._matches.get(self._queue.pop())  # the newest: what people have just heard of
            if waiting is not None and waiting.head.match not in taken:
                return waiting
        return None

    def _put_match(self, table: _WallTable, now: float) -> None:
        """Put a match on its table, once it is here. A live one at once with all that has happened, one
        that has ended from its first turn on."""
        match = table.match
        if match is None:
            return
        if match.start is None:
            if now - table.chosen_at > PATIENCE_S:
                self._free_table(table)
            return
        table.start = match.start
        first = match.steps[0] if match.steps else len(match.events)
        table.shown = first if match.end is not None else len(match.events)
        table.standing = PublicStanding(match.start)
        table.standing.add(match.events[: table.shown])
        table.put_at = table.moved_at = now
        table.next_at = now + self._step_s
        self._put.append(table.text(now))

    def _show_moves(self, table: _WallTable, now: float) -> None:
        """Show the moves that are due."""
        match = table.match
        if match is None:
            return
        first = table.shown
        pace = self._step_s / (HURRY if table.hurries() else 1)
        while table.next_at <= now and table.shown < len(match.events):
            later = [step for step in match.steps if step > table.shown]
            if not later and match.end is None and table.shown >= len(match.events):
                break
            table.shown = later[0] if later else len(match.events)
            table.next_at = max(table.next_at, now - TICK_S) + pace
        events = match.events[first : table.shown]
        ends = match.end is not None and table.shown >= len(match.events) and table.next_at <= now
        if not events and not ends:
            return
        table.moved_at = now
        self._count_gains(table, events, now)
        if ends:
            table.is_over, table.rests_until = True, now + REST_S
        head = table.head(now)
        text = b'{"table":%d,"head":%b,"is_live":%b' % (table.number, encode(head), encode(table.is_live))
        if events:
            text += b',"events":[%b]' % b",".join(events)
        if ends and match.end is not None:
            text += b',"end":%b' % match.end
        self._moved.append(text + b"}")

    def _count_gains(self, table: _WallTable, events: list[bytes], now: float) -> None:
        standing = table.standing
        if standing is None or not events:
            return
        before = sum(standing.points or ())
        standing.add(events)
        gain = sum(standing.points or ()) - before
        if gain > 0:
            table.gains.append((now, gain))

    def _choose_main(self, now: float) -> None:
        """Choose the table where most points were won lately, but not too often another one."""
        current = self._tables[self.main]
        if now - self._main_since < MAIN_STAYS_S and current.is_playing:
            return
        best = max(
            self._tables,
            key=lambda table: (
                table.is_playing and not table.is_over,
                table.is_playing,
                table.gained(now),
                table is current,
            ),
        )
        if best is not current:
            self.main, self._main_since = best.number, now
