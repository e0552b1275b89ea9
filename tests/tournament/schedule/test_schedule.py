"""Who plays whom: every kind of schedule keeps its promise for every number of bots and seats."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_tournament.config.settings import Kind
from stellwerk_tournament.schedule.schedule import (
    Block,
    Met,
    ScheduleError,
    SchedulePlan,
    blocks_of_round,
    stage,
    stages_of_round,
)

SIZES = st.integers(2, 4)
VARIANTS = st.lists(st.tuples(SIZES, st.integers(1, 2)), min_size=1, max_size=2)
KINDS: tuple[Kind, ...] = ("round_robin", "gauntlet", "swiss", "random")


def names(count: int) -> tuple[str, ...]:
    return tuple(f"bot{number}" for number in range(count))


def plan(
    kind: Kind, count: int, *variants: tuple[int, int], authors: dict[str, str] | None = None
) -> SchedulePlan:
    hero = "bot0" if kind == "gauntlet" else None
    own = tuple((authors or {}).get(name) for name in names(count))
    return SchedulePlan(kind, names(count), own, variants or ((2, 1),), hero)


def rounds(plan: SchedulePlan, count: int) -> list[Block]:
    """Make so many rounds. In a Swiss tournament the bot with the smaller name wins."""
    blocks: list[Block] = []
    for number in range(count * stages_of_round(plan)):
        history = [Met(each.number, each.round, scores(each)) for each in blocks]
        blocks += stage(plan, number, history)
    return blocks


def scores(block: Block) -> dict[str, float]:
    order = sorted(block.entrants, key=plan_number)
    return {name: 1 - order.index(name) / (len(order) - 1) for name in block.entrants}


def plan_number(name: str) -> int:
    return int(name.removeprefix("bot"))


@given(st.sampled_from(KINDS), st.integers(4, 8), VARIANTS)
def test_blocks_are_numbered_one_after_the_other(
    kind: Kind, count: int, variants: list[tuple[int, int]]
) -> None:
    """So a number says which block it is, however many rounds are added later."""
    schedule = plan(kind, count, *variants)
    blocks = rounds(schedule, 2)
    assert [block.number for block in blocks] == list(range(2 * blocks_of_round(schedule)))
    assert [block.round for block in blocks] == sorted(block.round for block in blocks)


@given(st.sampled_from(KINDS), st.integers(4, 12), SIZES)
def test_nobody_sits_twice_at_a_table(kind: Kind, count: int, size: int) -> None:
    for block in rounds(plan(kind, count, (size, 1)), 2):
        assert len(set(block.entrants)) == size
        assert set(block.entrants) <= set(names(count))


@given(st.integers(2, 6))
def test_in_a_block_each_entrant_plays_each_team_once(size: int) -> None:
    block = Block(0, 0, 0, 0, names(size))
    for team in range(size):
        assert {block.teams(rotation)[team] for rotation in block.rotations} == set(block.entrants)


@given(st.integers(4, 10), SIZES)
def test_in_a_round_robin_every_set_of_entrants_meets_once_a_round(count: int, size: int) -> None:
    blocks = rounds(plan("round_robin", count, (size, 1)), 1)
    assert len(blocks) == comb(count, size)
    assert {frozenset(block.entrants) for block in blocks} == set(
        map(frozenset, combinations(names(count), size))
    )


@given(st.integers(3, 10))
def test_in_a_round_robin_everybody_has_played_about_as_often_at_any_time(count: int) -> None:
    played: Counter[str] = Counter(dict.fromkeys(names(count), 0))
    for block in rounds(plan("round_robin", count), 1):
        played.update(block.entrants)
        assert max(played.values()) - min(played.values()) <= 2


def test_in_later_rounds_others_sit_behind_one() -> None:
    """With three at a table there are two orders round it; with four there are six."""
    orders = {block.entrants for block in rounds(plan("round_robin", 4, (4, 1)), 6)}
    assert len(orders) == 6


@given(st.integers(4, 10), SIZES)
def test_in_a_gauntlet_the_hero_sits_at_every_table(count: int, size: int) -> None:
    blocks = rounds(plan("gauntlet", count, (size, 1)), 1)
    assert all("bot0" in block.entrants for block in blocks)
    assert len({frozenset(block.entrants) for block in blocks}) == len(blocks) == comb(count - 1, size - 1)


@given(st.integers(4, 15), SIZES, st.integers(1, 8))
def test_in_a_random_schedule_nobody_plays_more_than_once_more_than_others(
    count: int, size: int, round_count: int
) -> None:
    played: Counter[str] = Counter(dict.fromkeys(names(count), 0))
    for block in rounds(plan("random", count, (size, 1)), round_count):
        played.update(block.entrants)
    assert max(played.values()) - min(played.values()) <= 1


def test_in_a_random_schedule_opponents_change() -> None:
    met = {frozenset(block.entrants) for block in rounds(plan("random", 6), 20)}
    assert len(met) == comb(6, 2)


@given(st.integers(4, 15), SIZES, st.integers(1, 6))
def test_in_a_swiss_tournament_nobody_plays_twice_in_a_round_and_all_rest_about_as_often(
    count: int, size: int, round_count: int
) -> None:
    blocks = rounds(plan("swiss", count, (size, 1)), round_count)
    for number in range(round_count):
        playing = [name for block in blocks if block.round == number for name in block.entrants]
        assert len(playing) == len(set(playing)) == count // size * size
    played = Counter(name for block in blocks for name in block.entrants)
    assert max(played.values()) - min(played[name] for name in names(count)) <= 1


def test_in_a_swiss_tournament_nobody_meets_an_opponent_again_while_there_is_another_one() -> None:
    met = Counter(frozenset(block.entrants) for block in rounds(plan("swiss", 16), 4))
    assert max(met.values()) == 1


def test_in_a_swiss_tournament_those_of_equal_scores_meet() -> None:
    last = [block for block in rounds(plan("swiss", 16), 4) if block.round == 3]
    leaders = next(block for block in last if "bot0" in block.entrants)
    assert set(map(plan_number, leaders.entrants)) < set(range(6))


def test_a_swiss_stage_follows_from_what_was_before_it_alone() -> None:
    schedule = plan("swiss", 8)
    blocks = rounds(schedule, 3)
    history = [Met(block.number, block.round, scores(block)) for block in blocks]
    again = [block for number in range(3) for block in stage(schedule, number, history)]
    assert again == blocks


@given(st.sampled_from(KINDS), st.integers(2, 5))
def test_bots_of_one_author_do_not_meet_where_others_are_left(kind: Kind, authors: int) -> None:
    own = {name: f"author{plan_number(name) // 2}" for name in names(2 * authors)}
    for block in rounds(plan(kind, 2 * authors, authors=own), 3):
        one, other = block.entrants
        assert own[one] != own[other]


def test_bots_of_one_author_meet_where_nobody_else_is_left() -> None:
    own = dict.fromkeys(names(3), "me")
    assert len(rounds(plan("round_robin", 3, authors=own), 1)) == 3


def test_a_weight_is_how_many_deals_of_a_game_a_round_has() -> None:
    blocks = rounds(plan("round_robin", 4, (2, 3), (3, 1)), 1)
    assert Counter(block.variant for block in blocks) == {0: 3 * 6, 1: 4}


def test_a_later_version_draws_the_same_tables() -> None:
    """A folder that was begun before an update is continued and verified after it."""
    blocks = rounds(plan("random", 5, (2, 2)), 2)
    tables = ["".join(map(str, map(plan_number, block.entrants))) for block in blocks]
    assert tables == ["32", "14", "40", "32", "01", "34", "31", "20"]


def test_too_many_tables_are_refused_with_what_to_do() -> None:
    with pytest.raises(ScheduleError, match='take kind = "random" or "swiss"'):
        stage(plan("round_robin", 200, (4, 1)), 0)
