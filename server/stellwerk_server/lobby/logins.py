"""Logins: newcomers that wait to log in, tokens and names, sessions that begin or are resumed.

Laws:
- a newcomer is greeted at once, and has `login_ms` and `refused_logins` attempts; if no place is left to wait
  for its login, a connection that waits has to go for it;
- a name belongs to one session at a time, and with tokens to whoever has its token;
- with each login, the session's key changes; the one before is good until the first line after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from stellwerk_protocol.client_line import MAX_DEPTH
from stellwerk_protocol.messages import PROTOCOL_VERSION, Hello, Login, Resume, Welcome
from stellwerk_server.lobby.admission import FULL, Admitted
from stellwerk_server.lobby.news import PresenceChanged
from stellwerk_server.lobby.outbox import COME_BACK
from stellwerk_server.lobby.refusal import RefusedError
from stellwerk_server.lobby.session import Connection, Session
from stellwerk_server.lobby.tokens import TokenHolder, Tokens, hashed, is_same_hash
from stellwerk_server.match.deadlines import Deadlines, Timer
from stellwerk_server.match.lines import line
from stellwerk_server.operate.settings import announced

if TYPE_CHECKING:
    from stellwerk_server.lobby.joining import Rooms
    from stellwerk_server.lobby.matches import Matches
    from stellwerk_server.lobby.outbox import Outbox
    from stellwerk_server.lobby.sessions import Sessions
    from stellwerk_server.lobby.setup import LobbySetup
    from stellwerk_server.lobby.shutdown import Shutdown

FEATURES: Final = ("resume", "resume_ended", "rooms", "practice", "spectators", "matches")


class Logins:
    def __init__(
        self,
        setup: LobbySetup,
        deadlines: Deadlines,
        outbox: Outbox,
        shutdown: Shutdown,
        sessions: Sessions,
        matches: Matches,
        rooms: Rooms,
    ) -> None:
        self._setup = setup
        self._deadlines = deadlines
        self._outbox = outbox
        self._shutdown = shutdown
        self._sessions = sessions
        self._matches = matches
        self._rooms = rooms
        self._tokens = setup.tokens
        self._waiting: Admitted[Connection] = Admitted(setup.limits.unauthenticated)

    # -- before the login ------------------------------------------------------------------------

    def greet(self, connection: Connection, now: float) -> None:
        """Greet a newcomer. If no place is left to wait for its login, close a connection that waits. If
        there is none, turn the newcomer away."""
        if not (self._setup.may_connect() and self._waiting.has_room_for(connection.origin)):
            goes = self._waiting.first_to_go() or connection
            self._waiting.remove(goes)
            self._outbox.bye(goes, FULL, "a new connection later")
        if not connection.closing:
            self._waiting.add(connection, connection.origin)
            limits = announced(self._setup.limits, MAX_DEPTH)
            hello = Hello((PROTOCOL_VERSION,), self._setup.server, limits, FEATURES)
            self._outbox.send(connection, line(hello))
            connection.timer = Timer(self._deadlines, partial(self._end_wait, connection))
            connection.timer.set(now + self._setup.limits.login_ms)

    def waits_no_longer(self, connection: Connection) -> None:
        """Give back the place where a connection waits for its login: it has logged in, or is gone."""
        self._waiting.remove(connection)
        if connection.timer is not None:
            connection.timer.retire()

    def _end_wait(self, connection: Connection, now: float) -> None:
        if connection.session is None:
            connection.refused.counts["auth.login_timeout"] += 1
            seconds = self._setup.limits.login_ms / 1000
            self._outbox.bye(connection, "auth.login_timeout", f"login within {seconds:g} s of hello")

    # -- the login -------------------------------------------------------------------------------

    def login(self, connection: Connection, login: Login, now: float) -> None:
        """Open a session, or resume one, and tell the client all that concerns it."""
        try:
            if login.protocol != PROTOCOL_VERSION:
                raise RefusedError("protocol.version", f"protocol {PROTOCOL_VERSION}", "/protocol")
            if login.token is not UNSET and not (connection.is_private or self._setup.plaintext_tokens):
                raise RefusedError("auth.token_needs_tls", "a connection with TLS", "/token")
            session, last_events = self._open_session(connection, login)
        except RefusedError as refused:
            self._refuse_login(connection, refused)
            return
        self.waits_no_longer(connection)
        self._take_over(session, connection, now)
        session.wants = login.wants
        session.language = login.language
        session.max_matches = login.max_matches
        key = self._setup.new_secret()
        known = session.key_hashes[-1:] if login.resume is UNSET else (hashed(login.resume.key),)
        session.key_hashes = (*known, hashed(key))
        welcome = Welcome(session.id, key, session.name, session.wants, self._setup.games.offered)
        self._outbox.say(session, line(welcome))
        self._setup.listener(PresenceChanged(session))
        has_played = bool(session.matches)
        if login.resume is not UNSET:
            self._sessions.forget_heard(session, login.resume.ended)
        self._matches.back(session, last_events, now)
        self._rooms.repeat(session)
        if login.token is not UNSET:
            self._rooms.take_reserved_seat(session, login.token, now)
        if self._shutdown.has_begun and not session.is_playing():
            self._shutdown.send_away(connection)
        if session.is_revoked or (session.seat_token_hash is not None and has_played):
            self._matches.send_away_if_done(session)

    def _refuse_login(self, connection: Connection, refused: RefusedError) -> None:
        connection.refused_logins += 1
        if refused.code != FULL:  # that is no answer to a login, but the end of the connection
            self._outbox.refuse(connection, refused)
        if refused.code in COME_BACK or connection.refused_logins >= self._setup.limits.refused_logins:
            self._outbox.bye(connection, refused.code, refused.expected)

    def _open_session(self, connection: Connection, login: Login) -> tuple[Session, Mapping[str, int]]:
        """Return the session that a login opens or resumes, and which events its client has seen."""
        if login.resume is not UNSET:
            return self._find_resumed(login.name, login.resume), login.resume.last_events
        token = None if login.token is UNSET else login.token
        room, seat = self._rooms.reserved(token) if token is not None else (None, 0)
        if token is not None and room is None:
            seated = self._sessions.with_seat_token(token)
            if seated is not None:
                return seated, {}  # the seat's token takes the seat back
        holder = self._find_holder(token) if room is None else None
        if room is not None and room.reservation is not None:
            name = room.reservation.plan.names[seat]
        elif holder is not None:
            name = holder.name
        else:
            name = login.name
        if holder is not None and not holder.takes_any_name and holder.name.lower() != login.name.lower():
            raise RefusedError("auth.bad_token", "the name that belongs to the token", "/name")
        taken = self._sessions.named(name)
        if taken is not None and room is None:
            if holder is not None and is_same_hash(holder.hash, taken.token_hash):
                taken.is_organizer = holder.is_organizer  # which no journal tells
                self._sessions.forget_told(taken)  # a client that does not resume has come to play
                return taken, {}
            if taken.connection is not None or taken.is_playing():
                raise RefusedError("auth.name_taken", "a name that nobody has", "/name")
            self._sessions.end(taken)  # kept only for who might want to see the end of a match
        self._shutdown.refuse_newcomers()
        if room is None:
            self._sessions.expect_room_for(connection.origin)
        session = Session(self._setup.new_id(), name)
        if holder is not None:
            session.token_hash = holder.hash
            session.is_organizer = holder.is_organizer
        if token is not None and room is not None:
            session.seat_token_hash = hashed(token)
        self._sessions.add(session, connection.origin)
        return session, {}

    def take_tokens(self, tokens: Tokens, now: float) -> None:
        """Let in by these tokens from now on. A session whose token is not one of them finishes its matches,
        and can do nothing else."""
        self._tokens = tokens
        for session in list(self._sessions.by_id.values()):
            if session.token_hash is None:
                continue
            session.is_revoked = not tokens.vouch_for(
                session.name, session.token_hash, is_organizer=session.is_organizer
            )
            if session.is_revoked:
                session.is_organizer = False
                self._rooms.leave_all(session)
                for match in list(session.watched):
                    self._matches.leave(session, match, now)
                self._matches.send_away_if_done(session)

    def _find_holder(self, token: str | None) -> TokenHolder | None:
        tokens = self._tokens
        if tokens is None:
            if token is not None:
                raise RefusedError("auth.bad_token", "no token: this one is not known", "/token")
            return None
        holder = tokens.holder_of(token) if token is not None else None
        if holder is None:
            raise RefusedError("auth.bad_token", "a token that the organizer gave out", "/token")
        return holder

    def _find_resumed(self, name: str, resume: Resume) -> Session:
        session = self._sessions.by_id.get(resume.session)
        if session is None or not session.has_key(resume.key) or session.name.lower() != name.lower():
            raise RefusedError("auth.bad_resume_key", "the session and its newest key", "/resume/key")
        for id, last_event in resume.last_events.items():
            seated = session.matches.get(id)
            if seated is not None and last_event > seated[0].event_count:
                expected = f"at most {seated[0].event_count}"
                raise RefusedError("protocol.wrong_value", expected, f"/resume/last_events/{id}")
        return session

    def _take_over(self, session: Session, connection: Connection, now: float) -> None:
        old = session.connection
        if old is not None:
            session.connection = None
            self._matches.stop_watching(session, now)
            goes_on = "nothing: another connection goes on with this session"
            self._outbox.bye(old, "server.taken_over", goes_on)
        session.connection = connection
        session.transport = connection.kind
        connection.session = session
        connection.lines.limit = self._setup.limits.line
