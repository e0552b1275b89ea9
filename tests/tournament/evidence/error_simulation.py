"""How often do the tests of gate and compare err? Simulated candidates, whose true strength is known.

`python -m tests.tournament.evidence.error_simulation` prints the table; it takes some minutes. In each world
the true mean score of a block is made that of `elo0`, then that of `elo1`, and a test is wrong if it passes
the first or fails the second. The interval that is valid at any time is wrong if it fails to hold the true
mean after any round up to `LOOKS_END`: that of the scores, by which `compare` decides, or that of the lead in
points, with `--by points`. The block scores are not drawn from the normal distribution that the
test assumes: the points of a match are the skill, an advantage of the seat, the luck of the deal for the
seat, how the deal suits the entrant, and noise with an occasional disaster, rounded, so that many are equal.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stellwerk_tournament.evidence.sequential import (
    FEWEST_BLOCKS,
    LEVEL,
    Conclusion,
    Hypotheses,
    Sample,
    interval_at_any_time,
    look,
    look_once,
)
from stellwerk_tournament.evidence.worth import sample_of_points
from stellwerk_tournament.ratings.elo import score_of

Floats = NDArray[np.float64]

SEAT_ADVANTAGE: Final = 0.5  # of the last seat over the first, in standard deviations of the noise
LUCK_OF_THE_DEAL: Final = 1.0
DEAL_AND_ENTRANT: Final = 0.5
DISASTER: Final = (0.1, 2.5)  # how often, and how bad
BLOCKS_AT_ONCE: Final = 20_000
BLOCKS_FOR_THE_SKILL: Final = 400_000
HALVINGS: Final = 20
Z95: Final = 1.96
LOOKS_END: Final = 1000  # blocks, in which an interval is looked at after every round
TRUE_ELOS: Final = (0.0, 100.0, 300.0)
SPREAD: Final = 20.0  # points: the noise of a match, as between two bots in usa
SKILLS: Final = (0.0, 0.5, 2.0)  # in standard deviations of the noise


@dataclass(frozen=True)
class World:
    """`points` to a standard deviation of the noise: the fewer, the more ties. `noise` is how much chance is
    left when the deal is known. `opposition` are the skills of the baselines that the blocks are played
    against in turn. In a share of the deals, `alike`, both play alike, as two versions of a bot may do."""

    seats: int
    points: float = 8.0
    noise: float = 1.0
    opposition: tuple[float, ...] = (0.0,)
    alike: float = 0.0

    @property
    def name(self) -> str:
        ties = {8.0: "few ties", 0.5: "many ties"}.get(self.points, f"{self.points:g} points")
        luck = "" if self.noise == 1.0 else f", noise {self.noise:g}"
        against = "" if len(self.opposition) == 1 else f", {len(self.opposition)} unlike baselines"
        same = f", {self.alike:.0%} of the deals alike" if self.alike else ""
        return f"{self.seats} seats, {ties}{luck}{against}{same}"


@dataclass(frozen=True)
class Setting:
    hypotheses: Hypotheses
    blocks: int | None = None  # a fixed number, or sequential

    @property
    def name(self) -> str:
        h = self.hypotheses
        kind = "sequential" if self.blocks is None else f"{self.blocks} blocks"
        return f"{kind}, {h.elo0:g} or {h.elo1:g}, {h.alpha:g}/{h.beta:g}"


@dataclass(frozen=True)
class Errors:
    wrong: int
    undecided: int
    tests: int
    mean_blocks: float

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, of the share of tests that were wrong."""
        share, n = self.wrong / self.tests, self.tests
        center = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
        margin = Z95 / (1 + Z95**2 / n) * math.sqrt(share * (1 - share) / n + (Z95 / (2 * n)) ** 2)
        return max(0.0, center - margin), center + margin


def worlds() -> Iterator[World]:
    for seats in (2, 3, 4):
        yield World(seats)
        yield World(seats, points=0.5)
    yield World(2, noise=0.2)  # the same deal nearly always gives the same result
    yield World(2, opposition=(-0.8, 0.8))
    yield World(4, opposition=(-0.5, 0.0, 0.5))


def worlds_of_points() -> Iterator[World]:
    """Yield worlds for `compare`, with points spread as in these games."""
    for seats in (2, 3, 4):
        yield World(seats, points=SPREAD)
    yield World(2, points=SPREAD, noise=0.2)
    yield World(2, points=SPREAD, alike=0.5)
    yield World(2, points=SPREAD, alike=0.97)


