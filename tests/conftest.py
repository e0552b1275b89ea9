"""One Hypothesis profile for all tests, and a list of what some of them missed (see `tests/tools.py`).

No deadline: an example plays whole games, and how long that takes says something about the machine only.
Where `CI` is set the examples follow from the tests' sources alone, so that a run can be repeated; elsewhere
each run tries new ones.
"""

import os
from collections import Counter

import pytest
from hypothesis import settings

from tests import tools

settings.register_profile("exploring", deadline=None, print_blob=True)
settings.register_profile("repeatable", parent=settings.get_profile("exploring"), derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "exploring")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for what a test needs before its fixtures are made."""
    tools.demand(*(name for mark in item.iter_markers("needs") for name in mark.args))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what is missing on this machine, how many tests needed it, and which package has it."""
    reports: list[pytest.TestReport] = terminalreporter.getreports("skipped")
    reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
    counts = Counter(each for reason in reasons for each in tools.missing_in(reason))
    if counts:
        terminalreporter.section("missing on this machine, and how many tests were skipped for it")
    for text, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        terminalreporter.write_line(f"{count:5}  {text}")
