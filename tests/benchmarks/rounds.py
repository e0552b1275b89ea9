"""Figures that can be believed on a machine that others use: short slices in turn, and ratios within a
round.

The speed of such a machine drifts by a quarter within minutes, in CPU time too. So everything that is
compared is alive at once and measured in turn, in slices of some tenths of a second; a ratio is made within
one round, in which the machine was the same for all, and the median of these ratios is reported with its
quartiles. Absolute figures of different runs must not be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Final, TypeVar

ROUNDS: Final = 9
SLICE_SECONDS: Final = 0.3

Contender = TypeVar("Contender")
Figure = TypeVar("Figure")


@dataclass(frozen=True)
class Spread:
    """The median of the rounds, and the quartiles around it."""

    low: float
    median: float
    high: float

    def text(self, digits: int) -> str:
        low, median, high = (f"{value:,.{digits}f}" for value in (self.low, self.median, self.high))
        return f"{median} [{low}-{high}]"


def spread(values: Sequence[float]) -> Spread:
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    return Spread(*quantiles(values, n=4, method="inclusive"))


def ratios(values: Sequence[float], others: Sequence[float]) -> Spread:
    """Compare round by round."""
    return spread([value / other for value, other in zip(values, others, strict=True)])


def in_turn(
    contenders: Sequence[Contender], measure: Callable[[Contender], Figure], rounds: int
) -> list[list[Figure]]:
    """Measure every contender once a round; return the figures of each. Another one begins each round, so
    that nobody always comes after the same one."""
    figures: list[list[Figure]] = [[] for _ in contenders]
    for number in range(rounds):
        for turn in range(len(contenders)):
            index = (number + turn) % len(contenders)
            figures[index].append(measure(contenders[index]))
    return figures


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with its first column to the left, and the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for first, *others in (head, *rows):
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    print()
