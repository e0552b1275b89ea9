"""The sessions of a lobby: which there are, and how long each is kept.

Laws:
- a session is kept as long as it has a connection, plays, or may still hear how a match of it ended; then its
  name and its place are free;
- a match that is over is kept for `session_kept_ms`, and for the `MOST_ENDED` last ones of each session;
- a session that plays keeps its place, with a connection or without, so that it can always be resumed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from stellwerk_server.lobby.admission import Admitted
from stellwerk_server.lobby.session import Session, session_of
from stellwerk_server.lobby.tokens import hashed, is_same_hash
from stellwerk_server.match.deadlines import Deadlines, Timer
from stellwerk_server.match.ended_match import MOST_ENDED, EndedMatch

if TYPE_CHECKING:
    from stellwerk_server.lobby.admission import Origin
    from stellwerk_server.lobby.setup import LobbySetup


class Sessions:
    def __init__(self, setup: LobbySetup, deadlines: Deadlines) -> None:
        limits = setup.limits
        self._setup = setup
        self._by_id: dict[str, Session] = {}
        self._by_name: dict[str, Session] = {}  # sessions by a seat's token have no name of their own
        self._admitted: Admitted[Session] = Admitted(limits.connections, limits.sessions_per_address)
        self._ended: dict[EndedMatch, float] = {}  # until when each is kept, the first to go first
        self._ended_timer = Timer(deadlines, self._forget_expired)

    @property
    def by_id(self) -> Mapping[str, Session]:
        return self._by_id

    @property
    def ended_matches(self) -> Collection[EndedMatch]:
        """The matches that are over, and whose end some player may not have heard."""
        return self._ended

    def named(self, name: str) -> Session | None:
        return self._by_name.get(name.lower())

    def with_seat_token(self, token: str) -> Session | None:
        """Return the session that has taken the seat of a token."""
        given = hashed(token)
        for session in self._by_id.values():
            if is_same_hash(given, session.seat_token_hash):
                return session
        return None

    # -- coming and going ------------------------------------------------------------------------

    def expect_room_for(self, origin: Origin) -> None:
        """Make room for a new session, or refuse it. A session that is only kept so that its client can hear
        how its match ended makes way."""
        for session in self._admitted.of(origin):
            if self._admitted.has_room_for(origin):
                return
            self.end(session)
        self._admitted.expect_room_for(origin, "a new connection later")

    def add(self, session: Session, origin: Origin) -> None:
        self._admitted.add(session, origin)
        self._by_id[session.id] = session
        if session.seat_token_hash is None:
            self._by_name[session.name.lower()] = session

    def add_recovered(self, session: Session) -> bool:
        """Add a session of an earlier server, so that it can be resumed. Return False if a session
        that plays has its name: this one has made way for it before."""
        taken = self.named(session.name)
        if taken is not None and session.seat_token_hash is None:
            if taken.is_playing():
                return False
            self.end(taken)
        self.add(session, None)
        return True

    def end_if_done(self, session: Session) -> None:
        """End a session without a connection, unless it plays or may still hear how a match ended."""
        if not session.matches:
            self.end(session)

    def end(self, session: Session) -> None:
        """End a session without a connection, unless it plays."""
        if session.connection is None and not session.is_playing():
            for match, seat in session.ended():
                self._forget_match(session, match, seat)
            self._by_id.pop(session.id, None)
            self._admitted.remove(session)
            if self.named(session.name) is session:
                del self._by_name[session.name.lower()]

    # -- matches that are over -------------------------------------------------------------------

    def keep_ended(self, ended: EndedMatch, now: float) -> None:
        """Keep an ended match for its players, whose connections may have broken before they heard of the
        end."""
        for seat, hearer in ended.sessions:
            session_of(hearer).matches[ended.id] = (ended, seat)
        self._ended[ended] = now + self._setup.limits.session_kept_ms
        for _, hearer in ended.sessions:
            session = session_of(hearer)
            all_ended = session.ended()
            if len(all_ended) > MOST_ENDED:
                oldest, seat = min(all_ended, key=lambda one: self._ended[one[0]])
                self._forget_match(session, oldest, seat)
        if not ended.sessions:
            self._drop_match(ended)
        elif len(self._ended) == 1:
            self._ended_timer.set(self._ended[ended])

    def forget_heard(self, session: Session, ids: Iterable[str]) -> None:
        """Forget the session's matches that are over: their ends have arrived."""
        for id in ids:
            match, seat = session.matches.get(id, (None, 0))
            if isinstance(match, EndedMatch):
                self._forget_match(session, match, seat)

    def forget_told(self, session: Session) -> None:
        """Forget the matches whose end was sent to a session. It need not have arrived."""
        for match, seat in session.ended():
            if match.was_told(seat):
                self._forget_match(session, match, seat)

    def _forget_match(self, session: Session, ended: EndedMatch, seat: int) -> None:
        session.matches.pop(ended.id, None)
        ended.remove(seat)
        if not ended.sessions:
            self._drop_match(ended)

    def _drop_match(self, ended: EndedMatch) -> None:
        self._ended.pop(ended, None)
        ended.forget()

    def _forget_expired(self, now: float) -> None:
        """Forget the matches whose time is up. As all are kept for equally long, one timer is enough."""
        for ended, until in list(self._ended.items()):
            if until > now:
                self._ended_timer.set(until)
                return
            for seat, hearer in ended.sessions:
                session = session_of(hearer)
                self._forget_match(session, ended, seat)
                self.end_if_done(session)
