"""Who has logged in, whichever connection carries it just now."""

from __future__ import annotations

import hmac
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

from stellwerk_protocol.messages import Wants
from stellwerk_server.match.ended_match import EndedMatch

if TYPE_CHECKING:
    from stellwerk_server.lobby.admission import Origin
    from stellwerk_server.lobby.connection import Connection, Kind
    from stellwerk_server.lobby.rooms import Room
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_server.match.refusals import Refused


def hashed(secret: str) -> str:
    """What is kept of a token or of a resume key."""
    return sha256(secret.encode()).hexdigest()


def is_same_hash(given: str, known: str | None) -> bool:
    """Compare two of them, in a time that does not tell where they differ. Nothing else may compare them."""
    return known is not None and hmac.compare_digest(given, known)


class Session:
    __slots__ = (
        "connection",
        "errors",
        "first_refused",
        "id",
        "is_organizer",
        "key_hashes",
        "language",
        "matches",
        "max_matches",
        "name",
        "rooms",
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
        self.transport: Kind | None = None  # of the last connection
        self.key_hashes: tuple[str, ...] = ()  # the newest last; an older one is good until the next line
        self.token_hash: str | None = None
        self.seat_token_hash: str | None = None  # a token for one seat: it goes when the match is over
        self.is_organizer = False
        self.rooms: dict[str, Room] = {}
        self.matches: dict[str, tuple[MatchSession | EndedMatch, int]] = {}  # with its seat there
        self.watched: dict[str, MatchSession] = {}
        self.errors: Counter[str] = Counter()
        self.first_refused: dict[str, Refused] = {}  # by code

    @property
    def origin(self) -> Origin:
        """Of the connection that it has just now."""
        return self.connection.origin if self.connection is not None else None

    def has_key(self, key: str) -> bool:
        given = hashed(key)
        return any(is_same_hash(given, known) for known in self.key_hashes)

    def forget_errors(self) -> None:
        """Before a match that only its own errors are to count to."""
        self.errors.clear()
        self.first_refused.clear()

    def running(self) -> list[tuple[MatchSession, int]]:
        """Its matches that go on, with its seat in each."""
        return [(match, seat) for match, seat in self.matches.values() if not isinstance(match, EndedMatch)]

    def ended(self) -> list[tuple[EndedMatch, int]]:
        """Those that are over, and whose end it may not have heard."""
        return [(match, seat) for match, seat in self.matches.values() if isinstance(match, EndedMatch)]

    def is_playing(self) -> bool:
        return any(not match.is_over for match, _ in self.matches.values())

    def game_count(self) -> int:
        """Rooms and matches, as `max_matches` counts them."""
        return len(self.rooms) + sum(not match.is_over for match, _ in self.matches.values())
