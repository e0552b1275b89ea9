"""Crowds that a server must outlast: clients that never read, that all leave at once, and match after match.

Each case starts a server, and a witness plays beside its crowd. Each act of the witness must be accepted.
When the crowd is gone, the server must have as many descriptors open as before. No match may have failed, and
the memory must not grow with the number of matches that are over. `--size 0.01` makes the crowds smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.request
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tests` is not installed

from tests.server.served_process import Caller, Message, Serving, serving

TIMELY: Final = 60.0  # seconds until the server has noticed what the crowd did; far more than it takes
LITTLE: Final = 4096  # bytes that a deaf client's socket takes
ODD_FILES: Final = 4  # descriptors that come and go: readers of the status page, a file that is written
MOST_GROWTH_MB: Final = 20.0  # of memory over thousands of matches: a list of them would take more
ENDED: Final = 200  # matches that the server lists when they are over
NO_HURRY: Final = "--set=time.move_ms=600000"
QUIET: Final = (
    "--set=limits.messages_a_second=1000000",
    "--set=limits.burst=1000000",
    f"--set=limits.ended_matches={ENDED}",
    "--set=limits.session_kept_ms=100",
    "--status=0",
)


@dataclass
class Outcome:
    """What a case found: figures for people, and the laws that did not hold."""

    figures: dict[str, str] = field(default_factory=dict[str, str])
    broken: list[str] = field(default_factory=list[str])

    def expect(self, holds: bool, law: str) -> None:
        if not holds:
            self.broken.append(law)


class Crowded:
    """A server with its witness."""

    def __init__(self, server: Serving, status: str) -> None:
        self.server = server
        self._status = status
        self.witness = server.call()
        self.witness.login("witness", max_matches=2)
        self.ask = self.witness.practice("usa")
        self.waits: list[float] = []
        self.charged: list[int] = []
        self.open_before = self.open_files()
        self.memory_before = self.memory_mb()

    def act(self) -> None:
        """Let the witness act, and note how long its `ok` took, and what its clock was charged."""
        began = perf_counter()
        self.witness.act(self.ask)
        reply = self.witness.read()
        while reply["type"] not in ("ok", "error"):
            reply = self.witness.read()
        self.waits.append((perf_counter() - began) * 1000)
        self.charged.append(reply["took_ms"] if reply["type"] == "ok" else -1)
        while reply["type"] not in ("ask", "end"):
            reply = self.witness.read()
        self.ask = reply if reply["type"] == "ask" else self.witness.practice("usa")

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

    def memory_mb(self, name: str = "VmRSS") -> float:
        status = Path(f"/proc/{self.server.process.pid}/status").read_text("utf-8")
        [line] = [line for line in status.splitlines() if line.startswith(f"{name}:")]
        return int(line.split()[1]) / 1024

    def status(self) -> Message:
        with urllib.request.urlopen(self._status, timeout=TIMELY) as page:
            status: Message = json.load(page)
        return status

    def becomes(self, is_so: Callable[[], bool]) -> bool:
        """Let the witness act until something is so. Return False if it does not become so in time."""
        until = monotonic() + TIMELY
        while not is_so():
            if monotonic() > until:
                return False
            self.act()
        return True

    def end(self, outcome: Outcome) -> None:
        """Check the laws of every case, and add its figures."""
        outcome.expect(
            self.becomes(lambda: self.open_files() <= self.open_before + ODD_FILES),
            f"{self.open_files()} files are open, and {self.open_before} were before",
        )
        status = self.status()
        outcome.expect(status["failed"] == 0, f"{status['failed']} matches failed")
        outcome.expect(min(self.charged) >= 0, "an act of the witness was refused")
        waits = sorted(self.waits)
        outcome.figures |= {
            "files before, after": f"{self.open_before}, {self.open_files()}",
            "memory before, peak, after, MB": (
                f"{self.memory_before:.0f}, {self.memory_mb('VmHWM'):.0f}, {self.memory_mb():.0f}"
            ),
            "acts of the witness": f"{len(waits):,}",
            "its wait p50, p99, longest, ms": (
                f"{waits[len(waits) // 2]:.1f}, {waits[len(waits) * 99 // 100]:.1f}, {waits[-1]:.1f}"
            ),
            "charged at most, ms": str(max(self.charged)),
        }


@contextmanager
def crowded(*flags: str) -> Generator[Crowded]:
    with TemporaryDirectory(prefix="stellwerk-soak-") as folder:
        words = (*QUIET, *flags)
        with serving(Path(folder), *words) as server:
            [status] = [entry["url"] for entry in server.log() if entry["event"] == "status.listening"]
            yield Crowded(server, status)


def deaf_spectators(size: int) -> Outcome:
    """Let spectators watch a match, and never read."""
    outcome = Outcome()
    with crowded(NO_HURRY) as place, ExitStack() as crowd:
        for number in range(size):
            caller = Caller(place.server.port, receive_bytes=LITTLE)
            crowd.callback(caller.close)
            caller.login(f"deaf{number}")
            caller.say(type="watch", match=place.ask["match"])
        match = place.ask["match"]
        while place.ask["match"] == match:
            place.act()
        for _ in range(300):
            place.act()
        outcome.figures["still connected after the match"] = str(place.status()["connections"] - 1)
        crowd.close()
        place.end(outcome)
    return outcome


def deaf_players(size: int) -> Outcome:
    """Begin matches whose players never read: each is played to its end by default."""
    times = ("set_up_ms=500", "move_ms=5000", "bank_ms=0", "grace_ms=0", "defaults_in_a_row=1")
    outcome = Outcome()
    with crowded(*(f"--set=time.{name}" for name in times)) as place, ExitStack() as crowd:
        for number in range(size):
            caller = Caller(place.server.port, receive_bytes=LITTLE)
            crowd.callback(caller.close)
            caller.login(f"deaf{number}")
            caller.say(type="join", game="usa", players=2, against=["random"])
            if number % 10 == 0:
                place.act()
        outcome.expect(place.becomes(lambda: place.status()["finished"] >= size), "not every match has ended")
        crowd.close()
        place.end(outcome)
    return outcome


def leaving_at_once(size: int) -> Outcome:
    """Log in very many clients, and let all of them vanish in one moment."""
    outcome = Outcome()
    with crowded(NO_HURRY) as place:
        crowd: list[Caller] = []
        for number in range(size):
            caller = place.server.call()
            caller.login(f"guest{number}")
            crowd.append(caller)
        outcome.figures["files with all of them"] = str(place.open_files())
        outcome.figures["memory with all of them, MB"] = f"{place.memory_mb():.0f}"
        for caller in crowd:
            caller.reset()
        place.act()
        outcome.figures["the act at that moment, ms"] = f"{place.waits[-1]:.1f}"
        left_at = monotonic()
        outcome.expect(
            place.becomes(lambda: place.open_files() <= place.open_before + ODD_FILES), "files stay open"
        )
        outcome.figures["until their files are closed, s"] = f"{monotonic() - left_at:.1f}"
        sleep(max(0.0, 2 - (monotonic() - left_at)))
        place.act()
        outcome.figures["the act two seconds later, ms"] = f"{place.waits[-1]:.1f}"
        sessions = place.status()["sessions"]
        outcome.expect(sessions == 1, f"{sessions} sessions are left, and one client")
        place.end(outcome)
    return outcome


def match_after_match(size: int) -> Outcome:
    """Begin a match, leave it, and begin the next one. The server plays each to its end."""
    outcome = Outcome()
    with crowded(NO_HURRY) as place:
        player = place.server.call()
        player.login("player", max_matches=4)
        settled = max(1, size // 3, min(size, 2 * ENDED))
        settled_mb = 0.0
        for number in range(1, size + 1):
            player.say(type="join", game="card_game", players=2, against=["random"])
            match = player.until("start")["match"]
            player.say(type="leave", match=match)
            player.until("left", match=match)
            if number % 100 == 0:
                place.act()
            if number == settled:
                settled_mb = place.memory_mb()
        outcome.expect(place.becomes(lambda: place.status()["finished"] >= size), "not every match has ended")
        growth = place.memory_mb() - settled_mb
        outcome.figures[f"memory after {settled:,}, after {size:,}, MB"] = (
            f"{settled_mb:.1f}, {place.memory_mb():.1f}"
        )
        outcome.expect(growth <= MOST_GROWTH_MB, f"the memory has grown by {growth:.1f} MB")
        player.close()
        place.end(outcome)
    return outcome


CASES: Final[dict[str, tuple[Callable[[int], Outcome], int]]] = {
    "deaf-spectators": (deaf_spectators, 300),
    "deaf-players": (deaf_players, 1000),
    "leaving-at-once": (leaving_at_once, 5000),
    "match-after-match": (match_after_match, 6000),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="NAME", choices=CASES, help=f"one of {', '.join(CASES)}")
    parser.add_argument("--size", metavar="X", type=float, default=1.0, help="times the usual crowd")
    arguments = parser.parse_args()
    broken = 0
    for name, (case, usual) in CASES.items():
        if arguments.only in (None, name):
            size = max(1, round(usual * arguments.size))
            began = perf_counter()
            outcome = case(size)
            print(f"{name}, {size:,}: {perf_counter() - began:.0f} s, {len(outcome.broken)} laws broken")
            for law in outcome.broken:
                print(f"  broken: {law}")
            for what, figure in outcome.figures.items():
                print(f"  {what:34} {figure}", flush=True)
            broken += len(outcome.broken)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
