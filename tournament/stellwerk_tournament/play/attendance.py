"""Which remote bots are there, and for how long the others are still waited for.

One that plays in teams logs in more than once, by a name for each of its seats: these are the names here.

Law: nobody waits for ever. A match whose bots are all there goes before one that has to wait. The runner
waits a set time for a missing bot, from the beginning or from the loss of its connection. After that its
matches begin without it until it comes, and that is its fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf


class Attendance:
    def __init__(self, names: Iterable[str], patience: float, now: float) -> None:
        """Start with nobody there. `patience` is in seconds."""
        self._patience = patience
        self._present: Mapping[str, int] = {}
        self._missing = dict.fromkeys(names, now)  # since when

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(sorted(self._missing))

    def look(self, present: Mapping[str, int], now: float) -> bool:
        """Note who is there now, and how many matches each of them plays at a time. Return whether that has
        changed."""
        known = self._present.keys() | self._missing.keys()
        here = {name: most for name, most in present.items() if name in known}
        changed = here != self._present
        for name in self._present:
            if name not in here:
                self._missing[name] = now
        for name in here:
            self._missing.pop(name, None)
        self._present = here
        return changed

    def most(self, name: str) -> int | None:
        """Return how many matches it plays at a time, if there is such a limit."""
        return self._present.get(name)

    def are_there(self, names: Iterable[str]) -> bool:
        return not any(name in self._missing for name in names)

    def given_up(self, now: float) -> frozenset[str]:
        return frozenset(name for name, since in self._missing.items() if now >= since + self._patience)

    def next_end(self, now: float) -> float:
        """Return when the patience with somebody ends."""
        ends = (since + self._patience for since in self._missing.values())
        return min((end for end in ends if end > now), default=inf)
