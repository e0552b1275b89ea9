"""A match that is over, kept for clients that have not seen its end, and for spectators while it is listed.

Law: a client that resumes within `session_kept_ms` gets every event and the `end`, whether the server was
killed in between or not. The journal stays on the disk until then, and the events are read from it, later
from the replay: in memory there is one line, and its recipients.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC
from stellwerk_protocol.canonical import CanonicalError, Chain
from stellwerk_protocol.messages import End, Error
from stellwerk_protocol.replays import CHAIN_LABEL, Line, MoveMade, SetUp
from stellwerk_server.journal.journal import SessionRecord, read_record, record_line
from stellwerk_server.match.audience import event_lines, start_line
from stellwerk_server.match.lines import line

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Seat
    from stellwerk_protocol.events import Event
    from stellwerk_protocol.messages import Act
    from stellwerk_protocol.results import Result
    from stellwerk_server.journal.journal import Journal
    from stellwerk_server.match.plan import MatchPlan
    from stellwerk_server.match.players import Outgoing, Recipient

MOST_ENDED: Final = 64
"""Of one session. A `resume` can name as many."""

NOTHING_OWED: Final = "nothing: this ask has ended"

_decode_line = msgspec.json.Decoder(Line).decode


@dataclass(slots=True)
class _Hearer:
    session: Recipient
    knows_end: bool


class EndedMatch:
    """An ended match. It answers what a session may still say about it, as `MatchSession` does before the
    end."""

    __slots__ = (
        "_commitment",
        "_end_line",
        "_hearers",
        "_journal",
        "_on_disk_error",
        "_out",
        "event_count",
        "id",
        "plan",
    )

    is_over: Final = True

    def __init__(
        self,
        plan: MatchPlan,
        *,
        commitment: str,
        end_line: bytes,
        event_count: int,
        journal: Journal | None,
        on_disk_error: Callable[[str, Exception], object],
    ) -> None:
        """Keep a match. Without a journal it sends only the last line."""
        self.id = plan.match
        self.event_count = event_count
        self.plan = plan
        self._commitment = commitment
        self._end_line = end_line
        self._journal = journal
        self._on_disk_error = on_disk_error
        self._out: list[Outgoing] = []
        self._hearers: dict[Seat, _Hearer] = {}

    # -- the recipients --------------------------------------------------------------------------

    @property
    def sessions(self) -> list[tuple[Seat, Recipient]]:
        """Its sessions, in a list of its own, so that some may be removed meanwhile."""
        return [(seat, hearer.session) for seat, hearer in self._hearers.items()]

    def add(self, seat: Seat, session: Recipient, *, knows_end: bool) -> None:
        self._hearers[seat] = _Hearer(session, knows_end)

    def remove(self, seat: Seat) -> None:
        self._hearers.pop(seat, None)

    def was_told(self, seat: Seat) -> bool:
        """Return whether the end was sent to a seat. It need not have arrived."""
        return self._hearers[seat].knows_end

    def forget(self) -> None:
        """Forget the match: no client is to hear of it any more."""
        if self._journal is not None:
            self._journal.forget()

    def data_to_send(self) -> list[Outgoing]:
        """Return what to send, in its order. The caller of `act` and `back` asks for it afterwards."""
        out, self._out = self._out, []
        return out

    # -- what its players say --------------------------------------------------------------------

    def ready(self, seat: Seat, now: float) -> Literal[False]:
        return False

    def act(self, seat: Seat, act: Act, now: float) -> Literal[False]:
        stale = Error("protocol.stale_ask", NOTHING_OWED, match=self.id, ask=act.ask)
        self._out.append((self._hearers[seat].session, line(stale)))
        return False

    def back(self, seat: Seat, last_event: int, now: float) -> None:
        """Send what is new to a client that knows the events up to that one."""
        hearer = self._hearers[seat]
        session = hearer.session
        if self._journal is not None:
            self._note_keys(self._journal, seat, session)
            if last_event == 0:
                self._out.append((session, start_line(self.plan, self._commitment, seat)))
            if session.wants.events and last_event < self.event_count:
                self._out.append((session, self._event_lines(self._journal, seat, last_event)))
        self._out.append((session, self._end_line))
        hearer.knows_end = True

    def watch(
        self, session: Recipient, viewer: Literal["public", "all_hands"], request: str | UnsetType
    ) -> None:
        """Send the whole match to a spectator. OSError, CanonicalError or msgspec.DecodeError if it cannot be
        read any more."""
        if self._journal is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        seen_by = PUBLIC if viewer == "public" else ALL_HANDS
        events = self._read_events(self._journal)
        self._out.append((session, start_line(self.plan, self._commitment, seen_by, request)))
        self._out.append((session, event_lines(self.id, self.plan.game, seen_by, events, 0)))
        self._out.append((session, self._end_line))

    def _note_keys(self, journal: Journal, seat: Seat, session: Recipient) -> None:
        """Write down the session's new key, for the server that is started after a crash."""
        try:
            journal.note(record_line(SessionRecord(seat, session.key_hashes, session.wants)))
        except OSError as error:
            self._on_disk_error(self.id, error)

    def _event_lines(self, journal: Journal, seat: Seat, last_event: int) -> bytes:
        """Return the lines of the missed events, or nothing if they cannot be read: then the client hears of
        the end alone."""
        try:
            events = self._read_events(journal)
        except (OSError, CanonicalError, msgspec.DecodeError) as error:
            self._on_disk_error(self.id, error)
            return b""
        return event_lines(self.id, self.plan.game, seat, events[last_event:], last_event)

    def _read_events(self, journal: Journal) -> list[Event]:
        events = list(events_in(journal.read().splitlines(keepends=True)))
        if len(events) != self.event_count:
            raise CanonicalError(f"expected {self.event_count} events, found {len(events)}")
        return events


def events_in(lines: list[bytes]) -> Iterator[Event]:
    """Yield the events of a journal or of a replay, in the form that no client may see before the end.
    CanonicalError if a line was changed or is missing."""
    chain = Chain(CHAIN_LABEL)
    for text in lines:
        if read_record(text) is None:
            record = _decode_line(chain.follow(text))
            if isinstance(record, SetUp | MoveMade):
                yield from record.events


def end_line(plan: MatchPlan, result: Result, transcript: str) -> bytes:
    """Return the last line about a match that has a result."""
    later = plan.reveal_later
    return line(
        End(
            match=plan.match,
            result=result,
            transcript=transcript,
            reveal="later" if later else "now",
            seed=UNSET if later else plan.seed.hex(),
            salt=UNSET if later else plan.salt.hex(),
        )
    )
