"""A tournament being played: matches side by side until the schedule is done, or somebody stops it.

Laws:
- what a bot does wrong is the bot's; what went wrong in this process or this machine is nobody's, is counted
  apart, and the match is played again, at most twice; then its block is void and listed;
- the seed of a block is drawn when its first match begins, and made known when its last one is over; with a
  remote bot at the table each match has a seed of its own, drawn when it begins, and never dealt again, not
  even when the match has to be played once more: a bot that has seen a deal may remember it;
- nobody waits for a remote bot for ever (`attendance.py`); where nothing is to begin without all of them,
  nothing is written before they are there;
- a block in which a suspended bot would play never begins. One that has begun is played to its end, and the
  bot is kept away from those of its matches that begin then: nobody waits for it;
- blocks of house bots alone come out the same again, so they are written once a second, many at a time, and
  shown when they are on the disk. Their seeds are drawn, and stored, when they are queued;
- at the first request to stop, the runner finishes the blocks that have begun; at the second, it ends at
  once. Nothing that was shown is lost, whatever ends it (`store.py`), and no match of a bot that was started.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import trio
from msgspec import UNSET, UnsetType

from stellwerk_processes.bench.levels import SandboxRecord
from stellwerk_processes.standing_server import StandingServer, open_standing_server
from stellwerk_processes.started_match import BotMatch, play_match
from stellwerk_server.match.house_player import NO_HOUSE_BOTS, NewHousePlayer
from stellwerk_server.net.listen_address import CannotListenError, ListenAddress
from stellwerk_tournament.config.machine_paths import MachinePaths
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.attendance import Attendance
from stellwerk_tournament.play.conduct import (
    has_playable,
    matches_called_off,
    matches_not_drawn,
    stage_as_made,
)
from stellwerk_tournament.play.courier import (
    BlockFailedError,
    Courier,
    DueBlock,
    PlayedBlock,
    PlayedMatch,
)
from stellwerk_tournament.play.how_many import total_matches
from stellwerk_tournament.play.keep import finished as as_finished
from stellwerk_tournament.play.keep import keep_match, take_in
from stellwerk_tournament.play.lag import LagWatch
from stellwerk_tournament.play.matches_here import (
    ATTEMPTS,
    OWN_LOG,
    Conditions,
    Execute,
    MatchesHere,
    has_own_deals,
    is_repeatable,
    reused_bots,
    rotations_at_once,
    standing_setup,
    variant_of,
)
from stellwerk_tournament.play.progress import (
    BlockEnded,
    Ended,
    Observer,
    Progress,
    RunningBlock,
    RunningMatch,
    Suspended,
    rows_of,
)
from stellwerk_tournament.play.status_page import NO_PAGE, StatusSetup, TournamentPage
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import FEWEST_DEGREES, RatingError, Ratings, rate
from stellwerk_tournament.schedule.deal import block_secret, standing_seed
from stellwerk_tournament.schedule.schedule import (
    Block,
    Met,
    needs_results,
    numbers_of_stage,
    plan_of,
    stages_of_round,
)
from stellwerk_tournament.store.conduct import Suspension, Suspensions, judged
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.store import Finished, Opened, Standing, StoreError

if TYPE_CHECKING:
    from stellwerk_processes.started_match import MatchResult

MOST_BEGUN_AT_ONCE: Final = 100  # blocks for a courier: their seeds come to the disk in one write
VOIDS_IN_A_ROW: Final = 3  # after so many there is something wrong that will not pass
WRITE_EVERY_S: Final = 1.0  # blocks of house bots, of which there can be a hundred a second
RATING_SHARE: Final = 0.02  # of the time, at most, for ratings that are only shown

T = TypeVar("T")


class RunError(Exception):
    """An error that ends the tournament, though no bot is to blame; one line says why."""


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


@dataclass(slots=True, eq=False)
class _Begun:
    """A block that is being played, here or elsewhere."""

    block: Block
    seed: bytes
    waiting: deque[int]
    running: set[int] = field(default_factory=set[int])
    kept: set[int] = field(default_factory=set[int])
    is_void: bool = False
    unwritten: dict[int, PlayedMatch] | None = None
    """The matches that were played, by rotation, if the block is written when all of them are over."""

    @property
    def is_over(self) -> bool:
        return not self.waiting and not self.running


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
    when everything is open until the matches are over.
    """
    lag = LagWatch()
    trio.lowlevel.add_instrument(lag)
    try:
        conditions = Conditions(execute, sandbox, house_bots=house_bots)
        runner = _Runner(
            settings,
            opened,
            observer,
            seed,
            conditions,
            remote_setup,
            status_setup,
            lag,
            shows_ratings,
            courier,
            beside,
        )
        return await runner.run(begin)
    finally:
        trio.lowlevel.remove_instrument(lag)


