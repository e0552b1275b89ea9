"""A bot's processes: the first one with all its descendants, and what the kernel counts of each.

The kernel reports what a process has used when it is waited for, at its end. But a bot that plays match after
match is charged for each of them. Linux has a clock for every process, finer than the ticks of /proc.

Law: nothing here raises. A process may end at any time, and have any name.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOST_THREADS: Final = (
    2000  # of a whole family, that are looked at: a bot with more must not hold up the others
)

_SCHEDULER_CLOCK: Final = 2  # of the clocks that the kernel has for each process: the exact one
_TICK_MS: Final = 1000 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Family:
    """A process and its descendants, each with the ids of its threads, as far as they were looked at."""

    threads: dict[int, tuple[str, ...]]
    is_complete: bool


def look_at_family(pid: int) -> Family:
    """Look at a process, and at all that it has started and whose parents still live."""
    family: dict[int, tuple[str, ...]] = {}
    unseen, threads_left = [pid], MOST_THREADS
    is_complete = os.path.exists("/proc/thread-self/children")  # a kernel may have been made without it
    while unseen and threads_left > 0:
        member = unseen.pop()
        if member in family:
            continue  # one whose parent ends gets another one, and may be met again
        family[member] = ()
        with contextlib.suppress(OSError, ValueError):
            threads = os.listdir(f"/proc/{member}/task")
            is_complete = is_complete and len(threads) <= threads_left
            family[member] = tuple(threads[:threads_left])
            for thread in family[member]:
                threads_left -= 1
                children = Path(f"/proc/{member}/task/{thread}/children").read_bytes()
                unseen.extend(map(int, children.split()))
    return Family(family, is_complete and not unseen)


def descendants_ms(pid: int) -> float:
    """Return what the descendants of a process have used up to now, without the process itself. For processes
    that have ended, count the time that can still be seen."""
    family = look_at_family(pid).threads.keys()
    return reaped_ms(pid) + sum(used_ms(each) + reaped_ms(each) for each in family - {pid})


def used_ms(pid: int, known: float = 0.0) -> float:
    """Return the processor time that a process has used itself; what was `known` if it has ended."""
    try:
        return 1000 * time.clock_gettime(~pid << 3 | _SCHEDULER_CLOCK)
    except OSError:
        return known


def reaped_ms(pid: int) -> float:
    """Return what the children that a process has waited for have used, to a tick of the kernel."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return _TICK_MS * (int(fields[13]) + int(fields[14]))
    return 0.0
