"""Orphans: what a bot leaves when it has killed the supervisor that would have ended it.

At the level `none`, and at `limits` on a kernel whose Landlock knows no signals (before Linux 6.12), a bot
may signal whatever its user may, so also its supervisor. At `limits` it can still set a limit that ends it.
Its processes then become children of this one, the next that takes in orphans, and are ended here.

Laws:
- a child is ended only if this program did not start it, if it was not there before the first bot, and if it
  is in another session: bots begin in sessions of their own, and no process can enter one that exists;
- orphans are taken in only while bots run: those of other programs are none of our business;
- what is ended is waited for, so that its id can be used again;
- a bot that kills this program as well leaves its processes to the system.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Final

from stellwerk_processes.bench.supervise import children, descendants

SECONDS: Final = 5.0  # to end them; one that the kernel does not let go of stays
PAUSE: Final = 0.001  # until the next look

_SET_CHILD_SUBREAPER: Final = 36

_starting: Final = threading.Lock()  # while a new process has not been noted yet
_noted: Final[set[int]] = set()
_others: Final[set[int]] = set()
_libc: Final = ctypes.CDLL(None)


def start_noted(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a process of ours, which is no orphan until `forget` is called with its id."""
    with _starting:
        if not _noted:
            _others.clear()
            _others.update(children(os.getpid()))
            _take_in(True)
        try:
            started = start()
            _noted.add(started.pid)
        finally:
            _take_in(bool(_noted))
        return started


def forget(pid: int) -> None:
    """Forget a process of ours that has been waited for."""
    with _starting:
        _noted.discard(pid)
        _take_in(bool(_noted))


def _take_in(takes: bool) -> None:
    _libc.prctl(_SET_CHILD_SUBREAPER, int(takes), 0, 0, 0)


def end_orphans() -> bool:
    """End all orphans with all their descendants. Return whether none is left. Wait for that, but not for
    ever."""
    until = time.monotonic() + SECONDS
    while orphans := _find_orphans():
        if time.monotonic() > until:
            return False
        for pid in orphans:
            for each in (pid, *descendants(pid)):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(each, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(PAUSE)
    return True


def _find_orphans() -> list[int]:
    session = os.getsid(0)
    found: list[int] = []
    with _starting:
        for pid in children(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                if pid not in _noted and pid not in _others and os.getsid(pid) != session:
                    found.append(pid)
    return found
