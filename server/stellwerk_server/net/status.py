"""The state of the server, for anybody who polls it: one JSON object over HTTP, on a port of its own, and at
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

from stellwerk_server.net.server import open_listeners
from stellwerk_server.operate.memory import resident_kb

if TYPE_CHECKING:
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_server.net.metrics import Metrics
    from stellwerk_server.net.server import Server

REQUEST_BYTES: Final = 4096
PATIENCE_SECONDS: Final = 2.0
RUNNING_SHOWN: Final = 100
MOST_READERS: Final = 64
METRICS_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"  # the form that every scraper reads


class JsonPage:
    """A page that answers each GET with one JSON object. `text` writes it; `note_bug` gets what it raises,
    which would end the server. `metrics`, if given, writes what is at /metrics instead."""

    def __init__(
        self,
        text: Callable[[], bytes],
        note_bug: Callable[[Exception], object],
        metrics: Callable[[], bytes] | None = None,
    ) -> None:
        self._text = text
        self._note_bug = note_bug
        self._metrics = metrics
        self._readers = 0

    async def listen(self, nursery: trio.Nursery, host: str, port: int) -> tuple[str, int]:
        """Answer from now on, and return the address. OSError if that cannot be done."""
        listeners = await open_listeners(host, port)
        nursery.start_soon(trio.serve_listeners, self._answer, listeners)
        bound = listeners[0].socket.getsockname()
        return bound[0], bound[1]

    async def _answer(self, stream: trio.SocketStream) -> None:
        self._readers += 1
        try:
            if self._readers <= MOST_READERS:
                with trio.move_on_after(PATIENCE_SECONDS):
                    request = bytes(await stream.receive_some(REQUEST_BYTES))
                    await stream.send_all(self._response(request))
                    await stream.send_eof()
                    await stream.receive_some(REQUEST_BYTES)
        except (OSError, trio.BrokenResourceError):
            pass  # the client has gone
        except Exception as error:
            self._note_bug(error)
        finally:
            self._readers -= 1
        await trio.aclose_forcefully(stream)

    def _response(self, request: bytes) -> bytes:
        method, _, rest = request.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        status, kind = b"200 OK", b"application/json"
        if method not in (b"GET", b"HEAD"):
            status, body = b"405 Method Not Allowed\r\nAllow: GET, HEAD", b'{"error":"GET and HEAD only"}\n'
        elif path == b"/metrics" and self._metrics is not None:
            kind, body = METRICS_TYPE, self._metrics()
        else:
            body = self._text() + b"\n"
        head = b"HTTP/1.0 %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (status, kind, len(body))
        return head if method == b"HEAD" else head + body


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
        page = JsonPage(
            self.text,
            lambda error: lobby.setup.note_bug("status.bug", error),
            lambda: self._metrics.text(self._server),
        )
        return await page.listen(self._server.nursery, host, port)

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
    """Describe a match that anybody may learn of while it runs."""
    return {
        "match": match.id,
        "game": match.game.id,
        "players": match.plan.names,
        "decisions": match.decision_count,
        "turn": match.state.turn,
    }
