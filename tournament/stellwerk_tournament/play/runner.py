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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import trio
from msgspec import UNSET, UnsetType

from stellwerk_processes.bench.levels import SandboxRecord
from stellwerk_processes.standing_server import StandingServer, StandingSetup, open_standing_server
from stellwerk_processes.started_match import play_match
from stellwerk_server.match.house_player import NO_HOUSE_BOTS, NewHousePlayer
from stellwerk_server.net.listen_address import CannotListenError, ListenAddress
from stellwerk_tournament.config.settings import Entrant, Settings
from stellwerk_tournament.config.versions import Versions
from stellwerk_tournament.play.attendance import Attendance
from stellwerk_tournament.play.blocks_in_hand import BlocksInHand, known_blocks
from stellwerk_tournament.play.courier import Courier, RunError
from stellwerk_tournament.play.lag import watched_lag
from stellwerk_tournament.play.match_loop import MatchLoop
from stellwerk_tournament.play.matches_here import (
    OWN_LOG,
    Conditions,
    Execute,
    MatchesHere,
    reused_bots,
    standing_setup,
)
from stellwerk_tournament.play.progress import Observer, Progress
from stellwerk_tournament.play.record import Record
from stellwerk_tournament.play.scheduled import schedule_as_source
from stellwerk_tournament.play.source import NewSource
from stellwerk_tournament.play.status_page import NO_PAGE, StatusSetup, TournamentPage
from stellwerk_tournament.schedule.deal import standing_seed
from stellwerk_tournament.store.store import Opened, Store, StoreError


class AbsentError(Exception):
    """The remote bots that did not come, by the names that they log in with. Nothing has begun."""

    def __init__(self, names: tuple[str, ...], seconds: float) -> None:
        super().__init__(f"{', '.join(names)} did not connect within {seconds:g} s")
        self.names = names


@dataclass(frozen=True, slots=True)
class RemoteSetup:
    """The set-up for remote bots: where they connect, and whom to notify of that address and of bots that
    come or go. `needs_all`: nothing begins before all of them are there."""

    listen_at: ListenAddress | None = None
    may_connect: Callable[[], bool] = lambda: True
    opened: Callable[[str, int], object] = lambda _host, _port: None
    changed: Callable[[Progress], object] = lambda _: None
    needs_all: bool = False


NO_REMOTE_BOTS: Final = RemoteSetup()

Beside: TypeAlias = Callable[[StandingServer | None, Callable[[], object]], Awaitable[object]]
"""A task beside the matches, which ends with them. It gets the server of the bots that stay, if there is
one, and what it calls when the matches may begin. What it raises ends the tournament."""

BESIDE_S: Final = 10.0
"""For so long the matches wait for the task beside them, so that nobody misses the first ones."""


async def play_tournament(
    settings: Settings,
    opened: Opened,
    observer: Observer,
    seed: str | None = None,
    execute: Execute = play_match,
    remote_setup: RemoteSetup = NO_REMOTE_BOTS,
    status_setup: StatusSetup = NO_PAGE,
    sandbox: SandboxRecord | UnsetType = UNSET,
    begin: Callable[[], object] = lambda: None,
    house_bots: Mapping[str, NewHousePlayer] = NO_HOUSE_BOTS,
    shows_ratings: bool = True,
    courier: Courier | None = None,
    beside: Beside | None = None,
    new_source: NewSource | None = None,
    versions: Versions | None = None,
) -> bool:
    """Play, and return whether all has been played; it has not if somebody stopped the runner before.

    StoreError if the folder cannot be written, RunError if it makes no sense to go on, CannotListenError if
    remote bots cannot come in or the status page cannot be shown, CoresError if bots are to have more cores
    than there are, AbsentError if remote bots that are needed did not come. `seed` is for tournaments that
    are to be repeated. `execute` plays the matches whose bots are started for them. `sandbox` is what was
    tried of the sandbox in the settings, if anything was. `begin` is called in a thread before anything is
    written; it may raise a StoreError. `house_bots` make the players of the bots that sit in the server.
    Unless `shows_ratings`, nobody looks at the ratings in the progress, and they are not computed for it.
    A `courier` takes all blocks to where they are played; nothing is played here then. `beside` runs from
    when everything is open until the matches are over. Blocks come from the schedule, or from `new_source`.
    `versions` are those of the bots, if they have been read before.
    """
    with watched_lag() as lag:
        known = known_blocks(await trio.to_thread.run_sync(opened.store.standings), opened.results)
        record = Record(settings, opened.results)
        if new_source is None:
            new_source = schedule_as_source(settings, looks_ahead=courier is None)
        source = new_source(record, known, lambda: loop.wake())

        async def log(heading: str, lines: Sequence[str]) -> None:
            await hand.on_disk(partial(opened.store.log, OWN_LOG, heading, lines))

        conditions = Conditions(execute, versions or Versions(), sandbox, house_bots=house_bots)
        here = MatchesHere(settings, source.entrants, opened.store.folder, conditions, lag, log)
        may_wait = settings.until_width is None and (courier is None or courier.brings_back)
        hand = BlocksInHand(
            opened.store, source, known, record.conduct, here.is_repeatable, seed, writes_later=may_wait
        )
        logins = [login.name for entrant in source.entrants.values() for login in entrant.logins]
        attendance = Attendance(logins, settings.remote_wait_s, trio.current_time())
        loop = MatchLoop(
            settings, source, hand, record, here, attendance, observer, courier, shows_ratings=shows_ratings
        )
        setup = None
        if courier is None:
            setup = standing_setup(
                settings,
                here.fair.at_once,
                _standing_seeds(source.entrants.values(), seed),
                remote_setup.listen_at,
                remote_setup.may_connect,
            )
        runner = _Runner(
            settings, opened.store, loop, hand, here, attendance, observer, remote_setup, courier
        )
        return await runner.run(setup, status_setup, beside, begin)


