"""The server's clock, in milliseconds. It stands still while the server itself is late.

Law: a bot is never charged for time in which the server had not come to look at its socket. Between two waits
the clock goes on by 5 ms at most; whatever a round of work takes longer than that never was.
"""

from __future__ import annotations

from typing import Final

import trio
from trio.abc import Instrument

ROUND_MS: Final = 5.0
ROUNDING: Final = 1e-6  # seconds; far more than what is lost between milliseconds and seconds


class ServerClock(Instrument):
    """Registered as an instrument of the Trio run, it learns when each round of work begins and ends."""

    def __init__(self) -> None:
        self._round_began = trio.current_time() * 1000
        self.late_ms = 0.0
        """For how long it has stood still."""

    def now(self) -> float:
        return min(trio.current_time() * 1000, self._round_began + ROUND_MS) - self.late_ms

    @property
    def round_began(self) -> float:
        """Nothing that is sent in this round was made earlier."""
        return self._round_began - self.late_ms

    def to_trio(self, time: float) -> float:
        """When, by Trio's clock, this one will show a time, if the server is not late until then. Never too
        early: who waited for a deadline would find that it has not come, and wait for it again at once."""
        return (time + self.late_ms) / 1000 + ROUNDING

    def after_io_wait(self, timeout: float) -> None:
        self._round_began = trio.current_time() * 1000

    def before_io_wait(self, timeout: float) -> None:
        over = trio.current_time() * 1000 - self._round_began - ROUND_MS
        if over > 0:
            self.late_ms += over
            self._round_began += over
