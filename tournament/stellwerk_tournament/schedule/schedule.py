"""The tables of a tournament, as blocks.

The unit is the block: one deal, played once in every rotation of its entrants round the seats (in team games
round the teams), so that luck of the deal and of the seat is everybody's. A round is made of stages, one for
each deal of each variant of the games; a stage has its tables, and each table of it is a block.

Laws: block number n follows from the plan, from who was suspended when its stage was made, and in a Swiss
tournament from the results of the stages before its own; so a schedule that was lost can be made again. Bots
of one author do not meet, except where nothing else is left. Chance is taken from a hash of the stage:
anybody may know who will meet whom.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import combinations, islice, permutations

from stellwerk_tournament.config.settings import Kind, Settings

TRIES = 40  # partitions that are looked at for a random stage
MOST_TABLES = 1_000_000


@dataclass(frozen=True, slots=True)
class SchedulePlan:
    """The values that a schedule depends on. `authors` has one for each entrant, or None. `variants` has, for
    each, how many entrants sit at a table and how many deals of it a round has."""

    kind: Kind
    entrants: tuple[str, ...]
    authors: tuple[str | None, ...]
    variants: tuple[tuple[int, int], ...]
    hero: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A block. `entrants` are in the order in which they sit in rotation 0."""

    number: int
    stage: int
    round: int
    variant: int
    entrants: tuple[str, ...]

    @property
    def rotations(self) -> range:
        return range(len(self.entrants))

    def teams(self, rotation: int) -> tuple[str, ...]:
        """Return the entrant of each team in one of the matches: all have moved on by so many teams."""
        size = len(self.entrants)
        return tuple(self.entrants[(team + rotation) % size] for team in range(size))


@dataclass(frozen=True, slots=True)
class Met:
    """A block that has been played: the results of its entrants, from 1 for always first to 0 for always
    last, in the order of rotation 0."""

    number: int
    round: int
    scores: Mapping[str, float]


class ScheduleError(ValueError):
    """A schedule that cannot exist; one line says why."""


def plan_of(settings: Settings) -> SchedulePlan:
    return SchedulePlan(
        kind=settings.kind,
        entrants=settings.names,
        authors=tuple(entrant.author for entrant in settings.entrants),
        variants=tuple((variant.entrant_count, variant.weight) for variant in settings.variants),
        hero=settings.hero,
    )


def stages_of_round(plan: SchedulePlan) -> int:
    return sum(weight for _, weight in plan.variants)


def blocks_of_round(plan: SchedulePlan) -> int:
    """Return how many blocks a round has. ScheduleError if they are too many."""
    return sum(weight * tables_of_stage(plan, size) for size, weight in plan.variants)


def stage(
    plan: SchedulePlan, number: int, history: Sequence[Met] = (), suspended: Collection[str] = ()
) -> tuple[Block, ...]:
    """Return the blocks of a stage. `history` are those that have been played, at least of all stages before
    it; only a Swiss tournament looks at them. `suspended` bots are not drawn, where tables are drawn at all:
    then a stage has fewer blocks, and the numbers of the others stay free."""
    round, within = divmod(number, stages_of_round(plan))
    variant, occasion = _variant_of(plan, within)
    size, weight = plan.variants[variant]
    numbers = numbers_of_stage(plan, number)
    earlier = [met for met in history if met.number < numbers.start] if needs_results(plan) else []
    drawn_from = plan
    if is_drawn(plan) and suspended:
        drawn_from = _without(plan, frozenset(suspended))
    found = _tables(drawn_from, number, round * weight + occasion, size, earlier)
    return tuple(
        Block(n, number, round, variant, entrants)
        for n, entrants in zip(numbers, islice(found, len(numbers)), strict=False)
    )


def numbers_of_stage(plan: SchedulePlan, number: int) -> range:
    """Return the numbers of the blocks that a stage can have."""
    round, within = divmod(number, stages_of_round(plan))
    variant, occasion = _variant_of(plan, within)
    first = round * blocks_of_round(plan)
    first += sum(weight * tables_of_stage(plan, size) for size, weight in plan.variants[:variant])
    tables = tables_of_stage(plan, plan.variants[variant][0])
    return range(first + occasion * tables, first + (occasion + 1) * tables)


