"""The pace of a client: as many messages a second as its server reads.

Law: a client that follows it never gets `protocol.too_fast`. The first answer to an ask is free, and the
client has to count every other message. It keeps well below the limits in `hello`, because the server counts
by its own clock, which stands still while the server is late.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_SHARE_OF_BURST: Final = 0.5  # of what the server allows
_SHARE_OF_RATE: Final = 0.75
_NO_LIMIT: Final = 1e9


class Pace:
    """The messages that a connection may still send at once. `limits` are those of `hello`."""

    def __init__(self, limits: Mapping[str, Any], now: float) -> None:  # Any: as `hello` has them
        self._burst = _SHARE_OF_BURST * float(limits.get("burst", _NO_LIMIT))
        self._rate = _SHARE_OF_RATE * float(limits.get("messages_a_second", _NO_LIMIT))
        self._left = self._burst
        self._counted_at = now

    def spend(self, now: float) -> float:
        """Count a message. Return for how many seconds to wait before it is sent."""
        earned = (now - self._counted_at) * self._rate
        self._left = min(self._burst, self._left + earned) - 1
        self._counted_at = now
        return max(0.0, -self._left / self._rate)
