"""Mean and spread of whole numbers that come one at a time, without rounding on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(slots=True)
class Spread:
    """Mean, standard deviation (of a sample), least and greatest of whole numbers."""

    count: int = 0
    least: int = 0
    greatest: int = 0
    _sum: int = 0
    _sum_of_squares: int = 0

    def add(self, number: int) -> None:
        self.least = min(self.least, number) if self.count else number
        self.greatest = max(self.greatest, number) if self.count else number
        self.count += 1
        self._sum += number
        self._sum_of_squares += number * number

    @property
    def mean(self) -> float:
        return self._sum / self.count

    @property
    def deviation(self) -> float:
        if self.count < 2:
            return 0.0
        squares = Fraction(self._sum_of_squares) - Fraction(self._sum**2, self.count)
        return math.sqrt(squares / (self.count - 1))
