"""Which bots can sit down at a table: which remote ones are there, for how long the others are still waited
for, and of which bots all copies play.

A remote bot that plays in teams logs in more than once, by a name for each of its seats: these are the names
of an attendance.

Law: no match waits for ever. A match whose bots are all there goes before one that has to wait. The runner
waits a set time for a missing bot, from the beginning or from the loss of its connection. After that its
matches begin without it until it comes, and that is its fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf

from stellwerk_tournament.config.settings import Entrant, Variant
from stellwerk_tournament.schedule.schedule import Block


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


class Seating:
    """The bots that play now, each as often as it sits at a table."""

    def __init__(
        self, entrants: Mapping[str, Entrant], variants: Sequence[Variant], attendance: Attendance
    ) -> None:
        self._entrants = entrants
        self._variants = variants
        self._attendance = attendance
        self._at_table: Counter[str] = Counter()

    def has_room(self, block: Block, absent: Collection[str], suspended: Collection[str]) -> bool:
        """Return whether a match can begin: enough copies of each bot are free, and all are there but those
        in `absent`. Suspended bots stay away."""
        return all(
            self._is_ready(name, count, self._variants[block.variant].team_size, absent)
            for name, count in self._copies(block).items()
            if name not in suspended
        )

    def sit_down(self, block: Block) -> None:
        self._at_table.update(self._copies(block))

    def stand_up(self, block: Block) -> None:
        self._at_table.subtract(self._copies(block))

    def _is_ready(self, name: str, count: int, team_size: int, absent: Collection[str]) -> bool:
        entrant = self._entrants[name]
        logins = [login.name for login in entrant.logins[:team_size]]
        limits = (entrant.instances, *map(self._attendance.most, logins))
        return self._attendance.are_there(each for each in logins if each not in absent) and all(
            self._at_table[name] + count <= most for most in limits if most is not None
        )

    def _copies(self, block: Block) -> dict[str, int]:
        """Return what a match takes of each bot: a process for each seat, or, of a remote bot, one match."""
        size = self._variants[block.variant].team_size
        return {name: 1 if self._entrants[name].is_remote else size for name in block.entrants}
