"""The machines that played blocks for the runner, in the report: their speed, and what went wrong there.

Law: this shows what the lines say. A reader sees a slow machine, or one with many faults of bots, beside the
others, and judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from stellwerk_tournament.store.match_line import MatchLine


@dataclass(slots=True)
class MachineRow:
    """A machine. `engine_ms` is the slowest that was measured there, None if no match was played there to its
    end. `failed` is how often a match could not be played there, and was played again, `kinds` in how many
    matches bots had which faults."""

    name: str
    engine_ms: float | None = None
    matches: int = 0
    failed: int = 0
    late_ms: int = 0
    faulty: int = 0
    kinds: Counter[str] = field(default_factory=Counter[str])

    @property
    def words(self) -> str:
        return ", ".join(f"{kind} in {count:,}" for kind, count in self.kinds.most_common())


class Machines:
    """The rows of all machines."""

    def __init__(self) -> None:
        self._rows: dict[str, MachineRow] = {}

    @property
    def rows(self) -> Sequence[MachineRow]:
        """Return the rows in the order of the machines' names."""
        return [self._rows[name] for name in sorted(self._rows)]

    def add(self, line: MatchLine) -> None:
        if line.machine is UNSET:
            return
        for name in line.machine.failed_on:
            self._row_of(name).failed += 1
        row = self._row_of(line.machine.name)
        row.engine_ms = max(row.engine_ms or 0.0, line.machine.engine_ms)
        row.matches += 1
        row.late_ms += line.late_ms
        kinds = {fault.kind for seat in line.bots for fault in seat.faults}
        row.faulty += bool(kinds)
        row.kinds.update(kinds)

    def _row_of(self, name: str) -> MachineRow:
        return self._rows.setdefault(name, MachineRow(name))
