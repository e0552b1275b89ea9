"""Output to clients: lines, refusals, and the last line of a connection.

Laws: nothing is sent here, the net asks for it (`data_to_send`); a connection gets nothing after its last
line; each refused line is counted where it is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from msgspec import UNSET, UnsetType

from stellwerk_protocol.messages import Bye, Error
from stellwerk_server.lobby.session import Session
from stellwerk_server.match.lines import line
from stellwerk_server.match.refusals import Refused, shown_line

if TYPE_CHECKING:
    from stellwerk_protocol.error_codes import ErrorCode
    from stellwerk_server.lobby.refusal import RefusedError
    from stellwerk_server.lobby.session import Connection
    from stellwerk_server.match.ended_match import EndedMatch
    from stellwerk_server.match.match_session import MatchSession

COME_BACK: Final = ("server.full", "server.shutting_down")
RETRY_MS: Final = 5_000  # when to come back to a server that is full, or starts anew


class Outbox:
    def __init__(self) -> None:
        self._outgoing: list[Connection] = []  # with something to send, or to be closed

    def data_to_send(self) -> list[tuple[Connection, bytes]]:
        """Return what to send now, in one piece for each connection. A connection that is closing comes
        without a piece if it has none."""
        outgoing, self._outgoing = self._outgoing, []
        pieces: list[tuple[Connection, bytes]] = []
        for connection in outgoing:
            out = connection.out
            pieces.append((connection, out[0] if len(out) == 1 else b"".join(out)))
            connection.out = []
            connection.is_outgoing = False
        return pieces

    def send(self, connection: Connection, data: bytes) -> None:
        """Send a line with its newline, or several."""
        if connection.closing:
            return
        if data:
            connection.out.append(data)
        if not connection.is_outgoing:
            connection.is_outgoing = True
            self._outgoing.append(connection)

    def say(self, session: Session, message: bytes) -> None:
        """Send a line to a session, which hears it if it is connected."""
        if session.connection is not None:
            self.send(session.connection, message)

    def deliver(self, match: MatchSession | EndedMatch) -> None:
        """Send what a match has to say, after each call of it."""
        for recipient, data in match.data_to_send():
            assert isinstance(recipient, Session)  # as in `session_of` and `send`, without a call a line
            connection = recipient.connection
            if connection is not None and not connection.closing:
                connection.out.append(data)
                if not connection.is_outgoing:
                    connection.is_outgoing = True
                    self._outgoing.append(connection)

    def refuse(
        self,
        connection: Connection,
        refused: RefusedError,
        text: bytes = b"",
        request: str | UnsetType = UNSET,
    ) -> None:
        """Answer a line with an error, and count it. `request` is the line's own id."""
        counted = _describe_refused(connection, refused, text)
        connection.refused.add(counted)
        if connection.session is not None:
            connection.session.refused.add(counted)
        pointer = refused.pointer[:200] or UNSET
        retry_ms = RETRY_MS if refused.code in COME_BACK else UNSET
        error = Error(refused.code, refused.expected[:200], pointer, retry_ms=retry_ms, request=request)
        self.send(connection, line(error))

    def bye(self, connection: Connection, code: ErrorCode | Literal["done"], expected: str) -> None:
        """Close a connection with a last line that says why, and whether to come back."""
        retry_ms = RETRY_MS if code in COME_BACK else UNSET
        self.close(connection, code, line(Bye(code, expected, retry_ms)))

    def close(self, connection: Connection, cause: str, last: bytes = b"") -> None:
        """Send a last line, and nothing after it."""
        if connection.closing:
            return
        self.send(connection, last)
        connection.closing = True
        connection.cause = connection.cause or cause


def _describe_refused(connection: Connection, refused: RefusedError, text: bytes) -> Refused:
    """Return what a report says of a refused line. A client with several open asks may have meant any."""
    session = connection.session
    asked = (
        []
        if session is None
        else [
            (ask.id, match.state.turn)
            for match, seat in session.running()
            if (ask := match.seats[seat].ask) is not None
        ]
    )
    asked_at, turn = asked[0] if len(asked) == 1 else (UNSET, UNSET)
    sent = shown_line(text, logged_in=session is not None)
    return Refused(refused.code, refused.expected, refused.pointer, sent, asked_at, turn)
