"""The schedule's view of the blocks in the lines, and of missing ones.

A tournament whose lines are all true can still lack some: those that its organizer did not like. A block that
comes after the suspension of one of its bots was called off. One that the machine failed to play is void, and
no line says so; nor does any say that a tournament was stopped. So a block that is missing is no error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from stellwerk_base.texts import counted
from stellwerk_tournament.schedule.schedule import (
    Block,
    SchedulePlan,
    is_drawn,
    needs_results,
    numbers_of_stage,
    playable_matches,
    stage,
    stage_of_block,
)
from stellwerk_tournament.store.conduct import Suspensions
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import FILE, blocks_of

MOST_NAMED: Final = 10


def wrong_draws(cup: Cup) -> Iterator[str]:
    """Yield the blocks that were drawn with a bot that was out. Only a stage that depends on results is known
    to be drawn after all before it; in others a block may have begun before."""
    plan = cup.plan
    if not needs_results(plan):
        return
    suspensions = Suspensions(cup.settings.conduct)
    out_of: dict[int, Mapping[str, str]] = {}
    for matches in blocks_of(cup.results):
        block = matches[0].block
        stage = stage_of_block(plan, block)
        if stage not in out_of:
            drawn_after = cup.results.begin_of(block)
            out_of[stage] = {
                each.bot: f"suspended after block {each.block}" for each in suspensions.of.values()
            } | {
                each.bot: f"disqualified before by decision {each.number}"
                for each in cup.field.disqualified.values()
                if each.after < drawn_after
            }
        for bot in sorted(out_of[stage].keys() & matches[0].players):
            yield f"block {block} was drawn with {bot}, which was {out_of[stage][bot]}"
        suspensions.add(matches)


def missing_blocks(cup: Cup) -> list[str]:
    """Return a line for each block that is missing before the last one that was played: for some, and then
    their number. Nothing if the schedule is not the one that was played."""
    plan = cup.plan
    played = {matches[0].block: matches[0].players for matches in blocks_of(cup.results)}
    found: list[str] = []
    number, last = 0, max(played, default=-1)
    while (numbers := numbers_of_stage(plan, number)).start <= last:
        absent = [block for block in numbers if block <= last and block not in played]
        if absent and is_drawn(plan):
            found += _of_a_draw(cup, plan, number, absent)
        elif absent:
            blocks = {block.number: block for block in stage(plan, number)}
            if any(blocks[each].entrants != played[each] for each in numbers if each in played):
                return []
            found += [_in_words(cup, blocks[each]) for each in absent]
        number += 1
    more = len(found) - MOST_NAMED
    return found[:MOST_NAMED] + ([f"and {counted(more, 'more block')}"] if more > 0 else [])


def _of_a_draw(cup: Cup, plan: SchedulePlan, number: int, absent: Sequence[int]) -> Iterator[str]:
    """Name the missing blocks of a stage whose draw is unknown, and so are their entrants. After a suspension
    a stage has fewer tables, and some are called off."""
    numbers = numbers_of_stage(plan, number)
    size = playable_matches(plan, number, ()) // len(numbers)
    tables = numbers[: playable_matches(plan, number, cup.out) // size]
    for block in absent:
        if (
            block in tables
            and not cup.field.disqualified
            and all(each.block > block for each in cup.suspensions.values())
        ):
            yield f"block {block} is not in {FILE}, and no line says why"


def _in_words(cup: Cup, block: Block) -> str:
    """Blocks begin in the order of their numbers, but for those of bots that had to be waited for."""
    settings = cup.settings
    in_order = not any(entrant.is_remote or entrant.instances for entrant in settings.entrants)
    for bot in block.entrants:
        if bot in cup.field.disqualified:
            why = f"called off, since {bot} is disqualified"
            break
        suspension = cup.suspensions.get(bot)
        if suspension is not None and not (in_order and block.number < suspension.block):
            why = f"called off, since {bot} was suspended after block {suspension.block}"
            break
    else:
        why = "and no line says why"
    return f"block {block.number} ({', '.join(block.entrants)}) is not in {FILE}, {why}"
