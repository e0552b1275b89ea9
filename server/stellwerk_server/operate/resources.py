"""The resources of a server's process: file descriptors, memory, and the collector of cycles.

Descriptors: as many as the machine allows, and never the last ones. By default Python looks for cycles every
700 new objects, and at all of them every now and then. A server makes thousands of short-lived records a
second, none of them in a cycle, beside hundreds of matches that live for long: looking took 30 % of the time
of a decision (measured). Cycles are left behind by matches only, some dozens of objects each.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
from collections.abc import Callable
from typing import Final

KEPT_FREE: Final = 32  # for journals, replays and logs
KEPT_FREE_BY_MATCHES: Final = 16  # for replays: a match that is over has its journal open, and needs two more
NEW_OBJECTS: Final = 100_000  # between two looks at the youngest: a few MB
YOUNG_LOOKS: Final = 50
OLD_LOOKS: Final = 100


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


def resident_kb() -> int | None:
    """Return how much memory this process occupies, in kB. Only Linux shows it."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for text in status:
                if text.startswith("VmRSS:"):
                    return int(text.split()[1])
    except OSError:
        pass
    return None


def collect_rarely() -> None:
    """Make the collector run rarely, and never look again at what has been loaded by now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, YOUNG_LOOKS, OLD_LOOKS)
