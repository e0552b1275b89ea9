"""Bots that are stopped while nobody asks them, so that none thinks on another's time.

Laws:
- all processes of a bot are stopped, or `freeze` says that this is impossible: by the freezer of cgroup 2 if
  the bot has a cgroup of its own, by that of version 1 if it has one there, and otherwise by SIGSTOP to each
  process of its family, until all are at rest and a look finds nobody new. A process that has got the signal
  starts no other one, except one that it was just about to start;
- nothing of ours is stopped, only what the bot started;
- `thaw` takes a few system calls and waits for nothing: it is called before the bot's clock starts;
- a bot that has ended is neither frozen nor an error.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Collection, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from stellwerk_processes.family import look_at_family

MOST_LOOKS: Final = 10  # at once, for new processes

_AT_WORK: Final = (b"R", b"D")  # running, or in the kernel and not to be disturbed


Progress: TypeAlias = Literal["stopped", "stopping", "impossible"]


class Freezer(Protocol):
    """Stops and continues one bot."""

    def freeze(self) -> Progress:
        """Stop the bot. If it is still stopping, call this again in a moment: it may have been about to start
        another process. If that is impossible, a part of it goes on."""
        ...

    def thaw(self) -> None:
        """Let the bot go on."""
        ...


@dataclass(slots=True)
class SignalFreezer:
    """Stops a bot by signals: the group that `pid` leads, and all its descendants. `spared` are processes of
    ours among them, such as one that supervises the bot. If `pid` is one of them, its group is not stopped as
    such."""

    pid: int
    spared: Set[int] = frozenset()
    _stopped: set[int] = field(default_factory=set[int])

    def freeze(self) -> Progress:
        if self.pid not in self.spared:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # seen below, process by process
                os.killpg(self.pid, signal.SIGSTOP)
        for _ in range(MOST_LOOKS):
            are_at_rest = all(map(_is_at_rest, self._stopped))  # before the look: what they start now is new
            family = look_at_family(self.pid)
            new = family.threads.keys() - self._stopped - self.spared
            if not family.is_complete or not all(map(self._stop, new)):
                return "impossible"
            if not new:
                return "stopped" if are_at_rest else "stopping"
        return "stopping"

    def _stop(self, pid: int) -> bool:
        self._stopped.add(pid)
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            pass
        except PermissionError:  # another user's
            return False
        return True

    def thaw(self) -> None:
        """Continue the group, and whoever was stopped outside of it. Those inside get the signal twice, which
        does nothing the second time."""
        if self.pid not in self.spared:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGCONT)
        for pid in self._stopped:
            # A stopped process does not end by itself, so its id is still its own.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGCONT)
        self._stopped.clear()


@dataclass(frozen=True, slots=True)
class CgroupFreezer:
    """Stops all processes of a cgroup. `file` is its `cgroup.freeze`, or `freezer.state` of version 1."""

    file: Path

    def freeze(self) -> Progress:
        return "stopped" if self._write(b"FROZEN" if self.is_version_1 else b"1") else "impossible"

    def thaw(self) -> None:
        self._write(b"THAWED" if self.is_version_1 else b"0")

    @property
    def is_version_1(self) -> bool:
        return self.file.name == VERSION_1_FILE

    def _write(self, word: bytes) -> bool:
        try:
            descriptor = os.open(self.file, os.O_WRONLY)
        except OSError:
            return False
        try:
            os.write(descriptor, word)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True


VERSION_2_FILE: Final = "cgroup.freeze"
VERSION_1_FILE: Final = "freezer.state"


def freezer_of(pid: int, *, cgroups: Collection[Path] = (), spared: Set[int] = frozenset()) -> Freezer:
    """Return the freezer of a bot. `cgroups` are the folders of cgroups that hold the bot and nothing of
    ours."""
    for name in (VERSION_2_FILE, VERSION_1_FILE):
        for folder in cgroups:
            if os.access(folder / name, os.W_OK):
                return CgroupFreezer(folder / name)
    return SignalFreezer(pid, spared)


def _is_at_rest(pid: int) -> bool:
    """Return whether no thread of a process runs. One that was asleep when the signal came runs no more."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:  # it has ended
        return True
    for thread in threads:
        with contextlib.suppress(OSError, IndexError):  # so has this one
            status = Path(f"/proc/{pid}/task/{thread}/stat").read_bytes()
            if status.rpartition(b")")[2].split()[0] in _AT_WORK:
                return False
    return True
