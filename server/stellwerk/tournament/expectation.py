"""The expected size of a schedule: how many matches, about how long, and what fits into a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import trio

from stellwerk.tournament.arguments import Budget
from stellwerk.tournament.output import clock
from stellwerk_base.texts import counted
from stellwerk_tournament.config.settings import Variant
from stellwerk_tournament.play.expected_time import TRIAL_BOT, seconds_by_results, seconds_by_trial
from stellwerk_tournament.schedule.budget import Proposal, matches_of_round, meetings, propose
from stellwerk_tournament.schedule.schedule import SchedulePlan, blocks_of_round
from stellwerk_tournament.store.results import Results


@dataclass(frozen=True, slots=True)
class Expectation:
    """Known facts of the matches to come. `seconds` has the time of a match of each variant, by its number,
    as far as it is known; `source` says how."""

    plan: SchedulePlan
    variants: Sequence[Variant]
    at_once: int
    seconds: Mapping[int, float]
    source: str

    def proposal(self, budget: Budget) -> Proposal | None:
        """Return what fits into a budget. None for one of time if nobody knows how long a match takes.
        ScheduleError if nothing fits."""
        if budget.matches is not None:
            return propose(self.plan, [1.0] * len(self.variants), budget.matches)
        assert budget.seconds is not None
        if len(self.seconds) < len(self.variants):
            return None
        costs = [self.seconds[number] for number in range(len(self.variants))]
        return propose(self.plan, costs, budget.seconds * self.at_once)

    def lines(self, rounds: int, played: int = 0) -> list[str]:
        """Say how many matches so many rounds have and about how long they take, and how the bots meet."""
        a_round = matches_of_round(self.plan)
        total = rounds * sum(a_round)
        blocks = counted(rounds * blocks_of_round(self.plan), "block")
        parts = [f"{counted(total, 'match', 'matches')} in {blocks}"]
        parts += [f"{played:,} played"] if played else []
        parts.append(f"{self.at_once:,} at a time")
        text = ", ".join(parts)
        if self.seconds.keys() >= {*range(len(self.variants))}:
            whole = sum(count * self.seconds[number] for number, count in enumerate(a_round))
            left = max(0, total - played) / sum(a_round) * whole / self.at_once
            text += f"; about {clock(left)}{' more' if played else ''}, {self.source}"
        return [text, *self._meetings(rounds)]

    def _meetings(self, rounds: int) -> list[str]:
        met = meetings(self.plan, rounds)
        if met is None:
            return []
        plays = f"{met.least:,}" if met.least == met.most else f"{met.least:,} to {met.most:,}"
        blocks = "block" if met.most == 1 else "blocks"
        never = f"{met.never:,} of {met.pairs:,} pairs of bots never meet"
        return [f"each bot plays {plays} {blocks}; {never if met.never else 'every two bots meet'}"]


def expectation(
    plan: SchedulePlan,
    variants: Sequence[Variant],
    at_once: int,
    results: Results,
    *,
    of: str = "this tournament",
    trial: bool = False,
) -> Expectation:
    """Look at the matches `of` a tournament, and, with `trial`, play a match of each variant that it has
    none of."""
    seconds = seconds_by_results(variants, results)
    unknown = [number for number in range(len(variants)) if number not in seconds]
    source = f"by the matches of {of}"
    if trial and unknown:
        seconds.update(trio.run(seconds_by_trial, variants, unknown))
        source = f"if all bots think as long as {TRIAL_BOT}, by a trial on this machine"
    return Expectation(plan, variants, at_once, seconds, source)


def with_proposal(expected: Expectation, proposal: Proposal) -> Expectation:
    """Return what is expected of the proposed schedule."""
    hero = expected.plan.hero if proposal.kind == expected.plan.kind else None
    return replace(expected, plan=replace(expected.plan, kind=proposal.kind, hero=hero))
