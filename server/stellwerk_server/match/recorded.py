"""A match as far as it is recorded: dealt, and played up to the last act that its journal has.

A new match has no record yet. To continue a match after a crash, its recorded moves are made again. Errors
here end no match, because none has begun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stellwerk_engine.replays.executor import Executor
from stellwerk_server.match.match_journal import MatchJournal
from stellwerk_server.match.seat import MatchSeat

if TYPE_CHECKING:
    from stellwerk_protocol.messages import DefaultReason
    from stellwerk_protocol.moves import Move as WireMove
    from stellwerk_protocol.names import Seat
    from stellwerk_server.journal.journal import Journal, SeatRecord
    from stellwerk_server.match.plan import MatchPlan


class RecordedMatch:
    __slots__ = ("executor", "journal", "plan", "seats")

    def __init__(self, plan: MatchPlan, file: Journal) -> None:
        """Deal it. `file` is where to write it."""
        self.plan = plan
        self.executor = Executor(plan.game, plan.seed)
        self.journal = MatchJournal(plan, file)
        self.seats = tuple(MatchSeat(number, name, plan.clocks) for number, name in enumerate(plan.names))

    def opening(self) -> bytes:
        """Return the first lines of its replay."""
        return self.journal.opening(self.executor.events)

    def move(self, number: Seat, wire: WireMove, reason: DefaultReason | None, note: str) -> bytes:
        """Make a recorded move; return its lines of the replay. IllegalMoveError if it cannot be made."""
        seat = self.seats[number]
        executed = self.executor.make(number, wire)
        seat.ask_count += 1
        seat.note_time()
        if reason is not None:
            seat.default_reasons[reason] += 1
        return self.journal.move(self.executor.state, seat, executed.move, executed.events, reason, note)

    def stand(self, record: SeatRecord) -> None:
        """Set the clock and the counters of a seat as they are recorded."""
        seat = self.seats[record.seat]
        seat.ask_count = record.ask
        seat.bank_ms = float(record.bank_ms)
        seat.strikes = record.strikes
        seat.defaults_in_a_row = record.defaults_in_a_row
        seat.by_default = record.by_default
        seat.left = record.left
        seat.written_standing = seat.standing

    def ending(self) -> bytes:
        """Return the last lines of its replay, if the game is over."""
        result = self.executor.state.result
        return b"" if result is None else self.journal.ending(result)
