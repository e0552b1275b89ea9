"""The events of a lobby, as values: for a program that embeds the server.

Law: each event is handed to one listener (`LobbySetup.listener`), when it has happened and in the order in
which things happen. A listener returns at once and calls nothing of the lobby: it notes what it needs, and
wakes tasks that wait for it. Facts are never read from the log, which is for people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from stellwerk_protocol.names import Seat
    from stellwerk_server.lobby.rooms import Room
    from stellwerk_server.lobby.session import Connection, Session
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_server.match.refusals import RefusedLines


@dataclass(frozen=True, slots=True)
class PresenceChanged:
    """A session that has got a connection, by a login or a resume, or has lost it."""

    session: Session


@dataclass(frozen=True, slots=True)
class ConnectionClosed:
    """A connection that has ended, with or without a login. Its refused lines are counted in it."""

    connection: Connection


@dataclass(frozen=True, slots=True)
class RoomChanged:
    """A room in which a seat was taken or has become free, or that waits no longer."""

    room: Room


@dataclass(frozen=True, slots=True)
class MatchRefused:
    """The id of a match that could not begin, though its room was full."""

    match: str


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """A match that is over, with a result or without. Its seats still have their sessions.

    `refused` are the refused lines of each session, by its seat. A line that cannot be read names no match.
    So it is counted once, to the match that ends first after it; one that was sent while the session played
    nothing counts to none. Acts that were refused are counted in the seat."""

    match: MatchSession
    refused: Mapping[Seat, RefusedLines]


@dataclass(frozen=True, slots=True)
class Bug:
    """A bug of the server, and the id of the match that it ended, if it was in one."""

    error: Exception
    match: str | None = None


LobbyEvent: TypeAlias = PresenceChanged | ConnectionClosed | RoomChanged | MatchRefused | MatchEnded | Bug
Listener: TypeAlias = Callable[[LobbyEvent], object]


def nobody_listens(event: LobbyEvent) -> None:
    """Ignore the event: the listener of a server that is not embedded."""