def settings() -> Iterator[Setting]:
    yield Setting(Hypotheses(0, 50, 0.05, 0.05))
    yield Setting(Hypotheses(0, 20, 0.05, 0.05))
    yield Setting(Hypotheses(0, 150, 0.05, 0.05))
    yield Setting(Hypotheses(-50, 0, 0.05, 0.05))
    yield Setting(Hypotheses(0, 100, 0.01, 0.1))
    yield Setting(Hypotheses(200, 300, 0.05, 0.05))
    yield Setting(Hypotheses(0, 50, 0.05, 0.05), blocks=FEWEST_BLOCKS)
    yield Setting(Hypotheses(0, 50, 0.05, 0.05), blocks=100)


def measure(world: World, setting: Setting, true_elo: float, tests: int, seed: int) -> Errors:
    """Measure how often the test errs. `true_elo` is one of the two hypotheses."""
    wrong_conclusion: Conclusion = "passed" if true_elo <= setting.hypotheses.elo0 else "failed"
    stream = block_scores(world, skill_for(world, true_elo), np.random.default_rng(seed))
    wrong = undecided = blocks = 0
    for _ in range(tests):
        conclusion, count = _tested(stream, setting, len(world.opposition))
        wrong += conclusion == wrong_conclusion
        undecided += conclusion == "undecided"
        blocks += count
    return Errors(wrong, undecided, tests, blocks / tests)


def measure_interval(world: World, true_elo: float, tests: int, seed: int, end: int = LOOKS_END) -> Errors:
    """Measure how often the interval that is valid at any time ever fails to hold the true mean."""
    stream = block_scores(world, skill_for(world, true_elo), np.random.default_rng(seed))
    truth = score_of(true_elo)
    wrong = sum(_ever_misses(stream, truth, Sample(), len(world.opposition), end) for _ in range(tests))
    return Errors(wrong, 0, tests, end)


def measure_points(world: World, skill: float, tests: int, seed: int, end: int = LOOKS_END) -> Errors:
    """Measure the same for the lead in points, against the mean of very many blocks."""
    truth = mean_lead(world, skill)
    stream = block_leads(world, skill, np.random.default_rng(seed))
    wrong = sum(_ever_misses(stream, truth, sample_of_points(), 1, end) for _ in range(tests))
    return Errors(wrong, 0, tests, end)


def _ever_misses(stream: Iterator[float], truth: float, sample: Sample, round_size: int, end: int) -> bool:
    misses = False
    for number in range(1, end + 1):
        sample.add(next(stream))
        if number >= FEWEST_BLOCKS and number % round_size == 0 and not misses:
            interval = interval_at_any_time(sample)
            misses = interval is None or not interval.low <= truth <= interval.high
    return misses


def _tested(stream: Iterator[float], setting: Setting, round_size: int) -> tuple[Conclusion, int]:
    """Run one test, which looks when each of the baselines has been met equally often."""
    sample = Sample()
    while True:
        for _ in range(round_size):
            sample.add(next(stream))
        if setting.blocks is None:
            conclusion = look(sample, setting.hypotheses)
            if conclusion != "undecided":
                return conclusion, sample.count
        elif sample.count >= setting.blocks:
            return look_once(sample, setting.hypotheses), sample.count


# -- the world ---------------------------------------------------------------------------------------


def block_scores(world: World, skill: float, generator: np.random.Generator) -> Iterator[float]:
    """Yield scores without end. The baselines take turns."""
    count = BLOCKS_AT_ONCE // len(world.opposition)
    while True:
        chance = [_chance(world, count, generator) for _ in world.opposition]
        scores = [
            _scores(world, skill - other, each) for other, each in zip(world.opposition, chance, strict=True)
        ]
        yield from np.stack(scores, axis=1).ravel().tolist()


def block_leads(world: World, skill: float, generator: np.random.Generator) -> Iterator[float]:
    """Yield leads in points without end."""
    while True:
        yield from _leads(world, skill, BLOCKS_AT_ONCE, generator).tolist()


@cache
def mean_lead(world: World, skill: float) -> float:
    return float(_leads(world, skill, BLOCKS_FOR_THE_SKILL, np.random.default_rng(1)).mean())


def _leads(world: World, skill: float, blocks: int, generator: np.random.Generator) -> Floats:
    chance = _chance(world, blocks, generator)
    points = np.round(world.points * chance)
    points[:, :, 0] = np.round(world.points * (chance[:, :, 0] + skill))
    leads: Floats = (points[:, :, 0] - points[:, :, 1:].mean(axis=2)).mean(axis=1)
    leads[generator.random(blocks) < world.alike] = 0.0
    return leads


