"""The shares of clients in a server: what has been admitted, and from which origin.

An origin is what the limits for an address count by: an IPv4 address, or the /64 of an IPv6 one, all of which
a single customer has. None is an origin that they do not concern: processes that the server started, and the
networks that the organizer trusts.

Laws:
- when the waiting room is full, a newcomer replaces the oldest connection of the origin with the most of
  them; connections of trusted origins are replaced last;
- what one origin has leaves room for the others.

Nothing here knows a socket or a clock.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from math import inf
from typing import Final, Generic, TypeVar

from stellwerk_server.lobby.refusal import RefusedError

Network = IPv4Network | IPv6Network
Origin = str | None

FULL: Final = "server.full"
V6_PREFIX: Final = 64  # bits: what one customer gets at least
LOOPBACK: Final[tuple[Network, ...]] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))

T = TypeVar("T", bound=Hashable)


def origin_of(address: str, trusted: Iterable[Network]) -> Origin:
    """Return what the limits count this address by. Without an address, as over pipes, that is nothing."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip
    if any(ip in network for network in trusted):
        return None
    return str(IPv6Network((ip, V6_PREFIX), strict=False)) if isinstance(ip, IPv6Address) else str(ip)


class Admitted(Generic[T]):
    """The admitted ones of a kind, such as sessions, in the order of their arrival: at most `most`, and at
    most `most_each` from one origin."""

    def __init__(self, most: int, most_each: float = inf) -> None:
        self._most = most
        self._most_each = most_each
        self._origins: dict[T, Origin] = {}
        self._by_origin: dict[Origin, dict[T, None]] = {}

    def __len__(self) -> int:
        return len(self._origins)

    def __iter__(self) -> Iterator[T]:
        return iter(self._origins)

    def has_room_for(self, origin: Origin) -> bool:
        if len(self._origins) >= self._most:
            return False
        return origin is None or len(self._by_origin.get(origin, ())) < self._most_each

    def expect_room_for(self, origin: Origin, expected: str) -> None:
        """Refuse one more of this origin if there is no room. RefusedError"""
        if not self.has_room_for(origin):
            raise RefusedError(FULL, expected)

    def of(self, origin: Origin) -> tuple[T, ...]:
        return tuple(self._by_origin.get(origin, ()))

    def add(self, thing: T, origin: Origin) -> None:
        """Admit it, whether there is room or not: that is for the caller to ask."""
        self._origins[thing] = origin
        self._by_origin.setdefault(origin, {})[thing] = None

    def remove(self, thing: T) -> None:
        """Forget it, if it was admitted."""
        if thing not in self._origins:
            return
        origin = self._origins.pop(thing)
        others = self._by_origin[origin]
        del others[thing]
        if not others:
            del self._by_origin[origin]

    def first_to_go(self) -> T | None:
        """Return the oldest one of the origin that has most; of a trusted origin only if there is no other.
        None if nothing is admitted."""
        if not self._by_origin:
            return None
        biggest = max(self._by_origin, key=lambda origin: (origin is not None, len(self._by_origin[origin])))
        return next(iter(self._by_origin[biggest]))
