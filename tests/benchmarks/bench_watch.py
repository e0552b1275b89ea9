"""What it costs to watch a tournament: the process of its pages, and the runner.

    python -m tests.benchmarks.bench_watch [--lines N ...] [--runs N]

*Lines*: `stellwerk watch` on a made-up tournament (`made_up_tournament.py`) of so many lines. Its CPU, that
of all threads included, until the first ranking of all lines is there, its memory then, and what one more
block costs until its matches and the ranking with them are there, with one reader of the overview. The CPU of
a folder in which nothing happens is measured beside it.

*The runner*: `tournament run` of two bots `random`, one match at a time, with `--web` and without in turn,
with one reader. CPU of the runner itself a match, without the process of the pages; each run has so many
blocks that what starting costs is small. Absolute figures of different runs must not be compared
(`rounds.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Final

import msgspec

from stellwerk_tournament.store.match_line import FILE, line_of
from stellwerk_tournament.store.store import read_matches
from tests.benchmarks.made_up_tournament import (
    PLAYERS,
    made_up_tournament,
    played_tournament,
    settings_text,
)
from tests.benchmarks.rounds import in_turn, print_table, spread
from tests.web.pages import Collected, Pages, collecting

LINES: Final = (100, 1_000, 10_000, 100_000)
BOTS: Final = 10
NEW_BLOCKS: Final = 10
IDLE_S: Final = 10.0
RUNS: Final = 5
RUN_BLOCKS: Final = 300
COMMAND: Final = (sys.executable, "-m", "stellwerk")
TICKS: Final = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--lines", type=int, nargs="*", default=[*LINES])
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of the runner (default {RUNS}; 0: none)")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="stellwerk-bench-") as name:
        measure_lines(Path(name), arguments.lines)
        measure_runner(Path(name), arguments.runs)


# -- the folder --------------------------------------------------------------------------------------


def measure_lines(folder: Path, counts: Sequence[int]) -> None:
    if not counts:
        return
    played = played_tournament(folder / "played", BOTS)
    rows: list[list[str]] = []
    for count in counts:
        cup = made_up_tournament(played, folder / "cup", count)
        rows.append([f"{count:,}", *_figures(cup)])
        shutil.rmtree(cup)
    print_table(["lines", "CPU s to open", "MB", "CPU ms a new block", "CPU ms a second idle"], rows)


def _figures(cup: Path) -> list[str]:
    lines = [
        msgspec.structs.replace(line, match=f"{line.block}-{line.rotation}")  # the copies have one id
        for line in read_matches(cup)
    ]
    (cup / FILE).write_bytes(b"".join(map(line_of, lines)))
    with watching(cup) as (process_id, stream):
        _wait_for(stream, len(lines) // PLAYERS)
        opened = cpu_seconds(process_id)
        memory = resident_mb(process_id)
        sleep(IDLE_S)
        idle = (cpu_seconds(process_id) - opened) / IDLE_S
        before = cpu_seconds(process_id)
        number = lines[-1].block
        for new in range(1, NEW_BLOCKS + 1):
            with (cup / FILE).open("ab") as file:
                for rotation, line in enumerate(lines[-PLAYERS:]):
                    match = f"new-{new}-{rotation}"
                    file.write(line_of(msgspec.structs.replace(line, block=number + new, match=match)))
            _wait_for(stream, len(lines) // PLAYERS + new)
        spent = cpu_seconds(process_id) - before
    return [f"{opened:.1f}", f"{memory:.0f}", f"{1000 * spent / NEW_BLOCKS:.0f}", f"{1000 * idle:.1f}"]


def _wait_for(stream: Collected, blocks: int) -> None:
    over = f"{blocks:,} complete blocks"
    stream.wait_until(lambda: any(table["over"] == over for table in stream.all_of("ranking")))


@contextmanager
def watching(cup: Path) -> Generator[tuple[int, Collected]]:
    with subprocess.Popen(
        [*COMMAND, "watch", str(cup), "--listen", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            pages = Pages.at(process.stdout.readline().removeprefix("live pages at ").strip())
            with collecting(pages) as stream:
                yield process.pid, stream
        finally:
            process.kill()


def cpu_seconds(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(process_id: int) -> float:
    text = Path(f"/proc/{process_id}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


# -- the runner --------------------------------------------------------------------------------------


def measure_runner(folder: Path, runs: int) -> None:
    if not runs:
        return
    ways: Sequence[tuple[str, Sequence[str]]] = (("without", ()), ("--web 0", ("--web", "0")))
    figures = in_turn(ways, lambda way: _match_ms(folder / "run", way[1]), runs)
    ratios = [there / here for here, there in zip(*figures, strict=True)]
    rows = [[name, spread(values).text(2)] for (name, _), values in zip(ways, figures, strict=True)]
    rows.append(["ratio", spread(ratios).text(3)])
    print_table(["two bots random, one match at a time", "CPU ms of the runner a match"], rows)


def _match_ms(folder: Path, words: Sequence[str]) -> float:
    folder.mkdir()
    (folder / "tournament.toml").write_text(settings_text(bots=2, rounds=RUN_BLOCKS))
    options = ["--no-preflight", "--progress=lines", "--concurrency=1", "--seed=watch", *words]
    process = subprocess.Popen(
        [*COMMAND, "tournament", "run", str(folder), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    spent = 0.0
    readers: list[threading.Thread] = []
    for line in process.stderr:
        if found := re.search(r"live pages at (\S+)", line):
            readers.append(threading.Thread(target=_read, args=[Pages.at(found[1])]))
            readers[-1].start()
        elif line.startswith("block "):
            spent = cpu_seconds(process.pid)  # of this process alone, while it lives
    process.wait()
    for reader in readers:
        reader.join()
    shutil.rmtree(folder)
    return 1000 * spent / (2 * RUN_BLOCKS)


def _read(pages: Pages) -> None:
    with suppress(OSError, EOFError), pages.stream("/stream") as reader:
        while True:
            json.dumps(reader.next().data)


if __name__ == "__main__":
    main()
