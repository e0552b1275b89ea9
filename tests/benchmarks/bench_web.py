"""What readers of live pages cost the web process, and what its spectator costs the server.

    python -m tests.benchmarks.bench_web [--readers 1 100 1000]

Over loopback, with real processes: `stellwerk serve` with clients that play USA by chance, two at a table,
`stellwerk watch` beside it, and readers of its wall in a process of their own.

*Readers*: matches are played slowly, and the wall shows them live. CPU of the web process, from the kernel,
as a part of one core; the changes that each reader got; the CPU for one change and reader, counted over a
wall with one reader; resident memory. A reader that was sent the state again was too slow for its changes.

*Decisions*: two servers that play as fast as they can, measured in turn, in short slices (see `rounds.py`).
One is watched: its wall has the largest number of readers. CPU of the server for a decision, and the ratio
of the watched one to the other, round by round. The servers have one core; clients, web process and readers
have another one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.benchmarks.bench_server import (
    SETTLED,
    WARM_UP,
    Contender,
    Server,
    allow_descriptors,
    closing_load,
    cores,
    stellwerk_server,
)
from tests.benchmarks.load import LoadError
from tests.benchmarks.rounds import ROUNDS, SLICE_SECONDS, in_turn, print_table, ratios, spread
from tests.benchmarks.trees import THIS

READERS: Final = (1, 100, 1000)
SECONDS: Final = 10.0  # for each number of readers
PAIRS: Final = 20
THINKING: Final = 0.3  # mean seconds before an act: live matches that people can follow
FAST_PAIRS: Final = 50
NICENESS: Final = 5  # as `serve --web` starts it
PATIENCE: Final = 30.0


@dataclass(frozen=True)
class Cost:
    readers: int
    share: float  # of a core
    changes: float  # a second, for each reader
    states: int
    kb: float


class Wall:
    """Readers of a wall, in a process of their own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def said(self) -> dict[str, Any]:  # Any: values of JSON
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        said: dict[str, Any] = json.loads(self._process.stdout.readline())  # Any: values of JSON
        return said


@contextmanager
def pages_of(server: Server, on_cores: set[int], log: Path) -> Generator[Server]:
    """Run the web process of a server, with the priority that a server gives it."""
    address = f"{server.address[0]}:{server.address[1]}"
    command = [sys.executable, "-m", "stellwerk", "watch", address, "--listen", "0"]
    with (
        log.open("wb") as log_file,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log_file, text=True) as process,
    ):
        os.sched_setaffinity(process.pid, on_cores)
        os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            if not line.startswith("live pages at "):
                raise LoadError(f"the web process said {line!r}, and {log.read_text()[-500:]}")
            yield Server(process.pid, ("127.0.0.1", int(line.rstrip("/").rpartition(":")[2])))
        finally:
            process.kill()


@contextmanager
def readers_of(pages: Server, count: int, on_cores: set[int]) -> Generator[Wall]:
    host, port = pages.address
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.wall_readers",
        host,
        str(port),
        "/stream/wall",
        str(count),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        os.sched_setaffinity(process.pid, on_cores)
        try:
            assert process.stdout is not None
            if process.stdout.readline().strip() != "ready":
                raise LoadError("the readers could not connect")
            yield Wall(process)
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--readers", type=int, nargs="+", default=list(READERS))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each number of readers")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument("--slice", type=float, default=SLICE_SECONDS, metavar="SECONDS")
    arguments = parser.parse_args()
    allow_descriptors()
    try:
        measure_readers(arguments.readers, arguments.seconds)
        measure_decisions(max(arguments.readers), arguments.rounds, arguments.slice)
    except LoadError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def measure_readers(counts: Sequence[int], seconds: float) -> None:
    server_cores, other_cores = cores()
    costs: list[Cost] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="stellwerk-bench-")))
        server = stack.enter_context(stellwerk_server(server_cores, THIS))
        load = stack.enter_context(closing_load(server))
        pages = stack.enter_context(pages_of(server, other_cores, folder / "watch.log"))
        load.pause = THINKING
        load.add_match_clients(PAIRS, lambda: -1)
        for count in counts:
            with readers_of(pages, count, other_cores) as wall:
                load.run(max(WARM_UP, 5.0))
                before, cpu, began = wall.said(), pages.cpu_seconds(), time.perf_counter()
                load.run(seconds)
                took, cpu = time.perf_counter() - began, pages.cpu_seconds() - cpu
                after = wall.said()
                if after["readers"] != count:
                    raise LoadError(f"{count - after['readers']} readers lost their connection")
                changes = after["changes"] - before["changes"]
                states = after["states"] - before["states"]
                costs.append(Cost(count, cpu / took, changes / took, states, pages.resident_kb()))
    print_costs(costs)


def print_costs(costs: Sequence[Cost]) -> None:
    one = costs[0]
    rows: list[list[str]] = []
    for cost in costs:
        more = cost.readers - one.readers
        each = (cost.share - one.share) / cost.changes / more * 1e6 if more else 0.0
        kb = (cost.kb - one.kb) / more if more else 0.0
        rows.append(
            [
                f"{cost.readers:,}",
                f"{100 * cost.share:.1f} %",
                f"{cost.changes:.1f}",
                f"{each:.1f}" if more else "",
                f"{cost.states}",
                f"{cost.kb / 1024:.0f}",
                f"{kb:.1f}" if more else "",
            ]
        )
    head = [
        "readers",
        "of a core",
        "changes/s",
        "CPU µs a change and reader",
        "states again",
        "MB",
        "kB a reader",
    ]
    print_table(head, rows)


def measure_decisions(count: int, rounds: int, seconds: float) -> None:
    server_cores, other_cores = cores()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="stellwerk-bench-")))
        contenders: list[Contender] = []
        for name in ("alone", f"watched, {count:,} readers"):
            server = stack.enter_context(stellwerk_server(server_cores, THIS))
            load = stack.enter_context(closing_load(server))
            load.add_match_clients(FAST_PAIRS, lambda: -1)
            contenders.append(Contender(name, server, load))
        watched = contenders[1]
        pages = stack.enter_context(pages_of(watched.server, other_cores, folder / "watch.log"))
        wall = stack.enter_context(readers_of(pages, count, other_cores))
        for contender in contenders:
            contender.load.run(WARM_UP)
            contender.load.settle(SETTLED)
        before = wall.said()
        samples = in_turn(contenders, lambda contender: contender.sample(seconds), rounds)
        after = wall.said()
    figures = [[sample.cpu_us for sample in of_one] for of_one in samples]
    rows = [
        [
            contender.name,
            spread(cpu).text(1),
            "" if index == 0 else ratios(cpu, figures[0]).text(3),
            f"{sum(sample.decisions for sample in samples[index]):,}",
        ]
        for index, (contender, cpu) in enumerate(zip(contenders, figures, strict=True))
    ]
    print_table(["server", "CPU µs a decision", "ratio", "decisions"], rows)
    print(f"Meanwhile each reader got {after['changes'] - before['changes']} changes of the wall.")


if __name__ == "__main__":
    main()
