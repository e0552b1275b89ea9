"""A tournament being played: matches side by side until its source of blocks is over, or somebody stops it.

Laws:
- the runner gets its blocks from a source (`source.py`): it knows no rounds, and not who meets whom;
- nobody waits for a remote bot for ever (`attendance.py`); where nothing is to begin without all of them,
  nothing is written before they are there;
- at the first request to stop, the runner finishes the blocks that have begun; at the second, it ends at
  once. Nothing that was shown is lost, whatever ends it (`store.py`), and no match of a bot that was started.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import trio

from stellwerk_processes.standing_server import StandingServer, StandingSetup, open_standing_server
from stellwerk_server.net.listen_address import CannotListenError, ListenAddress
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.blocks_in_hand import BlocksInHand, known_blocks
from stellwerk_tournament.play.courier import Courier, RunError
from stellwerk_tournament.play.lag import watched_lag
from stellwerk_tournament.play.match_loop import MatchLoop
from stellwerk_tournament.play.matches_here import (
    OWN_LOG,
    Conditions,
    MatchesHere,
    reused_bots,
    standing_setup,
)
from stellwerk_tournament.play.progress import Observer
from stellwerk_tournament.play.record import Record
from stellwerk_tournament.play.scheduled import ScheduledBlocks
from stellwerk_tournament.play.source import BlockSource, NewSource
from stellwerk_tournament.play.status_page import TournamentPage
from stellwerk_tournament.schedule.deal import standing_seed
from stellwerk_tournament.store.field_file import read_field
from stellwerk_tournament.store.store import Opened, StoreError


class AbsentError(Exception):
    """The remote bots that did not come, by the names that they log in with. Nothing has begun."""

    def __init__(self, names: tuple[str, ...], seconds: float) -> None:
        super().__init__(f"{', '.join(names)} did not connect within {seconds:g} s")
        self.names = names


Beside: TypeAlias = Callable[[StandingServer | None, str, Callable[[], object]], Awaitable[object]]
"""A task beside the matches, which ends with them. It gets the server of the bots that stay, if there is one,
the URL of the status page, and what it calls when the matches may begin. What it raises ends the
tournament."""

BESIDE_S: Final = 10.0
"""For so long the matches wait for the task beside them, so that nobody misses the first ones."""
LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of the matches: where remote bots connect and whether one more may, whether nothing
    begins before all of them are there, where the status page is, a task `beside` the matches, which makes
    that page necessary, and a call in a thread before anything is written, which may raise a StoreError."""

    listen_at: ListenAddress | None = None
    may_connect: Callable[[], bool] = lambda: True
    needs_all: bool = False
    status_at: tuple[str, int] | None = None
    beside: Beside | None = None
    begin: Callable[[], object] = lambda: None


ALONE: Final = Surroundings()


async def play_tournament(
    settings: Settings,
    opened: Opened,
    observer: Observer,
    conditions: Conditions,
    seed: str | None = None,
    around: Surroundings = ALONE,
    courier: Courier | None = None,
    new_source: NewSource | None = None,
) -> bool:
    """Play, and return whether all has been played; it has not if somebody stopped the runner before.

    StoreError if the folder cannot be written, RunError if it makes no sense to go on, CannotListenError if
    remote bots cannot come in or the status page cannot be shown, CoresError if bots are to have more cores
    than there are, AbsentError if remote bots that are needed did not come. `seed` is for tournaments that
    are to be repeated. A `courier` takes all blocks to where they are played; nothing is played here then.
    Blocks come from the schedule, or from `new_source`.
    """
    with watched_lag() as lag:
        known = known_blocks(await trio.to_thread.run_sync(opened.store.standings), opened.results)
        folder = opened.store.folder
        field = await trio.to_thread.run_sync(read_field, folder)
        record = Record(settings, opened.results, field)
        source: BlockSource
        if new_source is None:
            source = ScheduledBlocks(settings, record, known, looks_ahead=courier is None)
        else:
            source = new_source(record, known, lambda: loop.wake())

        async def log(heading: str, lines: Sequence[str]) -> None:
            await hand.on_disk(partial(opened.store.log, OWN_LOG, heading, lines))

        here = MatchesHere(settings, source.entrants, folder, conditions, lag, log)
        may_wait = settings.until_width is None and (courier is None or courier.brings_back)
        hand = BlocksInHand(
            opened.store, source, known, record.conduct, here.is_repeatable, seed, writes_later=may_wait
        )
        loop = MatchLoop(settings, source, hand, record, here, observer, courier)
        setup = None
        if courier is None:
            seeds = {
                name: secrets.token_hex(32) if seed is None else standing_seed(seed, name)
                for name in reused_bots(source.entrants.values())
            }
            setup = standing_setup(settings, here.fair.at_once, seeds, around.listen_at, around.may_connect)
        return await _Runner(loop, around).run(setup, f"stellwerk {conditions.versions.stellwerk}")


