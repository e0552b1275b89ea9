"""One Hypothesis profile for all tests, Ctrl-C for all, and a list of what was missed (see `tests/tools.py`).

No deadline: an example plays whole games, and how long that takes says something about the machine only.
Where `CI` is set the examples follow from the tests' sources alone, so that a run can be repeated; elsewhere
each run tries new ones.

CI runs the whole suite on a machine without tools, and what was skipped there on one that has them all:
`--skipped-to` writes down which tests these are, `--only-in` runs them and no others.

`--cpu` lists the test files by processor time. A machine's load does not change it, as it does `--durations`.
"""

import os
import signal
from collections import Counter, defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

from tests import tools

# A background job of a shell ignores SIGINT, and so would each process of a test that sends it.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("exploring", deadline=None, print_blob=True)
settings.register_profile("repeatable", parent=settings.get_profile("exploring"), derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "exploring")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--skipped-to", metavar="FILE", help="write the ids of all skipped tests to FILE")
    parser.addoption("--only-in", metavar="FILE", help="run only the tests whose ids are in FILE")
    parser.addoption("--cpu", action="store_true", help="list the CPU seconds of each test file")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of `--only-in`. An id without a test is an error: CI would overlook that test."""
    file: str | None = config.getoption("--only-in")
    if file is None:
        return
    wanted = set(Path(file).read_text("utf-8").splitlines())
    unknown = sorted(wanted.difference(item.nodeid for item in items))
    if unknown:
        raise pytest.UsageError(f"{file}: {len(unknown)} of these tests do not exist, such as {unknown[0]}")
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
    items[:] = [item for item in items if item.nodeid in wanted]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for what a test needs before its fixtures are made."""
    tools.demand(*(name for mark in item.iter_markers("needs") for name in mark.args))


_CPU: Final = "CPU seconds"
_cpu_before = 0.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write into each report the CPU seconds since the one before, with those of all processes that ended."""
    global _cpu_before
    report = yield
    cpu = sum(os.times()[:4])
    report.user_properties.append((_CPU, cpu - _cpu_before))
    _cpu_before = cpu
    return report


def pytest_collection_finish() -> None:
    global _cpu_before
    _cpu_before = sum(os.times()[:4])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what is missing on this machine, how many tests needed it, and which package has it."""
    if terminalreporter.config.getoption("--cpu"):
        _list_cpu_seconds(terminalreporter)
    reports: list[pytest.TestReport] = terminalreporter.getreports("skipped")
    if (file := terminalreporter.config.getoption("--skipped-to")) is not None:
        Path(file).write_text("".join(f"{report.nodeid}\n" for report in reports), "utf-8")
    reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
    counts = Counter(each for reason in reasons for each in tools.missing_in(reason))
    if counts:
        terminalreporter.section("missing on this machine, and how many tests were skipped for it")
    for text, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        terminalreporter.write_line(f"{count:5}  {text}")


def _list_cpu_seconds(terminalreporter: pytest.TerminalReporter) -> None:
    seconds: defaultdict[str, float] = defaultdict(float)
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if isinstance(report, pytest.TestReport):
            file = report.nodeid.partition("::")[0]
            seconds[file] += sum(cpu for _, cpu in report.user_properties if isinstance(cpu, float))
    terminalreporter.section(f"{sum(seconds.values()):.0f} CPU seconds in tests and their processes")
    for file, cpu in sorted(seconds.items(), key=lambda item: -item[1]):
        terminalreporter.write_line(f"{cpu:8.1f}  {file}")