def stage_of_block(plan: SchedulePlan, block: int) -> int:
    """Return the number of the stage that a block belongs to."""
    number = block // blocks_of_round(plan) * stages_of_round(plan)
    while block not in numbers_of_stage(plan, number):
        number += 1
    return number


def playable_matches(plan: SchedulePlan, number: int, suspended: Collection[str]) -> int:
    """Return how many matches a stage has in which no suspended bot would play."""
    variant, _ = _variant_of(plan, number % stages_of_round(plan))
    size = plan.variants[variant][0]
    if is_drawn(plan):
        return (len(plan.entrants) - len(suspended)) // size * size
    return size * _tables_without(plan, size, frozenset(suspended))


def _variant_of(plan: SchedulePlan, within: int) -> tuple[int, int]:
    """Return the variant of a stage of a round, and which of its stages that is."""
    for variant, (_, weight) in enumerate(plan.variants):
        if within < weight:
            return variant, within
        within -= weight
    raise AssertionError("a stage belongs to one of the variants")


@lru_cache(maxsize=64)
def _tables_without(plan: SchedulePlan, size: int, suspended: frozenset[str]) -> int:
    return sum(suspended.isdisjoint(table) for table in _all_tables(plan, size))


@lru_cache(maxsize=64)
def _without(plan: SchedulePlan, suspended: frozenset[str]) -> SchedulePlan:
    kept = [number for number, name in enumerate(plan.entrants) if name not in suspended]
    return replace(
        plan,
        entrants=tuple(plan.entrants[number] for number in kept),
        authors=tuple(plan.authors[number] for number in kept),
    )


def is_drawn(plan: SchedulePlan) -> bool:
    """Return whether each stage draws its tables, from the bots that are there then."""
    return plan.kind in ("swiss", "random")


def needs_results(plan: SchedulePlan) -> bool:
    """Return whether a stage depends on the results of those before it."""
    return plan.kind == "swiss"


# -- tables ------------------------------------------------------------------------------------------


def tables_of_stage(plan: SchedulePlan, size: int) -> int:
    """Return how many tables a stage has, the same for all stages of a variant."""
    count = len(plan.entrants)
    if is_drawn(plan):
        return count // size
    possible = math.comb(count, size) if plan.kind == "round_robin" else math.comb(count - 1, size - 1)
    if possible > MOST_TABLES:
        raise ScheduleError(
            f"with {count} bots there are {possible:,} tables of {size} in a round: take kind = "
            f'"random" or "swiss"'
        )
    return len(_all_tables(plan, size))


def _tables(
    plan: SchedulePlan, stage: int, occasion: int, size: int, history: Sequence[Met]
) -> Iterator[tuple[str, ...]]:
    """Return the tables of a stage. `occasion` counts the stages of this variant."""
    match plan.kind:
        case "round_robin" | "gauntlet":
            for table in _all_tables(plan, size):
                yield _in_turn(table, occasion)
        case "random":
            yield from _random_tables(plan, occasion, size)
        case "swiss":
            for table in _swiss_tables(plan, stage, size, history):
                yield _in_turn(table, _hashed(stage, *table))


@lru_cache(maxsize=64)
def _all_tables(plan: SchedulePlan, size: int) -> list[tuple[str, ...]]:
    """Return all tables of a round robin or a gauntlet: every set of entrants without two of one author,
    unless there is none.

    They come in an order in which all have played about as often at any time: those whose numbers have the
    same sum, modulo the number of entrants, come together.
    """
    names = plan.entrants
    if plan.kind == "gauntlet":
        hero = names.index(plan.hero) if plan.hero is not None else 0
        others = [number for number in range(len(names)) if number != hero]
        combined = [(hero, *rest) for rest in combinations(others, size - 1)]
    else:
        combined = list(combinations(range(len(names)), size))
    combined.sort(key=lambda numbers: (sum(numbers) % len(names), numbers))
    tables = [tuple(names[number] for number in numbers) for numbers in combined]
    return [table for table in tables if not _clashes(plan, table)] or tables


