"""Bots that are stopped with all that they have started, and go on."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path

from stellwerk_processes.bench.family import look_at_family, used_ms
from stellwerk_processes.bench.freezer import CgroupFreezer, SignalFreezer, freezer_of
from stellwerk_processes.bench.supervise import children
from tests.tools import SETPRIV, cgroup_root, needs

# Each burns its processor, and says first who it is. The words are how its descendants are started: in the
# same session, or each in one of its own.
BURNER = """
import os, subprocess, sys
if sys.argv[1:]:
    code = os.environ["BURNER"]
    own = sys.argv[1] == "own-session"
    child = subprocess.Popen([sys.executable, "-I", "-c", code, *sys.argv[2:]], start_new_session=own)
print(os.getpid(), flush=True)
while True:
    pass
"""
# Starts 300 processes, each in a session of its own, as fast as it can.
STARTER = """
import os, signal
print(os.getpid(), flush=True)
for _ in range(300):
    if not os.fork():
        os.setsid()
        signal.pause()
signal.pause()
"""
# Starts a process that burns its processor, and sees to it that nothing is left of that when it has ended.
REAPER = """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-c", "while True: pass"])
print(os.getpid(), flush=True)
print(child.pid, flush=True)
child.wait()
signal.pause()
"""
SECONDS = 60  # far more than any test takes: a test that hangs should say so
BURNT = 0.05  # seconds of our own processor time, in which a bot that goes on uses much


@contextlib.contextmanager
def running(code: str, *words: str) -> Generator[tuple[int, list[int]]]:
    """Run a bot below a process of ours. Yield the id of that, and the bot's processes that say who they
    are."""
    with subprocess.Popen(
        ["/bin/sh", "-c", '"$@" & wait', "sh", sys.executable, "-I", "-c", code, *words],
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "BURNER": BURNER},
    ) as ours:
        assert ours.stdout is not None
        try:
            yield ours.pid, [int(ours.stdout.readline()) for _ in range(1 + len(words))]
        finally:
            for pid in look_at_family(ours.pid).threads:
                end(pid)


def end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def used(pids: Iterable[int]) -> list[float]:
    return [used_ms(pid) for pid in pids]


def burn() -> None:
    begin = time.process_time()
    while time.process_time() < begin + BURNT:
        pass


def burn_until(done: Callable[[], bool]) -> None:
    """Wait without giving the processor away."""
    until = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < until


def expect_frozen(pids: list[int]) -> None:
    burn_until(lambda: all(map(is_stopped, pids)))
    expect_no_use(pids)


def expect_no_use(pids: list[int]) -> None:
    before = used(pids)
    burn()
    assert used(pids) == before


def expect_going_on(pids: list[int]) -> None:
    before = used(pids)
    burn_until(lambda: all(now > then for now, then in zip(used(pids), before, strict=True)))


pytestmark = needs("children of a process")


def test_a_frozen_bot_uses_no_processor_and_a_thawed_one_goes_on() -> None:
    with running(BURNER) as (ours, family):
        freezer = freezer_of(ours, None)
        burn_until(lambda: freezer.freeze() == "stopped")
        expect_frozen(family)
        freezer.thaw()
        expect_going_on(family)


def test_children_and_grandchildren_in_sessions_of_their_own_are_frozen_with_their_bot() -> None:
    with running(BURNER, "same-session", "own-session", "own-session") as (ours, family):
        freezer = SignalFreezer(ours)
        burn_until(lambda: freezer.freeze() == "stopped")
        expect_frozen(family)
        freezer.thaw()
        expect_going_on(family)


def test_a_bot_that_starts_processes_as_fast_as_it_can_is_frozen_whole() -> None:
    with running(STARTER) as (ours, [bot]):
        freezer = SignalFreezer(ours)
        burn_until(lambda: len(look_at_family(bot).threads) > 10)
        burn_until(lambda: freezer.freeze() == "stopped")
        members = look_at_family(bot).threads.keys()
        burn()
        assert look_at_family(bot).threads.keys() == members
        burn_until(lambda: all(map(is_stopped, members)))
        freezer.thaw()
        burn_until(lambda: len(look_at_family(bot).threads) == 1 + 300)


def test_the_process_of_ours_above_them_is_spared() -> None:
    with running(BURNER, "same-session", "own-session") as (shell, family):
        [ours] = children(shell)  # as if this one supervised the others
        theirs = [pid for pid in family if pid != ours]
        freezer = SignalFreezer(ours)
        burn_until(lambda: freezer.freeze() == "stopped")
        expect_frozen(theirs)
        expect_going_on([ours])
        freezer.thaw()
        expect_going_on(theirs)


def test_a_bot_that_has_ended_is_no_error() -> None:
    with running(BURNER) as (ours, [bot]):
        freezer = SignalFreezer(ours)
        end(bot)
        burn_until(lambda: not Path(f"/proc/{bot}").exists())
        burn_until(lambda: freezer.freeze() == "stopped")
        freezer.thaw()


def test_a_process_that_was_stopped_and_has_ended_is_at_rest() -> None:
    with running(REAPER, "child") as (_, [ours, child]):
        freezer = SignalFreezer(ours)
        burn_until(lambda: freezer.freeze() == "stopped")
        end(child)
        burn_until(lambda: not Path(f"/proc/{child}").exists())
        assert freezer.freeze() == "stopped"


@needs("another user")
def test_a_bot_that_may_not_be_stopped_is_not_called_frozen() -> None:
    code = (
        "import sys; from stellwerk_processes.bench.freezer import *;"
        "print(freezer_of(int(sys.argv[1]), None).freeze())"
    )
    with running(BURNER) as (ours, [bot]):
        asked = subprocess.run(
            [*SETPRIV, sys.executable, "-c", code, str(ours)], capture_output=True, text=True, check=True
        )
        assert asked.stdout == "impossible\n"
        assert not is_stopped(bot)


@needs("cgroups of version 2")
def test_a_bot_with_a_cgroup_is_frozen_by_it() -> None:
    with in_cgroup(cgroup_root()) as (group, ours, family):
        freezer = freezer_of(ours, group)
        assert isinstance(freezer, CgroupFreezer)
        burn_until(lambda: freezer.freeze() == "stopped")
        burn_until(lambda: "frozen 1" in (group / "cgroup.events").read_text())
        expect_no_use(family)
        freezer.thaw()
        expect_going_on(family)


@contextlib.contextmanager
def in_cgroup(root: Path | None) -> Generator[tuple[Path, int, list[int]]]:
    """Run a bot with descendants in a cgroup of its own."""
    assert root is not None
    group = root / f"stellwerk-test-{secrets.token_hex(8)}"
    group.mkdir()
    try:
        with running(BURNER, "same-session", "own-session") as (ours, family):
            for pid in family:
                (group / "cgroup.procs").write_text(str(pid))
            yield group, ours, family
        burn_until(lambda: not (group / "cgroup.procs").read_text())
    finally:
        group.rmdir()
