"""Waits at memory that processes share: they end in time, cost little, and say nothing about other bots."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest

from stellwerk_processes.bench.levels import Level
from stellwerk_processes.bench.waits import LONGEST, SHARE, SHORTEST, TIMED_OUT, Waits
from tests.processes.sandbox.test_inodes import FULL, LANDLOCK, NAMESPACE, printed, seen_by_other

CALL: Final = b"12345678"
THREAD, PLACE = 7, 4096


def lasted(seconds: float) -> list[float]:
    """Return how long the waits of a thread last, one after another, that wants to wait so long."""
    waits, now, found = Waits(), 0.0, list[float]()
    while now < seconds:
        waits.add(CALL, THREAD, PLACE, None, now)
        milliseconds = waits.milliseconds(now)
        assert milliseconds is not None
        assert waits.ended(now) == []
        now += milliseconds / 1000 + 1e-9
        assert waits.ended(now) == [(CALL, 0)]
        found.append(milliseconds / 1000)
    return found


def test_the_longer_a_wait_has_lasted_the_less_often_it_is_looked_at() -> None:
    found = lasted(10.0)
    assert all(after > before - 1e-9 for before, after in pairwise(found))
    assert found[0] == pytest.approx(SHORTEST)
    assert found[-1] == pytest.approx(LONGEST)
    assert all(part <= max(SHORTEST, sum(found[:number]) / SHARE) * 1.01 for number, part in enumerate(found))


def test_a_wait_ends_as_one_whose_time_is_over_when_that_is_so() -> None:
    waits = Waits()
    waits.add(CALL, THREAD, PLACE, SHORTEST / 2, 0.0)
    assert waits.milliseconds(0.0) == pytest.approx(SHORTEST * 500)
    assert waits.ended(SHORTEST / 2) == [(CALL, TIMED_OUT)]
    assert waits.milliseconds(1.0) is None


def test_a_wait_whose_time_was_over_before_it_began_ends_at_once() -> None:
    waits = Waits()
    waits.add(CALL, THREAD, PLACE, -1.0, 0.0)
    assert waits.milliseconds(0.0) == 0
    assert waits.ended(0.0) == [(CALL, TIMED_OUT)]


# -- in bots -----------------------------------------------------------------------------------------

FUTEX: Final = """
import ctypes, mmap, os, struct, sys, threading
FUTEX = 202 if os.uname().machine == "x86_64" else 98
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
program = os.open("/usr/bin/env", os.O_RDONLY)
place = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_PRIVATE, program, 0)
number = ctypes.c_uint32.from_address(place).value
def wait(seconds):
    until = struct.pack("qq", seconds, 0)
    return libc.syscall(FUTEX, ctypes.c_void_p(place), 0, number, until)
"""
WAITER: Final = (
    FUTEX
    + """
if sys.argv[1]:
    threading.Thread(target=lambda: [wait(1) for _ in range(60)], daemon=True).start()
print("there", flush=True)
sys.stdin.readline()
os._exit(0)
"""
)
WAKER: Final = (
    FUTEX
    + """
woken = 0
for _ in range({rounds}):
    woken += libc.syscall(FUTEX, ctypes.c_void_p(place), 1, 100)
    if woken:
        break
    os.sched_yield()
print(woken > 0, flush=True)
"""
)
MANY: Final = "1000"
UNTIL_WOKEN: Final = "10**9"


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE, FULL])
def test_a_bot_cannot_wake_another_one_that_waits_at_a_page_of_a_file(level: Level) -> None:
    assert seen_by_other(WAITER, WAKER.replace("{rounds}", MANY), level, "wait") == b"False\n"


def test_without_a_sandbox_it_can() -> None:
    assert seen_by_other(WAITER, WAKER.replace("{rounds}", UNTIL_WOKEN), "none", "wait") == b"True\n"


SHARED_LOCK: Final = """
import multiprocessing, os
lock = multiprocessing.get_context("fork").Lock()
lock.acquire()
if os.fork() == 0:
    lock.release()
    os._exit(0)
print(lock.acquire(), lock.acquire(timeout=0.01), flush=True)
"""


@pytest.mark.parametrize("level", [NAMESPACE, FULL])
def test_processes_of_a_bot_wait_for_each_other_and_give_up_in_time(level: Level) -> None:
    assert printed(SHARED_LOCK, level) == "True False\n"


THREADS: Final = """
import ctypes, os, threading
# The C library waits for the end of a thread as for another process.
libc = ctypes.CDLL(None)
work = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: None)
threads = [ctypes.c_ulong() for _ in range(8)]
for thread in threads:
    assert libc.pthread_create(ctypes.byref(thread), None, work, None) == 0
print([libc.pthread_join(thread, None) for thread in threads], flush=True)
"""


@pytest.mark.parametrize("level", [LANDLOCK, NAMESPACE, FULL])
def test_a_bot_can_wait_for_the_end_of_its_threads(level: Level) -> None:
    assert printed(THREADS, level) == "[0, 0, 0, 0, 0, 0, 0, 0]\n"
