"""Everything that a server decides, without a socket and without a clock: logins, rooms, matches, their ends.

The rest of the server calls in with lines, lost connections and the time. After that, `data_to_send` has what
each connection is to send, and `deadlines` when to come back. What each message may do in which
phase is one table (`_PHASES`): everything else is refused with `protocol.out_of_phase`, and changes nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Final, Literal, Protocol, assert_never

from msgspec import UNSET

from stellwerk_engine.core.dice import SeedError, seed_from_text
from stellwerk_engine.core.game import GameError
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_protocol.client_line import MAX_DEPTH, LineError, read_line
from stellwerk_protocol.messages import (
    PROTOCOL_VERSION,
    Act,
    Bye,
    Error,
    FromClient,
    Hello,
    Join,
    Joined,
    Leave,
    Left,
    Login,
    Ping,
    Pong,
    Ready,
    Resume,
    Watch,
    Welcome,
)
from stellwerk_server.journal.journal import Journal, NoJournal
from stellwerk_server.lobby.admission import LOOPBACK, Network, Origin, Places, origin_of
from stellwerk_server.lobby.news import (
    Bug,
    ConnectionClosed,
    Listener,
    LoggedIn,
    Lost,
    MatchEnded,
    MatchRefused,
    RoomClosed,
    SeatLeft,
    SeatTaken,
    nobody_listens,
)
from stellwerk_server.lobby.rooms import GameShelf, Reservation, Room
from stellwerk_server.lobby.session import Connection, Kind, Session
from stellwerk_server.lobby.tokens import TokenHolder, Tokens, hashed, is_same_hash
from stellwerk_server.match.deadlines import Deadlines, Timer
from stellwerk_server.match.ended_match import MOST_ENDED, EndedMatch
from stellwerk_server.match.house_player import NewHousePlayer
from stellwerk_server.match.lines import line
from stellwerk_server.match.match_session import MatchSession
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.match.recorded import RecordedMatch
from stellwerk_server.match.refusals import Refused, shown_line
from stellwerk_server.operate.settings import Limits, Time, announced, clocks_of

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Game
    from stellwerk_protocol.error_codes import ErrorCode
    from stellwerk_server.match.recipient import Recipient

FEATURES: Final = ("resume", "resume_ended", "rooms", "practice", "spectators")
RETRY_MS: Final = 5_000  # when to come back to a server that is full, or starts anew
COME_BACK: Final = ("server.full", "server.shutting_down")

Phase = Literal["greeting", "logged_in"]

_PHASES: Final[dict[type[FromClient], Phase]] = {
    Login: "greeting",
    Join: "logged_in",
    Leave: "logged_in",
    Ready: "logged_in",
    Act: "logged_in",
    Ping: "logged_in",
    Watch: "logged_in",
}


class Log(Protocol):
    """The methods of a structlog logger that the server calls."""

    def info(self, event: str, **data: object) -> object: ...

    def warning(self, event: str, **data: object) -> object: ...

    def error(self, event: str, **data: object) -> object: ...


@dataclass(frozen=True, kw_only=True)
class LobbySetup:
    """The settings of a lobby, which never change."""

    server: str  # name and version, as `hello` has them
    limits: Limits
    time: Time
    games: GameShelf
    log: Log
    entropy: Callable[[int], bytes]
    house_bots: Mapping[str, NewHousePlayer]
    open_journal: Callable[[str], Journal] = lambda _: NoJournal()
    tokens: Tokens | None = None  # without, everybody may log in
    plaintext_tokens: bool = False
    may_join: bool = True  # else the program that embeds the server seats everybody
    may_connect: Callable[[], bool] = lambda: True  # whether there are descriptors left
    listener: Listener = nobody_listens
    trusted: tuple[Network, ...] = LOOPBACK  # networks that no limit for an address concerns


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts that an organizer polls."""

    connections: int
    sessions: int
    rooms: int
    running: int
    finished: int
    failed: int
    decisions: int


class _RefusedError(Exception):
    """A refusal of a message: the code, where, and what was expected."""

    def __init__(self, code: ErrorCode, expected: str, pointer: str = "") -> None:
        super().__init__(code)
        self.code: ErrorCode = code
        self.expected = expected
        self.pointer = pointer


