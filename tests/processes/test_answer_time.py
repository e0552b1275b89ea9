"""What is measured of each answer of a bot: its own work, and what the machine added."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

from stellwerk_processes.bench.answer_time import AnswerTimer
from stellwerk_processes.bench.supervise import children
from tests.tools import needs

# For each line, which says how many milliseconds, uses so much of the processor, and writes a line. With
# "child" another process of its own does it, which stays.
WORKER = """
import subprocess, sys, time
child = None
for line in sys.stdin:
    who, _, rest = line.strip().rpartition(" ")
    if who:
        pipe = subprocess.PIPE
        child = child or subprocess.Popen(sys.orig_argv, stdin=pipe, stdout=pipe, text=True)
        child.stdin.write(rest + "\\n")
        child.stdin.flush()
        child.stdout.readline()
    else:
        end = time.process_time() + int(rest) / 1000
        while time.process_time() < end:
            pass
    print(flush=True)
"""
BURNER = "while True: pass"


@contextlib.contextmanager
def supervised() -> Generator[subprocess.Popen[str]]:
    """Run a process of ours with a bot below it, which works for each answer."""
    with subprocess.Popen(
        [sys.executable, "-I", "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as ours:
        work(ours, "child 0")  # both have started
        yield ours
        assert ours.stdin is not None
        ours.stdin.close()


def work(ours: subprocess.Popen[str], line: str) -> None:
    assert ours.stdin is not None
    assert ours.stdout is not None
    ours.stdin.write(line + "\n")
    ours.stdin.flush()
    ours.stdout.readline()


def answer(timer: AnswerTimer, ours: subprocess.Popen[str], milliseconds: int) -> None:
    timer.begin()
    work(ours, f"child {milliseconds}")
    timer.end()


@needs("children of a process")
def test_the_processor_time_of_answers_counts_and_what_is_used_between_them_does_not() -> None:
    with supervised() as ours, contextlib.closing(AnswerTimer(ours.pid, set())) as timer:
        answer(timer, ours, 20)
        work(ours, "child 2000")
        answer(timer, ours, 50)
    assert timer.times.cpu_ms >= 20 + 50
    assert timer.times.cpu_ms < 2000
    assert 50 <= timer.times.slowest_cpu_ms <= timer.times.cpu_ms - 20


@needs("children of a process")
def test_a_process_of_ours_does_not_count_and_those_below_it_do() -> None:
    with supervised() as ours, contextlib.closing(AnswerTimer(ours.pid, set())) as timer:
        timer.begin()
        work(ours, "500")
        timer.end()
        assert timer.times.cpu_ms < 500
        answer(timer, ours, 60)
        assert timer.times.cpu_ms >= 60


def test_the_cgroup_of_a_bot_counts_for_it(tmp_path: Path) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 5000\nuser_usec 3\nsystem_usec 2\n")
    timer = AnswerTimer(os.getpid(), set(), cgroup=tmp_path)
    with contextlib.closing(timer):
        timer.begin()
        (tmp_path / "cpu.stat").write_text("usage_usec 47000\nuser_usec 7\n")
        timer.end()
    assert timer.times.cpu_ms == 42


@needs("children of a process")
def test_the_wait_for_a_processor_that_somebody_else_uses_is_counted() -> None:
    one = min(os.sched_getaffinity(0))
    with (
        supervised() as ours,
        subprocess.Popen([sys.executable, "-I", "-c", BURNER]) as other,
        contextlib.closing(AnswerTimer(ours.pid, set())) as timer,
    ):
        [bot] = children(ours.pid)
        os.sched_setaffinity(bot, {one})
        os.sched_setaffinity(other.pid, {one})
        try:
            answer(timer, ours, 100)
        finally:
            other.kill()
    assert timer.times.waited_ms > 0


def test_what_other_guests_of_the_host_take_is_counted_for_one_processor_of_the_bot(tmp_path: Path) -> None:
    statistics = tmp_path / "stat"

    def steal(*ticks: int) -> None:
        lines = [f"cpu{number} 1 2 3 4 5 6 7 {count} 0 0\n" for number, count in enumerate(ticks)]
        statistics.write_text("cpu  1 2 3 4 5 6 7 999 0 0\n" + "".join(lines) + "intr 1 2 3\n")

    seconds = 0.0
    steal(10, 10, 10)
    timer = AnswerTimer(os.getpid(), {0, 2}, clock=lambda: seconds, statistics=str(statistics))
    with contextlib.closing(timer):
        seconds += 1
        timer.begin()
        steal(12, 99, 14)
        timer.end()
    tick_ms = 1000 / os.sysconf("SC_CLK_TCK")
    assert timer.times.stolen_ms == (2 + 4) / 2 * tick_ms


def test_a_bot_that_ends_and_a_machine_that_tells_nothing_are_no_errors(tmp_path: Path) -> None:
    with supervised() as ours:
        timer = AnswerTimer(ours.pid, {0}, statistics=str(tmp_path / "none"))
        answer(timer, ours, 10)
        timer.begin()
    timer.end()
    timer.begin()
    timer.end()
    timer.close()
    assert timer.times.cpu_ms >= 10


def test_a_closed_timer_keeps_no_descriptor_and_closes_no_other_one(tmp_path: Path) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 5000\n")
    before = os.listdir("/proc/self/fd")
    timer = AnswerTimer(os.getpid(), {0}, cgroup=tmp_path)
    timer.begin()
    timer.end()
    assert len(os.listdir("/proc/self/fd")) > len(before)
    timer.close()
    assert os.listdir("/proc/self/fd") == before
    others = os.pipe()  # with the numbers that have become free
    timer.close()
    for other in others:
        os.close(other)
