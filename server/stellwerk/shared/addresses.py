"""Addresses on the command line and in files: where a command listens, and which server it connects to.

Law: every command reads an address in the same form. A port alone is on this machine.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stellwerk.shared.errors import usage_error
from stellwerk_base.texts import shown

THIS_MACHINE: Final = "127.0.0.1"
LISTEN: Final = "[HOST:]PORT"
PAGES: Final = "[HOST:]PORT[,NAME...]"

_HOST: Final = r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<host>[^\[\]:/,\s]+))"
_LISTEN: Final = re.compile(rf"(?:{_HOST}:)?(?P<port>[0-9]{{1,5}})")
_SERVER: Final = re.compile(rf"(?:(?P<scheme>tcp|tls)://)?{_HOST}:(?P<port>[0-9]{{1,5}})")
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


class PagesAddress(NamedTuple):
    """Where live pages are, and under which names browsers may find them, besides localhost."""

    host: str
    port: int
    names: frozenset[str]


class ServerAddress(NamedTuple):
    """A server to connect to."""

    host: str
    port: int
    tls: bool


def listen_address(where: str, text: str) -> tuple[str, int]:
    """Read the host and the port to listen at. CommandError, which begins with `where`, if it is none."""
    match = _LISTEN.fullmatch(text)
    if match is None or int(match["port"]) > 65_535:
        raise usage_error(
            f"{where}: expected {LISTEN}, such as 7878, 0.0.0.0:7878 or [::]:7878, not {shown(text, 80)!r}"
        )
    return match["v6"] or match["host"] or THIS_MACHINE, int(match["port"])


def pages_address(where: str, text: str) -> PagesAddress:
    """Read where live pages listen. CommandError if it is no such address."""
    address, *names = text.split(",")
    for name in names:
        if _HOST_NAME.fullmatch(name) is None:
            raise usage_error(f"{where}: expected a name such as matches.example.org, not {shown(name)!r}")
    return PagesAddress(*listen_address(where, address), frozenset(name.lower() for name in names))


def server_address(where: str, text: str) -> ServerAddress | None:
    """Read HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT; None if the text has another form."""
    match = _SERVER.fullmatch(text)
    if match is None:
        return None
    if not 0 < int(match["port"]) <= 65_535:
        raise usage_error(f"{where}: a port is 1 to 65535, not {match['port']}")
    return ServerAddress(match["v6"] or match["host"], int(match["port"]), match["scheme"] == "tls")
