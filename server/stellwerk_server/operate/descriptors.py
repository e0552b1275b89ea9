"""File descriptors: as many as the machine allows, and never the last ones."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Callable
from typing import Final

KEPT_FREE: Final = 32  # for journals, replays and logs
KEPT_FREE_BY_MATCHES: Final = 16  # for replays: a match that is over has its journal open, and needs two more


def raise_limit() -> int:
    """Raise the soft limit to the hard one. Return the limit that holds now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return soft


def room_for_more(limit: int, kept_free: int = KEPT_FREE) -> Callable[[], bool]:
    """Return a function that checks whether enough descriptors stay free after one more. It asks for the
    lowest free number: a process has at least as many open, unless some were closed in between."""

    def has_room() -> bool:
        try:
            lowest_free = os.dup(0)
        except OSError:
            return False
        os.close(lowest_free)
        return lowest_free < limit - kept_free

    return has_room
