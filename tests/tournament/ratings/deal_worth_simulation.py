"""Does the interval of what one deal in every seat was worth hold the truth? Simulated blocks tell.

`python -m tests.tournament.ratings.deal_worth_simulation` prints the table; it takes some minutes. A block is
one deal in every rotation of the seats, as in `coverage_simulation.py`. The truth of a world is the figure of
very many blocks.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from stellwerk_tournament.ratings.deal_worth import FEWEST_BLOCKS, LEVEL, DealWorth, table_worths
from tests.tournament.ratings.coverage_simulation import World, tournament

BLOCKS_FOR_THE_TRUTH: Final = 20_000
TOO_FEW: Final = 0.93  # of intervals: a little less than promised


def worlds() -> Iterator[World]:
    for blocks in (FEWEST_BLOCKS, 60, 300):
        for skills in ((0.0, 0.0), (0.0, 1.0), (0.0, 3.0), (0.0,) * 4, (0.0, 0.5, 1.0, 1.5)):
            for deals in ("rotated", "new deals"):
                yield World(skills, len(skills), blocks, deals)
    yield World((0.0, 0.3, 0.6, 0.9, 1.2, 1.5), 2, 60)


def measure(world: World, repeats: int, seed: int) -> tuple[float, float]:
    """Return how often the interval holds the truth, and how often there is one."""
    generator = np.random.default_rng(seed)
    found = [worth for _ in range(repeats) for worth in table_worths(tournament(world, generator))]
    true = truth(replace(world, blocks=0))
    held = sum(worth.low <= true and (worth.high is None or true <= worth.high) for worth in found)
    return held / max(len(found), 1), len(found) / repeats


@cache
def truth(world: World) -> float:
    worth: DealWorth
    many = replace(world, blocks=BLOCKS_FOR_THE_TRUTH)
    [worth] = table_worths(tournament(many, np.random.default_rng(1)))
    return worth.worth


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=2000, help="of each kind (default: 2000)")
    parser.add_argument("--seed", type=int, default=4)
    arguments = parser.parse_args()
    print(f"{arguments.repeats} times {LEVEL:.0%} intervals of each kind; ! is below {TOO_FEW:.0%}")
    print(f"{'':37}{'blocks':>6}{'truth':>8}{'covered':>17}{'no interval':>13}")
    below = 0
    for world in worlds():
        covered, share = measure(world, arguments.repeats, arguments.seed)
        error = math.sqrt(covered * (1 - covered) / max(share * arguments.repeats, 1))
        is_below = covered < TOO_FEW
        below += is_below
        print(
            f"{world.name:37}{world.blocks:6}{truth(replace(world, blocks=0)):8.2f}{covered:9.1%} "
            f"+-{error:5.1%}{'!' if is_below else ' '}{1 - share:13.1%}",
            flush=True,
        )
    print(f"kinds below: {below}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
