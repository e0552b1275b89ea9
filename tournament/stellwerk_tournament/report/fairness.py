"""How fair the clocks were, in the report: the processor time of answers, and what the machine added to them.

Law: this shows what was measured in the matches, not what the settings wanted. Bots that nobody here could
measure, and matches of versions that did not measure, count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET

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


@dataclass(frozen=True, slots=True)
class Fairness:
    """The content of this section: a sentence, and the bots that were measured."""

    sentence: str
    rows: Sequence[FairnessRow]


def fairness(lines: Sequence[MatchLine], names: Sequence[str]) -> Fairness:
    """Sum up what was measured. `names` are in the order of the ranking."""
    rows = {name: FairnessRow(name) for name in names}
    for seat in _seats(lines):
        if seat.bot in rows:
            rows[seat.bot].add(seat)
    return Fairness(how_fair(lines), [row for row in rows.values() if row.asks])


def how_fair(lines: Sequence[MatchLine]) -> str:
    """Say whether bots could think on the time of others, and whether they shared processors."""
    here = [seat for seat in _seats(lines) if seat.process in STARTED]
    if not here:
        return "no bot had a process on this machine" if lines else "none yet"
    parts = [_how_frozen(here), _how_pinned(here)]
    if any(seat.process == "remote" for seat in _seats(lines)):
        parts.append("remote bots ran on as they liked")
    return "; ".join(parts)


def _how_frozen(here: Sequence[SeatReport]) -> str:
    frozen = sum(seat.frozen is True for seat in here)
    failed = sum(seat.frozen is False for seat in here)
    if frozen == len(here):
        return "bots were stopped while they were not asked"
    if failed:
        return (
            f"bots were to be stopped while they were not asked, which did not work, or not always, in "
            f"{counted(failed, 'seat')} of {len(here):,}"
        )
    if frozen:
        return f"bots were stopped while they were not asked in {frozen:,} of {counted(len(here), 'seat')}"
    return "bots ran on while they were not asked, and could think on the time of others"


def _how_pinned(here: Sequence[SeatReport]) -> str:
    counts = sorted({seat.processors for seat in here})
    if counts == [0]:
        return "they shared the processors of the machine"
    if len(counts) == 1:
        return f"each had {counted(counts[0], 'processor')} to itself, on cores of its own"
    return "not all had processors to themselves"


def _seats(lines: Sequence[MatchLine]) -> Iterator[SeatReport]:
    for line in lines:
        yield from line.bots
