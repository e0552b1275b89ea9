"""Schedules that fit into a budget: no larger, even, and as much as possible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_tournament.schedule.budget import Meetings, matches_of_round, meetings, propose
from stellwerk_tournament.schedule.schedule import ScheduleError, SchedulePlan, stage, stages_of_round


def plan(count: int, *variants: tuple[int, int], kind: str = "round_robin") -> SchedulePlan:
    names = tuple(f"b{number}" for number in range(count))
    return SchedulePlan(kind, names, (None,) * count, variants)  # type: ignore[arg-type]  # a text of the test


def replaced(old: SchedulePlan, kind: str) -> SchedulePlan:
    return plan(len(old.entrants), *old.variants, kind=kind)


def test_a_round_robin_of_twelve_at_tables_of_four_has_1980_matches() -> None:
    assert matches_of_round(plan(12, (4, 1))) == (1980,)
    assert matches_of_round(plan(12, (2, 1), (4, 2))) == (132, 3960)


def test_all_meet_all_as_often_as_that_fits() -> None:
    assert propose(plan(12, (4, 1)), [1.0], 4000) == propose(plan(12, (4, 1)), [1.0], 3960)
    proposal = propose(plan(12, (4, 1)), [1.0], 4000)
    assert (proposal.kind, proposal.rounds) == ("round_robin", 2)


def test_else_tables_are_random_and_every_two_of_twelve_bots_meet_in_200_matches() -> None:
    proposal = propose(plan(12, (4, 1)), [1.0], 200)
    assert (proposal.kind, proposal.rounds) == ("random", 16)
    assert meetings(plan(12, (4, 1), kind="random"), 16) == Meetings(16, 16, 66, 0)


def test_it_says_how_many_pairs_never_meet() -> None:
    proposal = propose(plan(12, (4, 1)), [1.0], 24)
    found = meetings(plan(12, (4, 1), kind="random"), proposal.rounds)
    assert found is not None
    assert (found.least, found.most, found.pairs) == (2, 2, 66)
    assert found.never >= 66 - 2 * 3 * 6


def test_a_gauntlet_and_a_swiss_tournament_stay_what_they_are() -> None:
    assert propose(plan(12, (2, 1), kind="gauntlet"), [1.0], 50).kind == "gauntlet"
    assert propose(plan(12, (2, 1), kind="swiss"), [1.0], 50).kind == "swiss"
    assert meetings(plan(12, (2, 1), kind="swiss"), 4) is None


def test_a_budget_of_time_counts_what_a_match_of_each_game_takes() -> None:
    both = plan(4, (2, 1), (4, 1))
    assert matches_of_round(both) == (12, 4)
    assert propose(both, [2.0, 10.0], 200).rounds == 3  # 64 seconds a round


def test_a_budget_for_less_than_a_round_is_refused() -> None:
    with pytest.raises(ScheduleError, match="one round of random tables has 12 matches"):
        propose(plan(12, (4, 1)), [1.0], 11)


def test_schedules_that_are_too_long_are_not_looked_through() -> None:
    assert meetings(plan(12, (4, 1)), 1000) is None


@given(
    count=st.integers(2, 13),
    size=st.integers(2, 5),
    weight=st.integers(1, 3),
    budget=st.integers(1, 300),
)
def test_what_is_proposed_fits_and_no_bot_plays_a_block_more_than_any_other_in_each_round(
    count: int, size: int, weight: int, budget: int
) -> None:
    asked = plan(max(count, size), (size, weight))
    try:
        proposal = propose(asked, [1.0], budget)
    except ScheduleError:
        return
    found = replaced(asked, proposal.kind)
    blocks = [
        block for number in range(proposal.rounds * stages_of_round(found)) for block in stage(found, number)
    ]
    assert sum(len(block.rotations) for block in blocks) <= budget
    met = meetings(found, proposal.rounds)
    assert met is not None
    assert met.most - met.least <= 1
    assert met.most == met.least or proposal.rounds < max(count, size)
