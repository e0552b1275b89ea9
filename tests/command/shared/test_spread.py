"""The numbers below a table are those of statistics."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.shared.spread import Spread


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
