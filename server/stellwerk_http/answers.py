"""Answers: a status of a closed list, and a body that a person can read.

Law: nothing of a request is in an answer but what `shown` lets pass, and that as plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stellwerk_base.texts import shown

STATUSES: Final[Mapping[int, bytes]] = {
    200: b"OK",
    400: b"Bad Request",
    404: b"Not Found",
    405: b"Method Not Allowed",
    408: b"Request Timeout",
    413: b"Content Too Large",
    414: b"URI Too Long",
    421: b"Misdirected Request",
    431: b"Request Header Fields Too Large",
    500: b"Internal Server Error",
    503: b"Service Unavailable",
    505: b"HTTP Version Not Supported",
}
"""Every status that is ever sent."""

Headers = tuple[tuple[bytes, bytes], ...]

TEXT: Final = b"text/plain; charset=utf-8"
JSON: Final = b"application/json"
HTML: Final = b"text/html; charset=utf-8"
EVENTS: Final = b"text/event-stream"

POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a page may do: nothing inline, nothing from elsewhere, and to be in no frame."""

NOT_KEPT: Final = b"no-store"
KEPT: Final = b"public, max-age=31536000, immutable"  # what is behind a hash never changes


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `policy` is the content security policy of a page that has one of its own."""

    kind: bytes
    body: bytes
    status: int = 200
    kept: bytes = NOT_KEPT
    policy: bytes = POLICY
    more: Headers = ()

    def headers(self) -> list[tuple[bytes, bytes]]:
        return [
            *common_headers(self.kind, self.kept, self.policy),
            (b"Content-Length", b"%d" % len(self.body)),
            *self.more,
        ]


def common_headers(kind: bytes, kept: bytes, policy: bytes = POLICY) -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer."""
    return [
        (b"Content-Type", kind),
        (b"Cache-Control", kept),
        (b"Content-Security-Policy", policy),
        (b"X-Content-Type-Options", b"nosniff"),
        (b"Referrer-Policy", b"no-referrer"),
        (b"Cross-Origin-Resource-Policy", b"same-origin"),
        (b"Cross-Origin-Opener-Policy", b"same-origin"),
    ]


def refusal(status: int, why: str, *more: tuple[bytes, bytes]) -> Answer:
    """Return an answer that says what was wrong."""
    return Answer(TEXT, f"{why}\n".encode(), status, more=more)


def not_found(path: str) -> Answer:
    return refusal(404, f"there is nothing at {shown(path)}; see /")