class Lobby:
    def __init__(self, setup: LobbySetup) -> None:
        self.setup = setup
        self.clocks = clocks_of(setup.time)
        self.deadlines = Deadlines()
        self.draining = False
        self.connections: set[Connection] = set()
        self.sessions: dict[str, Session] = {}
        self.rooms: dict[str, Room] = {}
        self.matches: dict[str, MatchSession] = {}  # those that run
        self._names: dict[str, Session] = {}
        self._outgoing: list[Connection] = []  # with something to send, or to be closed
        self._numbers = 0
        limits = setup.limits
        self._waiting: Places[Connection] = Places(limits.unauthenticated)
        self._session_places: Places[Session] = Places(limits.connections, limits.sessions_per_address)
        self._room_places: Places[Room] = Places(limits.rooms, limits.rooms_per_address)
        self._match_places: Places[MatchSession] = Places(limits.matches, limits.matches_per_address)
        self._rooms_timer = Timer(self.deadlines, self._rooms_due)
        self._ended: dict[EndedMatch, float] = {}  # until when each is kept, the first to go first
        self._ended_timer = Timer(self.deadlines, self._ended_due)
        self._finished = self._failed = self._decisions = 0
        self.on_idle: Callable[[], object] = lambda: None
        """Called when the last match has ended while the server goes down."""

    # -- connections -----------------------------------------------------------------------------

    def connect(self, address: str, kind: Kind, is_private: bool, now: float) -> Connection:
        """Greet a newcomer. If no place is left to wait for its login, close a connection that waits. If
        there is none, turn the newcomer away."""
        limits = self.setup.limits
        has_descriptor = self.setup.may_connect()
        self._numbers += 1
        origin = origin_of(address, self.setup.trusted)
        connection = Connection(self._numbers, address, origin, kind, is_private, limits, now)
        self.connections.add(connection)
        if not (has_descriptor and self._waiting.are_left_for(origin)):
            goes = self._waiting.first_to_go() or connection
            self._waiting.give_back(goes)
            self._bye(goes, "server.full", "a new connection later", RETRY_MS)
        if not connection.closing:
            self._waiting.take(connection, origin)
            self._send(connection, self._hello())
            connection.timer = Timer(self.deadlines, partial(self._connection_due, connection))
            connection.timer.set(now + limits.login_ms)
        return connection

    def disconnect(self, connection: Connection, cause: str, now: float) -> None:
        """Remove a connection that is gone or about to be closed. Its session may go on over another one."""
        if connection not in self.connections:
            return
        self.connections.discard(connection)
        self.close(connection, cause)
        if connection.timer is not None:
            connection.timer.retire()
        session = connection.session
        if session is None:
            self._waits_no_longer(connection)
        elif session.connection is connection:
            session.connection = None
            for room_id in list(session.room_ids):
                self._leave_room(session, self.rooms[room_id])
            for match, seat in session.running():
                match.lost(seat, now)
                self._deliver(match)
            self._stop_watching(session, now)
            self._end_if_done(session)
            self.setup.listener(Lost(session))
        self.setup.listener(ConnectionClosed(connection))
        self.setup.log.info(
            "connection.closed",
            connection=connection.number,
            address=connection.address,
            kind=connection.kind,
            name=session.name if session is not None else None,
            cause=connection.cause,
            lines=connection.line_count,
            errors=dict(connection.refused.counts),
            seconds=round((now - connection.opened_at) / 1000, 3),
        )

    def data_to_send(self) -> list[tuple[Connection, bytes]]:
        """Return what to send now, in one piece for each connection. A connection that is closing comes
        without a piece if it has none."""
        outgoing, self._outgoing = self._outgoing, []
        pieces: list[tuple[Connection, bytes]] = []
        for connection in outgoing:
            out = connection.out
            pieces.append((connection, out[0] if len(out) == 1 else b"".join(out)))
            connection.out = []
            connection.is_outgoing = False
        return pieces

    def close(self, connection: Connection, cause: str, last: bytes = b"") -> None:
        """Send a last line, and nothing after it."""
        if connection.closing:
            return
        self._send(connection, last)
        connection.closing = True
        connection.cause = connection.cause or cause

    def _send(self, connection: Connection, data: bytes) -> None:
        """Send a line with its newline, or several."""
        if connection.closing:
            return
        if data:
            connection.out.append(data)
        if not connection.is_outgoing:
            connection.is_outgoing = True
            self._outgoing.append(connection)

    def _say(self, session: Session, message: bytes) -> None:
        if session.connection is not None:
            self._send(session.connection, message)

    def _deliver(self, match: MatchSession | EndedMatch) -> None:
        """Send what a match has to say, after each call of it."""
        sessions, outgoing = self.sessions, self._outgoing
        for recipient, data in match.data_to_send():
            session = sessions.get(recipient.id)  # one that is connected is always there
            connection = None if session is None else session.connection
            if connection is not None and not connection.closing:  # as in `_send`, without a call a line
                connection.out.append(data)
                if not connection.is_outgoing:
                    connection.is_outgoing = True
                    outgoing.append(connection)

    def drained(self, connection: Connection, now: float, until: float = inf) -> None:
        """Note that the kernel has taken the waiting data of a blocked connection. Data sent after `until`
        still waits for the disk."""
        since = connection.blocked_at
        connection.blocked_at = until if until < inf else None
        session = connection.session
        if since is not None and session is not None and session.connection is connection:
            for match, seat in session.running():
                match.restart_clock(seat, since, until, now)
                self._deliver(match)

    def run_due(self, now: Callable[[], float]) -> None:
        """Run the timers that are due. A bug in one of them keeps none of the others from running."""
        for timer in self.deadlines.take_due(now()):
            try:
                timer.fire(now())
            except Exception as error:
                self.note_bug("timer.bug", error)

    def note_bug(self, event: str, error: Exception, match: str | None = None, **data: object) -> None:
        """Log a bug of ours under the name of this event, and tell the listener."""
        of_match = {} if match is None else {"match": match}
        self.setup.log.error(event, **of_match, **data, exc_info=error)
        self.setup.listener(Bug(error, match))

    def counts(self) -> Counts:
        running = self.matches.values()
        return Counts(
            connections=len(self.connections),
            sessions=len(self.sessions),
            rooms=len(self.rooms),
            running=len(self.matches),
            finished=self._finished,
            failed=self._failed,
            decisions=self._decisions + sum(match.decision_count for match in running),
        )

    def drain(self, now: float) -> None:
        """Close the rooms and take no new matches. Send away each client as soon as it is in no match."""
        self.draining = True
        for room in list(self.rooms.values()):
            self._close_room(room)
        for connection in list(self.connections):
            if connection.session is None or not connection.session.is_playing():
                self._bye(connection, "server.shutting_down", "a new connection later", RETRY_MS)
        if not self.matches:
            self.on_idle()

    def say_goodbye(self) -> None:
        """Say goodbye to all clients, because the server stops now. Matches go on when it is started
        again."""
        for connection in list(self.connections):
            self._bye(connection, "server.shutting_down", "to come back, and resume", RETRY_MS)

    # -- lines -----------------------------------------------------------------------------------

    def overlong(self, connection: Connection) -> None:
        """Refuse a line beyond its limit and end the connection: nothing after such a line can be read."""
        expected = f"at most {connection.lines.limit} bytes in a line"
        self._complain(connection, _RefusedError("wire.too_long", expected))
        self._bye(connection, "wire.too_long", expected)

    def receive(self, connection: Connection, text: bytes, now: float) -> float:
        """Handle a line. Return for how many milliseconds to read nothing more from this connection."""
        if connection.closing:
            return 0.0
        connection.line_count += 1
        session = connection.session
        if session is not None and len(session.key_hashes) > 1:
            session.key_hashes = session.key_hashes[-1:]
        try:
            message = read_line(text)
            if type(message) is Act and session is not None:
                seated = session.matches.get(message.match)
                if seated is not None:
                    match, seat = seated
                    is_first = match.act(seat, message, now)
                    self._deliver(match)
                    if is_first:
                        return 0.0
                else:
                    raise _RefusedError("protocol.no_such_match", "the id of a match from `start`", "/match")
            else:
                self._dispatch(connection, message, now)
        except LineError as error:
            self._complain(connection, _RefusedError(error.code, error.expected, error.pointer), text)
        except _RefusedError as refused:
            self._complain(connection, refused, text)
        pause, complain = connection.spend(now)
        if complain:
            rate = self.setup.limits.messages_a_second
            expected = f"at most {rate} messages a second"
            self._complain(connection, _RefusedError("protocol.too_fast", expected))
        return pause

    def _dispatch(self, connection: Connection, message: FromClient, now: float) -> None:
        session = connection.session
        phase: Phase = "greeting" if session is None else "logged_in"
        if phase != _PHASES[type(message)]:
            expected = "login" if session is None else "no second login"
            raise _RefusedError("protocol.out_of_phase", expected, "/type")
        if session is None:
            assert isinstance(message, Login)
            self._login(connection, message, now)
            return
        match message:
            case Join():
                self._join(session, message, now)
            case Leave():
                self._leave(session, message, now)
            case Ready():
                self._ready(session, message, now)
            case Ping(echo):
                self._say(session, line(Pong(echo)))
            case Watch():
                self._watch(session, message, now)
            case Act() | Login():
                raise AssertionError("seen to before")
            case _:
                assert_never(message)

    def _complain(self, connection: Connection, refused: _RefusedError, text: bytes = b"") -> None:
        counted = _counted(connection, refused, text)
        connection.refused.add(counted)
        if connection.session is not None:
            connection.session.refused.add(counted)
        pointer = refused.pointer[:200] or UNSET
        retry_ms = RETRY_MS if refused.code in COME_BACK else UNSET
        self._send(connection, line(Error(refused.code, refused.expected[:200], pointer, retry_ms=retry_ms)))

    def _bye(
        self, connection: Connection, code: ErrorCode | Literal["done"], expected: str, retry_ms: int = 0
    ) -> None:
        self.close(connection, code, line(Bye(code, expected, retry_ms or UNSET)))

    def _connection_due(self, connection: Connection, now: float) -> None:
        if connection.session is None:
            connection.refused.counts["auth.login_timeout"] += 1
            seconds = self.setup.limits.login_ms / 1000
            self._bye(connection, "auth.login_timeout", f"login within {seconds:g} s of hello")

    def _hello(self) -> bytes:
        limits = announced(self.setup.limits, MAX_DEPTH)
        return line(Hello((PROTOCOL_VERSION,), self.setup.server, limits, FEATURES))

    # -- logins ----------------------------------------------------------------------------------

    def _login(self, connection: Connection, login: Login, now: float) -> None:
        try:
            if login.protocol != PROTOCOL_VERSION:
                raise _RefusedError("protocol.version", f"protocol {PROTOCOL_VERSION}", "/protocol")
            if login.token is not UNSET and not (connection.is_private or self.setup.plaintext_tokens):
                raise _RefusedError("auth.token_needs_tls", "a connection with TLS", "/token")
            session, last_events = self._session_for(connection, login, now)
        except _RefusedError as refused:
            connection.refused_logins += 1
            if refused.code != "server.full":  # that is no answer to a login, but the end of the connection
                self._complain(connection, refused)
            if refused.code in COME_BACK:
                self._bye(connection, refused.code, refused.expected, RETRY_MS)
            elif connection.refused_logins >= self.setup.limits.refused_logins:
                self._bye(connection, refused.code, refused.expected)
            return
        self._waits_no_longer(connection)
        self._take_over(session, connection, now)
        session.wants = login.wants
        session.language = login.language
        session.max_matches = login.max_matches
        key = self._secret()
        known = session.key_hashes[-1:] if login.resume is UNSET else (hashed(login.resume.key),)
        session.key_hashes = (*known, hashed(key))
        self._say(
            session, line(Welcome(session.id, key, session.name, session.wants, self.setup.games.offered))
        )
        self.setup.listener(LoggedIn(session))
        has_played = bool(session.matches)
        if login.resume is not UNSET:
            self._forget_heard(session, login.resume.ended)
        for match, seat in list(session.matches.values()):
            match.back(seat, last_events.get(match.id, 0), now)
            self._deliver(match)
        for room in [self.rooms[id] for id in session.room_ids]:
            self._say(session, line(Joined(room.id, room.missing)))
        if login.token is not UNSET:
            self._take_reserved_seats(session, login.token, now)
        if self.draining and not session.is_playing():
            self._bye(connection, "server.shutting_down", "a new connection later", RETRY_MS)
        if session.seat_token_hash is not None and has_played and not session.is_playing():
            self._bye(connection, "done", "nothing: this seat's match is over")

    def _session_for(
        self, connection: Connection, login: Login, now: float
    ) -> tuple[Session, Mapping[str, int]]:
        """Return the session that a login opens or resumes, and which events its client has seen."""
        if login.resume is not UNSET:
            return self._resumed(login.name, login.resume), login.resume.last_events
        token = None if login.token is UNSET else login.token
        room, seat = self._reserved(token) if token is not None else (None, 0)
        if token is not None and room is None:
            given = hashed(token)
            for session in self.sessions.values():
                if is_same_hash(given, session.seat_token_hash):
                    return session, {}  # the seat's token takes the seat back
        holder = self._holder(token) if room is None else None
        if room is not None and room.reservation is not None:
            name = room.reservation.plan.names[seat]
        elif holder is not None:
            name = holder.name
        else:
            name = login.name
        if holder is not None and not holder.takes_any_name and holder.name.lower() != login.name.lower():
            raise _RefusedError("auth.bad_token", "the name that belongs to the token", "/name")
        taken = self._names.get(name.lower())
        if taken is not None and room is None:
            if holder is not None and is_same_hash(holder.hash, taken.token_hash):
                taken.is_organizer = holder.is_organizer  # which no journal tells
                for match, own in taken.ended():
                    if match.was_told(own):  # a client that does not resume has come to play
                        self._forget_ended(taken, match, own)
                return taken, {}
            if taken.connection is not None or taken.is_playing():
                raise _RefusedError("auth.name_taken", "a name that nobody has", "/name")
            self._end_session(taken)  # kept only for who might want to see the end of a match
        if self.draining:
            raise _RefusedError("server.shutting_down", "a new connection later")
        if room is None:
            self._expect_place_for_session(connection.origin)
        session = Session(self._id(), name)
        if holder is not None:
            session.token_hash = holder.hash
            session.is_organizer = holder.is_organizer
        if token is not None and room is not None:
            session.seat_token_hash = hashed(token)
        self._add_session(session, connection.origin)
        return session, {}

    def _expect_place_for_session(self, origin: Origin) -> None:
        """Make room for a new session, or refuse it. A session that is only kept so that its client can hear
        how its match ended makes way. One that plays keeps its place, with a connection or without, so that
        it can always be resumed."""
        for session in self._session_places.held_by(origin):
            if self._session_places.are_left_for(origin):
                return
            self._end_session(session)
        if not self._session_places.are_left_for(origin):
            raise _RefusedError("server.full", "a new connection later")

    def _add_session(self, session: Session, origin: Origin) -> None:
        self._session_places.take(session, origin)
        self.sessions[session.id] = session
        if session.seat_token_hash is None:
            self._names[session.name.lower()] = session

    def _holder(self, token: str | None) -> TokenHolder | None:
        tokens = self.setup.tokens
        if tokens is None:
            if token is not None:
                raise _RefusedError("auth.bad_token", "no token: this one is not known", "/token")
            return None
        holder = tokens.holder_of(token) if token is not None else None
        if holder is None:
            raise _RefusedError("auth.bad_token", "a token that the organizer gave out", "/token")
        return holder

    def _resumed(self, name: str, resume: Resume) -> Session:
        session = self.sessions.get(resume.session)
        if session is None or not session.has_key(resume.key) or session.name.lower() != name.lower():
            raise _RefusedError("auth.bad_resume_key", "the session and its newest key", "/resume/key")
        for id, last_event in resume.last_events.items():
            seated = session.matches.get(id)
            if seated is not None and last_event > seated[0].event_count:
                expected = f"at most {seated[0].event_count}"
                raise _RefusedError("protocol.wrong_value", expected, f"/resume/last_events/{id}")
        return session

    def _take_over(self, session: Session, connection: Connection, now: float) -> None:
        old = session.connection
        if old is not None:
            session.connection = None
            self._stop_watching(session, now)
            self._bye(old, "server.taken_over", "nothing: another connection goes on with this session")
        session.connection = connection
        session.transport = connection.kind
        connection.session = session
        connection.lines.limit = self.setup.limits.line

    def _waits_no_longer(self, connection: Connection) -> None:
        """Give back the place where a connection waits for its login: it has logged in, or is gone."""
        self._waiting.give_back(connection)
        if connection.timer is not None:
            connection.timer.retire()

    def _end_if_done(self, session: Session) -> None:
        """End a session without a connection, unless it plays or may still hear how a match ended."""
        if not session.matches:
            self._end_session(session)

    def _end_session(self, session: Session) -> None:
        if session.connection is None and not session.is_playing():
            for match, seat in session.ended():
                self._forget_ended(session, match, seat)
            self.sessions.pop(session.id, None)
            self._session_places.give_back(session)
            if self._names.get(session.name.lower()) is session:
                del self._names[session.name.lower()]

    # -- rooms -----------------------------------------------------------------------------------

    def reserve(self, reservation: Reservation) -> Room:
        """Open a room whose seats wait for their tokens."""
        seats = reservation.plan.game.seat_count
        room = Room(self._id(), reservation.plan.game, False, [None] * seats, reservation)
        self.rooms[room.id] = room
        return room

    def start_reserved(self, room: Room, now: float) -> None:
        """Start although not everybody came: the fallback plays for the missing seats."""
        if room.id in self.rooms:
            self._start_room(room, now)

    def cancel_reserved(self, room: Room, now: float) -> None:
        """Take a reservation back: its room closes, or its match, if that goes on, ends without a result."""
        if room.id in self.rooms:
            self._close_room(room)
        match = None if room.reservation is None else self.matches.get(room.reservation.plan.match)
        if match is not None:
            match.fail(now)
            self._deliver(match)

    def seat(self, session: Session, room: Room, seat: int, now: float) -> None:
        """Give a session a reserved seat without its token: for a program that embeds the server."""
        self._enter(session, room, seat, now)

    def _reserved(self, token: str) -> tuple[Room | None, int]:
        for room in self.rooms.values():
            if room.reservation is not None:
                seat = room.reservation.seat_of(token)
                if seat is not None and room.sessions[seat] is None:
                    return room, seat
        return None, 0

    def _take_reserved_seats(self, session: Session, token: str, now: float) -> None:
        room, seat = self._reserved(token)
        if room is not None:
            self._enter(session, room, seat, now)

    def _join(self, session: Session, join: Join, now: float) -> None:
        if session.seat_token_hash is not None:
            raise _RefusedError("auth.not_allowed", "no join: this token is for one seat")
        if not self.setup.may_join:
            raise _RefusedError("auth.not_allowed", "no join: who plays whom is decided here")
        if self.draining:
            raise _RefusedError("server.shutting_down", "a new connection later")
        if session.game_count() >= session.max_matches:
            raise _RefusedError("protocol.too_many_matches", f"at most {session.max_matches} at a time")
        game = self._game(join)
        if join.against:
            self._practice(session, join, game, now)
            return
        for name, value in (("seed", join.seed), ("seat", join.seat)):
            if value is not UNSET:
                raise _RefusedError("protocol.wrong_value", f"no {name}, except with against", f"/{name}")
        room = self._room_for(join, game) or self._new_room(join, game, session.origin, now)
        if session in room.sessions:
            raise _RefusedError("protocol.out_of_phase", "another room: this session is in it", "/room")
        if room.missing == 1:
            self._expect_place_for_match(session.origin)
        self._enter(session, room, room.sessions.index(None), now)

    def _game(self, join: Join) -> Game:
        rules = RULE_SETS.get(join.game)
        if rules is None:
            raise _RefusedError("protocol.wrong_value", f"one of {', '.join(RULE_SETS)}", "/game")
        if join.players not in rules.seat_counts:
            counts = ", ".join(map(str, rules.seat_counts))
            raise _RefusedError("protocol.wrong_value", f"a number of players out of {counts}", "/players")
        known = [option.id for option in rules.options]
        for number, option in enumerate(join.options):
            if option not in known:
                expected = f"one of {', '.join(known)}" if known else "no options"
                raise _RefusedError("protocol.wrong_value", expected, f"/options/{number}")
        try:
            return self.setup.games.game(join.game, join.players, join.options)
        except GameError as error:
            raise _RefusedError("protocol.wrong_value", str(error), "/game") from None

    def _room_for(self, join: Join, game: Game) -> Room | None:
        """Return the room to join: the one of that id, or one that waits already. None if there is none."""
        if join.room is UNSET:
            for room in self.rooms.values():
                if room.is_public and room.game is game and room.missing:
                    return room
            return None
        found = self.rooms.get(join.room)
        if found is None:
            return None
        if found.reservation is not None:
            raise _RefusedError("auth.not_allowed", "another room: this one waits for tokens", "/room")
        if found.game.id != game.id:
            raise _RefusedError("protocol.wrong_value", f"{found.game.id}, as in the room", "/game")
        if found.game.seat_count != game.seat_count:
            raise _RefusedError(
                "protocol.wrong_value", f"{found.game.seat_count}, as in the room", "/players"
            )
        if found.game.options != game.options:
            raise _RefusedError("protocol.wrong_value", "the options of the room", "/options")
        return found

    def _new_room(self, join: Join, game: Game, origin: Origin, now: float) -> Room:
        if not self._room_places.are_left_for(origin):
            raise _RefusedError("server.full", "to join later, or a room that waits already")
        is_public = join.room is UNSET
        id = self._id() if join.room is UNSET else join.room
        room = Room(id, game, is_public, [None] * game.seat_count)
        room.expires_at = now + self.setup.limits.room_ms
        self.rooms[room.id] = room
        self._room_places.take(room, origin)
        if len(self._room_places) == 1:
            self._rooms_timer.set(room.expires_at)
        return room

    def _rooms_due(self, now: float) -> None:
        """Close the rooms that nobody has filled in time. The oldest ones are the first to expire, so one
        timer is enough for all of them."""
        for room in tuple(self._room_places):
            if room.expires_at > now:
                self._rooms_timer.set(room.expires_at)
                return
            for session in room.sessions:
                if session is not None:
                    self._say(session, line(Left(room=room.id)))
            self._close_room(room)

    def _close_room(self, room: Room) -> None:
        """End the wait in a room, and take its sessions out of it."""
        self.rooms.pop(room.id, None)
        self._room_places.give_back(room)
        for session in room.sessions:
            if session is not None:
                session.room_ids.remove(room.id)
        self.setup.listener(RoomClosed(room))

    def _expect_place_for_match(self, origin: Origin) -> None:
        if not self._match_places.are_left_for(origin):
            raise _RefusedError("server.full", "to join later")

    def _tell_missing(self, room: Room) -> None:
        """Tell everybody in a room how many are missing now."""
        message = line(Joined(room.id, room.missing))
        for session in room.sessions:
            if session is not None:
                self._say(session, message)

    def _enter(self, session: Session, room: Room, seat: int, now: float) -> None:
        if not session.game_count():
            session.take_refused()  # what it sent before counts to no match
        room.sessions[seat] = session
        session.room_ids.append(room.id)
        self._tell_missing(room)
        self.setup.listener(SeatTaken(room, seat))
        if not room.missing:
            self._start_room(room, now, session.origin)

    def _leave_room(self, session: Session, room: Room) -> None:
        session.room_ids.remove(room.id)
        seat = room.sessions.index(session)
        room.sessions[seat] = None
        self.setup.listener(SeatLeft(room, seat))
        if room.missing == len(room.sessions) and room.reservation is None:
            self._close_room(room)
        else:
            self._tell_missing(room)

    def _start_room(self, room: Room, now: float, origin: Origin = None) -> None:
        """Start the match of a room. `origin` is that of the player who came last."""
        self._close_room(room)
        reservation = room.reservation
        if reservation is None:
            names = tuple(session.name for session in room.sessions if session is not None)
            plan = self._plan(room.game, names, self.setup.entropy(32))
        else:
            plan = reservation.plan
        try:
            match = self._new_match(plan, origin)
        except _RefusedError as refused:
            self.setup.listener(MatchRefused(plan.match))
            for session in room.sessions:
                if session is not None:
                    self._say(session, line(Error(refused.code, refused.expected)))
            return
        for place, session in zip(match.seats, room.sessions, strict=True):
            if session is not None:
                place.session = session
                session.matches[match.id] = (match, place.seat)
            else:
                place.by_default = True
        match.begin({}, now)
        self._deliver(match)

    def _practice(self, session: Session, join: Join, game: Game, now: float) -> None:
        others = game.seat_count - 1
        if join.room is not UNSET:
            raise _RefusedError("protocol.wrong_value", "no room together with against", "/room")
        if len(join.against) != others:
            raise _RefusedError("protocol.wrong_value", f"{others} house bots, one a seat", "/against")
        bots = self.setup.house_bots
        for number, name in enumerate(join.against):
            if name not in bots:
                expected = f"one of {', '.join(bots)}" if bots else "no house bots: there are none"
                raise _RefusedError("protocol.wrong_value", expected, f"/against/{number}")
        own = 0 if join.seat is UNSET else join.seat
        if own >= game.seat_count:
            raise _RefusedError("protocol.wrong_value", f"a seat below {game.seat_count}", "/seat")
        try:
            seed = self.setup.entropy(32) if join.seed is UNSET else seed_from_text(join.seed)
        except SeedError as error:
            raise _RefusedError("protocol.wrong_value", str(error), "/seed") from None
        self._expect_place_for_match(session.origin)
        names = list(join.against)
        names.insert(own, session.name)
        match = self._new_match(self._plan(game, tuple(names), seed), session.origin)
        match.seats[own].session = session
        session.matches[match.id] = (match, own)
        self._say(session, line(Joined(self._id(), 0)))
        match.begin({seat: (name, bots[name]) for seat, name in enumerate(names) if seat != own}, now)
        self._deliver(match)

    def _plan(self, game: Game, names: tuple[str, ...], seed: bytes) -> MatchPlan:
        return MatchPlan(self._id(), game, names, seed, self.setup.entropy(32), self.clocks)

    # -- matches ---------------------------------------------------------------------------------

    def _new_match(self, plan: MatchPlan, origin: Origin) -> MatchSession:
        """Open a match. _RefusedError if its journal cannot be opened, or if a bug of ours keeps it from
        beginning."""
        try:
            return self.add_match(RecordedMatch(plan, self.setup.open_journal(plan.match)), origin)
        except OSError as error:
            self.setup.log.error("journal.not_opened", match=plan.match, error=str(error))
            raise _RefusedError("server.busy", "to join again later") from None
        except Exception as error:
            self.note_bug("match.bug", error, plan.match, game=plan.game.id)
            raise _RefusedError("server.failed", "to join again") from None

    def add_match(self, recorded: RecordedMatch, origin: Origin = None) -> MatchSession:
        """Add a match of which nothing, or not everything, has been played."""
        timer = Timer(self.deadlines, lambda now: self._match_due(match, now))
        match = MatchSession(
            recorded,
            timer=timer,
            unwritten_ms=self.setup.limits.unwritten_ms,
            on_bug=self._note_bug,
            on_over=self._match_over,
        )
        self.matches[match.id] = match
        self._match_places.take(match, origin)
        return match

    def go_on(
        self,
        match: MatchSession,
        house_bots: Mapping[int, tuple[str, NewHousePlayer]],
        missing: bytes,
        now: float,
    ) -> None:
        """Go on with a match that another server has left, once its sessions are back in their seats."""
        match.go_on(house_bots, missing, now)
        self._deliver(match)

    def leave(self, match: MatchSession, seat: int, now: float) -> None:
        """Take a player out of its match for good: the fallback plays on."""
        match.leave(seat, now)
        self._deliver(match)

    def _match_due(self, match: MatchSession, now: float) -> None:
        match.come_back(now)
        self._deliver(match)

    def add_session(self, session: Session) -> bool:
        """Add a session of an earlier server, so that it can be resumed. Return False if a session
        that plays has its name: this one has made way for it before."""
        taken = self._names.get(session.name.lower())
        if taken is not None and session.seat_token_hash is None:
            if taken.is_playing():
                return False
            self._end_session(taken)
        self._add_session(session, None)
        return True

    def _match_over(self, match: MatchSession, now: float) -> None:
        self._deliver(match)  # before anybody is sent away
        self.matches.pop(match.id, None)
        self._match_places.give_back(match)
        match.timer.retire()
        self._decisions += match.decision_count
        self._finished += match.phase == "over"
        self._failed += match.phase == "failed"
        result = match.state.result
        self.setup.log.info(
            "match.finished" if match.phase == "over" else "match.failed",
            match=match.id,
            game=match.game.id,
            players=list(match.plan.names),
            points=[team.points for team in result.teams] if result is not None else None,
            ranks=list(result.ranks) if result is not None else None,
            decisions=match.decision_count,
            defaults=[place.default_count for place in match.seats],
            refused=[place.refused.counts.total() for place in match.seats],
            seconds=round((now - match.started_at) / 1000, 3),
            replay=match.replay.name if match.replay is not None else None,
            disk_error=match.disk_error or None,
        )
        if match.phase == "over" and match.disk_error:
            self.setup.log.error(
                "replay.not_written",
                match=match.id,
                error=match.disk_error,
                journal=match.left_behind.name if match.left_behind is not None else None,
            )
        for session in self._sessions(match.watchers):
            session.watched.pop(match.id, None)
        ended = match.ended(self.note_disk_error)
        for place in match.seats:
            if place.session is not None and not place.left:
                ended.add(place.seat, place.session, knows_end=place.knows_end)
        self.keep_ended(ended, now)
        for session in self._sessions([one.session for one in match.seats if one.session is not None]):
            self._after_match(session)
        if self.draining and not self.matches:
            self.on_idle()
        seated = [(place.seat, place.session) for place in match.seats if place.session is not None]
        self.setup.listener(MatchEnded(match, {seat: session.take_refused() for seat, session in seated}))

    # -- matches that are over -------------------------------------------------------------------

    def keep_ended(self, ended: EndedMatch, now: float) -> None:
        """Keep an ended match for its players, whose connections may have broken before they heard of the
        end."""
        for seat, hearer in ended.sessions:
            self.sessions[hearer.id].matches[ended.id] = (ended, seat)
        self._ended[ended] = now + self.setup.limits.session_kept_ms
        for session in self._sessions([hearer for _, hearer in ended.sessions]):
            all_ended = session.ended()
            if len(all_ended) > MOST_ENDED:
                oldest, seat = min(all_ended, key=lambda one: self._ended[one[0]])
                self._forget_ended(session, oldest, seat)
        if not ended.sessions:
            self._drop_ended(ended)
        elif len(self._ended) == 1:
            self._ended_timer.set(self._ended[ended])

    def _forget_heard(self, session: Session, ids: tuple[str, ...]) -> None:
        """Forget those of the matches that are over and belong to the session: their ends have arrived."""
        for id in ids:
            match, seat = session.matches.get(id, (None, 0))
            if isinstance(match, EndedMatch):
                self._forget_ended(session, match, seat)

    def _forget_ended(self, session: Session, ended: EndedMatch, seat: int) -> None:
        session.matches.pop(ended.id, None)
        ended.remove(seat)
        if not ended.sessions:
            self._drop_ended(ended)

    def _drop_ended(self, ended: EndedMatch) -> None:
        self._ended.pop(ended, None)
        ended.forget()

    def _ended_due(self, now: float) -> None:
        """Forget the matches whose time is up. As all are kept for equally long, one timer is enough."""
        for ended, until in list(self._ended.items()):
            if until > now:
                self._ended_timer.set(until)
                return
            for seat, hearer in ended.sessions:
                session = self.sessions[hearer.id]
                self._forget_ended(session, ended, seat)
                self._end_if_done(session)

    def note_disk_error(self, match: str, error: Exception) -> None:
        why = str(error) if isinstance(error, OSError) else type(error).__name__
        self.setup.log.error("end.not_repeated_in_full", match=match, error=why)

    def _after_match(self, session: Session) -> None:
        """Send away a client that has no more business here."""
        connection = session.connection
        if connection is not None and not session.is_playing():
            if session.seat_token_hash is not None:
                self._bye(connection, "done", "nothing: this seat's match is over")
            elif self.draining:
                self._bye(connection, "server.shutting_down", "a new connection later", RETRY_MS)
        self._end_if_done(session)

    def _note_bug(self, match: MatchSession, error: Exception) -> None:
        self.note_bug("match.bug", error, match.id, game=match.game.id)

    def _stop_watching(self, session: Session, now: float) -> None:
        """Stop all watching over the connection of a session."""
        for match in list(session.watched.values()):
            match.stop_watching(session, now)
            self._deliver(match)
        session.watched.clear()

    def journal_failed(self, match: str, error: OSError, now: float) -> None:
        """End a match without a result: the disk does not have what was written of it, so it could lose acts
        that clients know of."""
        running = self.matches.get(match)
        if running is not None:  # else its replay was written and synced by itself
            self.setup.log.error("journal.not_synced", match=match, error=str(error))
            running.fail(now)
            self._deliver(running)

    def _seated(self, session: Session, match: str) -> tuple[MatchSession | EndedMatch, int]:
        seated = session.matches.get(match)
        if seated is None:
            raise _RefusedError("protocol.no_such_match", "the id of a match from `start`", "/match")
        return seated

    def _ready(self, session: Session, message: Ready, now: float) -> None:
        match, seat = self._seated(session, message.match)
        was_moment = match.ready(seat, now)
        self._deliver(match)
        if was_moment is False:
            raise _RefusedError("protocol.out_of_phase", "ready once, after start", "/type")

    def _leave(self, session: Session, leave: Leave, now: float) -> None:
        if (leave.match is UNSET) == (leave.room is UNSET):
            raise _RefusedError("protocol.wrong_value", "exactly one of match and room")
        if leave.room is not UNSET:
            room = self.rooms.get(leave.room) if leave.room in session.room_ids else None
            if room is None:
                raise _RefusedError("protocol.no_such_room", "the id of a room from `joined`", "/room")
            self._say(session, line(Left(room=room.id)))
            self._leave_room(session, room)
            return
        assert leave.match is not UNSET
        watched = session.watched.pop(leave.match, None)
        if watched is not None:
            watched.stop_watching(session, now)
            self._deliver(watched)
            self._say(session, line(Left(match=watched.id)))
            return
        match, seat = self._seated(session, leave.match)
        if isinstance(match, EndedMatch):
            raise _RefusedError("protocol.no_such_match", "a match that goes on", "/match")
        self.leave(match, seat, now)
        if match.seats[seat].left:
            session.matches.pop(match.id, None)

    def _watch(self, session: Session, watch: Watch, now: float) -> None:
        match = self.matches.get(watch.match)
        if match is None or match.is_over:
            raise _RefusedError("protocol.no_such_match", "the id of a match that runs", "/match")
        if watch.viewer == "all_hands" and not session.is_organizer:
            raise _RefusedError("auth.not_allowed", "an organizer's token", "/viewer")
        if match.id in session.watched or match.id in session.matches:
            raise _RefusedError("protocol.out_of_phase", "a match that this session is not in", "/match")
        session.watched[match.id] = match
        match.watch(session, watch.viewer, now)
        self._deliver(match)

    def _sessions(self, recipients: Sequence[Recipient]) -> list[Session]:
        """Return the sessions that a match knows as recipients. One that has left it may be gone."""
        return [session for one in recipients if (session := self.sessions.get(one.id)) is not None]

    # -- small things ----------------------------------------------------------------------------

    def _id(self) -> str:
        return self.setup.entropy(9).hex()

    def _secret(self) -> str:
        return base64.urlsafe_b64encode(self.setup.entropy(18)).decode()


def _counted(connection: Connection, refused: _RefusedError, text: bytes) -> Refused:
    """Return what a report says of a refused line. A client with several open asks may have meant any."""
    session = connection.session
    asked = (
        []
        if session is None
        else [
            (ask.id, match.state.turn)
            for match, seat in session.running()
            if (ask := match.seats[seat].ask) is not None
        ]
    )
    asked_at, turn = asked[0] if len(asked) == 1 else (UNSET, UNSET)
    sent = shown_line(text, logged_in=session is not None)
    return Refused(refused.code, refused.expected, refused.pointer, sent, asked_at, turn)
