"""A schedule after suspensions.

Law: a stage keeps the tables that it was made with. The bots that were suspended then are not written
anywhere: they follow from the blocks of the stage, and from the order in which bots were suspended.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from stellwerk_tournament.schedule.schedule import (
    Block,
    Met,
    SchedulePlan,
    is_drawn,
    numbers_of_stage,
    playable_matches,
    stage,
    stages_of_round,
)
from stellwerk_tournament.store.store import Standing


def stage_as_made(
    plan: SchedulePlan,
    number: int,
    history: Sequence[Met],
    sets: Sequence[frozenset[str]],
    known: Mapping[int, tuple[str, ...]],
) -> tuple[Block, ...]:
    """Return the blocks of a stage. `sets` are the suspended bots at all times, now last. `known` are the
    entrants of blocks by their numbers; those of the stage tell when it was made."""
    of_stage = {block: known[block] for block in numbers_of_stage(plan, number) if block in known}
    if not of_stage or not is_drawn(plan):
        return stage(plan, number, history, sets[-1])
    for suspended in sets:
        blocks = stage(plan, number, history, suspended)
        if of_stage.items() <= {block.number: block.entrants for block in blocks}.items():
            return blocks
    return stage(plan, number, history)  # it was made with other settings


def has_playable(plan: SchedulePlan, suspended: Collection[str]) -> bool:
    """Return whether any table without a suspended bot is still to come, however many rounds are."""
    return any(playable_matches(plan, number, suspended) for number in range(stages_of_round(plan)))


def matches_called_off(plan: SchedulePlan, first: int, rounds: int, suspended: Collection[str]) -> int:
    """Return how many matches fall away in the stages that are to be made, from `first` on."""
    if not suspended:
        return 0
    count = stages_of_round(plan)
    lost = [_full(plan, number) - playable_matches(plan, number, suspended) for number in range(count)]
    whole, part = divmod(max(0, rounds * count - first), count)
    return whole * sum(lost) + sum(lost[count - part :])


def matches_lost(
    plan: SchedulePlan, rounds: int, standings: Sequence[Standing], suspended: Collection[str]
) -> int:
    """Return how many matches of all rounds fall away, by the blocks that are known so far."""
    of_stage: dict[int, list[Block]] = {}
    for standing in standings:
        of_stage.setdefault(standing.block.stage, []).append(standing.block)
    called_off = sum(len(each.block.rotations) for each in standings if each.status == "called_off")
    not_drawn = sum(matches_not_drawn(plan, number, blocks) for number, blocks in of_stage.items())
    to_come = matches_called_off(plan, max(of_stage, default=-1) + 1, rounds, suspended)
    return called_off + not_drawn + to_come


def matches_not_drawn(plan: SchedulePlan, number: int, blocks: Sequence[Block]) -> int:
    """Return how many matches a stage has less than with all bots."""
    return _full(plan, number) - sum(len(block.rotations) for block in blocks)


def _full(plan: SchedulePlan, number: int) -> int:
    return playable_matches(plan, number, ())
