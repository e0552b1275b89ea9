"""Bots that are stopped while they are not asked, so that none thinks on another's time.

Laws:
- all processes of a bot are stopped, or `freeze` says that this is impossible: by the freezer of cgroup 2 if
  the bot has a cgroup of its own, and otherwise by SIGSTOP to each process of its family, until all are at
  rest and a look finds no new one. A process that has got the signal starts no other one, except one that it
  was just about to start;
- nothing of ours is stopped, only what the bot started;
- `thaw` takes a few system calls and waits for nothing: it is called before the bot's clock starts;
- a bot that has ended is neither frozen nor an error.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from stellwerk_processes.bench.family import look_at_family

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
        """Continue the bot."""
        ...


@dataclass(slots=True)
class SignalFreezer:
    """Stops a bot by signals to all descendants of its supervisor."""

    supervisor: int
    _stopped: set[int] = field(default_factory=set[int])

    def freeze(self) -> Progress:
        for _ in range(MOST_LOOKS):
            are_at_rest = all(map(_is_at_rest, self._stopped))  # before the look: what they start now is new
            family = look_at_family(self.supervisor)
            new = family.threads.keys() - self._stopped - {self.supervisor}
            if not family.is_complete or not all(map(self._stop_process, new)):
                return "impossible"
            if not new:
                return "stopped" if are_at_rest else "stopping"
        return "stopping"

    def _stop_process(self, pid: int) -> bool:
        self._stopped.add(pid)
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            pass
        except PermissionError:  # another user's
            return False
        return True

    def thaw(self) -> None:
        for pid in self._stopped:
            # A stopped process does not end by itself, so its id is still its own.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGCONT)
        self._stopped.clear()


@dataclass(frozen=True, slots=True)
class CgroupFreezer:
    """Stops all processes of a control group of version 2. `file` is its `cgroup.freeze`."""

    file: Path

    def freeze(self) -> Progress:
        try:
            self._write(b"1")
        except OSError:
            return "impossible"
        return "stopped"

    def thaw(self) -> None:
        with contextlib.suppress(OSError):
            self._write(b"0")

    def _write(self, word: bytes) -> None:
        descriptor = os.open(self.file, os.O_WRONLY)
        try:
            os.write(descriptor, word)
        finally:
            os.close(descriptor)


def freezer_of(supervisor: int, cgroup: Path | None) -> Freezer:
    """Return the freezer of the bot below a supervisor. `cgroup` is the folder of a group of version 2 that
    holds the bot and nothing of ours, if there is one."""
    if cgroup is not None and os.access(cgroup / "cgroup.freeze", os.W_OK):
        return CgroupFreezer(cgroup / "cgroup.freeze")
    return SignalFreezer(supervisor)


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
