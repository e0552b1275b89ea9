"""The processor time that a process has used up to now, with all its descendants: for those that go on.

The kernel reports what a process has used when it is waited for, at its end. But a process that plays match
after match is to be charged for each of them. Linux has a clock for every process, finer than the ticks of
/proc.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Final

MOST_THREADS: Final = 2000  # of all the family that are looked at: nobody is to wait for a bot with more

_SCHEDULER_CLOCK: Final = 2  # of the clocks that the kernel has for each process: the exact one
_TICK_MS: Final = 1000 / os.sysconf("SC_CLK_TCK")


def processor_ms(pid: int) -> float:
    """Return the time of a process, which may end at any time and have any name. Of descendants that have
    ended, count what can still be seen. Never raises."""
    return sum(map(_own_ms, _family(pid)))


def _family(pid: int) -> set[int]:
    family: set[int] = set()
    unseen, threads_left = [pid], MOST_THREADS
    while unseen and threads_left > 0:
        member = unseen.pop()
        if member in family:
            continue  # one whose parent ends gets another one, and may be met again
        family.add(member)
        with contextlib.suppress(OSError, ValueError):
            for thread in os.listdir(f"/proc/{member}/task")[:threads_left]:
                threads_left -= 1
                children = Path(f"/proc/{member}/task/{thread}/children").read_bytes()
                unseen.extend(map(int, children.split()))
    return family


def _own_ms(pid: int) -> float:
    """Return the time of a process and of the children that it has waited for, which are counted nowhere
    else."""
    used = 0.0
    with contextlib.suppress(OSError, ValueError, IndexError):
        used += 1000 * time.clock_gettime(~pid << 3 | _SCHEDULER_CLOCK)
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        used += _TICK_MS * (int(fields[13]) + int(fields[14]))
    return used
