"""The bots of a match while they are asked, and while they are not: timed, and stopped if that is wanted.

Laws:
- order at each ask: freeze the bots that answered, thaw the asked one, start its clock. A bot that has lost
  its connection is thawed, too: it may come back on its own time;
- what a bot is sent while it is stopped waits in its socket, or here: no limit counts what it cannot read;
- no bot is stopped before the match has begun, when it is ready or late, nor after the match;
- a remote bot is neither timed nor stopped, and nothing is done to a process that has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol

import trio

if TYPE_CHECKING:
    from stellwerk_processes.bench.local_bot import LocalBot, Measured
    from stellwerk_protocol.names import Seat
    from stellwerk_server.lobby.session import Session


AGAIN_S: Final = 0.002  # until the next look at a bot that is stopping


class Holding(Protocol):
    """The service of a `Server` for clients that cannot read for a while."""

    def hold(self, session: Session) -> None: ...

    def release(self, session: Session) -> None: ...


class AskedBots:
    """The listener of one match's asks (`AskListener`). `session` returns the session of a seat."""

    def __init__(
        self,
        server: Holding,
        session: Callable[[Seat], Session | None],
        *,
        freeze: bool,
    ) -> None:
        self._server = server
        self._session = session
        self._freeze = freeze
        self._bots: dict[Seat, LocalBot] = {}
        self._asked: set[Seat] = set()
        self._answered: list[Seat] = []  # and nobody was asked since
        self._stopping: list[Seat] = []
        self.measured: dict[Seat, Measured] = {}  # of our bots, after the `end`
        self._idle = trio.Event()  # a bot may have to be stopped
        self._is_over = False

    def add(self, seat: Seat, bot: LocalBot, own_processors: int) -> None:
        """Add a bot that has been started, or has waited for this match. `own_processors` is how many it has
        for itself, if any."""
        bot.begin_match(freezes=self._freeze, own_processors=own_processors)
        self._bots[seat] = bot

    # -- during the match -------------------------------------------------------------------------

    def asked(self, seat: Seat, now: float) -> float:
        began = perf_counter()
        self._idle.set()  # the first ask begins the match, for those who are not asked, too
        self._asked.add(seat)
        for other in self._answered:
            self._put_to_rest(other)
        self._answered.clear()
        bot = self._bots.get(seat)
        if bot is not None and not self._is_over:
            bot.before_ask()
            self._thaw_bot(seat)
        return now + 1000 * (perf_counter() - began)

    def answered(self, seat: Seat) -> None:
        bot = self._bots.get(seat)
        if bot is None or self._is_over:
            return
        self._asked.discard(seat)
        bot.after_answer()
        self._answered.append(seat)
        self._idle.set()

    def end(self) -> None:
        """Continue all bots: the match is over, or given up. Do nothing the second time."""
        if self._is_over:
            return
        self._is_over = True
        for seat, bot in self._bots.items():
            self._thaw_bot(seat)
            self.measured[seat] = bot.end_match()

    async def keep_freezing(self) -> None:
        """Stop the bots that are not asked, until this is cancelled."""
        while True:
            with trio.move_on_after(AGAIN_S if self._stopping else inf):
                await self._idle.wait()
            self._idle = trio.Event()
            for seat in tuple(self._stopping):
                self._try_to_stop(seat)
            for seat in self._bots:
                self._put_to_rest(seat)

    def _put_to_rest(self, seat: Seat) -> None:
        """Stop a bot, unless it is asked or has stopped already."""
        bot = self._bots[seat]
        is_awake = not bot.is_frozen and bot.report is None
        if self._freeze and is_awake and not self._is_over and seat not in self._asked:
            session = self._session(seat)
            if session is not None:
                self._server.hold(session)
            self._stopping.append(seat)
            self._try_to_stop(seat)

    def _try_to_stop(self, seat: Seat) -> None:
        """Stop a bot, or see whether it has stopped."""
        if self._bots[seat].freeze() != "stopping":
            self._stopping.remove(seat)

    def _thaw_bot(self, seat: Seat) -> None:
        bot = self._bots[seat]
        if bot.is_frozen:
            bot.thaw()
            if seat in self._stopping:
                self._stopping.remove(seat)
            session = self._session(seat)
            if session is not None:
                self._server.release(session)