@cache
def skill_for(world: World, elo: float) -> float:
    """Return the skill with which the mean score of a block is that of this Elo."""
    if elo == 0 and world.opposition == (0.0,):
        return 0.0
    generator = np.random.default_rng(1)
    count = BLOCKS_FOR_THE_SKILL // len(world.opposition)
    chance = [(other, _chance(world, count, generator)) for other in world.opposition]
    low, high = -10.0, 10.0
    for _ in range(HALVINGS):
        skill = (low + high) / 2
        mean = np.mean([_scores(world, skill - other, each).mean() for other, each in chance])
        low, high = (skill, high) if mean < score_of(elo) else (low, skill)
    return (low + high) / 2


def _chance(world: World, blocks: int, generator: np.random.Generator) -> Floats:
    """Draw all of the points but the skill, by block, rotation and entrant. The candidate is entrant 0."""
    size = world.seats
    seat_of = (np.arange(size)[None, :] + np.arange(size)[:, None]) % size  # rotation, entrant
    of_seat = generator.normal(0, LUCK_OF_THE_DEAL, (blocks, size)) + SEAT_ADVANTAGE * np.arange(size) / (
        size - 1
    )
    suits = generator.normal(0, DEAL_AND_ENTRANT, (blocks, size, size))  # entrant, seat
    noise = generator.normal(0, 1, (blocks, size, size))
    noise -= DISASTER[1] * (generator.random(noise.shape) < DISASTER[0])
    entrant = np.broadcast_to(np.arange(size), (size, size))
    points: Floats = of_seat[:, seat_of] + suits[:, entrant, seat_of] + world.noise * noise
    return points


def _scores(world: World, skill: float, chance: Floats) -> Floats:
    candidate = np.round(world.points * (chance[:, :, :1] + skill))
    others = np.round(world.points * chance[:, :, 1:])
    scores: Floats = ((candidate > others) + 0.5 * (candidate == others)).mean(axis=(1, 2))
    return scores


# -- the table ---------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=4000, help="of each kind (default: 4000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="worlds whose name holds this")
    parser.add_argument("--seed", type=int, default=3)
    arguments = parser.parse_args()
    os.nice(10)
    print(f"{arguments.tests} tests of each kind, in brackets the 95 % interval of the share of wrong ones;")
    print("! is above what was promised, even at the lower end of that interval")
    above = 0
    for world in worlds():
        if arguments.only not in world.name:
            continue
        print(
            f"\n{world.name}\n{'':38}{'passes elo0':>21}{'blocks':>8}"
            f"{'fails elo1':>22}{'blocks':>8}{'undecided':>11}"
        )
        for setting in settings():
            h = setting.hypotheses
            at0, at1 = (
                measure(world, setting, elo, arguments.tests, arguments.seed) for elo in (h.elo0, h.elo1)
            )
            cells = [
                _cell(at0, h.alpha),
                f"{at0.mean_blocks:8.0f}",
                _cell(at1, h.beta),
                f"{at1.mean_blocks:8.0f}",
            ]
            above += "!" in cells[0] or "!" in cells[2]
            undecided = (at0.undecided + at1.undecided) / (2 * arguments.tests)
            print(f"{setting.name:38}{''.join(cells)}{undecided:11.1%}", flush=True)
        for elo in TRUE_ELOS:
            cell = _cell(measure_interval(world, elo, arguments.tests, arguments.seed), 1 - LEVEL)
            above += "!" in cell
            print(f"{f'interval at any time, {elo:g}':38}{cell}{LOOKS_END:8}", flush=True)
    for world in worlds_of_points():
        if arguments.only not in world.name:
            continue
        print(f"\n{world.name}, by points\n{'':38}{'misses the truth':>21}{'blocks':>8}")
        for skill in SKILLS:
            cell = _cell(measure_points(world, skill, arguments.tests, arguments.seed), 1 - LEVEL)
            above += "!" in cell
            lead = f"interval at any time, {mean_lead(world, skill):+.1f} points"
            print(f"{lead:38}{cell}{LOOKS_END:8}", flush=True)
    print(f"\nabove what was promised: {above}")
    return 1 if above else 0


def _cell(errors: Errors, promised: float) -> str:
    low, high = errors.interval
    mark = "!" if low > promised else " "
    return f"{errors.wrong / errors.tests:7.2%} ({low:5.2%}-{high:5.2%}){mark:>2}"


if __name__ == "__main__":
    sys.exit(main())
