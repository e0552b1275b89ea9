"""The processor's work for each answer of a bot, and the time that the machine added while the bot was asked.

Measured from the moment in which an ask is sent until its answer has come, where the kernel has it: the time
that the bot's processes used, the time that their threads were ready to run and did not (the run queue), and
what other guests of the host took from the processors meanwhile (steal).

Laws: measuring costs a few microseconds an answer; it never raises; what cannot be read counts as nothing. So
the family of a bot, and what was stolen, are looked at no more often than every 50 ms. A process that a bot
starts counts from the next look on. Time that was stolen since the last look counts to the bot whose answer
comes next, which is fair over many answers.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Set
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final

from stellwerk_processes.bench.family import look_at_family, reaped_ms, used_ms

LOOK_S: Final = 0.05  # between two looks
MOST_THREADS: Final = 64  # whose waiting is counted
MOST_OPEN: Final = 4  # of a bot's threads, of which a descriptor is kept: that makes reading cheaper

_TICK_MS: Final = 1000 / os.sysconf("SC_CLK_TCK")
_STEAL: Final = 8  # the field of a processor's line in /proc/stat
_SHORT: Final = 128  # bytes, more than a line of schedstat has


@dataclass(slots=True)
class AnswerSums:
    """Sums over the answers of a bot, in milliseconds. `stolen_ms` is that of one processor, on average over
    those that the bot may use. `waited_ms` has the waits of all threads, for one another, too."""

    cpu_ms: float = 0.0
    slowest_cpu_ms: float = 0.0
    waited_ms: float = 0.0
    stolen_ms: float = 0.0


class AnswerTimer:
    """Times the answers of a bot: of all descendants of its supervisor. `cgroup` is the folder of a control
    group of version 2 that holds the bot alone, if there is one: it counts all that it uses. `close` it."""

    def __init__(
        self,
        supervisor: int,
        processors: Set[int],
        *,
        cgroup: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        statistics: str = "/proc/stat",
    ) -> None:
        self.times = AnswerSums()
        self._family = _FamilyMeter(supervisor, cgroup, clock)
        self._steal = _StealMeter(processors, clock, statistics)
        self._is_asked = False
        self._before = AnswerSums()  # as the meters were when the ask was sent

    def begin(self) -> None:
        """Note that an ask is sent now."""
        before = self._before
        before.cpu_ms, before.waited_ms = self._family.read()
        before.stolen_ms = self._steal.known
        self._is_asked = True

    def end(self) -> None:
        """Note that the ask is over. Without `begin` nothing happens."""
        if not self._is_asked:
            return
        self._is_asked = False
        times, before = self.times, self._before
        used, waited = self._family.read()
        # What has been reaped is known to a tick only, and may seem to shrink.
        cpu_ms = max(0.0, used - before.cpu_ms)
        times.cpu_ms += cpu_ms
        times.slowest_cpu_ms = max(times.slowest_cpu_ms, cpu_ms)
        times.waited_ms += max(0.0, waited - before.waited_ms)
        times.stolen_ms += max(0.0, self._steal.read() - before.stolen_ms)

    def close(self) -> None:
        self._family.close()


class _FamilyMeter:
    """Reads what the descendants of a supervisor have used, and how long they have waited for a processor."""

    def __init__(self, supervisor: int, cgroup: Path | None, clock: Callable[[], float]) -> None:
        self._supervisor = supervisor
        self._cgroup: int | None = None
        if cgroup is not None:
            with contextlib.suppress(OSError):
                self._cgroup = os.open(cgroup / "cpu.stat", os.O_RDONLY)
        self._of_cgroup_ms = 0.0
        self._clock = clock
        self._look_again_at = -inf
        self._used: dict[int, float] = {}  # by process, as it was read last
        self._reaped_ms = 0.0  # of children that have been waited for
        self._waited: dict[str, float] = {}  # by the path of a thread's schedstat, as it was read last
        self._waited_before = 0.0  # of threads that have ended
        self._opened: dict[str, int] = {}  # their descriptors, as far as they are kept

    def read(self) -> tuple[float, float]:
        """Return the milliseconds used, and those waited."""
        now = self._clock()
        if now >= self._look_again_at:
            self._look_at_family()
            self._look_again_at = now + LOOK_S
        for path, known in self._waited.items():
            self._waited[path] = _waited_ms(path, self._opened.get(path), known)
        waited = self._waited_before + sum(self._waited.values())
        if self._cgroup is not None:  # it counts processes that have ended, too
            with contextlib.suppress(OSError, ValueError, IndexError):
                # `usage_usec` comes first.
                self._of_cgroup_ms = int(os.pread(self._cgroup, _SHORT, 0).split(None, 2)[1]) / 1e3
            return self._of_cgroup_ms, waited
        for pid, known in self._used.items():
            self._used[pid] = used_ms(pid, known)
        return sum(self._used.values()) + self._reaped_ms, waited

    def close(self) -> None:
        if self._cgroup is not None:
            os.close(self._cgroup)
            self._cgroup = None
        while self._opened:
            os.close(self._opened.popitem()[1])

    def _look_at_family(self) -> None:
        """Look for processes and threads that have come or gone."""
        family = look_at_family(self._supervisor).threads
        self._reaped_ms = sum(map(reaped_ms, family))
        members = [pid for pid in family if pid != self._supervisor]
        self._used = {pid: self._used.get(pid, 0.0) for pid in members}
        paths = [f"/proc/{pid}/task/{thread}/schedstat" for pid in members for thread in family[pid]]
        del paths[MOST_THREADS:]
        for path in self._waited.keys() - paths:
            self._waited_before += self._waited.pop(path)
            if path in self._opened:
                os.close(self._opened.pop(path))
        for path in paths:
            if path not in self._waited and len(self._opened) < MOST_OPEN:
                with contextlib.suppress(OSError):
                    self._opened[path] = os.open(path, os.O_RDONLY)
            self._waited.setdefault(path, 0.0)


def _waited_ms(path: str, opened: int | None, known: float) -> float:
    """Return how long a thread has waited for a processor; what was `known` if it has ended, or the kernel
    does not count this."""
    descriptor = opened
    with contextlib.suppress(OSError, ValueError, IndexError):
        if descriptor is None:
            descriptor = os.open(path, os.O_RDONLY)
        try:
            return int(os.pread(descriptor, _SHORT, 0).split()[1]) / 1e6
        finally:
            if opened is None:
                os.close(descriptor)
    return known


class _StealMeter:
    """Reads what other guests of the host have taken from some processors, on average over them."""

    def __init__(self, processors: Set[int], clock: Callable[[], float], statistics: str) -> None:
        self._statistics = statistics
        self._lines = frozenset(b"cpu%d" % number for number in processors)
        self._clock = clock
        self._look_again_at = -inf
        self.known = 0.0
        """As it was read last."""
        self.read()

    def read(self) -> float:
        """Return the milliseconds stolen, as of now or of a moment ago."""
        now = self._clock()
        if self._lines and now >= self._look_again_at:
            self._look_again_at = now + LOOK_S
            with contextlib.suppress(OSError, ValueError, IndexError):
                self.known = self._stolen_ms()
        return self.known

    def _stolen_ms(self) -> float:
        ticks = 0
        with open(self._statistics, "rb") as lines:
            for line in lines:
                fields = line.split()
                if not fields[0].startswith(b"cpu"):
                    break  # the processors come first
                if fields[0] in self._lines:
                    ticks += int(fields[_STEAL])
        return ticks * _TICK_MS / len(self._lines)
