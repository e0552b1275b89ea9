"""A server in this process: real sockets, and a clock that stands still until a test moves it.

Its event loop runs in a thread of its own, so clients are the blocking ones of `served_process`, and a test
reads from top to bottom. Nothing here waits for real time: limits of half a minute are tried in no time, and
what a test does in between costs nobody a millisecond.

Law: no secret in any log. When a server ends, its log is searched for all that it ever drew at random, ids
apart, and for the tokens that a test used.
"""

from __future__ import annotations

import base64
import io
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from math import inf
from typing import Any, TypeVar

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from stellwerk_server.journal.journal import Journal
from stellwerk_server.lobby.setup import LobbySetup
from stellwerk_server.net.clock import ROUNDING
from stellwerk_server.net.server import FEW_CONNECTIONS, Server, open_server
from stellwerk_server.operate.logs import make_log
from stellwerk_server.operate.settings import Limits, Time
from tests.server.served_process import PATIENCE, Caller, Message
from tests.server.support import HOUSE_BOTS, MemoryJournal, by_chance, entropy, shelf

T = TypeVar("T")

NO_HURRY = Time(move_ms=600_000, bank_ms=0)
USUAL = Limits()
NO_RATE = Limits(messages_a_second=1_000_000_000, burst=1_000_000_000)
ID_BYTES = 9  # what an id is drawn of: no secret

few_connections = FEW_CONNECTIONS  # of every site; tests that are for every reader change it


