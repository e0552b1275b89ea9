"""A listener that gets each ask of a match before its client does: for a program that embeds the server and
runs the clients.

Law: a listener is called before the ask is sent, and its clock begins at the time that the listener returns.
A listener waits for nothing, calls nothing of the match, and raises nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Seat


class AskListener(Protocol):
    def asked(self, seat: Seat, now: float) -> float:
        """Prepare for an ask of this seat. Return when its clock begins: `now`, or as much later as the
        preparation took."""
        ...

    def answered(self, seat: Seat) -> None:
        """Note that this seat has moved, by an answer or by default. An absent seat moves without being
        asked."""
        ...
