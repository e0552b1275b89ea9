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
    return sum(map(_own_ms, {pid, *descendants(pid)}))


def descendants_ms(pid: int) -> float:
    """Return what the descendants of a process have used, without the process itself. Never raises."""
    return _buried_ms(pid) + sum(map(_own_ms, descendants(pid)))


def descendants(pid: int) -> set[int]:
    """Return the children of a process, their children, and so on, without the process itself. One that forks
    all the time may get away; who has to be sure asks again. Never raises."""
    family: set[int] = set()
    unseen, threads_left = [pid], MOST_THREADS
    while unseen and threads_left > 0:
        member = unseen.pop()
        if member in family:
            continue  # one whose parent ends gets another one, and may be met again
        family.add(member)
        threads = _threads(member)[:threads_left]
        threads_left -= len(threads)
        for thread in threads:
            unseen.extend(_children_of_thread(member, thread))
    return family - {pid}


def children(pid: int) -> list[int]:
    """Return the children of a process, in the order in which it started them."""
    return [child for thread in _threads(pid) for child in _children_of_thread(pid, thread)]


def _threads(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(f"/proc/{pid}/task")
    return []


def _children_of_thread(pid: int, thread: str) -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        return list(map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split()))
    return []


def _own_ms(pid: int) -> float:
    """Return the time of a process and of the children that it has waited for, which are counted nowhere
    else."""
    used = 0.0
    with contextlib.suppress(OSError):
        used += 1000 * time.clock_gettime(~pid << 3 | _SCHEDULER_CLOCK)
    return used + _buried_ms(pid)


def _buried_ms(pid: int) -> float:
    """Return what those children of a process have used that it has waited for."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return _TICK_MS * (int(fields[13]) + int(fields[14]))
    return 0.0
