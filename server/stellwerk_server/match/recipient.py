"""The sessions that play in a match or watch it, as the match knows them, and what it sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from stellwerk_protocol.messages import Wants
    from stellwerk_server.match.refusals import RefusedLines
LinkKind = Literal["tcp", "tls", "stdio", "unix"]


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
