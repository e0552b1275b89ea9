"""The ask for a seat of a state, for bots that sit in the process that plays.

Law: it has the bytes that a session would send, with the whole time left. No session is needed, and no clock
runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stellwerk_engine import engine
from stellwerk_engine.core.state import Move, State
from stellwerk_protocol.messages import Clocks
from stellwerk_protocol.names import Seat
from stellwerk_protocol.views import View
from stellwerk_server.match.lines import ask_line

NO_CLOCKS: Final = Clocks(
    set_up_ms=60_000,
    move_ms=60_000,
    bank_ms=0,
    grace_ms=0,
    strikes=1,
    tries=1,
    defaults_in_a_row=1,
    defaults=1,
)
"""The clocks that such bots are told; none runs."""


def ask_here(match: str, number: int, state: State, seat: Seat, listed: Sequence[Move], view: View) -> bytes:
    """Return the ask with this number. `view` is the seat's view."""
    assert state.pending is not None
    return ask_line(
        match=match,
        ask=number,
        after_event=0,
        decision=state.pending.to_wire(state, seat, sees_all=False),
        move_ms=NO_CLOCKS.move_ms,
        bank_ms=NO_CLOCKS.bank_ms,
        tries=NO_CLOCKS.tries,
        fallback=engine.fallback(state, seat),
        view=view,
        legal=listed,
        legal_complete=engine.legal_complete(state, seat),
    )
