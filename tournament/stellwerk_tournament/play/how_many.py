"""How many matches a tournament has in all, as far as anybody knows that."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.conduct import matches_lost
from stellwerk_tournament.schedule.schedule import SchedulePlan, plan_of, stage, stages_of_round
from stellwerk_tournament.store.store import Standing


def total_matches(settings: Settings, plan: SchedulePlan) -> int | None:
    """Return the number of matches of the whole tournament, if it is known."""
    if settings.rounds is None or settings.until_width is not None:
        return None
    a_round = sum(
        len(block.rotations) for number in range(stages_of_round(plan)) for block in stage(plan, number)
    )
    return settings.rounds * a_round


def matches_in_all(
    settings: Settings, standings: Sequence[Standing], suspended: Collection[str]
) -> int | None:
    """Return how many matches there will have been at the end, without those that are called off. None if
    nobody knows that yet."""
    plan = plan_of(settings)
    total = total_matches(settings, plan)
    if total is None or settings.rounds is None:
        return total
    return total - matches_lost(plan, settings.rounds, standings, suspended)
