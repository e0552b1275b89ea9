"""The runner's status page, read like any client reads it (`stellwerk_tournament/play/status_page.py`).

It says what a folder does not: whether the runner is there, its rate, and which remote bots are missing.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import msgspec
import trio
from msgspec import Struct

PATIENCE_S: Final = 2.0
MOST_BYTES: Final = 4_000_000  # with a thousand bots it has about 200,000

_REQUEST: Final = b"GET / HTTP/1.0\r\n\r\n"


class RunnersWord(Struct, frozen=True):
    """Facts of a tournament that only its runner knows."""

    played: int
    total: int | None
    matches_per_minute: float | None
    seconds_left: float | None
    missing: tuple[str, ...] = ()


class _Page(Struct, frozen=True):
    tournament: RunnersWord


_decode: Final = msgspec.json.Decoder(_Page).decode


def address_of(url: str) -> tuple[str, int]:
    """Return host and port of the page, whose URL is http://HOST:PORT/."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


async def read_status(host: str, port: int) -> RunnersWord | None:
    """Ask the runner. None if it does not answer, or with something else."""
    answer = b""
    with trio.move_on_after(PATIENCE_S):
        try:
            stream = await trio.open_tcp_stream(host, port)
            async with stream:
                await stream.send_all(_REQUEST)
                async for data in stream:
                    answer += data
                    if len(answer) > MOST_BYTES:
                        return None
        except (OSError, trio.BrokenResourceError):
            return None
    try:
        return _decode(answer.partition(b"\r\n\r\n")[2]).tournament
    except (msgspec.DecodeError, RecursionError):
        return None