@dataclass(slots=True, eq=False)
class _Runner:
    """The surroundings of the loop: the server for bots that stay, the status page, signals."""

    loop: MatchLoop
    around: Surroundings
    watching: trio.CancelScope = field(default_factory=trio.CancelScope)

    async def run(self, setup: StandingSetup | None, name: str) -> bool:
        loop, here = self.loop, self.loop.here
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with AsyncExitStack() as stack:
                stack.enter_context(here.fair.at_work())
                if setup is not None:
                    here.standing = await stack.enter_async_context(open_standing_server(setup))
                nursery = await stack.enter_async_context(trio.open_nursery())
                nursery.start_soon(self._heed_signals, signals, nursery.cancel_scope)
                try:
                    await self._open(nursery, name)
                    if await self._all_are_there():
                        await loop.hand.on_disk(self.around.begin)
                        await loop.run(nursery)
                except (StoreError, RunError, CannotListenError, AbsentError) as error:
                    loop.fail_with(error, nursery.cancel_scope)
                self.watching.cancel()
                if here.standing is not None:
                    await here.standing.say_goodbye(finished=not loop.is_stopping and loop.failure is None)
                nursery.cancel_scope.cancel()
        if loop.failure is not None:
            raise loop.failure
        return not loop.is_stopping

    async def _open(self, nursery: trio.Nursery, name: str) -> None:
        """Open the status page, the door for remote bots, and what is beside the matches."""
        loop, around, standing = self.loop, self.around, self.loop.here.standing
        url = ""
        if around.status_at is not None or around.beside is not None:

            def note_bug(error: Exception) -> None:
                nursery.start_soon(self._log_page_bug, error)

            page = TournamentPage(loop.settings, name, loop.progress, loop.here.listed, note_bug)
            url = await page.listen(nursery, *(around.status_at or (LOOPBACK, 0)))
        if around.status_at is not None:
            loop.observer.status_page(url)
        if standing is not None:
            where = await standing.listen()
            if where is not None:
                loop.observer.listening(*where)
            if any(entrant.is_remote for entrant in loop.settings.entrants):
                loop.observer.remote_bots_changed(loop.progress())
                nursery.start_soon(self._watch_presence, standing)
        if around.beside is not None:
            is_ready = trio.Event()
            nursery.start_soon(around.beside, standing, url, is_ready.set)
            with trio.move_on_after(BESIDE_S):
                await is_ready.wait()

    async def _log_page_bug(self, error: Exception) -> None:
        """Log a bug in the status page, which is no reason to stop."""
        with contextlib.suppress(StoreError):
            await self.loop.here.log_error("status page", error)

    async def _all_are_there(self) -> bool:
        """Wait for the remote bots, if all of them are needed. Return False if somebody stops that, and raise
        an AbsentError when it has taken too long."""
        if not self.around.needs_all:
            return True
        loop, seconds = self.loop, self.loop.settings.remote_wait_s
        with trio.move_on_after(seconds):
            while loop.attendance.missing and not loop.is_stopping:
                loop.changed = trio.Event()
                await loop.changed.wait()
        if loop.attendance.missing and not loop.is_stopping:
            raise AbsentError(loop.attendance.missing, seconds)
        return not loop.is_stopping

    async def _watch_presence(self, standing: StandingServer) -> None:
        """Keep the attendance up to date."""
        with self.watching:
            while True:
                if self.loop.attendance.look(standing.present(), trio.current_time()):
                    self.loop.wake()
                    self.loop.observer.remote_bots_changed(self.loop.progress())
                await standing.presence_changed()

    async def _heed_signals(self, signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
        """Wait for signals to stop. Bots are in process groups of their own, so Ctrl-C does not reach
        them."""
        loop = self.loop
        async for _ in signals:
            if loop.is_stopping:
                scope.cancel()
            else:
                loop.is_stopping = True
                loop.wake()
                loop.observer.told_to_stop()
                if loop.courier is not None:
                    await loop.courier.recall()
