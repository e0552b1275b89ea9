"""The simulation of `coverage_simulation.py`, small and with fixed seeds.

The bounds are wide enough for so few repeats (three standard deviations and more) and far from what the
usual shortcut gives: matches of a block taken for independent ones.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import Ratings, rate
from tests.tournament.ratings.coverage_simulation import Deals, World, measure, tournament, worlds


@pytest.mark.parametrize("deals", ["rotated", "new deals"])
@pytest.mark.parametrize(("size", "repeats"), [(2, 300), (3, 200), (4, 150)])
def test_95_percent_intervals_hold_the_truth_and_equal_bots_are_called_equal(
    size: int, repeats: int, deals: Deals
) -> None:
    found = measure(World((0.0,) * size, size, 16, deals), repeats, seed=1)

    assert 0.92 <= found.covered <= 0.98
    assert 0.02 <= found.called_different <= 0.08
    assert found.without == 0


def test_few_blocks_are_warned_of() -> None:
    assert measure(World((0.0, 0.0, 0.0), 3, 5), 20, seed=1).warned == 1
    assert measure(World((0.0, 0.0, 0.0), 3, 20), 20, seed=1).warned == 0


def test_few_wins_of_the_weaker_are_warned_of() -> None:
    """The simulation shows that with so few wins the intervals contain the true value a little too rarely."""
    assert measure(World((0.0, 3.0), 2, 16), 60, seed=1).warned > 0.5
    assert measure(World((0.0, 3.0), 2, 100), 20, seed=1).warned == 0
    assert measure(World((0.0, 2.0), 2, 30), 20, seed=1).warned < 0.1


def test_intervals_of_blocks_stay_honest_where_those_of_matches_do_not() -> None:
    """A block here is one duel that is played four times with nearly the same luck."""
    random = Random(1)
    called_by_blocks = called_by_matches = 0
    for _ in range(200):
        outcomes: list[Outcome] = []
        for block in range(15):
            luck = random.gauss(0, 1)
            for _ in range(4):
                ranks = (1, 2) if luck + random.gauss(0, 0.5) > 0 else (2, 1)
                outcomes.append(Outcome(("a", "b"), ranks, block=str(block)))
        called_by_blocks += calls_different(rate(outcomes))
        called_by_matches += calls_different(rate([replace(outcome, block=None) for outcome in outcomes]))

    assert called_by_blocks <= 0.08 * 200
    assert called_by_matches >= 0.2 * 200


def calls_different(ratings: Ratings) -> bool:
    better = ratings.superiority("a", "b")
    assert better is not None
    return not 0.025 <= better <= 0.975


def test_the_worlds_are_those_that_were_asked_for() -> None:
    all_worlds = list(worlds())

    for size in (2, 3, 4):
        for blocks in (10, 30, 100):
            for deals in ("rotated", "new deals"):
                of_kind = [
                    world
                    for world in all_worlds
                    if (world.size, world.blocks, world.deals) == (size, blocks, deals)
                ]
                assert {len(set(world.skills)) == 1 for world in of_kind} == {True, False}


def test_a_rotated_block_seats_everybody_everywhere_and_the_better_ones_are_better() -> None:
    world = World((0.0, 2.0, 1.0), 3, 40)
    outcomes = tournament(world, np.random.default_rng(1))
    first_block = [outcome for outcome in outcomes if outcome.block == "0"]

    assert {outcome.seats for outcome in first_block} == {(0, 1, 2), (1, 2, 0), (2, 0, 1)}
    assert {outcome.entrants for outcome in first_block} == {first_block[0].entrants}
    better = {rating.name: rating.elo for rating in rate(outcomes).entrants}
    assert better["bot 1"] > better["bot 2"] > better["bot 0"]
