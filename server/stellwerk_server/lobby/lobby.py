"""Everything that a server decides, without a socket and without a clock: logins, rooms, matches, their ends.

The rest of the server calls in with lines, lost connections and the time. After that, the `outbox` has what
is to be sent over each connection, and `deadlines` when to come back. The messages of each phase are one
table (`_PHASES`): everything else is refused with `protocol.out_of_phase`, and changes nothing.

`Lobby` itself takes connections, lines and the time. The rest is in its parts, which callers use directly,
and each of which alone changes what it keeps: `logins.py`, `sessions.py`, `joining.py`, `matches.py`,
`listing.py`, `shutdown.py`, `outbox.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final, Literal, assert_never

from msgspec import UNSET, UnsetType

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
from stellwerk_server.lobby.news import ConnectionClosed, PresenceChanged
from stellwerk_server.lobby.outbox import Outbox
from stellwerk_server.lobby.refusal import RefusedError
from stellwerk_server.lobby.session import Connection
from stellwerk_server.lobby.sessions import Sessions
from stellwerk_server.lobby.shutdown import Shutdown
from stellwerk_server.match.deadlines import Deadlines
from stellwerk_server.match.lines import line
from stellwerk_server.match.players import LinkKind

if TYPE_CHECKING:
    from stellwerk_protocol.results import Result
    from stellwerk_server.lobby.session import Session
    from stellwerk_server.lobby.setup import LobbySetup
    from stellwerk_server.match.ended_match import EndedMatch
    from stellwerk_server.match.match_session import MatchSession

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
        self.outbox = Outbox()
        self.shutdown = Shutdown(self.outbox)
        self.sessions = Sessions(setup, self.deadlines)
        self.listing = Listing(setup)
        self.matches = Matches(setup, self.deadlines, self.outbox, self.shutdown, self.sessions, self.listing)
        self.rooms = Rooms(setup, self.deadlines, self.outbox, self.shutdown, self.matches)
        self.logins = Logins(
            setup, self.deadlines, self.outbox, self.shutdown, self.sessions, self.matches, self.rooms
        )

    @property
    def connections(self) -> Collection[Connection]:
        return self._connections

    def listed(self) -> list[MatchSession]:
        """Return the running matches that are public."""
        return [match for match in self.matches.running.values() if match.plan.is_watchable]

    def counts(self) -> Counts:
        return Counts(
            connections=len(self.connections),
            sessions=len(self.sessions.by_id),
            rooms=len(self.rooms.by_id),
            running=len(self.matches.running),
            finished=self.matches.finished_count,
            failed=self.matches.failed_count,
            decisions=self.matches.decision_count,
        )

    # -- connections -----------------------------------------------------------------------------

    def connect(self, address: str, kind: LinkKind, is_private: bool, now: float) -> Connection:
        """Greet a newcomer, or turn it away."""
        self._numbers += 1
        origin = origin_of(address, self.setup.trusted)
        connection = Connection(self._numbers, address, origin, kind, is_private, self.setup.limits, now)
        self._connections.add(connection)
        self.logins.greet(connection, now)
        return connection

    def disconnect(self, connection: Connection, cause: str, now: float) -> None:
        """Remove a connection that is gone or about to be closed. Its session may go on over another one."""
        if connection not in self._connections:
            return
        self._connections.discard(connection)
        self.outbox.close(connection, cause)
        self.logins.waits_no_longer(connection)
        session = connection.session
        if session is not None and session.connection is connection:
            session.connection = None
            self.rooms.lost(session)
            self.matches.lost(session, now)
            self.sessions.end_if_done(session)
            self.setup.listener(PresenceChanged(session))
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

    def drained(
        self, connection: Connection, now: float, until: float = inf, *, for_disk: bool = False
    ) -> None:
        """Note that the kernel has taken the waiting data of a blocked connection. Data sent after `until`
        still waits for the disk. `for_disk`: the rest has waited for nothing else."""
        since = connection.blocked_at
        connection.blocked_at = until if until < inf else None
        session = connection.session
        if since is not None and session is not None and session.connection is connection:
            self.matches.restart_clocks(session, since, until, for_disk, now)

    # -- lines -----------------------------------------------------------------------------------

    def overlong(self, connection: Connection) -> None:
        """Refuse a line beyond its limit and end the connection: nothing after such a line can be read."""
        expected = f"at most {connection.lines.limit} bytes in a line"
        self.outbox.refuse(connection, RefusedError("wire.too_long", expected))
        self.outbox.bye(connection, "wire.too_long", expected)

    def receive(self, connection: Connection, text: bytes, now: float) -> float:
        """Handle a line. Return for how many milliseconds to read nothing more from this connection."""
        if connection.closing:
            return 0.0
        connection.line_count += 1
        session = connection.session
        if session is not None and len(session.key_hashes) > 1:
            session.key_hashes = session.key_hashes[-1:]
        request: str | UnsetType = UNSET
        try:
            message = read_line(text)
            if type(message) is Act and session is not None:
                if self.matches.act(session, message, now):
                    return 0.0  # no limit of messages applies to the first answer to an ask
            else:
                if isinstance(message, Join | Watch):
                    request = message.request
                self._dispatch(connection, message, now)
        except LineError as error:
            refused = RefusedError(error.code, error.expected, error.pointer)
            self.outbox.refuse(connection, refused, text, error.request)
        except RefusedError as refused:
            self.outbox.refuse(connection, refused, text, request)
        pause, complain = connection.spend(now)
        if complain:
            rate = self.setup.limits.messages_a_second
            expected = f"at most {rate} messages a second"
            self.outbox.refuse(connection, RefusedError("protocol.too_fast", expected))
        return pause

    def _dispatch(self, connection: Connection, message: FromClient, now: float) -> None:
        session = connection.session
        phase: Phase = "greeting" if session is None else "logged_in"
        if phase != _PHASES[type(message)]:
            expected = "login" if session is None else "no second login"
            raise RefusedError("protocol.out_of_phase", expected, "/type")
        if session is None:
            assert isinstance(message, Login)
            self.logins.login(connection, message, now)
            return
        if session.is_revoked and isinstance(message, Join | Watch | ListMatches):
            expected = "only what concerns its matches: the token of this session is not valid any more"
            raise RefusedError("auth.not_allowed", expected, "/type")
        match message:
            case Join():
                self.rooms.join(session, message, now)
            case Leave():
                self._leave_room_or_match(session, message, now)
            case Ready():
                self.matches.ready(session, message, now)
            case Ping(echo):
                self.outbox.say(session, line(Pong(echo)))
            case Watch():
                self.matches.watch(session, message, now)
            case ListMatches(after):
                self.outbox.say(session, self.listing.reply(after))
            case Act() | Login():
                raise AssertionError("seen to before")
            case _:
                assert_never(message)

    def _leave_room_or_match(self, session: Session, leave: Leave, now: float) -> None:
        if (leave.match is UNSET) == (leave.room is UNSET):
            raise RefusedError("protocol.wrong_value", "exactly one of match and room")
        if leave.room is not UNSET:
            self.rooms.leave(session, leave.room)
        if leave.match is not UNSET:
            self.matches.leave(session, leave.match, now)

    # -- time, disk, and the end -----------------------------------------------------------------

    def run_due(self, now: Callable[[], float]) -> None:
        """Run the timers that are due. A bug in one of them keeps none of the others from running."""
        for timer in self.deadlines.take_due(now()):
            try:
                timer.fire(now())
            except Exception as error:
                self.setup.note_bug("timer.bug", error)

    def drain(self) -> None:
        """Close the rooms and take no new matches. Send away each client as soon as it is in no match."""
        self.shutdown.has_begun = True
        self.rooms.close_all()
        for connection in list(self._connections):
            if connection.session is None or not connection.session.is_playing():
                self.shutdown.send_away(connection)
        if not self.matches.running:
            self.shutdown.on_idle()

    def keep_ended(self, ended: EndedMatch, result: Result, now: float) -> None:
        """Keep a match that was over, for players who may not have heard of its end, and for spectators."""
        self.listing.ended(ended, result)
        self.sessions.keep_ended(ended, now)
