"""Try many seeds of the server's simulation in virtual time, in several processes.

What the tests try on few seeds must hold for thousands. A seed that breaks a law is reported, and can be
tried again by itself: `--first 788 --seeds 1`; its lines are kept in the folder of `--keep`.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tests` is not installed

from tests.server.net.witness import LawBrokenError
from tests.server.simulation import STORY, Disk, simulate


@dataclass(frozen=True)
class Outcome:
    seed: str
    lines: int = 0
    deaths: int = 0
    replays: int = 0
    error: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", metavar="N", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--first", metavar="N", type=int, default=0, help="the first one (default: 0)")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="keep the lines of what fails there")
    arguments = parser.parse_args()
    seeds = [str(number) for number in range(arguments.first, arguments.first + arguments.seeds)]
    total = Outcome("")
    errors = 0
    with ProcessPoolExecutor(arguments.jobs) as processes:
        for outcome in processes.map(partial(try_seed, keep=arguments.keep), seeds, chunksize=8):
            if outcome.error:
                errors += 1
                print(outcome.error, flush=True)
            total = Outcome(
                "",
                total.lines + outcome.lines,
                total.deaths + outcome.deaths,
                total.replays + outcome.replays,
            )
    print(
        f"{len(seeds):,} seeds: {total.lines:,} lines, {total.deaths:,} crashes of the server, "
        f"{total.replays:,} replays verified, {errors} laws broken"
    )
    return 1 if errors else 0


def try_seed(seed: str, keep: Path | None) -> Outcome:
    """Simulate one seed. Every other one runs as with `--sync`, on a disk that is slow."""
    disk = Disk(slowest=(0.01, 0.5)[int(seed) // 2 % 2]) if int(seed) % 2 else None
    with TemporaryDirectory(prefix="stellwerk-soak-") as folder:
        try:
            story = simulate(seed, Path(folder), disk=disk)
        except LawBrokenError as error:
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}.txt").write_bytes((Path(folder) / STORY).read_bytes())
            return Outcome(seed, error=str(error))
    return Outcome(seed, len(story.lines), len(story.deaths), story.replays)


if __name__ == "__main__":
    sys.exit(main())
