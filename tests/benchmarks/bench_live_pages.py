"""What the live pages cost an audience, in a real Chromium, with recorded games as a source.

CPU milliseconds of the page's main thread, as in `bench_page`: the longest task while the page opens, the
longest one afterwards, and all of them for each second. Then what the page still holds after hours of matches
that came and went: an hour of the server's clock passes here in as little time as the processes take, and the
heap is that after a collection of garbage.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from stellwerk_web.show.model import Show
from tests import tools
from tests.benchmarks.bench_page import tasks_in
from tests.benchmarks.rounds import print_table
from tests.browser import Browser, Page, started
from tests.golden.golden_games import FOLDER
from tests.web.recorded import RecordedSource, golden
from tests.web.serving import Life, showing

LIVE: Final = ("usa-5", "europe-5", "united_kingdom-4", "team_asia-6", "card_game-4")
PACE: Final = 2.0  # moves a second on the wall, as `stellwerk watch` has it
TICK_S: Final = 0.25
OPENING_S: Final = 6.0
DRAWN: Final = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def pass_time(life: Life, seconds: float) -> None:
    """Let time pass as it does in a hall."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        begin = time.monotonic()
        life.wait(TICK_S)
        time.sleep(max(0.0, TICK_S - (time.monotonic() - begin)))


def held(page: Page) -> list[str]:
    """Return the kilobytes of the heap and the number of nodes that are still there."""
    page.awaited(DRAWN)
    page.call("HeapProfiler.collectGarbage")
    heap = page.call("Runtime.getHeapUsage")["usedSize"]
    nodes = page.call("Memory.getDOMCounters")["nodes"]
    return [f"{heap / 1000:.0f} kB", f"{nodes:,}"]


def rush(show: Show, first: int) -> None:
    """Let 50 matches begin and end."""
    game = golden("usa-5")
    running = msgspec.structs.replace(game.head, state="running", points=msgspec.UNSET, ranks=msgspec.UNSET)
    for number in range(first, first + 50):
        show.match_listed(msgspec.structs.replace(running, match=f"rush-{number}"))
    for number in range(first, first + 50):
        show.match_listed(msgspec.structs.replace(game.head, match=f"rush-{number}"))


def rush_of_a_thousand(show: Show) -> None:
    for first in range(0, 1000, 50):
        rush(show, first)


def measured(
    browser: Browser,
    path: str,
    tables: int,
    seconds: float,
    hours: int,
    before: Callable[[Show], None] | None,
) -> list[str]:
    names = sorted(file.stem for file in FOLDER.glob("*.jsonl"))
    source = RecordedSource(list(LIVE), [name for name in names if name not in LIVE], PACE * 2)
    with showing(pace=PACE, tables=tables, source=source) as (life, show):
        life.wait(30.0)
        pages: list[Page] = []

        def open_page() -> None:
            pages.append(Page(browser, f"http://127.0.0.1:{life.port}/{path}", 1920, 1080))
            pass_time(life, OPENING_S)

        opening = tasks_in(browser.traced(open_page))
        [page] = pages
        if before is not None:
            life.do(partial(before, show))
        tasks = tasks_in(browser.traced(partial(pass_time, life, seconds)))
        row = [f"{max(opening):.0f}", f"{max(tasks):.0f}", f"{sum(tasks) / seconds:.0f}"]
        for hour in range(hours + 1):
            row += held(page)
            for minute in range(60 if hour < hours else 0):
                if before is not None:
                    life.do(partial(rush, show, 1000 * hour + 50 * minute))
                for _ in range(6):
                    life.wait(10.0)
                    page.awaited(DRAWN)
        page.close()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_live_pages", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each page (default: 20)")
    parser.add_argument("--hours", type=int, default=2, help="of the server's clock (default: 2)")
    arguments = parser.parse_args()
    rows: list[list[str]] = []
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        started(tools.browser(), Path(folder, "profile")) as browser,
    ):
        for name, path, tables, before in (
            ("overview, 1,000 matches", "", 4, rush_of_a_thousand),
            ("wall of 9 tables", "wall", 9, None),
            ("wall of 4 tables", "wall", 4, None),
            ("match", "match/live-1-0", 4, None),
        ):
            hours = arguments.hours
            rows.append([name, *measured(browser, path, tables, arguments.seconds, hours, before)])
    print("Live pages: CPU ms of the main thread, and what is held after hours")
    after = [f"after {hour} h" if hour else "at first" for hour in range(arguments.hours + 1)]
    print_table(
        (
            "page",
            "longest of opening",
            "longest task",
            "a second",
            *(word for each in after for word in (each, "nodes")),
        ),
        rows,
    )


if __name__ == "__main__":
    main()
