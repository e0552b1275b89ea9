"""Everything that a server decides, without a socket and without a clock: logins, rooms, matches, their ends.

The rest of the server calls in with lines, lost connections and the time. After that, `data_to_send` has what
each connection is to send, and `deadlines` when to come back. The messages of each phase are one table
(`_PHASES`): everything else is refused with `protocol.out_of_phase`, and changes nothing.

`Lobby` is the entry for all callers. The rest is in its parts, each of which alone changes what it keeps:
`logins.py`, `sessions.py`, `joining.py`, `matches.py`, `listing.py`, `shutdown.py`, `outbox.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final, Literal, assert_never

from msgspec import UNSET

from stellwerk_protocol.client_line import LineError, read_line
from stellwerk_protocol.messages import (
    Act,
    FromClient,
    Join,
    Leave,
    ListMatches,
    Login,
    Ping,
    Pong,
    Ready,
    Watch,
)
from stellwerk_server.lobby.admission import origin_of
from stellwerk_server.lobby.joining import Rooms
from stellwerk_server.lobby.listing import Listing
from stellwerk_server.lobby.logins import Logins
from stellwerk_server.lobby.matches import Matches
from stellwerk_server.lobby.news import ConnectionClosed, Lost
from stellwerk_server.lobby.outbox import Outbox
from stellwerk_server.lobby.refusal import RefusedError
from stellwerk_server.lobby.session import Connection
from stellwerk_server.lobby.sessions import Sessions
from stellwerk_server.lobby.shutdown import Shutdown
from stellwerk_server.match.deadlines import Deadlines
from stellwerk_server.match.lines import line
from stellwerk_server.match.recipient import LinkKind

if TYPE_CHECKING:
    from stellwerk_protocol.results import Result
    from stellwerk_server.lobby.rooms import Reservation, Room
    from stellwerk_server.lobby.session import Session
    from stellwerk_server.lobby.setup import LobbySetup
    from stellwerk_server.lobby.tokens import Tokens
    from stellwerk_server.match.ended_match import EndedMatch
    from stellwerk_server.match.house_player import NewHousePlayer
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_server.match.recorded import RecordedMatch

Phase = Literal["greeting", "logged_in"]

_PHASES: Final[dict[type[FromClient], Phase]] = {
    Login: "greeting",
    Join: "logged_in",
    Leave: "logged_in",
    Ready: "logged_in",
    Act: "logged_in",
    Ping: "logged_in",
    Watch: "logged_in",
    ListMatches: "logged_in",
}


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


class Lobby:
    def __init__(self, setup: LobbySetup) -> None:
        self.setup = setup
        self.deadlines = Deadlines()
        self._connections: set[Connection] = set()
        self._numbers = 0
        self._outbox = Outbox()
        self.shutdown = Shutdown(self._outbox)
        self._sessions = Sessions(setup, self.deadlines)
        self._listing = Listing(setup)
        self._matches = Matches(
            setup, self.deadlines, self._outbox, self.shutdown, self._sessions, self._listing
        )
        self._rooms = Rooms(setup, self.deadlines, self._outbox, self.shutdown, self._matches)
        self._logins = Logins(
            setup, self.deadlines, self._outbox, self.shutdown, self._sessions, self._matches, self._rooms
        )

    @property
    def connections(self) -> Collection[Connection]:
        return self._connections

    @property
    def sessions(self) -> Mapping[str, Session]:
        return self._sessions.by_id

    @property
    def rooms(self) -> Mapping[str, Room]:
        return self._rooms.by_id

    @property
    def matches(self) -> Mapping[str, MatchSession]:
        """The matches that run."""
        return self._matches.running

    def listed(self) -> list[MatchSession]:
        """Return the running matches that anybody may learn of."""
        return [match for match in self.matches.values() if match.plan.is_watchable]

    @property
    def ended_matches(self) -> Collection[EndedMatch]:
        """The matches that are over, and whose end some player may not have heard."""
        return self._sessions.ended_matches

    def counts(self) -> Counts:
        return Counts(
            connections=len(self.connections),
            sessions=len(self.sessions),
            rooms=len(self.rooms),
            running=len(self.matches),
            finished=self._matches.finished_count,
            failed=self._matches.failed_count,
            decisions=self._matches.decision_count,
        )

    # -- connections -----------------------------------------------------------------------------

    def connect(self, address: str, kind: LinkKind, is_private: bool, now: float) -> Connection:
        """Greet a newcomer, or turn it away."""
        self._numbers += 1
        origin = origin_of(address, self.setup.trusted)
        connection = Connection(self._numbers, address, origin, kind, is_private, self.setup.limits, now)
        self._connections.add(connection)
        self._logins.greet(connection, now)
        return connection

    def disconnect(self, connection: Connection, cause: str, now: float) -> None:
        """Remove a connection that is gone or about to be closed. Its session may go on over another one."""
        if connection not in self._connections:
            return
        self._connections.discard(connection)
        self.close(connection, cause)
        self._logins.waits_no_longer(connection)
        session = connection.session
        if session is not None and session.connection is connection:
            session.connection = None
            self._rooms.lost(session)
            self._matches.lost(session, now)
            self._sessions.end_if_done(session)
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
        return self._outbox.data_to_send()

    def close(self, connection: Connection, cause: str, last: bytes = b"") -> None:
        """Send a last line, and nothing after it."""
        self._outbox.close(connection, cause, last)

    def drained(
        self, connection: Connection, now: float, until: float = inf, *, for_disk: bool = False
    ) -> None:
        """Note that the kernel has taken the waiting data of a blocked connection. Data sent after `until`
        still waits for the disk. `for_disk`: the rest has waited for nothing else."""
        since = connection.blocked_at
        connection.blocked_at = until if until < inf else None
        session = connection.session
        if since is not None and session is not None and session.connection is connection:
            self._matches.restart_clocks(session, since, until, for_disk, now)

    # -- lines -----------------------------------------------------------------------------------

    def overlong(self, connection: Connection) -> None:
        """Refuse a line beyond its limit and end the connection: nothing after such a line can be read."""
        expected = f"at most {connection.lines.limit} bytes in a line"
        self._outbox.refuse(connection, RefusedError("wire.too_long", expected))
        self._outbox.bye(connection, "wire.too_long", expected)

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
                if self._matches.act(session, message, now):
                    return 0.0  # no limit of messages applies to the first answer to an ask
            else:
                self._dispatch(connection, message, now)
        except LineError as error:
            self._outbox.refuse(connection, RefusedError(error.code, error.expected, error.pointer), text)
        except RefusedError as refused:
            self._outbox.refuse(connection, refused, text)
        pause, complain = connection.spend(now)
        if complain:
            rate = self.setup.limits.messages_a_second
            expected = f"at most {rate} messages a second"
            self._outbox.refuse(connection, RefusedError("protocol.too_fast", expected))
        return pause

    def _dispatch(self, connection: Connection, message: FromClient, now: float) -> None:
        session = connection.session
        phase: Phase = "greeting" if session is None else "logged_in"
        if phase != _PHASES[type(message)]:
            expected = "login" if session is None else "no second login"
            raise RefusedError("protocol.out_of_phase", expected, "/type")
        if session is None:
            assert isinstance(message, Login)
            self._logins.login(connection, message, now)
            return
        if session.is_revoked and isinstance(message, Join | Watch | ListMatches):
            expected = "only what concerns its matches: the token of this session is not valid any more"
            raise RefusedError("auth.not_allowed", expected, "/type")
        match message:
            case Join():
                self._rooms.join(session, message, now)
            case Leave():
                self._leave(session, message, now)
            case Ready():
                self._matches.ready(session, message, now)
            case Ping(echo):
                self._outbox.say(session, line(Pong(echo)))
            case Watch():
                self._matches.watch(session, message, now)
            case ListMatches(after):
                self._outbox.say(session, self._listing.reply(after))
            case Act() | Login():
                raise AssertionError("seen to before")
            case _:
                assert_never(message)

    def _leave(self, session: Session, leave: Leave, now: float) -> None:
        if (leave.match is UNSET) == (leave.room is UNSET):
            raise RefusedError("protocol.wrong_value", "exactly one of match and room")
        if leave.room is not UNSET:
            self._rooms.leave(session, leave.room)
        if leave.match is not UNSET:
            self._matches.leave(session, leave.match, now)

    # -- who may log in --------------------------------------------------------------------------

    def take_tokens(self, tokens: Tokens, now: float) -> None:
        """Let in by these tokens from now on. A session whose token is not one of them finishes its matches,
        and can do nothing else."""
        self._logins.take_tokens(tokens, now)

    # -- time, disk, and the end -----------------------------------------------------------------

    def run_due(self, now: Callable[[], float]) -> None:
        """Run the timers that are due. A bug in one of them keeps none of the others from running."""
        for timer in self.deadlines.take_due(now()):
            try:
                timer.fire(now())
            except Exception as error:
                self.setup.note_bug("timer.bug", error)

    def journal_failed(self, match: str, error: OSError, now: float) -> None:
        """End a match without a result: the disk does not have what was written of it, so it could lose acts
        that clients know of."""
        self._matches.journal_failed(match, error, now)

    def drain(self) -> None:
        """Close the rooms and take no new matches. Send away each client as soon as it is in no match."""
        self.shutdown.has_begun = True
        self._rooms.close_all()
        for connection in list(self._connections):
            if connection.session is None or not connection.session.is_playing():
                self.shutdown.send_away(connection)
        if not self.matches:
            self.shutdown.on_idle()

    def say_goodbye(self) -> None:
        """Say goodbye to all clients, because the server stops now. Matches go on when it is started
        again."""
        self.shutdown.say_goodbye(self._connections)

    # -- for a program that embeds the server ----------------------------------------------------

    def reserve(self, reservation: Reservation) -> Room:
        """Open a room whose seats wait for their tokens."""
        return self._rooms.reserve(reservation)

    def start_reserved(self, room: Room, now: float) -> None:
        """Start although not everybody came: the fallback plays for the missing seats."""
        self._rooms.start_reserved(room, now)

    def cancel_reserved(self, room: Room, now: float) -> None:
        """Take a reservation back: its room closes, or its match, if that goes on, ends without a result."""
        self._rooms.cancel_reserved(room, now)

    def seat(self, session: Session, room: Room, seat: int, now: float) -> None:
        """Give a session a reserved seat without its token."""
        self._rooms.enter(session, room, seat, now)

    def leave(self, match: MatchSession, seat: int, now: float) -> None:
        """Take a player out of its match for good: the fallback plays on."""
        self._matches.take_out(match, seat, now)

    # -- for recovery, before anybody is connected -----------------------------------------------

    def add_session(self, session: Session) -> bool:
        """Add a session of an earlier server, so that it can be resumed. Return False if a session
        that plays has its name."""
        return self._sessions.add_recovered(session)

    def go_on(
        self,
        recorded: RecordedMatch,
        seated: Mapping[int, Session],
        house_bots: Mapping[int, tuple[str, NewHousePlayer]],
        missing: bytes,
        now: float,
    ) -> None:
        """Go on with a match that another server has left; `missing` still has to be written."""
        self._matches.go_on(recorded, seated, house_bots, missing, now)

    def keep_ended(self, ended: EndedMatch, result: Result, now: float) -> None:
        """Keep a match that was over, for players who may not have heard of its end, and for spectators."""
        self._listing.ended(ended, result)
        self._sessions.keep_ended(ended, now)
