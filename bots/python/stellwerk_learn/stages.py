"""An answer in the making: stage by stage, which of the listed moves it can still become.

Law: after every stage at least one listed move is possible, so there is no dead end, and every listed move
can be reached. A stage at which only one integer is left is passed over; a decision with one move is one
stage.
"""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk_learn.actions import Path


class IllegalActionError(ValueError):
    """An integer that the mask does not allow."""


class Stages:
    """The way from the first stage to one of the moves, whose paths these are."""

    __slots__ = ("_depth", "_left", "_paths")

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._left = list(range(len(paths)))
        self._depth = 0
        self._pass_over()

    @property
    def chosen(self) -> Path:
        """The stages behind, those passed over included."""
        return self._paths[self._left[0]][: self._depth]

    @property
    def choices(self) -> set[int]:
        """The integers that can be chosen now; never empty."""
        return {self._paths[move][self._depth] for move in self._left}

    def choose(self, number: int) -> int | None:
        """Go one stage on. Return the index of the move if only one is left."""
        left = [move for move in self._left if self._paths[move][self._depth] == number]
        if not left:
            raise IllegalActionError(f"{number}: expected one of {sorted(self.choices)}, as the mask says")
        self._left = left
        if len(left) == 1:
            return left[0]
        self._depth += 1
        self._pass_over()
        return None

    def _pass_over(self) -> None:
        while len(self._left) > 1 and len(self.choices) == 1:
            self._depth += 1
