"""When the runner itself was late, so that it is not taken for a bot's slowness.

The clock of a match stands still while its server is late (`stellwerk_server.net.clock`), so no bot is
charged for that. But what made the runner late may have kept the bots from the processor too, just then.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import trio
from trio.abc import Instrument

MOST_MS: Final = 25.0


class LagWatch(Instrument):
    """An instrument of the Trio run. `count` is how often a round of work took too long, `late_ms` how long
    all of these took."""

    def __init__(self) -> None:
        self.count = 0
        self.late_ms = 0.0
        self._since = trio.current_time()
        self._until = self._since

    def before_io_wait(self, timeout: float) -> None:
        now = trio.current_time()
        self._note((now - self._since) * 1000)
        self._until = now + timeout

    def after_io_wait(self, timeout: float) -> None:
        """Count a wait that ended long after it should have: that is lateness too."""
        self._since = trio.current_time()
        self._note((self._since - self._until) * 1000)

    def _note(self, ms: float) -> None:
        if ms > MOST_MS:
            self.count += 1
            self.late_ms += ms


@contextmanager
def watched_lag() -> Generator[LagWatch]:
    """Watch for as long as the block runs."""
    lag = LagWatch()
    trio.lowlevel.add_instrument(lag)
    try:
        yield lag
    finally:
        trio.lowlevel.remove_instrument(lag)
