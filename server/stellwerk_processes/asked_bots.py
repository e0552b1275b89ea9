"""The bots of a match while they are asked, and while they are not: timed, and stopped if that is wanted.

Laws:
- when a bot is asked, first those stop that have just answered, then it goes on, and then its clock begins.
  So does a bot that has lost its connection: it may come back on its own time;
- what a bot is sent while it is stopped waits in its socket, or here: no limit counts what it cannot read;
- no bot is stopped before the match has begun, when it is ready or late, nor after the match;
- a remote bot is neither timed nor stopped, and nothing is done to a process that has ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol

import trio

from stellwerk_processes.answer_time import AnswerTimer, AnswerTimes
from stellwerk_processes.freezer import Freezer, freezer_of

if TYPE_CHECKING:
    from stellwerk_processes.bot_process import RunningBot
    from stellwerk_protocol.names import Seat
    from stellwerk_server.lobby.session import Session


AGAIN_S: Final = 0.002  # until the next look at a bot that is stopping


class Holding(Protocol):
    """The service of a `Server` for clients that cannot read for a while."""

    def hold(self, session: Session) -> None: ...

    def release(self, session: Session) -> None: ...


@dataclass(eq=False, slots=True)
class _AskedBot:
    """A bot in its seat. `freezer` is there if it is to be stopped, `is_whole` as long as that has worked."""

    seat: Seat
    bot: RunningBot
    timer: AnswerTimer
    freezer: Freezer | None
    own_processors: int
    is_asked: bool = False
    is_frozen: bool = False
    was_frozen: bool = False
    is_whole: bool = True

    @property
    def has_ended(self) -> bool:
        return self.bot.report is not None


@dataclass(frozen=True, slots=True)
class Measured:
    """The observations of one bot. `frozen` is None if it was not to be stopped, and False if not all of it
    could be. `own_processors` is how many it had for itself, or 0."""

    times: AnswerTimes
    frozen: bool | None
    own_processors: int


def processes_of(bot: RunningBot) -> tuple[int, frozenset[int], tuple[Path, ...]]:
    """Return the process that all of a bot's descend from, those of ours among them, and the folders of its
    cgroups."""
    if not bot.supervisor:
        return bot.pid, frozenset(), ()
    cgroups = () if bot.cgroup is None else (Path(bot.cgroup),)
    return bot.supervisor, frozenset({bot.supervisor}), cgroups


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
        self._bots: dict[Seat, _AskedBot] = {}
        self._answered: list[_AskedBot] = []  # and nobody was asked since
        self._stopping: list[_AskedBot] = []
        self._idle = trio.Event()  # somebody may be to be stopped
        self._is_over = False

    def add(self, seat: Seat, bot: RunningBot, own_processors: int) -> None:
        """Add a bot that has been started, or has waited for this match. `own_processors` is how many it has
        for itself, if any."""
        try:
            processors = os.sched_getaffinity(bot.pid)
        except ProcessLookupError:  # it has ended
            processors = set[int]()
        root, spared, cgroups = processes_of(bot)
        timer = AnswerTimer(root, processors, spared=spared, cgroups=cgroups)
        freezer = freezer_of(root, spared=spared, cgroups=cgroups) if self._freeze else None
        self._bots[seat] = _AskedBot(seat, bot, timer, freezer, own_processors)

    def measured(self, seat: Seat) -> Measured | None:
        """Return what was seen of a seat's bot, if it is one of ours."""
        one = self._bots.get(seat)
        if one is None:
            return None
        frozen = None if one.freezer is None else one.was_frozen and one.is_whole
        return Measured(one.timer.times, frozen, one.own_processors)

    # -- as the match goes on --------------------------------------------------------------------

    def asked(self, seat: Seat, now: float) -> float:
        began = perf_counter()
        self._idle.set()  # the first ask begins the match, for those who are not asked, too
        one = self._bots.get(seat)
        if one is not None:
            one.is_asked = True
        for other in self._answered:
            self._rest(other)
        self._answered.clear()
        if one is not None and not one.has_ended and not self._is_over:
            one.timer.begin()
            self._thaw(one)
        return now + 1000 * (perf_counter() - began)

    def answered(self, seat: Seat) -> None:
        one = self._bots.get(seat)
        if one is None or self._is_over:
            return
        one.is_asked = False
        if not one.has_ended:
            one.timer.end()
        self._answered.append(one)
        self._idle.set()

    def end(self) -> None:
        """Let all bots go on: the match is over, or given up. Does nothing the second time."""
        if self._is_over:
            return
        self._is_over = True
        for one in self._bots.values():
            self._thaw(one)
            one.timer.close()

    async def keep_freezing(self) -> None:
        """Stop the bots that are not asked, until this is cancelled."""
        while True:
            with trio.move_on_after(AGAIN_S if self._stopping else inf):
                await self._idle.wait()
            self._idle = trio.Event()
            for one in tuple(self._stopping):
                self._stop(one)
            for one in self._bots.values():
                self._rest(one)

    def _rest(self, one: _AskedBot) -> None:
        """Stop a bot, unless it is asked or has stopped already."""
        if self._is_over or one.freezer is None or one.is_asked or one.is_frozen or one.has_ended:
            return
        one.is_frozen = one.was_frozen = True
        session = self._session(one.seat)
        if session is not None:
            self._server.hold(session)
        self._stopping.append(one)
        self._stop(one)

    def _stop(self, one: _AskedBot) -> None:
        """Stop a bot, or see whether it has stopped."""
        assert one.freezer is not None
        progress = "stopped" if one.has_ended else one.freezer.freeze()
        if progress != "stopping":
            self._stopping.remove(one)
        if progress == "impossible":
            one.is_whole = False

    def _thaw(self, one: _AskedBot) -> None:
        if one.freezer is None or not one.is_frozen:
            return
        one.is_frozen = False
        if one in self._stopping:
            self._stopping.remove(one)
        if not one.has_ended:
            one.freezer.thaw()
        session = self._session(one.seat)
        if session is not None:
            self._server.release(session)
