"""The numbers under a simulation are those of statistics."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.shared.spread import Spread
from stellwerk.simulate.simulation import GameRecord, PlayedSeat
from stellwerk.simulate.tally import Tally
from tests.support import table


def game_record(*seats: tuple[str, int, int], turns: int = 10, longest_list: int = 5) -> GameRecord:
    """Record a game without teams: for each seat policy, points and rank."""
    return GameRecord(
        seed="s/0",
        seats=tuple(
            PlayedSeat(seat, seat, policy, rank, points, points, (), (), 0)
            for seat, (policy, points, rank) in enumerate(seats)
        ),
        turns=turns,
        reason="trains",
        decisions=20,
        longest_list=longest_list,
    )


def lines_of(*records: GameRecord) -> list[str]:
    tally = Tally(table("usa", len(records[0].seats)))
    for record in records:
        tally.add(record)
    return list(tally.lines())


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2))
def test_a_spread_has_the_mean_and_the_deviation_of_its_numbers(numbers: list[int]) -> None:
    spread = Spread()
    for number in numbers:
        spread.add(number)
    assert (spread.count, spread.least, spread.greatest) == (len(numbers), min(numbers), max(numbers))
    assert spread.mean == pytest.approx(statistics.mean(numbers))
    assert spread.deviation == pytest.approx(statistics.stdev(numbers))


def test_one_number_deviates_from_nothing() -> None:
    spread = Spread()
    spread.add(-7)
    assert (spread.mean, spread.deviation, spread.least, spread.greatest) == (-7, 0, -7, -7)


def test_each_policy_and_each_of_its_seats_has_a_row() -> None:
    lines = lines_of(
        game_record(("planner", 90, 1), ("random", -10, 2)),
        game_record(("random", 0, 2), ("planner", 100, 1)),
    )
    assert [line.split() for line in lines[:7]] == [
        ["played", "mean", "sd", "min", "max", "wins", "of", "all"],
        ["planner", "2", "95.0", "7.1", "90", "100", "2.0", "100.0", "%"],
        ["seat", "0", "1", "90.0", "0.0", "90", "90", "1.0", "50.0", "%"],
        ["seat", "1", "1", "100.0", "0.0", "100", "100", "1.0", "50.0", "%"],
        ["random", "2", "-5.0", "7.1", "-10", "0", "0.0", "0.0", "%"],
        ["seat", "0", "1", "0.0", "0.0", "0", "0", "0.0", "0.0", "%"],
        ["seat", "1", "1", "-10.0", "0.0", "-10", "-10", "0.0", "0.0", "%"],
    ]
    assert len({len(line) for line in lines[:7]}) == 1


def test_who_ties_for_the_first_rank_shares_the_win() -> None:
    tie = game_record(("planner", 50, 1), ("random", 50, 1), ("random", 10, 3))
    lines = lines_of(tie, game_record(("planner", 90, 1), ("random", 50, 2), ("random", 10, 3)))
    assert [line.split()[-3:] for line in (lines[1], lines[3])] == [
        ["1.5", "75.0", "%"],
        ["0.5", "25.0", "%"],
    ]


def test_turns_reasons_and_the_longest_list_stand_below() -> None:
    seats = (("random", 1, 1), ("random", 0, 2))
    lines = lines_of(game_record(*seats, turns=10), game_record(*seats, turns=25, longest_list=1234))
    assert lines[-3:] == [
        "turns         17.5 a game (10 to 25)",
        "ended by      trains 2",
        "legal moves   at most 1,234 in a list",
    ]
