"""What the match page costs its reader, in a real Chromium: the longest golden game of each kind.

CPU milliseconds of the page's main thread, medians over a few openings. On a machine with nothing else to do
they are what a reader waits, and how long the picture stands still: until the map is drawn, for the longest
task of a jump to another turn, for the longest task while the match plays at the highest speed, and to check
the whole match, with its longest task. Real time to the map is beside it; other processes make that longer.
"""

from __future__ import annotations

import argparse
import base64
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import inf
from pathlib import Path
from statistics import median
from typing import Final

from stellwerk_page.one_file import page_of
from tests import tools
from tests.benchmarks.rounds import print_table
from tests.browser import Browser, Message, Page, started

GOLDEN: Final = Path(__file__).parents[1] / "golden" / "games"
KINDS: Final = ("usa", "card_game", "team_asia", "united_kingdom", "europe")
JUMPS: Final = 30
PLAYED_MS: Final = 4000

# Before the scripts of the page: when the map is drawn, and when the match has been checked.
WATCH: Final = """\
globalThis.seen = { map: 0, verdict: 0 };
new MutationObserver(() => {
  if (!seen.map && document.querySelector("section.board > :first-child"))
    requestAnimationFrame(() => (seen.map ||= performance.mark("map drawn").startTime));
  if (!seen.verdict && document.querySelector(".verdict")) seen.verdict = performance.now();
}).observe(document, { subtree: true, childList: true });
"""
UNTIL_CHECKED: Final = """\
new Promise((done) => {
  const look = () => (seen.verdict ? done(seen) : setTimeout(look, 20));
  look();
})
"""
JUMP: Final = """\
new Promise((done) => {
  addEventListener("hashchange", () => requestAnimationFrame(() => setTimeout(done)), { once: true });
  location.hash = "#turn=%d";
})
"""
PLAY: Final = """\
new Promise((done) => {
  document.querySelector(".step.play").click();
  setTimeout(done, %d);
})
"""


@dataclass(frozen=True, slots=True)
class Opening:
    """Milliseconds: of the processor but for `waited`, which is real time to the map."""

    waited: float
    map: float
    jump: float
    playing: float
    check: float
    checking: float


def measured(browser: Browser, page_file: Path, turns: int) -> Opening:
    pages: list[Page] = []

    def open_page() -> None:
        pages.append(Page(browser, page_file, 1280, 800, script=WATCH))
        pages[0].awaited(UNTIL_CHECKED)

    def jump() -> None:
        for number in range(JUMPS):
            page.awaited(JUMP % (1 + (number * 7919) % turns))

    trace = browser.traced(open_page)
    drawn = min(event["ts"] for event in trace if event["name"] == "map drawn")
    opening, checking = tasks_in(trace, until=drawn), tasks_in(trace, since=drawn)
    [page] = pages
    waited = page.value("seen.map")
    jumping = tasks_in(browser.traced(jump))
    page.awaited('new Promise((done) => { location.hash = "#turn=20&speed=16"; setTimeout(done, 200); })')
    playing = tasks_in(browser.traced(lambda: page.awaited(PLAY % PLAYED_MS)))
    page.close()
    return Opening(waited, sum(opening), max(jumping), max(playing), sum(checking), max(checking))


def tasks_in(trace: Sequence[Message], since: float = 0, until: float = inf) -> list[float]:
    """Return what each task of a page's main thread that began in this time took of the processor."""
    main = {
        (event["pid"], event["tid"])
        for event in trace
        if event["name"] == "thread_name" and event["args"].get("name") == "CrRendererMain"
    }
    return [
        event["tdur"] / 1000
        for event in trace
        if event["name"] == "ThreadControllerImpl::RunTask"
        and (event["pid"], event["tid"]) in main
        and "tdur" in event
        and since <= event["ts"] < until
    ]


def longest(kind: str) -> Path:
    """Return the golden game with the most lines, for whose page most must be drawn and checked."""
    return max(GOLDEN.glob(f"{kind}-*.jsonl"), key=lambda path: path.read_bytes().count(b"\n"))


def row_of(game: Path, openings: Sequence[Opening], size: int) -> list[str]:
    columns = zip(*map(astuple, openings), strict=True)
    return [game.stem, *(f"{median(column):.0f}" for column in columns), f"{size / 1000:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_page", description=__doc__)
    parser.add_argument("--openings", type=int, default=3, help="of each page (default: 3)")
    openings: int = parser.parse_args().openings
    rows: list[list[str]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        started(tools.browser(), Path(folder, "profile")) as browser,
    ):
        for kind in KINDS:
            game = longest(kind)
            replay = game.read_bytes()
            page = Path(folder, f"{kind}.html")
            page.write_text(page_of(replay, game.name, "bench"), "utf-8")
            turns = replay.count(b'"type":"turn_started"')
            seen = [measured(browser, page, turns) for _ in range(openings)]
            rows.append(row_of(game, seen, page.stat().st_size - len(base64.b64encode(replay))))
    print("The match page, with the longest golden games: CPU ms of its main thread")
    tasks = ("longest of a jump", "of playing", "check", "longest of it")
    print_table(("game", "map, real", "map", *tasks, "kB without replay"), rows)


if __name__ == "__main__":
    main()
