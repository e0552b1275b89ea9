"""Requests, and the ones that are refused before an answer is looked for.

Law: if the server knows its names, the name in `Host` must be one of them. Otherwise any page on the internet
could let its own name lead here, and read with the visitor's browser what the visitor's machine serves.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from stellwerk_base.texts import shown
from stellwerk_http.answers import Answer, refusal

if TYPE_CHECKING:
    from collections.abc import Collection

    import h11

MOST_HEAD_BYTES: Final = 8192
MOST_TARGET_BYTES: Final = 1024
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Request:
    """A sound request. `path` is as it was sent: nothing here is percent-decoded, because no path needs it.
    `last` is the position after which a stream continues, if the client has one."""

    path: str
    is_head: bool = False
    last: str | None = None


def read_request(head: h11.Request, names: Collection[str] | None, address: str) -> Request | Answer:
    """Return what a head asks for, or the answer that refuses it. `names` are those of this server,
    None if it answers under any; `address` is the one at which the connection arrived, which no foreign name
    can feign."""
    headers = {name: value.decode("latin-1") for name, value in head.headers}
    if head.http_version not in (b"1.0", b"1.1"):
        return refusal(505, "this server speaks HTTP/1.1")
    if head.method not in (b"GET", b"HEAD"):
        return refusal(405, "GET and HEAD only: these pages are for reading", (b"Allow", b"GET, HEAD"))
    if b"transfer-encoding" in headers or headers.get(b"content-length", "0").strip("0"):
        return refusal(413, "a request has no body here")
    if len(head.target) > MOST_TARGET_BYTES:
        return refusal(414, f"no address here is longer than {MOST_TARGET_BYTES} bytes")
    if names is not None:
        host = host_name(headers.get(b"host", ""))
        if host is None:
            return refusal(400, "expected a Host: the name under which you found this server")
        if host not in names and host != address:
            why = f"this server does not answer as {shown(host)}"
            return refusal(421, f"{why}; to let it, put the name behind the port: 8080,{shown(host)}")
    target = head.target.decode("latin-1")
    path, _, query = target.partition("?")
    if not path.startswith("/"):
        return refusal(400, "expected an address that begins with /")
    last = headers.get(b"last-event-id") or dict(parse_qsl(query)).get("after")
    return Request(path, head.method == b"HEAD", last)


def host_name(host: str) -> str | None:
    """Return the name in a `Host`, in lower case and without the port and the dot at its end. None if there
    is none."""
    host = host.strip().lower()
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        if not bracket or (port and not (port[0] == ":" and _is_port(port[1:]))):
            return None
        try:
            return str(ip_address(name))
        except ValueError:
            return None
    name, colon, port = host.partition(":")
    if not name or (colon and not _is_port(port)):
        return None
    return name.removesuffix(".") or None


def _is_port(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and len(text) <= 5)
