"""The schedule as a source of blocks (`source.py`), also after suspensions and disqualifications.

Laws:
- a stage keeps the tables that it was made with. The bots that were out then are not written anywhere: they
  follow from the blocks of the stage, and from the orders in which bots were suspended and disqualified;
- the cost of a stage does not depend on how many are before it, unless its tables do: a folder that is
  resumed gets all of its stages again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.record import Record
from stellwerk_tournament.schedule.budget import matches_of_round
from stellwerk_tournament.schedule.schedule import (
    Block,
    Met,
    SchedulePlan,
    is_drawn,
    needs_results,
    numbers_of_stage,
    plan_of,
    playable_matches,
    stage,
    stages_of_round,
)
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.store import KnownBlock


class ScheduledBlocks:
    """The blocks of a schedule, stage by stage. `known` are those that the folder has, by their numbers.
    `looks_ahead`: a round may begin while the blocks that may end the tournament are played."""

    def __init__(
        self,
        settings: Settings,
        record: Record,
        known: Mapping[int, KnownBlock],
        *,
        looks_ahead: bool = True,
    ) -> None:
        self.entrants = {entrant.name: entrant for entrant in settings.entrants}
        self.is_over = False
        self._settings = settings
        self._plan = plan_of(settings)
        self._record = record
        self._known = known
        self._last_known = max(known, default=-1)
        self._looks_ahead = looks_ahead or settings.rounds is not None
        self._all_matches = total_matches(settings, self._plan)
        self._not_drawn = 0  # matches
        self._next_stage = 0

    @property
    def total(self) -> int | None:
        """Return how many matches there are in all, without those of bots that are out in stages to come."""
        rounds = self._settings.rounds
        if self._all_matches is None or rounds is None:
            return None
        out = self._record.conduct.out
        to_come = matches_called_off(self._plan, self._next_stage, rounds, out)
        return self._all_matches - self._not_drawn - to_come

    def due(self, running: Collection[Block]) -> Sequence[Block]:
        """Return the blocks of the next stage that has any."""
        while not self.is_over and not (running and self._waits_for_results()):
            number = self._next_stage
            if self._has_no_more(number):
                self.is_over = True
                break
            numbers = numbers_of_stage(self._plan, number)
            known = {each: self._known[each].block.entrants for each in numbers if each in self._known}
            history = self._record.results.history() if needs_results(self._plan) else ()
            blocks = stage_as_made(self._plan, number, history, self._record.conduct.sets, known)
            is_new = not blocks or any(block.number not in known for block in blocks)
            width = self._settings.until_width
            if is_new and width is not None and self._begins_round(number) and self._record.is_within(width):
                self.is_over = True
                break
            self._next_stage += 1
            self._not_drawn += matches_not_drawn(self._plan, number, blocks)
            if blocks:
                return blocks
        return ()

    def ended(self, block: Block, lines: Sequence[MatchLine]) -> None:
        """Do nothing: the record has it."""

    def _waits_for_results(self) -> bool:
        looks_ahead = self._looks_ahead or not self._begins_round(self._next_stage)
        return needs_results(self._plan) or not looks_ahead

    def _has_no_more(self, number: int) -> bool:
        rounds = self._settings.rounds
        if rounds is not None and number >= rounds * stages_of_round(self._plan):
            return True
        is_known = self._last_known >= numbers_of_stage(self._plan, number).start
        return not is_known and not has_playable(self._plan, self._record.conduct.out)

    def _begins_round(self, number: int) -> bool:
        return number % stages_of_round(self._plan) == 0


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
    plan: SchedulePlan, rounds: int, standings: Sequence[KnownBlock], suspended: Collection[str]
) -> int:
    """Return how many matches of all rounds fall away, by the blocks that are known so far."""
    of_stage: dict[int, list[Block]] = {}
    for standing in standings:
        of_stage.setdefault(standing.block.stage, []).append(standing.block)
    called_off = sum(len(each.block.rotations) for each in standings if each.status == "called_off")
    not_drawn = sum(matches_not_drawn(plan, number, blocks) for number, blocks in of_stage.items())
    end = max(of_stage, default=-1) + 1
    not_drawn += sum(_full(plan, number) * count for number, count in _empty_stages(plan, end, of_stage))
    return called_off + not_drawn + matches_called_off(plan, end, rounds, suspended)


def _empty_stages(plan: SchedulePlan, end: int, known: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield each stage of the first round, and how many like it before `end` had no table at all."""
    in_round = stages_of_round(plan)
    with_tables = Counter(number % in_round for number in known)
    for number in range(in_round):
        yield number, len(range(number, end, in_round)) - with_tables[number]


def matches_not_drawn(plan: SchedulePlan, number: int, blocks: Sequence[Block]) -> int:
    """Return how many matches a stage has less than with all bots."""
    return _full(plan, number) - sum(len(block.rotations) for block in blocks)


def _full(plan: SchedulePlan, number: int) -> int:
    return playable_matches(plan, number, ())


def total_matches(settings: Settings, plan: SchedulePlan) -> int | None:
    """Return the number of matches of the whole tournament, if it is known. ScheduleError if its tables are
    too many."""
    if settings.rounds is None or settings.until_width is not None:
        return None
    return settings.rounds * sum(matches_of_round(plan))


def matches_in_all(
    settings: Settings, standings: Sequence[KnownBlock], suspended: Collection[str]
) -> int | None:
    """Return how many matches there will have been at the end, without those that are called off. None if
    nobody knows that yet."""
    plan = plan_of(settings)
    total = total_matches(settings, plan)
    if total is None or settings.rounds is None:
        return total
    return total - matches_lost(plan, settings.rounds, standings, suspended)
