"""Who may take how much of a server: places, and the origins that hold them.

An origin is what the limits for an address count by: an IPv4 address, or the /64 of an IPv6 one, all of which
a single customer has. None is an origin that they do not concern: processes that the server started, and the
networks that the organizer trusts.

Laws:
- a newcomer gets a place to log in, however many wait there already: the oldest one of the origin that holds
  most has to go for it, and of a trusted origin only if nobody else waits;
- what one origin holds leaves places for the others.

Nothing here knows a socket or a clock.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from math import inf
from typing import Final, Generic, TypeVar

Network = IPv4Network | IPv6Network
Origin = str | None

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


class Places(Generic[T]):
    """Places of one kind: `most` in all, and `most_each` for one origin. What holds one is in the order in
    which it came."""

    def __init__(self, most: int, most_each: float = inf) -> None:
        self._most = most
        self._most_each = most_each
        self._origins: dict[T, Origin] = {}
        self._held: dict[Origin, dict[T, None]] = {}

    def __len__(self) -> int:
        return len(self._origins)

    def __iter__(self) -> Iterator[T]:
        return iter(self._origins)

    def are_left_for(self, origin: Origin) -> bool:
        if len(self._origins) >= self._most:
            return False
        return origin is None or len(self._held.get(origin, ())) < self._most_each

    def held_by(self, origin: Origin) -> tuple[T, ...]:
        return tuple(self._held.get(origin, ()))

    def take(self, thing: T, origin: Origin) -> None:
        """Let it in, whether a place is left or not: that is for the caller to ask."""
        self._origins[thing] = origin
        self._held.setdefault(origin, {})[thing] = None

    def give_back(self, thing: T) -> None:
        """Forget it, if it has a place."""
        if thing not in self._origins:
            return
        origin = self._origins.pop(thing)
        held = self._held[origin]
        del held[thing]
        if not held:
            del self._held[origin]

    def first_to_go(self) -> T | None:
        """Return the oldest one of the origin that holds most; of a trusted origin only if there is no other.
        None if nobody holds a place."""
        if not self._held:
            return None
        biggest = max(self._held, key=lambda origin: (origin is not None, len(self._held[origin])))
        return next(iter(self._held[biggest]))
