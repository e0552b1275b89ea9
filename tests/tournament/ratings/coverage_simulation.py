"""Do 95 % intervals hold the truth in 95 % of tournaments? Simulated ones, where the truth is known.

`python -m tests.tournament.ratings.coverage_simulation` takes half an hour or more, and prints the table of
tournament/RATINGS.md. The tournaments are not drawn from the model that is fitted: an entrant's points are
its skill, an advantage of the seat, the luck of the deal for the seat, how the deal suits the entrant, and
noise with an occasional disaster, rounded to whole numbers, so that some are equal. The truth of such a world
is what the fit says of very many blocks; for equal entrants it is that they are equal.

A block is one deal in every rotation of the seats. With `new deals` each match of a block has a deal of its
own, as remote bots get them. With `single` matches every match is its own block, as in files that name none,
and two entrants take turns in the first seat.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stellwerk_tournament.ratings.opponents import Bound
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import LEVEL, Rating, rate

SEAT_ADVANTAGE: Final = 0.5  # of the last seat over the first, in standard deviations of the noise
LUCK_OF_THE_DEAL: Final = 1.0
DEAL_AND_ENTRANT: Final = 0.5
DISASTER: Final = (0.1, 2.5)  # how often, and how bad
POINTS: Final = 8.0  # to a standard deviation
BLOCKS_FOR_THE_TRUTH: Final = 12_000
AT_ONCE: Final = 6  # tournaments in a fit: BLAS takes threads for larger matrices, and they cost more
PROMISED: Final = (0.93, 0.97)
WARNINGS: Final = ("few_blocks", "few_upsets")
CALLED_DIFFERENT: Final = (1 - LEVEL) / 2


Deals: TypeAlias = Literal["rotated", "new deals", "single"]


@dataclass(frozen=True)
class World:
    skills: tuple[float, ...]
    size: int  # of the tables; with more entrants than that each block draws some
    blocks: int
    deals: Deals = "rotated"

    @property
    def name(self) -> str:
        spread = max(self.skills) - min(self.skills)
        kind = "equal" if spread == 0 else f"{spread:.1f} sd apart"
        return f"{len(self.skills)} of {kind}, {self.size} seats, {self.deals}"


@dataclass(frozen=True)
class Measured:
    """Figures over all entrants and pairs of all repeats."""

    covered: float  # of the intervals
    without: float  # entrants without an interval
    warned: float  # entrants named in a warning that there is too little for an interval
    called_different: float  # pairs
    half_width: float  # the median, in Elo
    error: float  # standard error of `covered`; at most, for the entrants of a tournament share their luck


def worlds() -> Iterator[World]:
    for blocks in (5, 10, 12, 16, 30, 100):
        for size in (2, 3, 4):
            for skills in ((0.0,) * size, tuple(0.5 * i for i in range(size))):
                yield World(skills, size, blocks)
                yield World(skills, size, blocks, "new deals")
        for skills in ((0.0, 0.0), (0.0, 0.5)):
            yield World(skills, 2, blocks, "single")
        yield World((0.0,) * 6, 4, blocks)
        yield World(tuple(0.4 * i for i in range(6)), 3, blocks)
        yield World((0.0, 2.0), 2, blocks)
        yield World((0.0, 3.0), 2, blocks)
        yield World((0.0, 0.2, 2.0, 2.2), 4, blocks)


def tournament(world: World, generator: np.random.Generator, mark: str = "") -> list[Outcome]:
    """Simulate one tournament with everything that chance decides. `mark` begins the entrants' names."""
    names = [mark + name for name in names_of(world)]
    size = world.size
    shape = (world.blocks, size)
    seated = np.stack([generator.permutation(len(names))[:size] for _ in range(world.blocks)])
    if world.deals == "single":
        seated = np.sort(seated)
    seat_of = (np.arange(size)[None, :] + np.arange(size)[:, None]) % size  # rotation, entrant
    seats = [tuple(row) for row in seat_of.tolist()]
    deals = generator.normal(0, LUCK_OF_THE_DEAL, (*shape, size))
    suits = generator.normal(0, DEAL_AND_ENTRANT, (*shape, size))
    if world.deals == "rotated":
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
            entrants=entrants,
            ranks=tuple(ranks[block, rotation].tolist()),
            seats=seats[rotation],
            block=str(block),
            game=mark,
        )
        for block in range(world.blocks)
        for entrants in [tuple(names[int(i)] for i in seated[block])]
        for rotation in (range(size) if world.deals != "single" else [block % size])
    ]


