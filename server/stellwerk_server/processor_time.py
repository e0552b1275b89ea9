"""The processor time that a process has used up to now, with all its descendants: for those that go on.

What a process has used in the end is told when it is waited for; but one that plays match after match is to
be charged for each of them. Linux has a clock for every process, finer than the ticks of /proc.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_SCHEDULER_CLOCK: Final = 2  # of the clocks that the kernel has for each process: the exact one
_TICK_MS: Final = 1000 / os.sysconf("SC_CLK_TCK")


def processor_ms(pid: int) -> float:
    """Of a process that may end at any time: of what has ended, as much as is left to be seen."""
    return sum(map(_own_ms, _family(pid)))


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


def _own_ms(pid: int) -> float:
    """With that of its children that it has waited for, who are seen nowhere else."""
    used = 0.0
    with contextlib.suppress(OSError):
        used += 1000 * time.clock_gettime(~pid << 3 | _SCHEDULER_CLOCK)
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used += _TICK_MS * (int(fields[13]) + int(fields[14]))
    return used
