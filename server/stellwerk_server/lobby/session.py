"""Connections and sessions, which know each other: a session is a client that has logged in, whichever
connection carries it just now.

A connection is here what the server knows of it without sockets. The lobby puts together what is to be sent
over it (`Outbox.data_to_send`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stellwerk_base.lines import LineSplitter
from stellwerk_protocol.messages import Wants
from stellwerk_server.lobby.tokens import hashed, is_same_hash
from stellwerk_server.match.ended_match import EndedMatch
from stellwerk_server.match.refusals import RefusedLines

if TYPE_CHECKING:
    from stellwerk_server.lobby.admission import Origin
    from stellwerk_server.match.deadlines import Timer
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_server.match.players import LinkKind, Recipient
    from stellwerk_server.operate.settings import Limits


class Connection:
    __slots__ = (
        "_allowance",
        "_allowed_at",
        "_limits",
        "_warned",
        "address",
        "blocked_at",
        "cause",
        "closing",
        "is_outgoing",
        "is_private",
        "kind",
        "line_count",
        "lines",
        "number",
        "opened_at",
        "origin",
        "out",
        "refused",
        "refused_logins",
        "session",
        "timer",
    )

    def __init__(
        self,
        number: int,
        address: str,
        origin: Origin,
        kind: LinkKind,
        is_private: bool,
        limits: Limits,
        now: float,
    ) -> None:
        """Make a connection. `is_private`: no third party can listen, because it is encrypted or does not
        leave the machine."""
        self.number = number
        self.address = address
        self.origin = origin
        self.kind: LinkKind = kind
        self.is_private = is_private
        self.opened_at = now
        self.lines = LineSplitter(limits.line_before_login)
        self.out: list[bytes] = []
        self.session: Session | None = None
        self.timer: Timer | None = None
        self.is_outgoing = False  # the lobby has something to send, or to close
        self.closing = False  # nothing more is read; what is in `out` is still sent
        self.cause = ""  # why it ended
        self.blocked_at: float | None = None  # since when the socket takes no more
        self.line_count = 0
        self.refused_logins = 0
        self.refused = RefusedLines()
        self._limits = limits
        self._allowance = float(limits.burst)
        self._allowed_at = now
        self._warned = False

    def spend(self, now: float) -> tuple[float, bool]:
        """Count a message against the rate. Return for how many milliseconds not to read, and whether to
        complain about it, as happens once in each flood."""
        rate = self._limits.messages_a_second / 1000
        burst = float(self._limits.burst)
        self._allowance = min(burst, self._allowance + (now - self._allowed_at) * rate) - 1
        self._allowed_at = now
        if self._allowance >= 0:
            if self._allowance > burst / 2:
                self._warned = False
            return 0.0, False
        complain = not self._warned
        self._warned = True
        return -self._allowance / rate, complain


class Session:
    __slots__ = (
        "connection",
        "id",
        "is_held",
        "is_organizer",
        "is_revoked",
        "key_hashes",
        "language",
        "matches",
        "max_matches",
        "name",
        "refused",
        "room_ids",
        "seat_token_hash",
        "token_hash",
        "transport",
        "wants",
        "watched",
    )

    def __init__(self, id: str, name: str) -> None:
        self.id = id
        self.name = name
        self.language = ""
        self.wants = Wants()
        self.max_matches = 1
        self.connection: Connection | None = None
        self.transport: LinkKind | None = None  # of the last connection
        self.key_hashes: tuple[str, ...] = ()  # the newest last; an older one is good until the next line
        self.token_hash: str | None = None
        self.seat_token_hash: str | None = None  # a token for one seat: it goes when the match is over
        self.is_organizer = False
        self.is_revoked = False  # its token is not valid any more: it finishes its matches, and no more
        self.is_held = False  # its client is stopped and cannot read: see `Server.hold`
        self.room_ids: list[str] = []
        self.matches: dict[str, tuple[MatchSession | EndedMatch, int]] = {}  # with its seat there
        self.watched: dict[str, MatchSession] = {}
        self.refused = RefusedLines()  # that no match has counted yet

    @property
    def origin(self) -> Origin:
        """The origin of its current connection."""
        return self.connection.origin if self.connection is not None else None

    def has_key(self, key: str) -> bool:
        given = hashed(key)
        return any(is_same_hash(given, known) for known in self.key_hashes)

    def take_refused(self) -> RefusedLines:
        """Return the refused lines that no match has counted yet. From now on they count as counted."""
        refused, self.refused = self.refused, RefusedLines()
        return refused

    def running(self) -> list[tuple[MatchSession, int]]:
        """Return the running matches, with the session's seat in each."""
        return [(match, seat) for match, seat in self.matches.values() if not isinstance(match, EndedMatch)]

    def ended(self) -> list[tuple[EndedMatch, int]]:
        """Return the matches that are over, and whose end the client may not have heard."""
        return [(match, seat) for match, seat in self.matches.values() if isinstance(match, EndedMatch)]

    def is_playing(self) -> bool:
        return any(not match.is_over for match, _ in self.matches.values())

    def game_count(self) -> int:
        """Return the number of rooms and matches, as `max_matches` counts them."""
        return len(self.room_ids) + sum(not match.is_over for match, _ in self.matches.values())


def session_of(recipient: Recipient) -> Session:
    """Return the session that a match knows as a recipient. It may have ended."""
    assert isinstance(recipient, Session)  # the lobby alone brings recipients to a match
    return recipient