def names_of(world: World) -> list[str]:
    return [f"bot {i}" for i in range(len(world.skills))]


@cache
def truth(world: World) -> dict[str, float]:
    """Return what the fit tends to. The deals, rotated or not, make no difference to it."""
    if len(set(world.skills)) == 1:
        return dict.fromkeys(names_of(world), 0.0)
    many = replace(world, blocks=BLOCKS_FOR_THE_TRUTH)
    ratings = rate(tournament(many, np.random.default_rng(1)))
    return {rating.name: rating.elo for rating in ratings.entrants}


def measure(world: World, repeats: int, seed: int) -> Measured:
    generator = np.random.default_rng(seed)
    true = truth(replace(world, blocks=0, deals="rotated"))
    widths: list[float] = []
    covered = called = without = warned = pairs = with_interval = 0
    for first in range(0, repeats, AT_ONCE):
        count = min(AT_ONCE, repeats - first)
        # In one fit, which costs a few times less: entrants that never met, in games that differ, share no
        # parameter.
        ratings = rate(
            [outcome for number in range(count) for outcome in tournament(world, generator, f"{number}/")]
        )
        entrants = {rating.name: rating for rating in ratings.entrants}
        named = {
            name for warning in ratings.warnings if warning.code in WARNINGS for name in warning.entrants
        }
        for number in range(count):
            rated = {name: entrants[own] for name in true if (own := f"{number}/{name}") in entrants}
            zero = _zero(rated, true)
            with_interval += any(rating.stderr is not None for rating in rated.values())
            for name, rating in rated.items():
                if rating.stderr is None or rating.low is None or rating.high is None:
                    without += 1
                else:
                    # Against the mean of the core, of which all intervals are.
                    covered += rating.low <= true[name] + zero <= rating.high
                    widths.append((rating.high - rating.low) / 2)
                    warned += rating.name in named
            for one, two in combinations(rated.values(), 2):
                better = ratings.superiority(one.name, two.name)
                if better is not None:
                    pairs += 1
                    called += not CALLED_DIFFERENT <= better <= 1 - CALLED_DIFFERENT
    intervals = len(widths)
    share = covered / max(intervals, 1)
    return Measured(
        covered=share,
        without=without / (intervals + without),
        warned=warned / (intervals + without),
        called_different=called / max(pairs, 1),
        half_width=float(np.median(widths)) if widths else 0.0,
        error=math.sqrt(share * (1 - share) / max(with_interval, 1)),
    )


def _zero(rated: Mapping[str, Rating], true: Mapping[str, float]) -> float:
    """Return the core's mean in this tournament, less its true mean: the zero of the scale is arbitrary."""
    distances = [rating.elo - true[name] for name, rating in rated.items() if rating.bound is Bound.BOTH]
    return sum(distances) / max(len(distances), 1)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=2000, help="tournaments of each kind (default: 2000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="worlds whose name holds this")
    parser.add_argument("--blocks", type=int, metavar="N", help="worlds of so many blocks only")
    parser.add_argument("--seed", type=int, default=2)
    arguments = parser.parse_args()
    print(f"{arguments.repeats} tournaments of each kind, 95 % intervals; ! is outside 93 to 97 %")
    print("'different': pairs called different at 5 %; 'warned': entrants with too few blocks or upsets")
    print(
        f"{'':37}{'blocks':>6}{'covered':>17}{'different':>12}{'+- Elo':>8}{'no interval':>13}{'warned':>8}"
    )
    unexplained = 0
    for world in worlds():
        if arguments.only not in world.name or arguments.blocks not in (None, world.blocks):
            continue
        measured = measure(world, arguments.repeats, arguments.seed)
        is_outside = not PROMISED[0] <= measured.covered <= PROMISED[1]
        unexplained += is_outside and measured.warned + measured.without < 0.5
        mark = "!" if is_outside else " "
        print(
            f"{world.name:37}{world.blocks:6}{measured.covered:9.1%} +-{measured.error:5.1%}{mark}"
            f"{measured.called_different:10.1%} {measured.half_width:8.0f}"
            f"{measured.without:13.1%}{measured.warned:8.0%}",
            flush=True,
        )
    print(f"kinds outside without a warning: {unexplained}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
