"""The faults of bots, in the report: by cause, apart from losses, with what the bots printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_processes.faults import Fault, FaultKind
from stellwerk_tournament.report.matches import MatchLink, link_of
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.standings import Standings, Sums

KINDS: Final[Mapping[FaultKind, str]] = {
    "start_failure": "did not start",
    "absent": "absent",
    "crash": "crashed",
    "out_of_memory": "out of memory",
    "disconnect": "disconnected",
    "left": "left",
    "hang": "hung",
    "time": "too late",
    "illegal": "illegal move",
    "garbage": "unreadable line",
}
MOST_EXAMPLES: Final = 300  # one for each bot and cause, and no more than these


@dataclass(frozen=True, slots=True)
class FaultRow:
    """A bot with its matches by fault. `cpu_ms` is None where it was not measured."""

    name: str
    sums: Sums
    counts: Sequence[int]
    mean_ms: float
    cpu_ms: float | None


@dataclass(frozen=True, slots=True)
class Example:
    """The first match in which a bot had a fault of this kind."""

    bot: str
    kind: str
    fault: Fault
    match: MatchLink


class FirstFaults:
    """The first match with each bot and kind of fault."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, FaultKind], Example] = {}

    def add(self, line: MatchLine) -> None:
        for seat in line.bots:
            for fault in seat.faults:
                if (seat.bot, fault.kind) not in self.of:
                    example = Example(seat.bot, KINDS[fault.kind], fault, link_of(line))
                    self.of[seat.bot, fault.kind] = example


@dataclass(frozen=True, slots=True)
class Faults:
    """The content of this section. `kinds` are the faults that occurred, in words."""

    faulty_bots: int
    kinds: Sequence[str]
    rows: Sequence[FaultRow]
    examples: Sequence[Example]
    left_out: int


def faults(first: FirstFaults, names: Sequence[str], standings: Standings) -> Faults:
    """Count the faults, and list the examples. `names` are in the order of the ranking."""
    seen = {kind for name in names for kind, count in standings.of[name].faults.items() if count}
    kinds: list[FaultKind] = [kind for kind in KINDS if kind in seen]
    examples = sorted(first.of.values(), key=lambda example: names.index(example.bot))
    return Faults(
        faulty_bots=sum(standings.of[name].faulty > 0 for name in names),
        kinds=[KINDS[kind] for kind in kinds],
        rows=[_row(name, standings.of[name], kinds) for name in names],
        examples=examples[:MOST_EXAMPLES],
        left_out=max(0, len(examples) - MOST_EXAMPLES),
    )


def _row(name: str, sums: Sums, kinds: Sequence[FaultKind]) -> FaultRow:
    return FaultRow(
        name,
        sums,
        [sums.faults[kind] for kind in kinds],
        mean_ms=sums.used_ms / sums.asks if sums.asks else 0.0,
        cpu_ms=sums.cpu_ms / sums.cpu_matches if sums.cpu_matches else None,
    )
