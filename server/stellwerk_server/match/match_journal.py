"""The journal of a match: its lines, and those that wait while the disk refuses.

Law: lines come into the journal whole and in their order; nothing overtakes what could not be written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from stellwerk_engine.replays.writer import ReplayWriter
from stellwerk_server.journal.journal import SeatRecord, record_line

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Events, Move, State
    from stellwerk_protocol.messages import DefaultReason
    from stellwerk_protocol.moves import Move as WireMove
    from stellwerk_protocol.results import Result
    from stellwerk_server.journal.journal import Journal
    from stellwerk_server.match.plan import MatchPlan
    from stellwerk_server.match.seat import MatchSeat


class MatchJournal:
    __slots__ = (
        "_plan",
        "_writer",
        "error",
        "file",
        "header",
        "left_behind",
        "refused_since",
        "replay",
        "unwritten",
    )

    def __init__(self, plan: MatchPlan, file: Journal) -> None:
        self.header = plan.header()
        self.file = file
        self._plan = plan
        self._writer = ReplayWriter()
        self.unwritten = b""
        self.refused_since: float | None = None  # since when the disk has taken nothing
        self.error = ""  # and why
        self.replay: Path | None = None  # what the journal became
        self.left_behind: Path | None = None  # the journal that no replay could be made of

    @property
    def transcript(self) -> str:
        """The hash of the last line of the replay."""
        return self._writer.last_hash

    # -- lines: each of them is made once, in the order of the match -----------------------------

    def opening(self, set_up: Events) -> bytes:
        """Return the first lines of the replay."""
        return self._writer.header(self.header) + self._writer.set_up(set_up)

    def move(
        self,
        state: State,
        seat: MatchSeat,
        move: Move,
        events: Events,
        reason: DefaultReason | None,
        note: str,
    ) -> bytes:
        """Return the lines of a move that was made. While others owe the same choice there are none."""
        return self._writer.move(
            state,
            seat.number,
            move,
            events,
            by_fallback=reason is not None,
            reason=reason,
            note=note[:200] or None,
        )

    def ending(self, result: Result) -> bytes:
        """Return the last lines of the replay."""
        lines = self._writer.end(result)
        if not self._plan.reveal_later:
            lines += self._writer.reveal(self._plan.seed, self._plan.salt)
        return lines

    # -- writing ---------------------------------------------------------------------------------

    def write_move(
        self,
        state: State,
        seat: MatchSeat,
        move: Move,
        events: Events,
        now: float,
        reason: DefaultReason | None,
        note: str,
    ) -> bool:
        """Write a move, with a private record where the seat has changed, or its choice must stay hidden."""
        lines = self.move(state, seat, move, events, reason, note)
        standing = seat.standing
        if not lines or standing != seat.written_standing:
            seat.written_standing = standing
            if lines:
                lines += record_line(seat_record(seat, reason=reason))
            else:
                lines = record_line(seat_record(seat, move.wire, reason, note))
        return self.write(lines, now)

    def write(self, lines: bytes, now: float) -> bool:
        """Write lines, and return whether that worked. If not, later lines wait behind them, until
        `write_again`."""
        if self.unwritten:
            self.unwritten += lines
            return False
        return self._append(lines, now)

    def write_again(self, now: float) -> bool:
        """Try to write what waits."""
        return self._append(self.unwritten, now)

    def finish(self, times: bytes, now: float) -> bool:
        """Make the replay, with the file of its times beside it. Whether that could be done."""
        try:
            self.replay = self.file.finish(times)
        except OSError as error:
            self._note_refused(error, now)
            return False
        self._note_taken()
        return True

    def leave(self) -> None:
        """Give up making the replay: the next server can do it."""
        self.left_behind = self.file.leave()

    def _append(self, lines: bytes, now: float) -> bool:
        try:
            self.file.append(lines)
        except OSError as error:
            self.unwritten = lines
            self._note_refused(error, now)
            return False
        if self.unwritten:
            self._note_taken()
        return True

    def _note_refused(self, error: OSError, now: float) -> None:
        self.error = str(error)
        if self.refused_since is None:
            self.refused_since = now

    def _note_taken(self) -> None:
        self.unwritten = b""
        self.refused_since = None
        self.error = ""


def seat_record(
    seat: MatchSeat,
    move: WireMove | UnsetType = UNSET,
    reason: DefaultReason | None = None,
    note: str = "",
) -> SeatRecord:
    """Return the private record of a seat; `move` is its choice while others still owe theirs."""
    return SeatRecord(
        seat.number,
        seat.ask_count,
        int(seat.bank_ms),
        seat.strikes,
        seat.default_count,
        seat.defaults_in_a_row,
        seat.by_default,
        seat.left,
        move,
        UNSET if reason is None else reason,
        note,
    )
