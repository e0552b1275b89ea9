"""Plackett-Luce with ties and seats, as a sequence of choices.

A match is read from the top: the best is chosen from all, the next best from the rest, and so on (Plackett
1975, Luce 1959). Each entrant has a utility, its strength plus the term of its seat. There are two ways to
read a tie.

`davidson`, the Davidson-Luce model (D. Firth, I. Kosmidis, H. Turner, "Davidson-Luce model for multi-item
choice with ties", 2019, arXiv:1909.07123): a set of t entrants can be chosen together, with weight
d_t x (geometric mean of their worths), where worth is exp(utility) and d_1 = 1. This is exact for ties of any
order: a table has at most 6 entrants, so all sets can be looked at. Orders that occur at no table of a kind
have d_t = 0. For two entrants it is Davidson's model of 1970, without ties it is Plackett and Luce's.

`half`: a tie counts as the mean of all its orders, which for two is half a win for each. Nothing then says
how often entrants tie.

Either way the logarithm of the likelihood is a sum of multinomial logits, linear in the parameters and so
concave. A `Stage` is one of these logits for all matches of one shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Ties: TypeAlias = Literal["davidson", "half"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A choice among alternatives.

    Row a of `design` says how alternative a is made of the utilities of the places (entrants from best to
    worst) and, behind them, of the logarithms of d_t, one for each order of ties in the model.
    """

    design: FloatArray
    response: FloatArray  # the share of each alternative in what was chosen; the sum is 1
    weight: float


@dataclass(frozen=True, slots=True)
class TableShape:
    """The form of a match's choices, no matter who plays: the sizes of the sets of tied places from the
    top."""

    tied: tuple[int, ...]  # (1, 2, 1): places 1 and 2 shared a rank
    orders: tuple[int, ...]  # of ties that the model has at such tables: (2,), say


def stages(shape: TableShape, ties: Ties) -> tuple[Stage, ...]:
    return tuple(_davidson_stages(shape) if ties == "davidson" else _half_stages(shape))


def _davidson_stages(shape: TableShape) -> Iterator[Stage]:
    size = sum(shape.tied)
    first = 0
    for count in shape.tied:
        left = range(first, size)
        if len(left) > 1:
            sets = [chosen for order in (1, *shape.orders) for chosen in combinations(left, order)]
            design = np.zeros((len(sets), size + len(shape.orders)))
            for row, chosen in enumerate(sets):
                design[row, list(chosen)] = 1 / len(chosen)
                if len(chosen) > 1:
                    design[row, size + shape.orders.index(len(chosen))] = 1
            response = np.zeros(len(sets))
            response[sets.index(tuple(range(first, first + count)))] = 1
            yield Stage(design, response, 1.0)
        first += count


def _half_stages(shape: TableShape) -> Iterator[Stage]:
    """Average over all orders of a tie. A set of k of its n is what is left in one of comb(n, k) orders."""
    size = sum(shape.tied)
    first = 0
    for count in shape.tied:
        below = tuple(range(first + count, size))
        for left_count in range(count, 0, -1):
            for tied_left in combinations(range(first, first + count), left_count):
                left = (*tied_left, *below)
                if len(left) > 1:
                    design = np.zeros((len(left), size))
                    design[range(len(left)), left] = 1
                    response = np.zeros(len(left))
                    response[:left_count] = 1 / left_count
                    yield Stage(design, response, 1 / comb(count, left_count))
        first += count
