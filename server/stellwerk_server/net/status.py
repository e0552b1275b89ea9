"""The state of the server, for anybody who polls it: one JSON object over HTTP, on a port of its own."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import msgspec
import trio

from stellwerk_server.net.server import open_listeners

if TYPE_CHECKING:
    from stellwerk_server.net.server import Server

REQUEST_BYTES: Final = 4096
PATIENCE_SECONDS: Final = 2.0
RUNNING_SHOWN: Final = 100


class StatusPage:
    """The status page. Decisions a second are those since the last request, or since the beginning."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._asked_at = self._began_at = trio.current_time()
        self._decisions = 0

    async def listen(self, host: str, port: int) -> tuple[str, int]:
        listeners = await open_listeners(host, port)
        self._server.nursery.start_soon(trio.serve_listeners, self._answer, listeners)
        bound = listeners[0].socket.getsockname()
        return bound[0], bound[1]

    def text(self) -> bytes:
        lobby = self._server.lobby
        counts = lobby.counts()
        now = trio.current_time()
        seconds = max(now - self._asked_at, 0.001)
        rate = (counts.decisions - self._decisions) / seconds
        self._asked_at, self._decisions = now, counts.decisions
        matches = [
            {
                "match": match.id,
                "game": match.game.id,
                "players": match.plan.names,
                "decisions": match.decision_count,
                "turn": match.state.turn,
            }
            for match in lobby.listed()[:RUNNING_SHOWN]
        ]
        return msgspec.json.encode(
            {
                "server": lobby.setup.server,
                "uptime_s": round(now - self._began_at, 1),
                "draining": lobby.shutdown.has_begun,
                **asdict(counts),
                "decisions_per_second": round(rate, 1),
                "late_ms": round(self._server.clock.late_ms, 1),
                "memory_kb": resident_kb(),
                "matches": matches,
            }
        )

    async def _answer(self, stream: trio.SocketStream) -> None:
        try:
            with trio.move_on_after(PATIENCE_SECONDS):
                request = bytes(await stream.receive_some(REQUEST_BYTES))
                await stream.send_all(self._response(request))
                await stream.send_eof()
                await stream.receive_some(REQUEST_BYTES)
        except (OSError, trio.BrokenResourceError):
            pass  # the client has gone
        except Exception as error:  # it would end the server
            self._server.lobby.setup.note_bug("status.bug", error)
        await trio.aclose_forcefully(stream)

    def _response(self, request: bytes) -> bytes:
        is_known = request.startswith((b"GET ", b"HEAD "))
        status = b"200 OK" if is_known else b"405 Method Not Allowed\r\nAllow: GET, HEAD"
        body = self.text() if is_known else b'{"error":"GET and HEAD only"}'
        head = b"HTTP/1.0 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        return head % (status, len(body) + 1) + (b"" if request.startswith(b"HEAD ") else body + b"\n")


def resident_kb() -> int | None:
    """Return how much memory this process occupies, in kB. Only Linux shows it."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for text in status:
                if text.startswith("VmRSS:"):
                    return int(text.split()[1])
    except OSError:
        pass
    return None
