"""How many matches a schedule has, and a schedule that fits into a budget of matches or of time.

Law: a schedule that is proposed treats all bots alike: each plays as often as every other, or, if the budget
is too small for that, at most one block less in each game. Exceptions are reported: how often the bots play,
and how many pairs of them never meet.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from stellwerk_tournament.config.settings import Kind
from stellwerk_tournament.schedule.schedule import (
    ScheduleError,
    SchedulePlan,
    blocks_of_round,
    needs_results,
    stage,
    stages_of_round,
    tables_of_stage,
)

MOST_ROUNDS: Final = 1_000_000
MOST_LOOKED_AT: Final = 20_000
"""Blocks: of larger schedules nobody counts who meets whom."""


@dataclass(frozen=True, slots=True)
class Meetings:
    """How the bots of a schedule meet: in how many blocks each plays (the least and the most of all bots),
    and how many of all pairs never sit at one table."""

    least: int
    most: int
    pairs: int
    never: int


@dataclass(frozen=True, slots=True)
class Proposal:
    kind: Kind
    rounds: int


def matches_of_round(plan: SchedulePlan) -> tuple[int, ...]:
    """Return how many matches a round has, of each variant. ScheduleError if its tables are too many."""
    return tuple(weight * tables_of_stage(plan, size) * size for size, weight in plan.variants)


def propose(plan: SchedulePlan, costs: Sequence[float], budget: float) -> Proposal:
    """Return as many rounds as fit: of the plan's kind, or else of random tables. `costs` has what a match of
    each variant takes of the budget. ScheduleError if nothing fits."""
    kinds: tuple[Kind, ...] = (plan.kind, "random")
    matches: tuple[int, ...] = ()
    for kind in kinds:
        tried = replace(plan, kind=kind, hero=plan.hero if kind == plan.kind else None)
        try:
            matches = matches_of_round(tried)
        except ScheduleError:
            continue
        cost = sum(count * each for count, each in zip(matches, costs, strict=True))
        rounds = min(MOST_ROUNDS, int(budget / cost + 1e-9))
        if rounds:
            return Proposal(kind, _even(tried, rounds))
    raise ScheduleError(f"the budget is too small: one round of random tables has {sum(matches)} matches")


def meetings(plan: SchedulePlan, rounds: int) -> Meetings | None:
    """Count how the bots meet. None if that follows from results, or if the schedule is too long."""
    if needs_results(plan) or rounds * blocks_of_round(plan) > MOST_LOOKED_AT:
        return None
    plays = Counter(dict.fromkeys(plan.entrants, 0))
    met: set[tuple[str, ...]] = set()
    for number in range(rounds * stages_of_round(plan)):
        for block in stage(plan, number):
            plays.update(block.entrants)
            met.update(combinations(sorted(block.entrants), 2))
    pairs = math.comb(len(plan.entrants), 2)
    return Meetings(min(plays.values()), max(plays.values()), pairs, pairs - len(met))


def _even(plan: SchedulePlan, rounds: int) -> int:
    """Leave out the last rounds of random tables, if some bots would play more often than others in them."""
    if plan.kind != "random":
        return rounds
    count = len(plan.entrants)
    seated = [weight * (count // size * size) for size, weight in plan.variants]
    cycle = math.lcm(*(count // math.gcd(count, each) for each in seated))
    return rounds - rounds % cycle if rounds >= cycle else rounds
