"""A connection to the server: TCP, TLS, or this process's own standard input and output.

Every message is sent at once in one write. Two small writes, or a system that waits for more data, would cost
40 milliseconds and more for each answer. A bot may be started for a single match, so `ssl`, which takes
longer to import than everything else, is imported only for an address that needs it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from stellwerk_bots.bot import Message

if TYPE_CHECKING:
    from stellwerk_bots.messages import FromServer

DEFAULT_ADDRESS: Final = "tcp://127.0.0.1:7878"
STDIO: Final = "stdio:"

_CONNECT_SECONDS: Final = 10.0

# The fields that the client needs of the messages that it handles.
_NEEDED: Final[dict[str, dict[str, type]]] = {
    "hello": {"protocols": list},
    "welcome": {"session": str, "resume_key": str, "name": str},
    "start": {"match": str, "game": str, "players": list, "board": dict},
    "event": {"match": str, "number": int},
    "ask": {"match": str, "ask": int, "fallback": dict},
    "ok": {"match": str, "ask": int},
    "default": {"match": str, "ask": int, "reason": str},
    "end": {"match": str, "result": dict},
    "match_list": {"cursor": str, "matches": list},
    "error": {"code": str},
    "bye": {"code": str},
}
_LONGEST_LINE: Final = 1 << 20  # a server's lines stay below 60,000 bytes


class AddressError(ValueError):
    """A text that is not an address. The message, one line, shows what an address looks like."""


class WrongLineError(Exception):
    """A line that is not a message. The message, one line, describes it."""


class Connection:
    def __init__(
        self, reader: BinaryIO, write: Callable[[bytes], object], close: Callable[[], object]
    ) -> None:
        self._reader = reader
        self._write = write
        self._close = close

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message. Raise OSError if the connection is lost."""
        self._write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def receive(self) -> FromServer | None:
        """Return the next message, or None at the end. It may be of a type that a newer server has. Raise
        OSError if the connection is lost."""
        line = self._reader.readline(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            if len(line) == _LONGEST_LINE:
                raise WrongLineError("a line that does not end")
            return None  # a cut connection leaves half a line
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise WrongLineError(f"not a JSON object: {line[:80].decode('latin-1')!a}")
        _check(message)  # pyright: ignore[reportUnknownArgumentType]  # json has no types
        return cast("FromServer", message)

    def close(self) -> None:
        self._close()


def default_address() -> str:
    """Return the address of the server that started this process; without one, the default of `stellwerk
    serve`."""
    return os.environ.get("STELLWERK_ADDRESS", DEFAULT_ADDRESS)


def connect(address: str, tls_ca: str | None = None) -> Connection:
    """Connect to `tcp://host:port`, to `tls://host:port` with a certificate that the system or the file
    `tls_ca` trusts, or to the server that started this process: `stdio:`. Raise AddressError or OSError."""
    if address == STDIO:
        return _standard_streams()
    scheme, host, port = _parts(address)
    try:
        plain = socket.create_connection((host, port), _CONNECT_SECONDS)
    except UnicodeError:
        raise AddressError(f"not the name of a host: {host!r}") from None
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # detects a peer that died silently
        if scheme == "tls":
            import ssl

            line: socket.socket = ssl.create_default_context(cafile=tls_ca).wrap_socket(
                plain, server_hostname=host
            )
        else:
            line = plain
        line.settimeout(None)  # other players may think for long
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
    raise AddressError(f"not an address: {address!r}; expected tcp://HOST:PORT, tls://HOST:PORT or {STDIO}")


def _standard_streams() -> Connection:
    """Reserve standard output for messages. All other output of this process goes to standard error from now
    on."""
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
            raise WrongLineError(f"{kind!r} without a valid {name!r}")
