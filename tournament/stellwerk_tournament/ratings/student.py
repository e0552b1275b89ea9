"""Student's t distribution, for intervals from few blocks: its distribution function and its quantiles.

Degrees of freedom need not be whole. The distribution function is the regularized incomplete beta function,
computed by its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
NEARLY_NORMAL: Final = 1e7  # degrees of freedom from which the two differ by less than rounding does
_PRECISION: Final = 1e-14
_TINY: Final = 1e-300


def probability_below(x: float, freedom: float) -> float:
    """Return how likely a t variable of so many degrees of freedom is to be below x."""
    if freedom >= NEARLY_NORMAL:
        return _NORMAL.cdf(x)
    tail = _regularized_beta(freedom / 2, 0.5, freedom / (freedom + x * x)) / 2
    return 1 - tail if x > 0 else tail


def quantile(probability: float, freedom: float) -> float:
    """Return the x that a t variable of 1 or more degrees of freedom is below with this probability."""
    if probability < 0.5:
        return -quantile(1 - probability, freedom)
    z = _NORMAL.inv_cdf(probability)
    if freedom >= NEARLY_NORMAL:
        return z
    # The first terms of the expansion of Cornish and Fisher, all above 0; then Newton's method from the left,
    # where it cannot overshoot: above 0 the distribution function is concave.
    x = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    while True:
        step = (probability - probability_below(x, freedom)) / _density(x, freedom)
        x += step
        if step <= 1e-12 * x:
            return x


def _density(x: float, freedom: float) -> float:
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(log_scale - (freedom + 1) / 2 * math.log1p(x * x / freedom))


def _regularized_beta(a: float, b: float, x: float) -> float:
    if x in (0.0, 1.0):
        return x
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x > (a + 1) / (a + b + 2):  # the fraction converges slowly there, and fast for the complement
        return 1 - math.exp(log_front) * _beta_fraction(b, a, 1 - x) / b
    return math.exp(log_front) * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Compute the continued fraction by the modified method of Lentz."""
    c = 1.0
    d = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    m = 1
    while True:
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + numerator * d)
            c = _not_zero(1 + numerator / c)
            fraction *= c * d
        if abs(c * d - 1) < _PRECISION:
            return fraction
        m += 1


def _not_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY
