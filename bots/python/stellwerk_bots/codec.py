"""`python -m stellwerk_bots.codec`: the driver of this library for `stellwerk kit codec`.

It reads one request a line from standard input, and writes each answer as a line to standard output.
`protocol/conformance/README.md` describes both. `decode` and `stream` use the same `Connection` as the bots.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stellwerk_bots.bot import Message
from stellwerk_bots.connection import Connection, WrongLineError
from stellwerk_protocol.client_line import LineError, read_line

if TYPE_CHECKING:
    from stellwerk_bots.messages import FromServer


def main() -> None:
    for line in sys.stdin.buffer:
        request: Message = json.loads(line)
        answer = _ANSWERS[request["op"]](request) if request["op"] in _ANSWERS else {"unsupported": True}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _encode_message(request: Message) -> Message:
    written = io.BytesIO()
    Connection(io.BytesIO(), written.write, written.close).send(request["message"])
    return {"base64": base64.b64encode(written.getvalue()).decode()}


def _decode_line(request: Message) -> Message:
    try:
        [message] = _received([base64.b64decode(request["base64"]) + b"\n"])
    except WrongLineError as error:
        return {"error": str(error)}
    return {"message": message}


def _read_line(request: Message) -> Message:
    """Read a client's line, as a server does."""
    try:
        return {"message": msgspec.to_builtins(read_line(base64.b64decode(request["base64"])))}
    except LineError as error:
        return {"error": {"code": error.code, "pointer": error.pointer}}


_ANSWERS: Final[dict[str, Callable[[Message], Message]]] = {
    "encode": _encode_message,
    "decode": _decode_line,
    "stream": lambda request: {"messages": _received(map(base64.b64decode, request["pieces"]))},
    "read": _read_line,
}


class _Pieces(io.RawIOBase):
    """A socket that returns one piece at a time."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # Any: a buffer of any type
        self._rest = self._rest or next(self._pieces, b"")
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _received(pieces: Iterable[bytes]) -> list[FromServer]:
    reader = io.BufferedReader(_Pieces(pieces))
    connection = Connection(reader, lambda line: None, reader.close)
    messages: list[FromServer] = []
    while (message := connection.receive()) is not None:
        messages.append(message)
    return messages


if __name__ == "__main__":
    main()
