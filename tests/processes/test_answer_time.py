"""What is measured of each answer of a bot: its own work, and what the machine added."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from stellwerk_processes.answer_time import AnswerTimer
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
def worker() -> Generator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-I", "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        work(process, "0")  # it has started
        yield process
        assert process.stdin is not None
        process.stdin.close()


def work(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    process.stdout.readline()


def answer(timer: AnswerTimer, process: subprocess.Popen[str], line: str) -> None:
    timer.begin()
    work(process, line)
    timer.end()


def test_the_processor_time_of_answers_counts_and_what_is_used_between_them_does_not() -> None:
    with worker() as bot, contextlib.closing(AnswerTimer(bot.pid, set())) as timer:
        answer(timer, bot, "20")
        work(bot, "2000")
        answer(timer, bot, "50")
    assert timer.times.cpu_ms >= 20 + 50
    assert timer.times.cpu_ms < 2000
    assert 50 <= timer.times.slowest_cpu_ms <= timer.times.cpu_ms - 20


@needs("children of a process")
def test_what_processes_of_a_bot_use_counts_as_its_own() -> None:
    seconds = 0.0
    with worker() as bot, contextlib.closing(AnswerTimer(bot.pid, set(), clock=lambda: seconds)) as timer:
        work(bot, "child 0")
        seconds += 1
        answer(timer, bot, "child 60")
    assert timer.times.cpu_ms >= 60


@needs("children of a process")
def test_a_process_of_ours_does_not_count_and_those_below_it_do() -> None:
    with worker() as ours:
        work(ours, "child 0")
        timer = AnswerTimer(ours.pid, set(), spared={ours.pid})
        with contextlib.closing(timer):
            answer(timer, ours, "500")
            assert timer.times.cpu_ms < 500
            answer(timer, ours, "child 60")
            assert timer.times.cpu_ms >= 60


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("cpu.stat", "usage_usec 5000\nuser_usec 3\nsystem_usec 2\n", "usage_usec 47000\nuser_usec 7\n"),
        ("cpuacct.usage", "5000000\n", "47000000\n"),
    ],
)
def test_the_cgroup_of_a_bot_counts_for_it(tmp_path: Path, name: str, before: str, after: str) -> None:
    (tmp_path / name).write_text(before)
    timer = AnswerTimer(os.getpid(), set(), cgroups=[tmp_path / "none", tmp_path])
    with contextlib.closing(timer):
        timer.begin()
        (tmp_path / name).write_text(after)
        timer.end()
    assert timer.times.cpu_ms == 42


def test_the_wait_for_a_processor_that_somebody_else_uses_is_counted() -> None:
    one = min(os.sched_getaffinity(0))
    with (
        worker() as bot,
        subprocess.Popen([sys.executable, "-I", "-c", BURNER]) as other,
        contextlib.closing(AnswerTimer(bot.pid, set())) as timer,
    ):
        os.sched_setaffinity(bot.pid, {one})
        os.sched_setaffinity(other.pid, {one})
        try:
            answer(timer, bot, "100")
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
    with worker() as bot:
        timer = AnswerTimer(bot.pid, {0}, statistics=str(tmp_path / "none"))
        answer(timer, bot, "10")
        timer.begin()
    timer.end()
    timer.begin()
    timer.end()
    timer.close()
    assert timer.times.cpu_ms >= 10


def test_a_closed_timer_keeps_no_descriptor_and_closes_no_other_one(tmp_path: Path) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 5000\n")
    before = os.listdir("/proc/self/fd")
    timer = AnswerTimer(os.getpid(), {0}, cgroups=[tmp_path])
    timer.begin()
    timer.end()
    assert len(os.listdir("/proc/self/fd")) > len(before)
    timer.close()
    assert os.listdir("/proc/self/fd") == before
    others = os.pipe()  # with the numbers that have become free
    timer.close()
    for other in others:
        os.close(other)
