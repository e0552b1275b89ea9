"""How fair the clocks were, in the report: the processor time of answers, and what the machine added to them.

Law: this shows what was measured in the matches, not what the settings wanted. Remote bots, and matches
without measurements, are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from stellwerk_base.texts import counted
from stellwerk_processes.bot_spec import STARTED
from stellwerk_processes.seat_report import SeatReport
from stellwerk_tournament.store.match_line import MatchLine


@dataclass(slots=True)
class FairnessRow:
    """A bot, over all its answers that were measured. The times are sums, in milliseconds."""

    name: str
    asks: int = 0
    used_ms: int = 0
    cpu_ms: int = 0
    slowest_cpu_ms: int = 0
    waited_ms: int = 0
    stolen_ms: int = 0

    def add(self, seat: SeatReport) -> None:
        """Count one seat of a match."""
        if seat.answer_cpu_ms is UNSET:
            return
        self.asks += seat.asks
        self.used_ms += seat.used_ms
        self.cpu_ms += seat.answer_cpu_ms
        if seat.slowest_answer_cpu_ms is not UNSET:
            self.slowest_cpu_ms = max(self.slowest_cpu_ms, seat.slowest_answer_cpu_ms)
        self.waited_ms += 0 if seat.waited_ms is UNSET else seat.waited_ms
        self.stolen_ms += 0 if seat.stolen_ms is UNSET else seat.stolen_ms


class MeasuredClocks:
    """The clocks of all matches: the measurements of each bot, and what was done for fairness."""

    def __init__(self) -> None:
        self._rows: dict[str, FairnessRow] = {}
        self._match_count = 0
        self._seats = 0  # of bots with a process on this machine
        self._frozen: Counter[bool | UnsetType] = Counter()
        self._processors: set[int] = set()
        self._has_remote = False

    def add(self, line: MatchLine) -> None:
        self._match_count += 1
        for seat in line.bots:
            self._rows.setdefault(seat.bot, FairnessRow(seat.bot)).add(seat)
            self._has_remote |= seat.process == "remote"
            if seat.process in STARTED:
                self._seats += 1
                self._frozen[seat.frozen] += 1
                self._processors.add(seat.processors)

    def measured(self, names: Iterable[str]) -> list[FairnessRow]:
        """Return the rows of the bots that were measured."""
        rows = [self._rows[name] for name in names if name in self._rows]
        return [row for row in rows if row.asks]

    @property
    def sentence(self) -> str:
        """Say whether bots could think on the time of others, and whether they shared processors."""
        if not self._seats:
            return "no bot had a process on this machine" if self._match_count else "none yet"
        parts = [self._how_frozen(), self._how_pinned()]
        if self._has_remote:
            parts.append("remote bots ran on as they liked")
        return "; ".join(parts)

    def _how_frozen(self) -> str:
        frozen, failed = self._frozen[True], self._frozen[False]
        if frozen == self._seats:
            return "bots were stopped while they were not asked"
        if failed:
            return (
                f"bots were to be stopped while they were not asked, which did not work, or not always, in "
                f"{counted(failed, 'seat')} of {self._seats:,}"
            )
        if frozen:
            seats = counted(self._seats, "seat")
            return f"bots were stopped while they were not asked in {frozen:,} of {seats}"
        return "bots ran on while they were not asked, and could think on the time of others"

    def _how_pinned(self) -> str:
        counts = sorted(self._processors)
        if counts == [0]:
            return "they shared the processors of the machine"
        if len(counts) == 1:
            return f"each had {counted(counts[0], 'processor')} to itself, on cores of its own"
        return "not all had processors to themselves"
