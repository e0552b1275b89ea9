"""The server's clock, in milliseconds. It stands still while the server itself is late.

Law: a bot is never charged for time in which the server had not yet looked at its socket. A wait for I/O
counts for as long as its timeout, and the work between two waits for 5 ms at most. Longer times (the machine
is busy or suspended, the process is stopped) do not count.

Without a timeout, a wait that is late looks like one in which nothing came. So `wake_by` cuts waits into
pieces of 20 ms as long as anything has a deadline: a pause costs a bot no more than one piece.
"""

from __future__ import annotations

from math import inf
from typing import Final

import trio
from trio.abc import Instrument

ROUND_MS: Final = 5.0
PIECE_MS: Final = 20.0
ROUNDED_UP_MS: Final = 1.0  # the kernel takes the timeout of a wait in whole milliseconds
ROUNDING: Final = 1e-6  # seconds; far more than what is lost between milliseconds and seconds


class ServerClock(Instrument):
    """Registered as an instrument of the Trio run, it learns when each round of work begins and ends."""

    def __init__(self, piece_ms: float = PIECE_MS) -> None:
        self._piece_ms = piece_ms
        self._round_began = self._wait_began = trio.current_time() * 1000
        self.late_ms = 0.0
        """For how long it has been stopped, in total."""

    def now(self) -> float:
        return min(trio.current_time() * 1000, self._round_began + ROUND_MS) - self.late_ms

    @property
    def round_began(self) -> float:
        """Nothing that is sent in this round was made earlier."""
        return self._round_began - self.late_ms

    def wake_by(self, deadline: float) -> float:
        """Return until when to sleep, by Trio's clock, for something that is due by this one. Never return a
        little too little: the sleeper would see that the deadline has not come, and sleep for it again at
        once."""
        if deadline == inf:
            return inf
        return min((deadline + self.late_ms) / 1000 + ROUNDING, trio.current_time() + self._piece_ms / 1000)

    def before_io_wait(self, timeout: float) -> None:
        self._wait_began = trio.current_time() * 1000
        over = self._wait_began - self._round_began - ROUND_MS
        if over > 0:
            self.late_ms += over
            self._round_began += over

    def after_io_wait(self, timeout: float) -> None:
        self._round_began = trio.current_time() * 1000
        over = self._round_began - self._wait_began - timeout * 1000 - ROUNDED_UP_MS
        if over > 0:
            self.late_ms += over
