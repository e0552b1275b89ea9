"""Live pages in this process: real sockets, and a clock that stands still until a test moves it.

The event loop runs in a thread of its own, so clients are blocking ones, and a test reads from top to bottom.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any, Final, TypeVar

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from stellwerk_http.server import Handler, HttpLimits, HttpServer
from stellwerk_server.net.server import open_listeners
from stellwerk_web.show.model import Show, ShowSettings
from stellwerk_web.site import Site
from stellwerk_web.sources.source import Source

T = TypeVar("T")

PATIENCE: Final = 60.0  # seconds; for machines that have much else to do
HOST: Final = "127.0.0.1"


class Life:
    """An event loop in a thread, with `bugs`, which a test expects or not."""

    def __init__(self) -> None:
        self.clock = MockClock()
        self.bugs: list[Exception] = []
        self.port = 0
        self.nursery: trio.Nursery
        self.is_up: Future[None] = Future()
        self._token: trio.lowlevel.TrioToken

    async def run(self, begin: Callable[[trio.Nursery], Awaitable[tuple[str, int]]]) -> None:
        self._token = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as self.nursery:
            _, self.port = await begin(self.nursery)
            self.is_up.set_result(None)

    def do(self, what: Callable[[], T]) -> T:
        """Call something in the thread of the event loop, between two rounds of its work."""
        return trio.from_thread.run_sync(what, trio_token=self._token)

    def settle(self) -> None:
        """Return when every task waits for something."""
        trio.from_thread.run(wait_all_tasks_blocked, trio_token=self._token)

    def wait(self, seconds: float) -> None:
        """Let time pass, and every task do what becomes due, each when it is."""
        trio.from_thread.run(self._wait, seconds, trio_token=self._token)

    async def _wait(self, seconds: float) -> None:
        until = self.clock.current_time() + seconds + 1e-6
        while True:
            await wait_all_tasks_blocked()
            left = until - self.clock.current_time()
            if left <= 0:
                return
            self.clock.jump(min(left, trio.lowlevel.current_statistics().seconds_to_next_deadline))

    def end(self) -> None:
        self.do(self.nursery.cancel_scope.cancel)

    # -- clients ---------------------------------------------------------------------------------

    @contextmanager
    def reached(self, receive_bytes: int | None = None) -> Generator[socket.socket]:
        """Connect, with a kernel that takes no more than about `receive_bytes`."""
        with socket.socket() as sock:
            if receive_bytes is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            sock.settimeout(PATIENCE)
            sock.connect((HOST, self.port))
            yield sock

    def get(self, path: str, *headers: str, method: str = "GET", host: str = "localhost") -> Got:
        """Ask for a path, as it is written."""
        head = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]
        return self.answer("\r\n".join(head).encode("latin-1"), method)

    def answer(self, request: bytes, method: str = "GET") -> Got:
        with self.reached() as sock:
            sock.sendall(request)
            return read_answer(sock, method)

    @contextmanager
    def reader(self, path: str, *headers: str, receive_bytes: int | None = None) -> Generator[StreamReader]:
        """Read a stream of events."""
        with self.reached(receive_bytes) as sock:
            lines = "".join(f"{header}\r\n" for header in headers)
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())
            with closing(StreamReader(sock)) as reader:
                yield reader


@dataclass(frozen=True)
class Got:
    status: int
    reason: str
    headers: dict[str, str]
    body: bytes


def read_answer(sock: socket.socket, method: str = "GET") -> Got:
    """Read one answer, and no byte more."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        assert byte, f"the connection ended in a head: {head!r}"
        head += byte
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    version, status, reason = first.split(" ", 2)
    assert version == "HTTP/1.1"
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    left = 0 if method == "HEAD" else int(headers["content-length"])
    body = b""
    while left > len(body):
        data = sock.recv(left - len(body))
        assert data, "the connection ended in a body"
        body += data
    return Got(int(status), reason, headers, body)


@dataclass(frozen=True)
class Record:
    id: str
    kind: str
    data: Any  # Any: that is how json hands values on


class StreamReader:
    """A reader of events. Its head is read first; comments are counted."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.comments = 0
        self._response: HTTPResponse | None = None

    @property
    def response(self) -> HTTPResponse:
        if self._response is None:
            self._response = HTTPResponse(self.socket, method="GET")
            self._response.begin()
        return self._response

    def close(self) -> None:
        if self._response is not None:
            self._response.close()

    def next(self) -> Record:
        """Return the next record. EOFError at the end."""
        fields: dict[str, str] = {}
        while True:
            line = self.response.readline()
            if not line.endswith(b"\n"):
                raise EOFError
            name, _, value = line.rstrip(b"\n").decode().partition(": ")
            if name:
                if name.startswith(":"):
                    self.comments += 1
                    continue
                fields[name] = value
            elif fields:
                return Record(fields["id"], fields["event"], json.loads(fields["data"]))

    def until(self, condition: Callable[[Record], bool]) -> Record:
        while True:
            record = self.next()
            if condition(record):
                return record

    def wait_for_comment(self) -> None:
        line = b""
        while not line.startswith(b":"):
            line = self.response.readline()
            assert line, "the stream has ended"


@contextmanager
def serving(
    handle: Handler, limits: HttpLimits | None = None, names: tuple[str, ...] = ()
) -> Generator[Life]:
    """Serve what a handler returns. No bug may remain that the test has not taken out."""

    def begin(life: Life) -> Callable[[trio.Nursery], Awaitable[tuple[str, int]]]:
        server = HttpServer(handle, life.bugs.append, names, limits or HttpLimits())

        async def begin_here(nursery: trio.Nursery) -> tuple[str, int]:
            return server.begin(nursery, await open_listeners(HOST, 0))

        return begin_here

    with _living(begin) as life:
        yield life


class NoSource(Source):
    """A source that says nothing: the test does."""

    async def run(self, show: Show) -> None:
        await trio.sleep_forever()


@contextmanager
def showing(
    limits: HttpLimits | None = None, pace: float = 2.0, tables: int = 2, source: Source | None = None
) -> Generator[tuple[Life, Show]]:
    """Serve a whole site, whose model the test fills, unless there is a `source`."""
    show = Show(ShowSettings("Test", "server", "the test", "life", pace, tables))

    def begin(life: Life) -> Callable[[trio.Nursery], Awaitable[tuple[str, int]]]:
        site = Site(show, source or NoSource(), "1.0", life.bugs.append, (), limits)
        return lambda nursery: site.run(nursery, HOST, 0)

    with _living(begin) as life:
        yield life, show


@contextmanager
def _living(
    prepare: Callable[[Life], Callable[[trio.Nursery], Awaitable[tuple[str, int]]]],
) -> Generator[Life]:
    life = Life()

    def live() -> None:
        trio.run(life.run, prepare(life), clock=life.clock)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(live)
        wait([running, life.is_up], return_when=FIRST_COMPLETED)
        if running.done():
            running.result()
        try:
            yield life
        finally:
            life.end()
            running.result(PATIENCE)
    assert life.bugs == []
