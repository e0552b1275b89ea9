"""A channel: a state, and the last changes of it, for any number of readers.

Law: a change is encoded once for all readers. A reader with a position among the last changes gets those
after it; any other one gets the state: a newcomer, one that was away for long or slow, one that was here in
another life of this process. The id of a change is `LIFE-NUMBER`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

NEWCOMER: Final = -1
KEPT_BYTES: Final = 262_144  # of changes: what a reader may miss without being sent the state
KEPT_CHANGES: Final = 1000


class Channel:
    """`state` writes the state as JSON. `on_change` is called after each change, to wake the readers."""

    def __init__(self, life: str, state: Callable[[], bytes]) -> None:
        self.on_change: Callable[[], object] = lambda: None
        self._life = life
        self._state = state
        self._number = 0
        self._changes: deque[bytes] = deque()
        self._bytes = 0
        self._state_record: bytes | None = None

    # -- writing ---------------------------------------------------------------------------------

    def put(self, change: bytes) -> None:
        """Add a change, a JSON object."""
        self._number += 1
        record = self._write_record(b"change", change)
        self._changes.append(record)
        self._bytes += len(record)
        while self._bytes > KEPT_BYTES or len(self._changes) > KEPT_CHANGES:
            self._bytes -= len(self._changes.popleft())
        self._state_record = None
        self.on_change()

    def begin_anew(self) -> None:
        """Send every reader the state: it has changed altogether."""
        self._number += 1
        self._changes.clear()
        self._bytes = 0
        self._state_record = None
        self.on_change()

    def drop_kept_state(self) -> None:
        """Write the state again for the next newcomer: it says how long ago things were."""
        self._state_record = None

    # -- reading ---------------------------------------------------------------------------------

    def position_of(self, last: str | None) -> int:
        """Return the position that a reader names, or NEWCOMER."""
        life, _, number = (last or "").rpartition("-")
        if life != self._life or not (number.isascii() and number.isdigit() and len(number) < 16):
            return NEWCOMER
        return int(number)

    def after(self, position: int) -> tuple[bytes, int]:
        """Return the records after a position, or the state, and the position behind them."""
        missed = self._number - position
        if missed == 0:
            return b"", position
        if 0 < missed <= len(self._changes) and position != NEWCOMER:
            records = [self._changes[index] for index in range(-missed, 0)]
            return b"".join(records), self._number
        if self._state_record is None:
            self._state_record = self._write_record(b"state", self._state())
        return self._state_record, self._number

    def _write_record(self, kind: bytes, data: bytes) -> bytes:
        if b"\r" in data or b"\n" in data:  # white space of a JSON that another program wrote
            data = data.replace(b"\r", b" ").replace(b"\n", b" ")
        return b"id: %b-%d\nevent: %b\ndata: %b\n\n" % (self._life.encode(), self._number, kind, data)