class _Runner:
    def __init__(
        self,
        settings: Settings,
        opened: Opened,
        observer: Observer,
        seed: str | None,
        conditions: Conditions,
        remote_setup: RemoteSetup,
        status_setup: StatusSetup,
        lag: LagWatch,
        shows_ratings: bool,
        courier: Courier | None,
        beside: Beside | None,
    ) -> None:
        self._settings = settings
        self._beside = beside
        self._shows_ratings = shows_ratings
        self._courier = courier
        self._to_carry: deque[_Begun] = deque()
        self._carried = 0
        self._plan = plan_of(settings)
        self._store = opened.store
        self._observer = observer
        self._seed = seed
        self._remote_setup = remote_setup
        self._status_setup = status_setup
        self._watching = trio.CancelScope()
        self._bots = {entrant.name: entrant for entrant in settings.entrants}
        paths = MachinePaths(opened.store.folder, settings.entrants)
        self._here = MatchesHere(settings, paths, conditions, lag, self._log)
        self._most = self._here.fair.at_once
        self._total = total_matches(settings, self._plan)

        self._conduct = Suspensions(settings.conduct, opened.results)  # changes only while the disk is ours
        self._results = opened.results  # these, too
        self._results.standings.list_first(settings.names)
        self._known: dict[int, Standing] = {}
        self._last_known = max(self._results.blocks, default=-1)  # of the blocks that have numbers on disk
        self._queue: deque[Block] = deque()
        self._seeds: dict[int, bytes] = {}  # on disk, of blocks that are queued
        self._finished: list[_Begun] = []  # and not written yet
        self._write_at = inf
        self._is_writing = False
        self._begun: list[_Begun] = []
        self._next_stage = 0
        self._at_table: Counter[str] = Counter()
        self._running = 0
        self._shown: dict[str, RunningMatch] = {}  # the running matches that anybody may watch, by id
        self._voids_in_a_row = 0
        self._void_count = 0
        self._called_off_blocks = 0
        self._called_off_matches = 0  # also those that were never drawn

        self._ratings: Ratings | None = None
        self._rate_again_at = 0.0
        self._began_at = trio.current_time()
        self._played_before = self._complete_matches = len(opened.results)
        self._remote = {entrant.name: entrant.logins for entrant in settings.entrants if entrant.is_remote}
        logins = [login.name for logins in self._remote.values() for login in logins]
        self._attendance = Attendance(logins, settings.remote_wait_s, self._began_at)

        self._disk = trio.CapacityLimiter(1)  # the store's calls must not overlap
        self._changed = trio.Event()
        self._stopping = False
        self._failure: Exception | None = None

    async def run(self, begin: Callable[[], object]) -> bool:
        self._known = {each.block.number: each for each in await self._on_disk(self._store.standings)}
        self._seeds = {
            number: each.seed
            for number, each in self._known.items()
            if each.status == "queued" and each.seed is not None
        }
        self._last_known = max(self._last_known, max(self._known, default=-1))
        self._void_count = sum(each.status == "void" for each in self._known.values())
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with AsyncExitStack() as stack:
                stack.enter_context(self._here.fair.at_work())
                setup = standing_setup(
                    self._settings,
                    self._most,
                    self._standing_seeds(),
                    self._remote_setup.listen_at,
                    self._remote_setup.may_connect,
                )
                if setup is not None and self._courier is None:
                    self._here.standing = await stack.enter_async_context(open_standing_server(setup))
                nursery = await stack.enter_async_context(trio.open_nursery())
                nursery.start_soon(self._heed, signals, nursery.cancel_scope)
                try:
                    await self._open(nursery)
                    if await self._all_are_there():
                        self._began_at = trio.current_time()  # the rate is that of the matches
                        await self._on_disk(begin)
                        if self._courier is not None:
                            nursery.start_soon(self._courier.watch)
                        await self._play_all(nursery)
                        if not self._stopping and not self._begun:
                            await self._on_disk(partial(self._store.note_over, True))
                except (StoreError, RunError, CannotListenError, AbsentError) as error:
                    self._fail_with(error, nursery.cancel_scope)
                self._watching.cancel()
                if self._here.standing is not None:
                    await self._here.standing.say_goodbye(
                        finished=not self._stopping and self._failure is None
                    )
                nursery.cancel_scope.cancel()
        if self._failure is not None:
            raise self._failure
        return not self._stopping

    # -- remote bots, and processes that stay ----------------------------------------------------

    def _standing_seeds(self) -> dict[str, str]:
        """Return the seeds of bots whose processes play match after match."""
        names = reused_bots(self._settings.entrants)
        if self._seed is None:
            return {name: secrets.token_hex(32) for name in names}
        return {name: standing_seed(self._seed, name) for name in names}

    async def _open(self, nursery: trio.Nursery) -> None:
        if self._status_setup.host is not None:

            def note_bug(error: Exception) -> None:
                nursery.start_soon(self._log_page_bug, error)

            page = TournamentPage(
                self._settings, self._status_setup, self._progress, self._here.listed, note_bug
            )
            await page.listen(nursery)
        standing = self._here.standing
        if standing is not None:
            await self._open_door(nursery, standing)
        if self._beside is not None:
            is_ready = trio.Event()
            nursery.start_soon(self._beside, standing, is_ready.set)
            with trio.move_on_after(BESIDE_S):
                await is_ready.wait()

    async def _open_door(self, nursery: trio.Nursery, standing: StandingServer) -> None:
        where = await standing.listen()
        if where is not None:
            self._remote_setup.opened(*where)
        if self._remote:
            self._remote_setup.changed(self._progress())
            nursery.start_soon(self._watch_presence, standing)

    async def _all_are_there(self) -> bool:
        """Wait for the remote bots, if all of them are needed. Return False if somebody stops that, and raise
        an AbsentError when it has taken too long."""
        if not self._remote_setup.needs_all:
            return True
        with trio.move_on_after(self._settings.remote_wait_s):
            while self._attendance.missing and not self._stopping:
                self._changed = trio.Event()
                await self._changed.wait()
        if self._attendance.missing and not self._stopping:
            raise AbsentError(self._attendance.missing, self._settings.remote_wait_s)
        return not self._stopping

    async def _watch_presence(self, standing: StandingServer) -> None:
        """Keep the attendance up to date."""
        with self._watching:
            while True:
                if self._attendance.look(standing.present(), trio.current_time()):
                    self._changed.set()
                    self._remote_setup.changed(self._progress())
                await standing.presence_changed()

    async def _heed(self, signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
        """Wait for signals to stop. Bots are in process groups of their own, so Ctrl-C does not reach
        them."""
        async for _ in signals:
            if self._stopping:
                scope.cancel()
            else:
                self._stopping = True
                self._changed.set()
                self._observer.told_to_stop()
                if self._courier is not None:
                    await self._courier.recall()

    def _fail_with(self, error: Exception, scope: trio.CancelScope) -> None:
        """End the tournament as it is, without a nursery's wrapping."""
        self._failure = self._failure or error
        scope.cancel()

    async def _on_disk(self, work: Callable[[], T]) -> T:
        return await trio.to_thread.run_sync(work, limiter=self._disk)

    # -- what comes next -------------------------------------------------------------------------

    async def _play_all(self, nursery: trio.Nursery) -> None:
        while True:
            self._changed = trio.Event()
            await self._start_what_can_be(nursery)
            is_idle = not self._running and not self._carried
            if self._finished and not self._is_writing and (is_idle or trio.current_time() >= self._write_at):
                nursery.start_soon(self._write_in_time, nursery.cancel_scope)
                self._is_writing = True
            if is_idle and not self._is_writing and not (self._attendance.missing and self._has_more()):
                return
            next_end = self._attendance.next_end(trio.current_time())
            with trio.move_on_at(next_end if self._is_writing else min(next_end, self._write_at)):
                await self._changed.wait()

    def _has_more(self) -> bool:
        queued = bool(self._queue) and not self._stopping
        return queued or any(begun.waiting for begun in self._begun)

    async def _start_what_can_be(self, nursery: trio.Nursery) -> None:
        courier = self._courier
        if courier is None:
            while self._running < self._most and await self._go_on(nursery):
                pass
        else:
            while courier.takes_more and self._carried < courier.most and await self._send_on(nursery):
                pass

    async def _go_on(self, nursery: trio.Nursery) -> bool:
        """Go on by one match or block, if possible: of the bots that are there, or else of some that have
        been waited for in vain."""
        nobody: frozenset[str] = frozenset()
        for absent in (nobody, self._attendance.given_up(trio.current_time())):
            found = self._next_match(absent)
            if found is not None:
                self._start(nursery, *found)
                return True
            block = None if self._stopping else self._next_block(absent)
            if block is not None:
                await self._begin([block])
                return True
        return not self._stopping and not self._queue and await self._more()

    async def _send_on(self, nursery: trio.Nursery) -> bool:
        """Give the courier one more block, or find out what comes next. Return False if there is nothing."""
        assert self._courier is not None
        if self._stopping:
            return False
        if self._to_carry:
            begun = self._to_carry.popleft()
            self._carried += 1
            nursery.start_soon(self._carry, self._courier, nursery.cancel_scope, begun)
            return True
        if self._queue:
            count = min(len(self._queue), self._courier.most - self._carried, MOST_BEGUN_AT_ONCE)
            await self._begin([self._queue.popleft() for _ in range(count)])
            return True
        return await self._more()

    def _next_match(self, absent: frozenset[str]) -> tuple[_Begun, int] | None:
        for begun in self._begun:
            if (
                begun.waiting
                and len(begun.running) < rotations_at_once(self._settings, begun.block, self._most)
                and self._may_sit_down(begun.block, absent)
            ):
                return begun, begun.waiting.popleft()
        return None

    def _next_block(self, absent: frozenset[str]) -> Block | None:
        for block in self._queue:
            if self._may_sit_down(block, absent):
                self._queue.remove(block)
                return block
        return None

    def _may_sit_down(self, block: Block, absent: frozenset[str]) -> bool:
        """Return whether enough copies of each bot are free, and all are there except those in `absent`."""
        size = variant_of(self._settings, block).team_size
        logins = {
            name: [login.name for login in self._remote.get(name, ())[:size]]
            for name in block.entrants
            if name not in self._conduct.names
        }
        needed = [login for each in logins.values() for login in each if login not in absent]
        return self._attendance.are_there(needed) and all(
            self._at_table[name] + count <= most
            for name, count in self._copies(block).items()
            if name in logins
            for most in (self._bots[name].instances, *map(self._attendance.most, logins[name]))
            if most is not None
        )

    def _copies(self, block: Block) -> dict[str, int]:
        """Return what a match takes of each bot: a process for each seat, or, of a remote bot, one match."""
        size = variant_of(self._settings, block).team_size
        return {name: 1 if name in self._remote else size for name in block.entrants}

    async def _begin(self, blocks: Sequence[Block]) -> None:
        """Begin blocks, but for those of bots that have just been suspended."""
        lazy = {block for block in blocks if self._is_written_later(block)}
        secret_of = {block: self._seeds.get(block.number) or self._drawn(block) for block in blocks}
        eager = {block: secret for block, secret in secret_of.items() if block not in lazy}
        begun = [block for block in lazy if not self._conduct.concern(block)]
        if eager:
            begun += await self._on_disk(partial(self._begin_unless_called_off, eager))
        for block in blocks:
            if block in begun:
                unwritten = dict[int, PlayedMatch]() if block in lazy else None
                waiting = deque(block.rotations)
                self._note_begun(_Begun(block, secret_of[block], waiting, unwritten=unwritten))
        if len(begun) < len(blocks):
            self._queue += [block for block in blocks if block not in begun]
            await self._call_off()

    def _drawn(self, block: Block) -> bytes:
        return secrets.token_bytes(32) if self._seed is None else block_secret(self._seed, block.number)

    def _is_written_later(self, block: Block) -> bool:
        """Return whether nothing of a block is written before it is over, since it comes out the same again.
        One that comes back another time has to be on disk, and so has one that may end the tournament."""
        is_played_now = self._courier is None or self._courier.brings_back
        may_wait = is_played_now and self._settings.until_width is None
        return may_wait and block.number in self._seeds and is_repeatable(self._settings, block)

    def _note_begun(self, begun: _Begun) -> None:
        self._begun.append(begun)
        if self._courier is not None and begun.waiting:
            self._to_carry.append(begun)

    def _begin_unless_called_off(self, secret_of: Mapping[Block, bytes]) -> list[Block]:
        """Write down that blocks begin, at once. Return them, without those of suspended bots."""
        begun: list[Block] = []
        with self._store.together():
            for block, secret in secret_of.items():
                if not self._conduct.concern(block):
                    self._store.begin(block, secret)
                    begun.append(block)
        return begun

    async def _call_off(self) -> None:
        """Call off the blocks of suspended bots that have not begun."""
        blocks = [block for block in self._queue if self._conduct.concern(block)]
        if blocks:
            called_off = set(blocks)
            self._queue = deque(block for block in self._queue if block not in called_off)
            self._called_off_blocks += len(blocks)
            self._called_off_matches += sum(len(block.rotations) for block in blocks)
            await self._on_disk(partial(self._store.call_off, blocks))

    async def _more(self) -> bool:
        """Take up the blocks of one more stage. Return False if there is none, or none yet.

        The cost of a stage does not depend on the number of stages before it, unless its tables do: a folder
        that is resumed takes up all of its stages again.
        """
        plan, number = self._plan, self._next_stage
        rounds = self._settings.rounds
        if rounds is not None and number >= rounds * stages_of_round(plan):
            return False
        if needs_results(plan) and self._begun:
            return False
        is_new_round = number % stages_of_round(plan) == 0
        if self._courier is not None and rounds is None and self._begun and is_new_round:
            return False  # the blocks that are away may end the tournament
        numbers = numbers_of_stage(plan, number)
        if self._last_known < numbers.start and not has_playable(plan, self._conduct.names):
            return False
        played = self._results
        history = played.history() if needs_results(plan) else ()
        blocks = stage_as_made(plan, number, history, self._conduct.sets, self._known_of(numbers))
        new = [block for block in blocks if block.number not in self._known]
        is_new = bool(new) or not blocks
        if is_new and is_new_round and await self._is_narrow_enough():
            return False
        for block in blocks:
            self._expect_as_played(block, played.met(block.number) if block.number in played else None)
        done = [block for block in new if block.number in played]
        to_play = [block for block in new if block.number not in played]
        if new:
            await self._on_disk(partial(self._enqueue, done, to_play))
        for block in blocks:
            if block.number not in played:
                await self._take_up(block)
        self._next_stage += 1
        self._called_off_matches += matches_not_drawn(plan, number, blocks)
        await self._call_off()
        return True

    def _known_of(self, numbers: range) -> dict[int, tuple[str, ...]]:
        """Return the entrants of those of these blocks that are on disk."""
        known = {n: self._known[n].block.entrants for n in numbers if n in self._known}
        played = self._results
        return known | {n: tuple(played.met(n).scores) for n in numbers if n in played}

    def _enqueue(self, done: Sequence[Block], to_play: Sequence[Block]) -> None:
        if done:
            self._store.enqueue(done, "complete")
        if to_play:
            seeds = {b.number: self._drawn(b) for b in to_play if is_repeatable(self._settings, b)}
            self._store.enqueue(to_play, "queued", seeds)
            self._seeds |= seeds

    async def _take_up(self, block: Block) -> None:
        standing = self._known.get(block.number)
        if standing is None or standing.status == "queued" or standing.seed is None:
            if standing is None or standing.status != "void":
                self._queue.append(block)
            return
        waiting = deque(rotation for rotation in block.rotations if rotation not in standing.kept)
        begun = _Begun(block, standing.seed, waiting, kept=set(standing.kept))
        self._note_begun(begun)
        if begun.is_over:
            await self._complete(begun)

    def _expect_as_played(self, block: Block, met: Met | None) -> None:
        """Raise a RunError if a block on disk is not the one of this schedule."""
        standing = self._known.get(block.number)
        found = [] if met is None else [(tuple(met.scores), met.round)]
        if standing is not None:
            found.append((standing.block.entrants, standing.block.round))
        for entrants, round in found:
            if (entrants, round) != (block.entrants, block.round):
                raise RunError(
                    f"block {block.number} is between {', '.join(entrants)} in round {round} here, and "
                    f"between {', '.join(block.entrants)} in round {block.round} by the settings: has "
                    f"tournament.toml been changed?"
                )

    async def _is_narrow_enough(self) -> bool:
        """Return whether all intervals are narrow enough, but for those of suspended bots. With fewer blocks
        than an interval needs, its width means nothing."""
        width = self._settings.until_width
        if width is None or not self._complete_matches:
            return False
        await self._rate()
        return self._ratings is not None and all(
            rating.low is not None
            and rating.high is not None
            and rating.high - rating.low <= width
            and rating.freedom >= FEWEST_DEGREES
            for rating in self._ratings.entrants
            if rating.name not in self._conduct.names
        )

    # -- a match ---------------------------------------------------------------------------------

    def _start(self, nursery: trio.Nursery, begun: _Begun, rotation: int) -> None:
        begun.running.add(rotation)
        self._running += 1
        self._at_table.update(self._copies(begun.block))
        nursery.start_soon(self._play, nursery.cancel_scope, begun, rotation)

    async def _play(self, scope: trio.CancelScope, begun: _Begun, rotation: int) -> None:
        block = begun.block
        try:
            ended = await self._here.play(
                block,
                begun.seed,
                rotation,
                self._conduct.names,
                self._attendance.given_up(trio.current_time()),
                partial(self._show, block, rotation),
                self._show_no_more,
            )
            if begun.is_void:
                pass  # another match of the block could not be played
            elif isinstance(ended, str):
                await self._failed(begun, rotation, ended)
            elif begun.unwritten is not None:
                self._keep_for_later(begun, self._here.as_played(*ended))
            else:
                await self._keep(begun, rotation, *ended)
        except (StoreError, RunError) as error:
            self._fail_with(error, scope)
        finally:
            self._running -= 1
            self._at_table.subtract(self._copies(block))
            self._changed.set()

    async def _log(self, heading: str, lines: Sequence[str]) -> None:
        await self._on_disk(partial(self._store.log, OWN_LOG, heading, lines))

    async def _log_page_bug(self, error: Exception) -> None:
        """Log a bug in the status page, which is no reason to stop."""
        with contextlib.suppress(StoreError):
            await self._here.log_error("status page", error)

    def _show(self, block: Block, rotation: int, bot_match: BotMatch) -> None:
        """Show a match that has begun, if it may be shown."""
        plan = bot_match.plan
        if plan.is_watchable:
            players = tuple(bot.name for bot in bot_match.bots)
            match = RunningMatch(plan.match, block.number, block.round, rotation, plan.game.id, players)
            self._shown[plan.match] = match
            self._observer.match_began(match, self._progress())

    def _show_no_more(self, bot_match: BotMatch) -> None:
        self._shown.pop(bot_match.plan.match, None)

    async def _keep(self, begun: _Begun, rotation: int, line: MatchLine, played: MatchResult) -> None:
        await self._on_disk(partial(self._write, begun.block, line, played))
        if begun.is_void:
            return  # it has become so meanwhile
        begun.running.discard(rotation)
        begun.kept.add(rotation)
        own_id = None if line.deal == "same_in_block" else line.match
        self._observer.match_ended(Ended(begun.block, rotation, match=own_id), self._progress())
        if begun.is_over:
            await self._complete(begun)

    def _keep_for_later(self, begun: _Begun, *matches: PlayedMatch) -> None:
        """Keep matches of house bots in memory, until their block is over and it is time to write."""
        assert begun.unwritten is not None
        for match in matches:
            begun.unwritten[match.line.rotation] = match
            begun.running.discard(match.line.rotation)
        if begun.is_over:
            if not self._finished:
                self._write_at = trio.current_time() + WRITE_EVERY_S
            self._finished.append(begun)

    async def _write_in_time(self, scope: trio.CancelScope) -> None:
        try:
            await self._write_finished()
        except (StoreError, RunError) as error:
            self._fail_with(error, scope)
        finally:
            self._is_writing = False
            self._changed.set()

    async def _write_finished(self) -> None:
        """Write the blocks that are over, all at once, and then show them."""
        finished, self._finished, self._write_at = self._finished, [], inf
        written = await self._on_disk(partial(self._write_blocks, finished))
        for begun, (lines, suspensions) in zip(finished, written, strict=True):
            for line in lines:
                begun.kept.add(line.rotation)
                self._observer.match_ended(Ended(begun.block, line.rotation), self._progress())
            await self._note_complete(begun, lines, suspensions)

    def _write_blocks(
        self, finished: Sequence[_Begun]
    ) -> list[tuple[list[MatchLine], tuple[Suspension, ...]]]:
        """Write blocks of which nothing was kept. Return what `_write_block` returns for each."""
        suspensions: list[tuple[Suspension, ...]] = []

        def judge(lines: Sequence[MatchLine]) -> Sequence[MatchLine]:
            judged_lines = self._judged(lines)
            suspensions.append(self._conduct.add(judged_lines))
            return judged_lines

        blocks: list[Finished] = []
        for begun in finished:
            assert begun.unwritten is not None
            matches = [played for _, played in sorted(begun.unwritten.items())]
            blocks.append(as_finished(self._store, begun.block, begun.seed, matches))
        return list(zip(self._store.complete_all(blocks, judge), suspensions, strict=True))

    async def _complete(self, begun: _Begun) -> None:
        lines, suspensions = await self._on_disk(partial(self._write_block, begun))
        await self._note_complete(begun, lines, suspensions)

    async def _note_complete(
        self, begun: _Begun, lines: Sequence[MatchLine], suspensions: Sequence[Suspension]
    ) -> None:
        self._begun.remove(begun)
        self._here.end_deal(begun.seed)
        self._voids_in_a_row = 0
        self._complete_matches += len(lines)
        self._last_known = max(self._last_known, begun.block.number)
        if self._shows_ratings and trio.current_time() >= self._rate_again_at:
            await self._rate()
        ended = BlockEnded(begun.block, "complete", tuple(lines))
        self._observer.block_ended(ended, self._progress())
        news = [Suspended(each, sum(each.bot in b.entrants for b in self._queue)) for each in suspensions]
        await self._call_off()
        for suspended in news:
            self._observer.suspended(suspended, self._progress())

    def _write_block(self, begun: _Begun) -> tuple[list[MatchLine], tuple[Suspension, ...]]:
        """Write the lines of a block with their forfeits. Return them, and who is suspended from then on."""
        lines = self._store.complete(begun.block, begun.seed, self._judged)
        return lines, self._conduct.add(lines)

    def _judged(self, lines: Sequence[MatchLine]) -> Sequence[MatchLine]:
        return judged(lines, conduct=self._settings.conduct, suspended=self._conduct.names)

    # -- a block that is played elsewhere ----------------------------------------------------------

    async def _carry(self, courier: Courier, scope: trio.CancelScope, begun: _Begun) -> None:
        """Let the courier take a block away, and keep what it brings back."""
        block = begun.block
        rotations = tuple(begun.waiting)
        begun.waiting.clear()
        begun.running.update(rotations)
        self._running += len(rotations)
        suspended = tuple(name for name in block.entrants if name in self._conduct.names)
        try:
            try:
                played = await courier.play(DueBlock(block, begun.seed, rotations, suspended))
                if played is not None:
                    await self._take_in(begun, played)
            except BlockFailedError as error:
                await self._failed(begun, error.rotation, str(error), error.machine)
                if not begun.is_void:
                    begun.waiting = deque(rotations)
                    begun.running.clear()
                    self._to_carry.append(begun)
        except (StoreError, RunError) as error:
            self._fail_with(error, scope)
        finally:
            self._running -= len(rotations)
            self._carried -= 1
            self._changed.set()

    async def _take_in(self, begun: _Begun, played: PlayedBlock) -> None:
        if begun.unwritten is not None:
            for rotation, cause in played.failures:
                fail = partial(self._store.fail, begun.block, rotation, cause, played.machine)
                await self._on_disk(fail)
            self._keep_for_later(begun, *played.matches)
            return
        await self._on_disk(partial(take_in, self._store, begun.block, played))
        for match in played.matches:
            begun.running.discard(match.line.rotation)
            begun.kept.add(match.line.rotation)
            self._observer.match_ended(Ended(begun.block, match.line.rotation), self._progress())
        await self._complete(begun)

    async def _failed(self, begun: _Begun, rotation: int, cause: str, machine: str = "") -> None:
        block = begun.block
        count = await self._on_disk(partial(self._store.fail, block, rotation, cause, machine))
        cause = f"{machine}: {cause}" if machine else cause
        if begun.is_void:
            return  # it has become so meanwhile
        begun.running.discard(rotation)
        self._observer.match_ended(Ended(block, rotation, cause), self._progress())
        if count < ATTEMPTS:
            begun.waiting.append(rotation)
            return
        begun.is_void = True
        begun.waiting.clear()
        self._begun.remove(begun)
        self._here.end_deal(begun.seed)
        self._void_count += 1
        self._voids_in_a_row += 1
        await self._on_disk(partial(self._store.give_up, block, cause))
        self._observer.block_ended(BlockEnded(block, "void", cause=cause), self._progress())
        if self._voids_in_a_row >= VOIDS_IN_A_ROW:
            raise RunError(
                f"{VOIDS_IN_A_ROW} blocks in a row could not be played, the last one because: {cause}"
            )

    def _write(self, block: Block, line: MatchLine, played: MatchResult) -> None:
        """Write all that is kept of a match, in one call: if its block becomes void meanwhile, that comes
        after."""
        keep_match(self._store, block, self._here.as_played(line, played))

    # -- how far it has come ---------------------------------------------------------------------

    async def _rate(self) -> None:
        began = perf_counter()
        outcomes = await self._on_disk(self._results.outcomes)
        self._ratings = await trio.to_thread.run_sync(_rated, outcomes)
        self._rate_again_at = trio.current_time() + (perf_counter() - began) / RATING_SHARE

    def _progress(self) -> Progress:
        played = self._complete_matches + sum(len(begun.kept) for begun in self._begun)
        seconds = trio.current_time() - self._began_at
        rate = (played - self._played_before) / seconds if seconds > 0 else 0.0
        total = self._total
        suspended = self._conduct.names
        if total is not None and self._settings.rounds is not None:
            total -= self._called_off_matches
            total -= matches_called_off(self._plan, self._next_stage, self._settings.rounds, suspended)
        left = None
        if total is not None and rate > 0:
            left = round(max(0, total - played) / rate, 1)
        logins = {login.name for name in suspended for login in self._remote.get(name, ())}
        return Progress(
            played=played,
            running=self._running,
            rows=rows_of(self._results.standings, self._ratings, suspended),
            total=total,
            void_blocks=self._void_count,
            matches_per_minute=round(60 * rate, 1) if rate > 0 else None,
            seconds_left=left,
            missing=tuple(name for name in self._attendance.missing if name not in logins),
            called_off_blocks=self._called_off_blocks,
            suspended=tuple(self._conduct.of.values()),
            matches=tuple(self._shown.values()),
            blocks=tuple(
                RunningBlock(
                    block.number,
                    block.round,
                    variant_of(self._settings, block).choice.game_id,
                    block.entrants,
                )
                for block in (begun.block for begun in self._begun)
                if not has_own_deals(self._settings, block)
            ),
        )


def _rated(outcomes: Sequence[Outcome]) -> Ratings | None:
    try:
        return rate(outcomes)
    except RatingError:
        return None  # too few matches
