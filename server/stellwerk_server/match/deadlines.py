"""One heap for all that is due at some time: matches, logins, sessions, rooms.

Law: a timer runs when its deadline has come, never before, and once. A deadline that moves later, as one
does with every move of a match, costs nothing: the heap keeps the earlier entry, and looks again then.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf


class Timer:
    """Something that is due at `deadline`, in milliseconds of the server's clock; `inf` for never."""

    __slots__ = ("_entry", "_heap", "deadline", "run")

    def __init__(self, heap: Deadlines, run: Callable[[float], None]) -> None:
        self.deadline = inf
        self.run = run
        self._heap = heap
        self._entry = inf  # the time of its earliest entry in the heap

    def set(self, deadline: float) -> None:
        self.deadline = deadline
        if deadline < self._entry:
            self._entry = deadline
            self._heap.push(deadline, self)

    def clear(self) -> None:
        self.deadline = inf

    def retire(self) -> None:
        """Clear the timer for good. The heap may keep it for minutes, but not what it would have run: a whole
        match, or a session with all its matches."""
        self.clear()
        self.run = _do_nothing

    def fire(self, now: float) -> None:
        """Run it, if it is still due."""
        if self.deadline <= now:
            self.deadline = inf
            self.run(now)
        else:
            self.set(self.deadline)

    def needs(self, entry: float) -> bool:
        """Return whether its entry of that time has to stay in the heap."""
        if entry != self._entry:
            return False
        if self.deadline == inf:
            self._entry = inf
        return self.deadline < inf

    def has_come_up(self, entry: float, now: float) -> bool:
        """Note that its entry of that time has left the heap, and return whether it is due. If it is not due
        yet, it gets another entry."""
        if entry != self._entry:
            return False  # an earlier entry has been here since
        self._entry = inf
        if self.deadline > now:
            if self.deadline < inf:
                self.set(self.deadline)
            return False
        return True


def _do_nothing(now: float) -> None:
    pass


class Deadlines:
    __slots__ = ("_entries", "_numbers", "on_earlier")

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self.on_earlier: Callable[[], object] = lambda: None
        """Called when something becomes due earlier than all else: a sleeper until `next` looks again."""

    @property
    def next(self) -> float:
        """Nothing is due before."""
        return self._entries[0][0] if self._entries else inf

    def push(self, deadline: float, timer: Timer) -> None:
        is_first = deadline < self.next
        heappush(self._entries, (deadline, next(self._numbers), timer))
        if is_first:
            self.on_earlier()

    def drop_cleared(self) -> None:
        """Remove the first entries as long as nothing is due for them. After that `next` is `inf` if nothing
        is due at any time."""
        while self._entries and not self._entries[0][2].needs(self._entries[0][0]):
            heappop(self._entries)

    def take_due(self, now: float) -> list[Timer]:
        """Remove and return the timers whose deadline has come. The caller has to fire each of them now.
        Deadlines that become due meanwhile wait for the next call."""
        ready: list[tuple[float, Timer]] = []
        while self._entries and self._entries[0][0] <= now:
            entry, _, timer = heappop(self._entries)
            ready.append((entry, timer))
        return [timer for entry, timer in ready if timer.has_come_up(entry, now)]