def _in_turn(table: tuple[str, ...], occasion: int) -> tuple[str, ...]:
    """Change the order round the table from one occasion to the next: all orders come in turn."""
    first, *rest = table
    orders = math.factorial(len(rest))
    return (first, *next(islice(permutations(rest), occasion % orders, None)))


def _clashes(plan: SchedulePlan, table: Sequence[str]) -> int:
    """Return how many pairs at the table have one author."""
    authors = _authors(plan)
    counts = Counter(authors[name] for name in table if authors[name] is not None)
    return sum(math.comb(count, 2) for count in counts.values())


@lru_cache(maxsize=64)
def _authors(plan: SchedulePlan) -> dict[str, str | None]:
    return dict(zip(plan.entrants, plan.authors, strict=True))


# -- chance ------------------------------------------------------------------------------------------


def _hashed(*parts: object) -> int:
    return int.from_bytes(sha256("\n".join(map(str, parts)).encode()).digest()[:8], "big")


def _shuffled(names: Sequence[str], *parts: object) -> list[str]:
    return sorted(names, key=lambda name: (_hashed(*parts, name), name))


def _random_tables(plan: SchedulePlan, occasion: int, size: int) -> list[tuple[str, ...]]:
    """Return tables at which everybody plays as often as everybody else, or once less: a cycle of stages uses
    all entrants equally.

    An entrant that sits out in a stage is the next to play: the entrants form a row, and each stage takes the
    next ones, beginning again at its head.
    """
    count = len(plan.entrants)
    if count < size:
        return []
    seated = count // size * size
    start = occasion * seated % count
    row = _shuffled(plan.entrants, "row", size)
    playing = [row[(start + place) % count] for place in range(seated)]
    candidates = (_apart(plan, _shuffled(playing, occasion, size, attempt), size) for attempt in range(TRIES))
    return min(candidates, key=lambda tables: sum(_clashes(plan, table) for table in tables))


def _apart(plan: SchedulePlan, order: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Fill tables in this order. The authors with most entrants come first, each entrant to the emptiest
    table without another bot of its author."""
    count = len(order) // size
    authors = _authors(plan)
    counts = Counter(authors[name] for name in order)
    del counts[None]
    tables: list[list[str]] = [[] for _ in range(count)]
    for name in sorted(order, key=lambda name: -counts[authors[name]]):
        free = [table for table in tables if len(table) < size]
        min(free, key=lambda table: (_clashes(plan, [*table, name]), len(table))).append(name)
    return [tuple(table) for table in tables]


# -- Swiss -------------------------------------------------------------------------------------------


def _swiss_tables(plan: SchedulePlan, stage: int, size: int, history: Sequence[Met]) -> list[tuple[str, ...]]:
    """Return tables of entrants with nearly equal scores, as few as possible of whom have met. The entrants
    that sat out least often sit out, and among them the last in score."""
    played: Counter[str] = Counter()
    score: dict[str, float] = dict.fromkeys(plan.entrants, 0.0)
    met: Counter[frozenset[str]] = Counter()
    for each in history:
        for name in each.scores.keys() & score.keys():  # others are suspended
            played[name] += 1
            score[name] += each.scores[name]
        met.update(map(frozenset, combinations(each.scores, 2)))

    def mean(name: str) -> float:
        return score[name] / played[name] if played[name] else 0.5

    chance = {name: place for place, name in enumerate(_shuffled(plan.entrants, "swiss", stage))}
    order = sorted(plan.entrants, key=lambda name: (-mean(name), chance[name]))
    out = len(order) % size
    resting = sorted(order, key=lambda name: (-played[name], mean(name), chance[name]))[:out]
    left = [name for name in order if name not in resting]
    tables: list[tuple[str, ...]] = []
    while left:
        table = [left.pop(0)]
        while len(table) < size:
            reach = left[: 4 * size]  # entrants far apart in the ranking do not meet
            best = min(
                reach,
                key=lambda name: (
                    _clashes(plan, [*table, name]),
                    sum(met[frozenset((name, other))] for other in table),
                    left.index(name),
                ),
            )
            left.remove(best)
            table.append(best)
        tables.append(tuple(table))
    return tables
