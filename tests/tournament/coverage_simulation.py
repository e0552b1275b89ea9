"""Do 95 % intervals hold the truth in 95 % of tournaments? Simulated ones, where the truth is known.

`make coverage` prints the table. The tournaments are not drawn from the model that is fitted: an entrant's
points are its skill, an advantage of the seat, the luck of the deal for the seat, how the deal suits the
entrant, and noise with an occasional disaster, rounded to whole numbers, so that some are equal. The truth of
such a world is what the fit says of very many blocks; for equal entrants it is that they are equal.

A block is one deal in every rotation of the seats. With `new deals` every match has a deal of its own, as
remote bots get them, and is its own block; seats are as balanced.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stellwerk_tournament.opponents import Bound
from stellwerk_tournament.outcomes import Outcome
from stellwerk_tournament.ratings import FEWEST_DEGREES, LEVEL, Ratings, rate

SEAT_ADVANTAGE: Final = 0.5  # of the last seat over the first, in standard deviations of the noise
LUCK_OF_THE_DEAL: Final = 1.0
DEAL_AND_ENTRANT: Final = 0.5
DISASTER: Final = (0.1, 2.5)  # how often, and how bad
POINTS: Final = 8.0  # to a standard deviation
BLOCKS_FOR_THE_TRUTH: Final = 12_000
PROMISED: Final = (0.93, 0.97)
CALLED_DIFFERENT: Final = (1 - LEVEL) / 2


@dataclass(frozen=True)
class World:
    skills: tuple[float, ...]
    size: int  # of the tables; with more entrants than that each block draws some
    blocks: int
    is_rotated: bool = True

    @property
    def name(self) -> str:
        spread = max(self.skills) - min(self.skills)
        kind = "equal" if spread == 0 else f"{spread:.1f} sd apart"
        deals = "rotated" if self.is_rotated else "new deals"
        return f"{len(self.skills)} of {kind}, {self.size} seats, {deals}"


@dataclass(frozen=True)
class Measured:
    """Over all entrants and pairs of all repeats."""

    covered: float  # of the intervals
    without: float  # entrants without an interval
    warned: float  # entrants named in a warning of too few blocks
    called_different: float  # pairs
    half_width: float  # the median, in Elo


def worlds() -> Iterator[World]:
    for blocks in (10, 30, 100):
        for size in (2, 3, 4):
            for skills in ((0.0,) * size, tuple(0.5 * i for i in range(size))):
                yield World(skills, size, blocks)
                yield World(skills, size, blocks, is_rotated=False)
        yield World((0.0,) * 6, 4, blocks)
        yield World(tuple(0.4 * i for i in range(6)), 3, blocks)
        yield World((0.0, 2.0), 2, blocks)
        yield World((0.0, 3.0), 2, blocks)
        yield World((0.0, 0.2, 2.0, 2.2), 4, blocks)
    for size in (2, 3, 4):
        yield World((0.0,) * size, size, 5)


def tournament(world: World, generator: np.random.Generator) -> list[Outcome]:
    """One run of everything that chance decides."""
    entrants, size, rotations = len(world.skills), world.size, world.size
    shape = (world.blocks, rotations)
    seated = np.stack([generator.permutation(entrants)[:size] for _ in range(world.blocks)])
    seat_of = (np.arange(size)[None, :] + np.arange(rotations)[:, None]) % size  # rotation, entrant
    deals = generator.normal(0, LUCK_OF_THE_DEAL, (*shape, size))
    suits = generator.normal(0, DEAL_AND_ENTRANT, (*shape, size))
    if world.is_rotated:
        deals[:] = deals[:, :1]
        suits[:] = suits[:, :1]
    noise = generator.normal(0, 1, (*shape, size))
    noise -= DISASTER[1] * (generator.random(noise.shape) < DISASTER[0])
    skills = np.array(world.skills)[seated][:, None, :]
    advantage = SEAT_ADVANTAGE * np.arange(size) / (size - 1)
    luck = np.take_along_axis(deals + advantage, np.broadcast_to(seat_of, deals.shape), axis=2)
    points: NDArray[np.float64] = np.round(POINTS * (skills + luck + suits + noise))
    ranks = 1 + (points[:, :, None, :] > points[:, :, :, None]).sum(axis=3)
    return [
        Outcome(
            entrants=tuple(f"bot {i}" for i in seated[block]),
            ranks=tuple(ranks[block, rotation].tolist()),
            seats=tuple(seat_of[rotation].tolist()),
            block=str(block) if world.is_rotated else f"{block}/{rotation}",
        )
        for block in range(world.blocks)
        for rotation in range(rotations)
    ]


@cache
def truth(world: World) -> dict[str, float]:
    """What the fit tends to: the deals, rotated or not, make no difference to it."""
    if len(set(world.skills)) == 1:
        return {f"bot {i}": 0.0 for i in range(len(world.skills))}
    many = replace(world, blocks=BLOCKS_FOR_THE_TRUTH)
    ratings = rate(tournament(many, np.random.default_rng(1)))
    return {rating.name: rating.elo for rating in ratings.entrants}


def measure(world: World, repeats: int, seed: int) -> Measured:
    generator = np.random.default_rng(seed)
    true = truth(replace(world, blocks=0, is_rotated=True))
    widths: list[float] = []
    covered = called = without = warned = pairs = 0
    for _ in range(repeats):
        ratings = rate(tournament(world, generator))
        for rating in ratings.entrants:
            if rating.stderr is None or rating.low is None or rating.high is None:
                without += 1
            else:
                # Against the mean of the core, of which all intervals are.
                covered += rating.low <= true[rating.name] + _zero(ratings, true) <= rating.high
                widths.append((rating.high - rating.low) / 2)
                warned += rating.freedom < FEWEST_DEGREES
        for one, two in combinations(true, 2):
            better = _superiority(ratings, one, two)
            if better is not None:
                pairs += 1
                called += not CALLED_DIFFERENT <= better <= 1 - CALLED_DIFFERENT
    entrants = repeats * len(true)
    return Measured(
        covered=covered / max(len(widths), 1),
        without=without / entrants,
        warned=warned / entrants,
        called_different=called / max(pairs, 1),
        half_width=float(np.median(widths)) if widths else 0.0,
    )


def _zero(ratings: Ratings, true: dict[str, float]) -> float:
    """What the core's mean is in this tournament, less what it is in truth: a matter of the scale's zero."""
    core = [rating for rating in ratings.entrants if rating.bound is Bound.BOTH]
    return sum(rating.elo - true[rating.name] for rating in core) / len(core)


def _superiority(ratings: Ratings, one: str, two: str) -> float | None:
    names = {rating.name for rating in ratings.entrants}
    return ratings.superiority(one, two) if {one, two} <= names else None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=2000, help="tournaments of each kind (default: 2000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="worlds whose name holds this")
    parser.add_argument("--blocks", type=int, metavar="N", help="worlds of so many blocks only")
    parser.add_argument("--seed", type=int, default=2)
    arguments = parser.parse_args()
    os.nice(10)
    print(f"{arguments.repeats} tournaments of each kind, 95 % intervals; ! is outside 93 to 97 %,")
    print("'different': pairs called different at 5 %; 'few': entrants warned of as having too few blocks")
    print(f"{'':36}{'blocks':>7}{'covered':>10}{'different':>11}{'+- Elo':>8}{'no interval':>13}{'few':>8}")
    unexplained = 0
    for world in worlds():
        if arguments.only not in world.name or arguments.blocks not in (None, world.blocks):
            continue
        found = measure(world, arguments.repeats, arguments.seed)
        is_outside = not PROMISED[0] <= found.covered <= PROMISED[1]
        unexplained += is_outside and found.warned < 0.5
        print(
            f"{world.name:36}{world.blocks:7}{found.covered:9.1%}{'!' if is_outside else ' '}"
            f"{found.called_different:10.1%} {found.half_width:8.0f}{found.without:12.1%}"
            f"{found.warned:9.0%}",
            flush=True,
        )
    print(f"worlds outside without a warning: {unexplained}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
