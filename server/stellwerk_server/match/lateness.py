"""Asks that a seat did not answer in time: what it had, and what it took.

Law: a late bot is told the limit as the server applied it, in the error to its act and in the report of its
match.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace


class Late(Struct, frozen=True, omit_defaults=True):
    """An ask that ended before it was answered. Its limit was the sum of the time for a move, what was left
    of the bank, and the grace that a strike costs. The answer came after `took_ms`, if it came at all."""

    ask: int
    turn: int
    move_ms: int
    bank_ms: int
    grace_ms: int
    took_ms: int | UnsetType = UNSET

    @property
    def limit_ms(self) -> int:
        return self.move_ms + self.bank_ms + self.grace_ms


class LateAsks:
    """The late asks of one seat. `first` is for its report."""

    __slots__ = ("_by_ask",)

    def __init__(self) -> None:
        self._by_ask: dict[int, tuple[Late, float]] = {}  # with when it was asked

    @property
    def first(self) -> Late | UnsetType:
        return next((late for late, _ in self._by_ask.values()), UNSET)

    def add(self, late: Late, asked_at: float) -> None:
        self._by_ask[late.ask] = late, asked_at

    def answered(self, ask: int, now: float) -> Late | None:
        """Note when the answer to a late ask came. Return None for any other ask."""
        found = self._by_ask.get(ask)
        if found is None:
            return None
        late, asked_at = found
        if late.took_ms is UNSET:
            late = replace(late, took_ms=max(late.limit_ms, round(now - asked_at)))
            self._by_ask[ask] = late, asked_at
        return late


def limit_in_words(late: Late) -> str:
    """Write `350 ms (200 to move, 150 of grace)`."""
    parts = ((late.move_ms, "to move"), (late.bank_ms, "in the bank"), (late.grace_ms, "of grace"))
    listed = ", ".join(f"{ms} {what}" for ms, what in parts if ms)
    return f"{late.limit_ms} ms ({listed})"


def late_in_words(late: Late) -> str:
    """Write `at ask 5 in turn 2 it had 350 ms (200 to move, 150 of grace), and took 402 ms`."""
    took = "sent no answer" if late.took_ms is UNSET else f"took {late.took_ms} ms"
    return f"at ask {late.ask} in turn {late.turn} it had {limit_in_words(late)}, and {took}"