def _standing_seeds(entrants: Iterable[Entrant], seed: str | None) -> dict[str, str]:
    """Return the seeds of bots whose processes play match after match."""
    names = reused_bots(entrants)
    return {name: secrets.token_hex(32) if seed is None else standing_seed(seed, name) for name in names}


@dataclass(slots=True, eq=False)
class _Runner:
    """The surroundings of the loop: the server for bots that stay, the status page, signals."""

    settings: Settings
    store: Store
    loop: MatchLoop
    hand: BlocksInHand
    here: MatchesHere
    attendance: Attendance
    observer: Observer
    remote_setup: RemoteSetup
    courier: Courier | None
    watching: trio.CancelScope = field(default_factory=trio.CancelScope)

    async def run(
        self,
        setup: StandingSetup | None,
        status_setup: StatusSetup,
        beside: Beside | None,
        begin: Callable[[], object],
    ) -> bool:
        loop, here = self.loop, self.here
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with AsyncExitStack() as stack:
                stack.enter_context(here.fair.at_work())
                if setup is not None:
                    here.standing = await stack.enter_async_context(open_standing_server(setup))
                nursery = await stack.enter_async_context(trio.open_nursery())
                nursery.start_soon(self._heed, signals, nursery.cancel_scope)
                try:
                    await self._open(nursery, status_setup, beside)
                    if await self._all_are_there():
                        await self._play(nursery, begin)
                except (StoreError, RunError, CannotListenError, AbsentError) as error:
                    loop.fail_with(error, nursery.cancel_scope)
                self.watching.cancel()
                if here.standing is not None:
                    await here.standing.say_goodbye(finished=not loop.is_stopping and loop.failure is None)
                nursery.cancel_scope.cancel()
        if loop.failure is not None:
            raise loop.failure
        return not loop.is_stopping

    async def _play(self, nursery: trio.Nursery, begin: Callable[[], object]) -> None:
        await self.hand.on_disk(begin)
        if self.courier is not None:
            nursery.start_soon(self.courier.watch)
        if await self.loop.run(nursery):
            await self.hand.on_disk(partial(self.store.note_over, True))

    async def _open(self, nursery: trio.Nursery, status_setup: StatusSetup, beside: Beside | None) -> None:
        standing = self.here.standing
        if status_setup.host is not None:

            def note_bug(error: Exception) -> None:
                nursery.start_soon(self._log_page_bug, error)

            progress, listed = self.loop.progress, self.here.listed
            await TournamentPage(self.settings, status_setup, progress, listed, note_bug).listen(nursery)
        if standing is not None:
            await self._open_door(nursery, standing)
        if beside is not None:
            is_ready = trio.Event()
            nursery.start_soon(beside, standing, is_ready.set)
            with trio.move_on_after(BESIDE_S):
                await is_ready.wait()

    async def _log_page_bug(self, error: Exception) -> None:
        """Log a bug in the status page, which is no reason to stop."""
        with contextlib.suppress(StoreError):
            await self.here.log_error("status page", error)

    async def _open_door(self, nursery: trio.Nursery, standing: StandingServer) -> None:
        where = await standing.listen()
        if where is not None:
            self.remote_setup.opened(*where)
        if any(entrant.is_remote for entrant in self.settings.entrants):
            self.remote_setup.changed(self.loop.progress())
            nursery.start_soon(self._watch_presence, standing)

    async def _all_are_there(self) -> bool:
        """Wait for the remote bots, if all of them are needed. Return False if somebody stops that, and raise
        an AbsentError when it has taken too long."""
        if not self.remote_setup.needs_all:
            return True
        with trio.move_on_after(self.settings.remote_wait_s):
            while self.attendance.missing and not self.loop.is_stopping:
                self.loop.changed = trio.Event()
                await self.loop.changed.wait()
        if self.attendance.missing and not self.loop.is_stopping:
            raise AbsentError(self.attendance.missing, self.settings.remote_wait_s)
        return not self.loop.is_stopping

    async def _watch_presence(self, standing: StandingServer) -> None:
        """Keep the attendance up to date."""
        with self.watching:
            while True:
                if self.attendance.look(standing.present(), trio.current_time()):
                    self.loop.wake()
                    self.remote_setup.changed(self.loop.progress())
                await standing.presence_changed()

    async def _heed(self, signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
        """Wait for signals to stop. Bots are in process groups of their own, so Ctrl-C does not reach
        them."""
        async for _ in signals:
            if self.loop.is_stopping:
                scope.cancel()
            else:
                self.loop.is_stopping = True
                self.loop.wake()
                self.observer.told_to_stop()
                if self.courier is not None:
                    await self.courier.recall()
