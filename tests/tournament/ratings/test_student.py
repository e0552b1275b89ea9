"""Student's t against the tables of textbooks and against its own integral."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from stellwerk_tournament.ratings.student import NEARLY_NORMAL, probability_below, quantile


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [
        (1, 12.7062047),
        (2, 4.3026527),
        (5, 2.5705818),
        (9, 2.2621572),
        (29, 2.0452296),
        (99, 1.9842170),
        (1e9, 1.9599640),
    ],
)
def test_quantiles_are_those_of_the_tables(freedom: float, expected: float) -> None:
    assert quantile(0.975, freedom) == pytest.approx(expected, abs=1e-7)
    assert quantile(0.025, freedom) == pytest.approx(-expected, abs=1e-7)


@pytest.mark.parametrize("freedom", [1.0, 2.7, 11.3, 1000.0])
@pytest.mark.parametrize("x", [-3.0, -0.4, 0.0, 0.4, 3.0])
def test_the_probability_is_the_area_under_the_density(freedom: float, x: float) -> None:
    def density(at: float) -> float:
        scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
        return math.exp(scale - (freedom + 1) / 2 * math.log1p(at * at / freedom))

    steps = 2000
    middles = (x * (step + 0.5) / steps for step in range(steps))
    area = 0.5 + sum(map(density, middles)) * x / steps

    assert probability_below(x, freedom) == pytest.approx(area, abs=1e-6)


@pytest.mark.parametrize("freedom", [1.0, 3.5, 40.0, 5e6])
@pytest.mark.parametrize("probability", [0.001, 0.2, 0.5, 0.8, 0.999])
def test_a_quantile_is_below_with_its_probability(freedom: float, probability: float) -> None:
    assert probability_below(quantile(probability, freedom), freedom) == pytest.approx(probability, abs=1e-9)


def test_very_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    below = probability_below(1.3, 0.9 * NEARLY_NORMAL)

    assert below == pytest.approx(NormalDist().cdf(1.3), abs=1e-6)