class Site:
    """A running server and its surroundings. Made by `on_site`."""

    def __init__(self, limits: Limits, time: Time, more: dict[str, Any]) -> None:  # Any: of a LobbySetup
        self.clock = MockClock()
        self.secrets: set[str] = set()
        self.journals: dict[str, MemoryJournal] = {}
        self.port = 0
        self.server: Server
        self._log = _Log()
        self._random = entropy("site")
        fields: dict[str, Any] = {
            "server": "stellwerk test",
            "limits": limits,
            "time": time,
            "games": shelf(),
            "log": make_log(self._log, "debug", json=True),
            "entropy": self._draw,
            "house_bots": {**HOUSE_BOTS, "random": by_chance},
            "open_journal": self._open_journal,
        }
        self.setup = LobbySetup(**fields | more)
        self.is_up: Future[None] = Future()
        self._is_over = trio.Event()
        self._callers: list[Caller] = []
        self._token: trio.lowlevel.TrioToken

    # -- clients ---------------------------------------------------------------------------------

    def reach(self, **how: Any) -> Caller:  # Any: what a Caller takes
        """Open a connection, and leave the server's first message to be read."""
        caller = Caller(self.port, **how)
        self._callers.append(caller)
        return caller

    def call(self, **how: Any) -> Caller:  # Any: what a Caller takes
        """Open a connection, and read the server's greeting."""
        caller = self.reach(**how)
        assert caller.read()["type"] == "hello"
        return caller

    def player(self, name: str, **fields: object) -> Caller:
        """Open a connection that is logged in."""
        caller = self.call()
        caller.login(name, **fields)
        return caller

    def pair(self, one: Caller, other: Caller, game: str = "card_game") -> tuple[Message, Message]:
        """Start a match of these two, in this order. Return their first asks."""
        for caller in (one, other):
            caller.say(type="join", game=game, players=2, room="pair")
            caller.until("joined")
        starts = [caller.until("start") for caller in (one, other)]
        for caller, start in zip((one, other), starts, strict=True):
            caller.say(type="ready", match=start["match"])
        return one.until("ask"), other.until("ask")

    # -- time ------------------------------------------------------------------------------------

    def wait(self, milliseconds: float) -> None:
        """Let time pass, and the server do all that becomes due, each when it is."""
        trio.from_thread.run(self._wait, milliseconds / 1000, trio_token=self._token)

    def stall(self, milliseconds: float) -> None:
        """Let time pass in which the server does nothing."""
        self.do(lambda: self.clock.jump(milliseconds / 1000))

    @contextmanager
    def held(self) -> Generator[None]:
        """Stop the event loop until the end of the block."""
        is_held, goes_on = threading.Event(), threading.Event()

        def hold() -> None:
            is_held.set()
            goes_on.wait(PATIENCE)

        self._token.run_sync_soon(hold)
        assert is_held.wait(PATIENCE)
        try:
            yield
        finally:
            goes_on.set()

    async def _wait(self, seconds: float) -> None:
        until = self.clock.current_time() + seconds + ROUNDING
        while True:
            await wait_all_tasks_blocked()
            left = until - self.clock.current_time()
            if left <= 0:
                return
            self.clock.jump(min(left, trio.lowlevel.current_statistics().seconds_to_next_deadline))
            self.server.clock.after_io_wait(inf)  # it was waiting, and is not late

    # -- what goes on inside ---------------------------------------------------------------------

    def do(self, what: Callable[[], T]) -> T:
        """Call something in the thread of the event loop, between two rounds of its work."""
        return trio.from_thread.run_sync(what, trio_token=self._token)

    def do_and_wait(self, what: Callable[[], Awaitable[T]]) -> T:
        """Run something that waits in the event loop, and return its result."""
        return trio.from_thread.run(what, trio_token=self._token)

    def logged(self, event: str, **fields: object) -> Message:
        """Return the first line of the log with these fields, as soon as it is there."""
        return self._log.wait_for(event, fields)

    def records(self, event: str) -> list[Message]:
        return [record for record in self._log.records() if record["event"] == event]

    def _draw(self, count: int) -> bytes:
        drawn = self._random(count)
        if count != ID_BYTES:
            self.secrets |= {drawn.hex(), base64.urlsafe_b64encode(drawn).decode(), repr(drawn)[2:-1]}
        return drawn

    def _open_journal(self, match: str) -> Journal:
        journal = self.journals[match] = MemoryJournal()
        return journal

    # -- its life --------------------------------------------------------------------------------

    async def run(self, host: str, tls: ssl.SSLContext | None) -> None:
        self._token = trio.lowlevel.current_trio_token()
        async with open_server(self.setup, piece_ms=inf, few_connections=few_connections) as self.server:
            _, self.port = await self.server.listen(host, 0, tls)
            self.is_up.set_result(None)
            await self._is_over.wait()
            self.clock.autojump_threshold = 0.01  # for goodbyes that nobody answers
            await self.server.stop()

    def end(self) -> None:
        self.do(self._is_over.set)
        for caller in self._callers:
            caller.close()

    def show_log(self) -> None:
        """Print the log, for a reader of a test that fails."""
        print(self._log.getvalue())

    def expect_no_secret_in_the_log(self) -> None:
        text = self._log.getvalue()
        assert [secret for secret in self.secrets if secret in text] == []


class _Log(io.StringIO):
    """A stream that can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    def write(self, text: str, /) -> int:
        with self._changed:
            written = super().write(text)
            self._changed.notify_all()
        return written

    def records(self) -> list[Message]:
        with self._changed:
            return [json.loads(line) for line in self.getvalue().splitlines()]

    def wait_for(self, event: str, fields: dict[str, object]) -> Message:
        def found() -> Message | None:
            for record in self.records():
                if record["event"] == event and fields.items() <= record.items():
                    return record
            return None

        with self._changed:
            record = self._changed.wait_for(found, PATIENCE)
        assert record, f"no {event} with {fields} in {self.getvalue()}"
        return record


@contextmanager
def on_site(
    *,
    limits: Limits = USUAL,
    time: Time = NO_HURRY,
    host: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
    **more: Any,  # Any: of a LobbySetup
) -> Generator[Site]:
    site = Site(limits, time, more)
    with ThreadPoolExecutor(1) as pool:
        life = pool.submit(_live, site, host, tls)
        wait([life, site.is_up], return_when=FIRST_COMPLETED)
        if life.done():
            life.result()
        try:
            yield site
        finally:
            site.end()
            life.result(PATIENCE)
            site.show_log()
    site.expect_no_secret_in_the_log()


def _live(site: Site, host: str, tls: ssl.SSLContext | None) -> None:
    trio.run(site.run, host, tls, clock=site.clock)
