"""Rating in a thread, for a small share of the processor's time, however many matches there are."""

from __future__ import annotations

from collections.abc import Sequence
from time import thread_time
from typing import Final

import trio

from stellwerk_web.show.results import Counted, Rated, rated

LEAST_S: Final = 2.0
MOST_S: Final = 30.0
SHARE: Final = 0.1


async def rate_aside(matches: Sequence[Counted]) -> tuple[Rated, float]:
    """Rate matches in a thread. Return the ratings, and how many seconds to wait before the next time."""
    ratings, seconds = await trio.to_thread.run_sync(_rate_and_time, matches)
    return ratings, min(MOST_S, max(LEAST_S, seconds / SHARE))


def _rate_and_time(matches: Sequence[Counted]) -> tuple[Rated, float]:
    began = thread_time()
    return rated(matches), thread_time() - began
