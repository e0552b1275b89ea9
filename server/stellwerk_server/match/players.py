"""The players of a match and its spectators, as the match knows them, and what it sends them.

A session is a `Recipient`. A house bot is a player inside the server, which gets what a client gets, as
lines. A program that embeds the server and runs the clients can get each ask before its client does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Seat
    from stellwerk_protocol.messages import Wants
    from stellwerk_server.match.refusals import RefusedLines

LinkKind = Literal["tcp", "tls", "stdio", "unix"]

NewHousePlayer = Callable[[bytes, str], Callable[[bytes], bytes]]
"""Given the `start` line and a seed: what answers an `ask` line with an `act` line."""

NO_HOUSE_BOTS: Final[Mapping[str, NewHousePlayer]] = MappingProxyType({})


class Link(Protocol):
    """The connection of a session."""

    @property
    def blocked_at(self) -> float | None:
        """Since when its socket takes no more."""
        ...


class Recipient(Protocol):
    """A session, as a match sees it: who it is, what it wants to hear, and whether it is connected."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def wants(self) -> Wants: ...

    @property
    def connection(self) -> Link | None: ...

    @property
    def key_hashes(self) -> tuple[str, ...]: ...

    @property
    def token_hash(self) -> str | None: ...

    @property
    def seat_token_hash(self) -> str | None: ...

    def take_refused(self) -> RefusedLines:
        """Return the refused lines that no match has counted yet. From now on they count as counted."""
        ...


Outgoing: TypeAlias = tuple[Recipient, bytes]
"""A line, or several, with the session that it goes to. It is lost if that has no connection."""


class AskListener(Protocol):
    """A listener that gets each ask of a match before its client does.

    Law: it is called before the ask is sent, and the clock of the ask begins at the time that it returns. It
    waits for nothing, calls nothing of the match, and raises nothing.
    """

    def asked(self, seat: Seat, now: float) -> float:
        """Prepare for an ask of this seat. Return when its clock begins: `now`, or as much later as the
        preparation took."""
        ...

    def answered(self, seat: Seat) -> None:
        """Note that this seat has moved, by an answer or by default. An absent seat moves without being
        asked."""
        ...
