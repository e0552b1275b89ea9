"""The state of the server, for programs that poll it: one JSON object over HTTP, on a port of its own, and at
/metrics numbers for monitoring (`metrics.py`).

Law: the page can only be read, and whoever reads it, however often, costs the server little: a reader has two
seconds, and of more than 64 readers at a time the newest are turned away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import msgspec
import trio

from stellwerk_http.answers import JSON, Answer
from stellwerk_server.net.server import open_listeners
from stellwerk_server.operate.resources import resident_kb

if TYPE_CHECKING:
    from stellwerk_http.requests import Request
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_server.net.metrics import Metrics
    from stellwerk_server.net.server import Server

PATIENCE_SECONDS: Final = 2.0
RUNNING_SHOWN: Final = 100
MOST_READERS: Final = 64
METRICS_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"  # the form that every scraper reads
ONE_ANSWER: Final = ((b"Connection", b"close"),)  # so that no client keeps a reader's place by asking again


async def open_page(
    nursery: trio.Nursery,
    host: str,
    port: int,
    text: Callable[[], bytes],
    note_bug: Callable[[Exception], object],
    metrics: Callable[[], bytes] | None = None,
) -> tuple[str, int]:
    """Answer each GET with one JSON object, which `text` writes, and return the address. `metrics`, if given,
    writes what is at /metrics instead. `note_bug` gets what they raise. OSError if the address cannot be had.

    The page answers under any name: monitoring finds it under names that the server does not know.
    """
    from stellwerk_http.server import HttpLimits, HttpServer  # here, because help needs no h11

    async def answer(request: Request) -> Answer:
        if metrics is not None and request.path == "/metrics":
            return Answer(METRICS_TYPE, metrics(), more=ONE_ANSWER)
        return Answer(JSON, text() + b"\n", more=ONE_ANSWER)

    limits = HttpLimits(connections=MOST_READERS, whole_s=PATIENCE_SECONDS)
    return HttpServer(answer, note_bug, None, limits).begin(nursery, await open_listeners(host, port))


class StatusPage:
    """The status page of a server. Decisions a second are those since the last request, or since the
    beginning. `metrics` is the listener of the server's lobby."""

    def __init__(self, server: Server, metrics: Metrics) -> None:
        self._server = server
        self._metrics = metrics
        self._asked_at = self._began_at = trio.current_time()
        self._decisions = 0

    async def listen(self, host: str, port: int) -> tuple[str, int]:
        lobby = self._server.lobby
        return await open_page(
            self._server.nursery,
            host,
            port,
            self.text,
            lambda error: lobby.setup.note_bug("status.bug", error),
            lambda: self._metrics.text(self._server),
        )

    def text(self) -> bytes:
        lobby = self._server.lobby
        counts = lobby.counts()
        now = trio.current_time()
        seconds = max(now - self._asked_at, 0.001)
        rate = (counts.decisions - self._decisions) / seconds
        self._asked_at, self._decisions = now, counts.decisions
        return msgspec.json.encode(
            {
                "server": lobby.setup.server,
                "uptime_s": round(now - self._began_at, 1),
                "draining": lobby.shutdown.has_begun,
                **asdict(counts),
                "decisions_per_second": round(rate, 1),
                "late_ms": round(self._server.clock.late_ms, 1),
                "memory_kb": resident_kb(),
                "log_lines_dropped": lobby.setup.log_lines_dropped(),
                "matches": [running_match(match) for match in lobby.listed()[:RUNNING_SHOWN]],
            }
        )


def running_match(match: MatchSession) -> dict[str, object]:
    """Describe a running match that is public."""
    return {
        "match": match.id,
        "game": match.game.id,
        "players": match.plan.names,
        "decisions": match.decision_count,
        "turn": match.state.turn,
    }
