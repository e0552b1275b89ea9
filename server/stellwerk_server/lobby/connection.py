"""One connection, as the part of the server sees it that knows no sockets.

The lobby puts together here what is to be sent (`Lobby.data_to_send`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from stellwerk_server.lobby.line_splitter import LineSplitter

if TYPE_CHECKING:
    from stellwerk_server.lobby.admission import Origin
    from stellwerk_server.lobby.session import Session
    from stellwerk_server.match.deadlines import Timer
    from stellwerk_server.match.refusals import Refused
    from stellwerk_server.operate.settings import Limits

Kind = Literal["tcp", "tls", "stdio"]


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
        "errors",
        "first_refused",
        "is_outgoing",
        "is_private",
        "kind",
        "line_count",
        "lines",
        "number",
        "opened_at",
        "origin",
        "out",
        "refused_logins",
        "session",
        "timer",
    )

    def __init__(
        self,
        number: int,
        address: str,
        origin: Origin,
        kind: Kind,
        is_private: bool,
        limits: Limits,
        now: float,
    ) -> None:
        """`is_private`: nobody else can listen, because it is encrypted or does not leave the machine."""
        self.number = number
        self.address = address
        self.origin = origin
        self.kind: Kind = kind
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
        self.errors: Counter[str] = Counter()
        self.first_refused: dict[str, Refused] = {}  # by code
        self._limits = limits
        self._allowance = float(limits.burst)
        self._allowed_at = now
        self._warned = False

    def spend(self, now: float) -> tuple[float, bool]:
        """A message that counts against the rate: for how many milliseconds not to read, and whether to
        complain about it, as once in each flood."""
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
