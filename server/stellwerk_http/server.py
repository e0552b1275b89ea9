"""The sockets of HTTP: connections, their limits, and the patience that each gets.

Law: a connection ends alone. Its head has to arrive in time, its answers have to be taken in time, and what
goes wrong in answering one request is an answer with status 500.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from math import inf
from typing import Final, TypeAlias

import h11
import trio

from stellwerk_http.answers import EVENTS, NOT_KEPT, STATUSES, Answer, Headers, common_headers, refusal
from stellwerk_http.requests import LOOPBACK_NAMES, MOST_HEAD_BYTES, Request, read_request
from stellwerk_http.streams import Stream, StreamReader

RECEIVED: Final = 8192
PIECE: Final = 65_536  # of an answer, for which a client has its patience
SEND_BUFFER: Final = 131_072  # of a socket, which bounds what a reader can be behind without our knowing
MOST_CONNECTIONS: Final = 4096
KEPT_FOR_PAGES: Final = 64  # connections that streams leave free, or a quarter of all, if that is less
MOST_REFUSED: Final = 16  # connections beyond the limit that are told so; others are closed without a word

KEPT_FREE: Final = 16  # descriptors for listeners, the source and files

Reply: TypeAlias = "Answer | Stream"
Handler: TypeAlias = Callable[[Request], Awaitable[Reply]]
_BROKEN: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """How many connections there may be, and for how many seconds each waits for its client."""

    connections: int = MOST_CONNECTIONS
    head_s: float = 10.0  # from the first moment, or from the last answer, until a whole head is there
    send_s: float = 20.0  # for 64 KiB of an answer
    whole_s: float = inf  # for all that one connection does

    @property
    def streams(self) -> int:
        """How many connections may be streams."""
        return self.connections - min(KEPT_FOR_PAGES, self.connections // 4)


def limits_for(descriptors: int) -> HttpLimits:
    """Return the limits of a process that may have so many files open: connections are refused before there
    is no descriptor for them."""
    most = descriptors - MOST_REFUSED - KEPT_FREE
    return HttpLimits(connections=max(1, min(MOST_CONNECTIONS, most)))


@dataclass(slots=True)
class HttpServer:
    """A server of what `handle` returns. `names` are those under which it may be found besides those of the
    loopback; with None it answers under any name. `stream_headers` begin every stream."""

    handle: Handler
    note_bug: Callable[[Exception], object]
    names: Collection[str] | None = frozenset()
    limits: HttpLimits = HttpLimits()
    stream_headers: Headers = ()
    connections: int = field(default=0, init=False)
    streams: int = field(default=0, init=False)

    def begin(self, nursery: trio.Nursery, listeners: list[trio.SocketListener]) -> tuple[str, int]:
        """Answer from now on, and return the address."""
        nursery.start_soon(trio.serve_listeners, self._serve, listeners)
        bound = listeners[0].socket.getsockname()
        return bound[0], bound[1]

    async def _serve(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        try:
            with trio.move_on_after(self.limits.whole_s):
                await _Connection(self, stream).serve()
        except _BROKEN:
            pass  # the client has gone
        except Exception as error:
            self.note_bug(error)
        finally:
            self.connections -= 1


class _Connection:
    def __init__(self, server: HttpServer, stream: trio.SocketStream) -> None:
        self._server = server
        self._stream = stream
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD_BYTES)
        self._names = None if server.names is None else LOOPBACK_NAMES | set(server.names)
        self._address: str = stream.socket.getsockname()[0]
        stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_SNDBUF, SEND_BUFFER)

    async def serve(self) -> None:
        """Answer one request after the other, until either side has enough."""
        too_many = self._server.connections - self._server.limits.connections
        if too_many > 0:
            if too_many <= MOST_REFUSED:
                await self._send_refusal(refusal(503, "too many connections; try again later"))
            return
        while True:
            request = await self._next_request()
            if request is None:
                return
            if isinstance(request, Answer):
                await self._send_refusal(request)
                return
            reply = await self._reply_to(request)
            if isinstance(reply, Stream):
                await self._stream_to(reply, request)
                return
            await self._send_answer(reply, is_head=request.is_head)
            if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
                await self._hang_up()
                return
            self._h11.start_next_cycle()

    # -- requests --------------------------------------------------------------------------------

    async def _next_request(self) -> Request | Answer | None:
        """Return a sound request, the answer to one that is not, or None if there is none any more."""
        try:
            with trio.move_on_after(self._server.limits.head_s):
                head = await self._next_event()
                if not isinstance(head, h11.Request):
                    return None
                request = read_request(head, self._names, self._address)
                if isinstance(request, Request):
                    await self._next_event()  # the end of a message without a body
                return request
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint
            return refusal(status if status in STATUSES else 400, _explain_error(error))
        has_begun = bool(self._h11.trailing_data[0])
        return refusal(408, "no whole request in time") if has_begun else None

    async def _next_event(self) -> h11.Event | type[h11.PAUSED]:
        """Return the next event of a request, of whose head no more is taken than may come."""
        taken = len(self._h11.trailing_data[0])
        while True:
            event = self._h11.next_event()
            if event is not h11.NEED_DATA:
                return event  # type: ignore[return-value]  # a class that is its own only value
            if taken >= MOST_HEAD_BYTES:
                raise h11.RemoteProtocolError("too large", error_status_hint=431)
            data = await self._stream.receive_some(MOST_HEAD_BYTES - taken)
            taken += len(data)
            self._h11.receive_data(data)

    async def _reply_to(self, request: Request) -> Reply:
        try:
            reply = await self._server.handle(request)
        except Exception as error:
            self._server.note_bug(error)
            return refusal(500, "an error of this server; its log has more", (b"Connection", b"close"))
        is_one_too_many = self._server.streams >= self._server.limits.streams
        if isinstance(reply, Stream) and is_one_too_many:
            return refusal(503, "too many readers; try again later", (b"Retry-After", b"10"))
        return reply

    # -- answers ---------------------------------------------------------------------------------

    async def _send_answer(self, answer: Answer, *, is_head: bool) -> None:
        head = self._h11.send(_make_response(answer.status, answer.headers()))
        body = b"" if is_head else self._h11.send(h11.Data(data=answer.body))
        end = self._h11.send(h11.EndOfMessage())
        await self._send((head or b"") + (body or b"") + (end or b""))

    async def _send_refusal(self, answer: Answer) -> None:
        """Send an answer after which nothing more can be read."""
        head = b"HTTP/1.1 %d %b\r\n" % (answer.status, STATUSES[answer.status])
        headers = [*answer.headers(), (b"Connection", b"close")]
        head += b"".join(b"%b: %b\r\n" % header for header in headers)
        await self._send(head + b"\r\n" + answer.body)
        await self._hang_up()

    async def _hang_up(self) -> None:
        """End the connection after an answer, and see that the client gets it: to close with unread bytes
        would take it back."""
        await self._stream.send_eof()
        with trio.move_on_after(1.0):
            while await self._stream.receive_some(RECEIVED):
                pass

    async def _stream_to(self, stream: Stream, request: Request) -> None:
        headers = [
            *common_headers(EVENTS, NOT_KEPT),
            (b"X-Accel-Buffering", b"no"),
            *self._server.stream_headers,
        ]
        head = self._h11.send(_make_response(200, headers)) or b""
        if request.is_head:
            await self._send(head)
            return
        is_chunked = self._h11.their_http_version == b"1.1"
        self._server.streams += 1
        try:
            with socket.socket(fileno=self._stream.socket.detach()) as sock:
                reader = StreamReader(
                    sock, stream.feed.position_of(request.last), head, is_chunked=is_chunked
                )
                await stream.serve(reader, self._server.limits.send_s)
        except trio.TooSlowError:
            pass  # the client does not read
        finally:
            self._server.streams -= 1

    async def _send(self, data: bytes) -> None:
        """Send data, piece by piece: the client has its time for each of them."""
        for begin in range(0, len(data), PIECE):
            with trio.move_on_after(self._server.limits.send_s) as patience:
                await self._stream.send_all(data[begin : begin + PIECE])
            if patience.cancelled_caught:
                raise trio.BrokenResourceError("the client does not read")


def _explain_error(error: h11.RemoteProtocolError) -> str:
    if error.error_status_hint == 431:
        return f"the head of a request has at most {MOST_HEAD_BYTES} bytes"
    what = str(error).partition(": bytearray(")[0]  # which repeats the request as Python writes it
    return f"not a request of HTTP/1.1: {what}"


def _make_response(status: int, headers: list[tuple[bytes, bytes]]) -> h11.Response:
    return h11.Response(status_code=status, reason=STATUSES[status], headers=headers)
