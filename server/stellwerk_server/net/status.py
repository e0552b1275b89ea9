"""The state of the server, for anybody who polls it: one JSON object over HTTP, on a port of its own.

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

if TYPE_CHECKING:
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_server.net.server import Server

REQUEST_BYTES: Final = 4096
PATIENCE_SECONDS: Final = 2.0
RUNNING_SHOWN: Final = 100
MOST_READERS: Final = 64


class JsonPage:
    """A page that answers each GET with one JSON object. `text` writes it; `note_bug` gets what it raises,
    which would end the server."""

    def __init__(self, text: Callable[[], bytes], note_bug: Callable[[Exception], object]) -> None:
        self._text = text
        self._note_bug = note_bug
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
        is_known = request.startswith((b"GET ", b"HEAD "))
        status = b"200 OK" if is_known else b"405 Method Not Allowed\r\nAllow: GET, HEAD"
        body = self._text() if is_known else b'{"error":"GET and HEAD only"}'
        head = b"HTTP/1.0 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        return head % (status, len(body) + 1) + (b"" if request.startswith(b"HEAD ") else body + b"\n")


class StatusPage:
    """The status page of a server. Decisions a second are those since the last request, or since the
    beginning."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._asked_at = self._began_at = trio.current_time()
        self._decisions = 0

    async def listen(self, host: str, port: int) -> tuple[str, int]:
        lobby = self._server.lobby
        page = JsonPage(self.text, lambda error: lobby.setup.note_bug("status.bug", error))
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
