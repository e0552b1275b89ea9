"""One connection, as the part of the server sees it that knows no sockets.

What is sent is put together here and handed to the socket in one piece, when a whole line of the client's, or
a whole tick of the clock, has been dealt with.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from stellwerk_server.net.line_splitter import LineSplitter

if TYPE_CHECKING:
    from stellwerk_server.lobby.admission import Origin
    from stellwerk_server.lobby.deadlines import Timer
    from stellwerk_server.lobby.session import Session
    from stellwerk_server.match.refusals import Refused
    from stellwerk_server.operate.settings import Limits

Kind = Literal["tcp", "tls", "stdio"]


class Connection:
    __slots__ = (
        "_allowance",
        "_allowed_at",
        "_dirty",
        "_is_dirty",
        "_limits",
        "_warned",
        "address",
        "blocked_at",
        "cause",
        "closing",
        "errors",
        "first_refused",
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
        dirty: list[Connection],
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
        self.closing = False  # nothing more is read; what stands in `out` is still sent
        self.cause = ""  # why it ended
        self.blocked_at: float | None = None  # since when the socket takes no more
        self.line_count = 0
        self.refused_logins = 0
        self.errors: Counter[str] = Counter()
        self.first_refused: dict[str, Refused] = {}  # by code
        self._dirty = dirty
        self._is_dirty = False
        self._limits = limits
        self._allowance = float(limits.burst)
        self._allowed_at = now
        self._warned = False

    def send(self, line: bytes) -> None:
        """A line with its newline. Nothing more goes out after the last one."""
        if self.closing:
            return
        self.out.append(line)
        if not self._is_dirty:
            self._is_dirty = True
            self._dirty.append(self)

    def close(self, cause: str, line: bytes = b"") -> None:
        """Say a last line, and end."""
        if self.closing:
            return
        if line:
            self.send(line)
        if not self._is_dirty:
            self._is_dirty = True
            self._dirty.append(self)
        self.closing = True
        self.cause = self.cause or cause

    def take_out(self) -> bytes:
        """All that is to be sent now."""
        data = self.out[0] if len(self.out) == 1 else b"".join(self.out)
        self.out.clear()
        self._is_dirty = False
        return data

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
