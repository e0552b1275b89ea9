"""How fast the learning environments are: steps in a CPU second, with random integers that the mask allows.

All seats as agents, for each game with as few players as it allows; and one agent among bots. What a learning
program takes to choose an integer is not in it. Medians over short slices in turn, with quartiles.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from random import Random
from time import process_time
from typing import Final

import numpy as np

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_learn import HouseEnv, SeatsEnv
from stellwerk_learn.table import Mask
from tests.benchmarks.rounds import ROUNDS, SLICE_SECONDS, in_turn, print_table, spread

OPPONENTS: Final = ("random", "greedy", "planner")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the speed of the learning environments.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds: int = parser.parse_args().rounds
    names = [f"{game}, all seats" for game in RULE_SETS]
    names += [f"usa, one agent and {opponent}" for opponent in OPPONENTS]
    plays = [_seats(SeatsEnv(game)) for game in RULE_SETS]
    plays += [_house(HouseEnv("usa", opponents=opponent)) for opponent in OPPONENTS]
    figures = in_turn([play.__next__ for play in plays], _steps_in_a_second, rounds)
    print_table(
        ("environment", "steps in a CPU second"),
        [(name, spread(values).text(0)) for name, values in zip(names, figures, strict=True)],
    )


def _steps_in_a_second(step: Callable[[], None]) -> float:
    count = 0
    began = process_time()
    while (used := process_time() - began) < SLICE_SECONDS:
        for _ in range(100):
            step()
        count += 100
    return count / used


def _seats(env: SeatsEnv) -> Iterator[None]:
    """Go one step on each time."""
    chance = Random(1)
    env.reset(seed=1)
    while True:
        seen, _, over, _, _ = env.last()
        if over:
            env.reset()
            continue
        assert seen is not None
        env.step(_any(seen["action_mask"], chance))
        yield


def _house(env: HouseEnv) -> Iterator[None]:
    """Go one step on each time."""
    chance = Random(1)
    seen, _ = env.reset(seed=1)
    while True:
        seen, _, over, _, _ = env.step(_any(seen["action_mask"], chance))
        if over:
            seen, _ = env.reset()
        yield


def _any(mask: Mask, chance: Random) -> int:
    return int(chance.choice(np.flatnonzero(mask)))


if __name__ == "__main__":
    main()
