"""Waits for a number in memory to change (futex), for memory that processes share.

The kernel finds waiting threads by file and page, even of a file that no bot may write to. So one bot could
wait at a page of a library, and another one could wake it and count. The filter (`seccomp.py`) leaves
only waits within one process to the kernel; the rest end here, after a short time, as the kernel may end any
wait: programs then look at the number, and wait again. Those who wait longer are woken less often.

Law: a wait ends when it was asked to, and not much later than the number changes.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False  # see `supervise.py`
if TYPE_CHECKING:
    from typing import Final

SHORTEST: Final = 0.001  # seconds
LONGEST: Final = 0.05
SHARE: Final = 8  # of the time that it has lasted, a wait lasts on
APART: Final = 0.1  # seconds between waits that are not the same one
MOST_KNOWN: Final = 1024
TIMED_OUT: Final = 110  # ETIMEDOUT
SIZE_OF_LIMIT: Final = 16  # a `struct timespec`

_WAIT, _COMMAND, _REAL_TIME = 0, 0x7F, 256


class Waits:
    """The open waits of a bot. `call` is what the kernel knows a wait by."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[float, float]] = {}
        self._due: list[tuple[float, bytes, int]] = []

    def add(self, call: bytes, thread: int, place: int, left: float | None, now: float) -> None:
        """Add a wait of a thread at a place in its memory. `left` is what it has until it ends anyway."""
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        begun, until = self._known.get((thread, place), (now, now))
        if now - until > APART:
            begun = now
        lasts = min(max((now - begun) / SHARE, SHORTEST), LONGEST)
        error = 0
        if left is not None and left <= lasts:
            lasts, error = max(left, 0.0), TIMED_OUT
        self._known[thread, place] = begun, now + lasts
        self._due.append((now + lasts, call, error))

    def milliseconds(self, now: float) -> float | None:
        """Return the time until one ends, if there is one."""
        return max(0.0, min(self._due)[0] - now) * 1000 if self._due else None

    def ended(self, now: float) -> list[tuple[bytes, int]]:
        """Return those whose time is over, with the error to answer."""
        over = [(call, error) for until, call, error in self._due if until <= now]
        self._due = [each for each in self._due if each[0] > now]
        return over


def time_left(command: int, limit: bytes) -> float:
    """Return how long a wait may last at most, from the command and its `struct timespec`."""
    seconds = int.from_bytes(limit[:8], "little", signed=True) + int.from_bytes(limit[8:], "little") / 1e9
    if command & _COMMAND == _WAIT:
        return seconds
    clock = time.CLOCK_REALTIME if command & _REAL_TIME else time.CLOCK_MONOTONIC
    return seconds - time.clock_gettime(clock)
