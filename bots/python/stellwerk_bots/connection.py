"""A line to the server and back: TCP, TLS, or this process's own standard input and output.

Every message leaves in one write and at once: two small writes, or a system that waits for more to send,
would cost 40 milliseconds and more for each answer. A bot may be started for a single match, so `ssl`, which
takes longer to import than all the rest, is imported only for an address that needs it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from typing import BinaryIO, Final

from stellwerk_bots.bot import Message

DEFAULT_ADDRESS: Final = "tcp://127.0.0.1:7878"
STDIO: Final = "stdio:"

_CONNECT_SECONDS: Final = 10.0

# What a client cannot do without in the messages that it acts upon. Of others it needs nothing.
_NEEDED: Final[dict[str, dict[str, type]]] = {
    "hello": {"protocols": list},
    "welcome": {"session": str, "resume_key": str, "name": str},
    "start": {"match": str, "game": str, "players": list, "board": dict},
    "event": {"match": str, "number": int},
    "ask": {"match": str, "ask": int, "fallback": dict},
    "ok": {"match": str, "ask": int},
    "default": {"match": str, "ask": int, "reason": str},
    "end": {"match": str, "result": dict},
    "error": {"code": str},
    "bye": {"code": str},
}
_LONGEST_LINE: Final = 1 << 20  # a server's lines stay below 60,000 bytes


class AddressError(ValueError):
    """Not an address; one line says what one looks like."""


class WrongLineError(Exception):
    """What came is no message; one line says what it was."""


class Connection:
    def __init__(
        self, reader: BinaryIO, write: Callable[[bytes], object], close: Callable[[], object]
    ) -> None:
        self._reader = reader
        self._write = write
        self._close = close

    def send(self, message: Message) -> None:
        """OSError if the connection is gone."""
        self._write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def receive(self) -> Message | None:
        """The next message, or None at the end. OSError if the connection is gone."""
        line = self._reader.readline(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            if len(line) == _LONGEST_LINE:
                raise WrongLineError("a line without an end")
            return None  # half a line is what a cut leaves
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise WrongLineError(f"no JSON object: {line[:80].decode('latin-1')!a}")
        _check(message)  # pyright: ignore[reportUnknownArgumentType]  # json knows no types
        return message  # pyright: ignore[reportUnknownVariableType]  # json knows no types

    def close(self) -> None:
        self._close()


def default_address() -> str:
    """Where the server is that started this process; without one, where `stellwerk serve` listens."""
    return os.environ.get("STELLWERK_ADDRESS", DEFAULT_ADDRESS)


def connect(address: str, tls_ca: str | None = None) -> Connection:
    """To `tcp://host:port`, to `tls://host:port` with a certificate that the system or the file `tls_ca`
    vouches for, or to whoever started this process: `stdio:`. AddressError or OSError."""
    if address == STDIO:
        return _standard_streams()
    scheme, host, port = _parts(address)
    try:
        plain = socket.create_connection((host, port), _CONNECT_SECONDS)
    except UnicodeError:
        raise AddressError(f"not the name of a host: {host!r}") from None
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # else a dead peer is silent for ever
        if scheme == "tls":
            import ssl

            line: socket.socket = ssl.create_default_context(cafile=tls_ca).wrap_socket(
                plain, server_hostname=host
            )
        else:
            line = plain
        line.settimeout(None)  # others may think long
    except BaseException:
        plain.close()
        raise
    reader = line.makefile("rb")

    def close() -> None:
        reader.close()
        line.close()

    return Connection(reader, line.sendall, close)


def _parts(address: str) -> tuple[str, str, int]:
    """Split `tcp://host:port`; an IPv6 address is in brackets."""
    scheme, _, rest = address.removesuffix("/").partition("://")
    host, _, port = rest.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if scheme in ("tcp", "tls") and host and port.isascii() and port.isdecimal() and 0 < int(port) < 65536:
        return scheme, host, int(port)
    raise AddressError(f"not an address: {address!r}; it is tcp://HOST:PORT, tls://HOST:PORT or {STDIO}")


def _standard_streams() -> Connection:
    """From now on what anybody prints goes to standard error: it must not get between the messages."""
    sys.stdout.flush()
    reader, writer = open(0, "rb", closefd=False), os.fdopen(os.dup(1), "wb")  # noqa: SIM115
    os.dup2(2, 1)

    def write(line: bytes) -> None:
        writer.write(line)
        writer.flush()

    def close() -> None:
        reader.close()
        writer.close()

    return Connection(reader, write, close)


def _check(message: Message) -> None:
    kind = message.get("type")
    if not isinstance(kind, str):
        raise WrongLineError("an object without a type")
    for name, form in _NEEDED.get(kind, {}).items():
        if not isinstance(message.get(name), form):
            raise WrongLineError(f"{kind!r} without a right {name!r}")
