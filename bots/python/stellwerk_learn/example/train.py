"""The training: games against a bot, in rounds, and a test on deals that the policy has never seen.

Law: game number n has a deal, a seat and chance of its own, which follow from the seed and n.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from stellwerk_learn.example.policy import Learner, Policy, Steps, Weights
from stellwerk_learn.house_env import HouseEnv
from stellwerk_learn.observations import Vector
from stellwerk_learn.table import Mask

_Z: Final = 1.96  # standard errors to each side of a 95 % interval


@dataclass(frozen=True, slots=True)
class Plan:
    """The task of a training: a game for two, the opponent, and rounds of so many games each."""

    game: str = "usa"
    opponent: str = "random"
    rounds: int = 120
    games: int = 64
    hidden: int = 64
    seed: int = 1
    jobs: int = 2


@dataclass(frozen=True, slots=True)
class Played:
    """A game: its steps, whether it was won (a tie counts a half), and by how many points."""

    steps: Steps
    won: float
    margin: float


@dataclass(frozen=True, slots=True)
class Round:
    """The outcome of one round of games, before the policy learned from it."""

    number: int
    games: int  # until then
    won: float
    margin: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The share of games won and the points ahead, each with its 95 % interval."""

    games: int
    won: float
    won_from: float
    won_to: float
    margin: float
    margin_error: float

    def __str__(self) -> str:
        return (
            f"{self.games} games: {100 * self.won:.1f} % won "
            f"(95 %: {100 * self.won_from:.1f} to {100 * self.won_to:.1f} %), "
            f"{self.margin:+.1f} points ahead (\N{PLUS-MINUS SIGN} {self.margin_error:.1f})"
        )


def train(plan: Plan, tell: Callable[[Round], object]) -> Policy:
    """Train a policy, and tell of each round."""
    chance = np.random.default_rng(plan.seed)
    learner = Learner(Policy.new(HouseEnv(plan.game).table.game, plan.hidden, chance))
    with _Players(plan) as players:
        for number in range(plan.rounds):
            first = number * plan.games
            games = list(players.play(learner.policy, range(first, first + plan.games), best=False))
            tell(
                Round(
                    number,
                    first + plan.games,
                    sum(game.won for game in games) / len(games),
                    sum(game.margin for game in games) / len(games),
                )
            )
            learner.learn(_join_games(games), chance)
    return learner.policy


def examine(plan: Plan, policy: Policy, games: int, opponent: str) -> Verdict:
    """Let the policy play on deals of their own, always with its best move."""
    with _Players(plan, opponent) as players:
        played = list(players.play(policy, range(-games, 0), best=True))
    won = sum(game.won for game in played) / games
    margins = np.array([game.margin for game in played])
    return Verdict(
        games, won, *_wilson(won, games), float(margins.mean()), _Z * float(margins.std(ddof=1)) / sqrt(games)
    )


def _wilson(share: float, games: int) -> tuple[float, float]:
    """Return the interval by Wilson, which is honest near 0 and 1 too."""
    middle = share + _Z**2 / (2 * games)
    half = _Z * sqrt(share * (1 - share) / games + _Z**2 / (4 * games**2))
    return max(0.0, (middle - half) / (1 + _Z**2 / games)), min(1.0, (middle + half) / (1 + _Z**2 / games))


def play(env: HouseEnv, policy: Policy, number: int, seed: int, *, best: bool) -> Played:
    """Play one game."""
    chance = np.random.default_rng((seed, number % 2**32))
    vectors: list[Vector] = []
    masks: list[Mask] = []
    chosen: list[int] = []
    logs: list[float] = []
    seen, _ = env.reset(seed=int(chance.integers(2**62)))
    while True:
        vector, mask = seen["observation"], seen["action_mask"]
        if best:
            action, log = policy.best(vector, mask), 0.0
        else:
            action, log = policy.sample(vector, mask, chance)
        vectors.append(vector)
        masks.append(mask)
        chosen.append(action)
        logs.append(log)
        seen, reward, over, _, _ = env.step(action)
        if over:
            break
    rewards = np.full(len(chosen), reward, np.float32)
    steps = Steps(np.array(vectors), np.array(masks), np.array(chosen), np.array(logs, np.float32), rewards)
    return Played(steps, (1 + np.sign(reward)) / 2, 100 * reward)


class _Players:
    """Processes that play, each with an environment of its own; with one job, this process."""

    def __init__(self, plan: Plan, opponent: str | None = None) -> None:
        self._plan = plan
        self._opponent = opponent or plan.opponent
        self._stack = ExitStack()
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> _Players:
        if self._plan.jobs > 1:
            fresh = multiprocessing.get_context("spawn")  # a fork would copy the threads of numpy
            self._pool = self._stack.enter_context(ProcessPoolExecutor(self._plan.jobs, fresh))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def play(self, policy: Policy, numbers: range, *, best: bool) -> Iterator[Played]:
        plan = self._plan
        parts = [numbers[part :: plan.jobs] for part in range(plan.jobs)]
        jobs = [_Job(plan.game, self._opponent, plan.seed, policy.weights, part, best) for part in parts]
        played = map(_play_job, jobs) if self._pool is None else self._pool.map(_play_job, jobs)
        by_number = {number: game for games in played for number, game in games}
        for number in numbers:
            yield by_number[number]


@dataclass(frozen=True, slots=True)
class _Job:
    game: str
    opponent: str
    seed: int
    weights: Weights
    numbers: range
    best: bool


def _play_job(job: _Job) -> list[tuple[int, Played]]:
    env = HouseEnv(job.game, opponents=job.opponent, players=2, reward="margin")
    policy = Policy(job.weights)
    return [(number, play(env, policy, number, job.seed, best=job.best)) for number in job.numbers]


def _join_games(games: list[Played]) -> Steps:
    return Steps(
        np.concatenate([game.steps.vectors for game in games]),
        np.concatenate([game.steps.masks for game in games]),
        np.concatenate([game.steps.chosen for game in games]),
        np.concatenate([game.steps.logs for game in games]),
        np.concatenate([game.steps.rewards for game in games]),
    )
