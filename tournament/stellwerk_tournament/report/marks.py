"""A bot's conduct in a replay: the moves that the server made for it, compared with its line.

A line's `faults` and `defaults` decide who forfeits, and a replay that is true cannot tell all of them: not
why a process ended, for example. It has a mark on each move that the server made, with its reason, and those
say how often a bot was late, whether it ever moved, and that something has kept it away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from stellwerk_base.texts import counted
from stellwerk_processes.faults import FaultKind
from stellwerk_processes.seat_report import SeatReport
from stellwerk_tournament.store.match_line import FILE, MatchLine

_NEVER_THERE: Final[frozenset[FaultKind]] = frozenset({"start_failure", "absent"})
_GONE: Final[frozenset[FaultKind]] = frozenset({"left", "out_of_memory", "crash", "disconnect"})
_AWAY: Final[frozenset[FaultKind]] = _NEVER_THERE | _GONE
_LATE: Final[frozenset[FaultKind]] = frozenset({"time", "hang"})
_OWN: Final = ""  # in place of a reason


class _ReplayRecord(Struct, frozen=True):
    """The needed fields of a line of a replay."""

    type: str
    seat: int = -1
    by: str = ""
    reason: str = "unknown"


def wrong_conduct(replay: bytes, line: MatchLine) -> Iterator[str]:
    """Compare the marks of a replay that is true with what its line says of each seat."""
    moves: dict[int, Counter[str]] = {seat.seat: Counter() for seat in line.bots}
    decode = msgspec.json.Decoder(_ReplayRecord).decode
    for record in map(decode, replay.splitlines()):
        if record.type == "move":
            moves[record.seat][record.reason if record.by else _OWN] += 1
    for seat in line.bots:
        for difference in _differences(moves[seat.seat], seat):
            yield f"seat {seat.seat} ({seat.bot}): {difference}, by its line in {FILE}"


def _differences(moves: Counter[str], seat: SeatReport) -> Iterator[str]:
    own, defaults = moves[_OWN], moves.total() - moves[_OWN]
    if defaults != seat.defaults:
        told = counted(seat.defaults, "time")
        yield f"the server moved for it {counted(defaults, 'time')} here, and {told}"
    kinds = {fault.kind for fault in seat.faults}
    if own and seat.suspended:
        yield f"it made {counted(own, 'move')} here, and was suspended"
    elif own and kinds & _NEVER_THERE:
        yield f"it made {counted(own, 'move')} here, and was never there"
    if seat.suspended:
        return  # nothing of what follows was its own fault
    late = sum(fault.count for fault in seat.faults if fault.kind in _LATE)
    if moves["time"] != late:
        yield f"it was late {counted(moves['time'], 'time')} here, and {counted(late, 'time')}"
    away = moves["disconnected"] + (moves["left"] if seat.process != "remote" else 0)
    if away and not kinds & _AWAY:
        yield f"it was away for {counted(away, 'move')} here, and never"
