"""The loop of a runner: what can begin begins, and what has ended is kept and shown, until all is over.

Laws:
- what a bot does wrong is the bot's. What went wrong in this process or this machine is no bot's fault: it is
  counted apart, and the match is played again;
- a match whose bots are all there goes before one that has to wait;
- after a request to stop, and during a pause, no block begins. Those that have begun are played to their end;
- nothing is shown before it is on the disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Final

import trio

from stellwerk_processes.started_match import BotMatch
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.attendance import Attendance, Seating
from stellwerk_tournament.play.blocks_in_hand import BegunBlock, BlocksInHand
from stellwerk_tournament.play.courier import BlockFailedError, Courier, DueBlock, PlayedBlock, RunError
from stellwerk_tournament.play.matches_here import ATTEMPTS, MatchesHere
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
from stellwerk_tournament.play.record import Record
from stellwerk_tournament.play.source import BlockSource
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.store import StoreError

MOST_BEGUN_AT_ONCE: Final = 100  # blocks for a courier: their seeds come to the disk in one write
DECISIONS_EVERY_S: Final = 1.0  # the runner looks for decisions of the organizer
RATING_SHARE: Final = 0.02  # of the time, at most, for ratings that are only shown


class MatchLoop:
    """Plays the blocks of a source: here, or where a `courier` takes all of them. `failure` is what ended the
    tournament, if anything did."""

    def __init__(
        self,
        settings: Settings,
        source: BlockSource,
        hand: BlocksInHand,
        record: Record,
        here: MatchesHere,
        observer: Observer,
        courier: Courier | None,
    ) -> None:
        self.settings = settings
        self.hand = hand
        self.here = here
        self.observer = observer
        self.courier = courier
        logins = [login.name for entrant in source.entrants.values() for login in entrant.logins]
        self.attendance = Attendance(logins, settings.remote_wait_s, trio.current_time())
        self._source = source
        self._record = record
        self._seating = Seating(source.entrants, settings.variants, self.attendance)
        self._decisions_shown = len(record.field.decisions)
        self._rate_again_at = 0.0
        self._to_carry: deque[BegunBlock] = deque()
        self._carried = 0
        self._running = 0
        self._is_writing = False
        self._shown: dict[str, RunningMatch] = {}  # the running matches that anybody may watch, by id
        self._played_before = self._complete_matches = len(record.results)
        self.began_at = trio.current_time()
        self.changed = trio.Event()
        self.is_stopping = False
        self.failure: Exception | None = None

    def wake(self) -> None:
        """Look again at what can begin."""
        self.changed.set()

    def fail_with(self, error: Exception, scope: trio.CancelScope) -> None:
        """End the tournament as it is, without a nursery's wrapping."""
        self.failure = self.failure or error
        scope.cancel()

    async def run(self, nursery: trio.Nursery) -> None:
        """Play until nothing is left to play, or until all that has begun is over after a request to stop."""
        if self.courier is not None:
            nursery.start_soon(self.courier.watch)
        nursery.start_soon(self._heed_decisions, nursery.cancel_scope)
        self.began_at = trio.current_time()  # the rate is that of the matches
        hand = self.hand
        while True:
            self.changed = trio.Event()
            await self._start_what_can_be(nursery)
            await self._show_decisions()
            is_idle = not self._running and not self._carried
            is_time = is_idle or trio.current_time() >= hand.write_at
            if hand.has_finished and is_time and not self._is_writing:
                self._is_writing = True
                nursery.start_soon(self._write_finished, nursery.cancel_scope)
            if is_idle and not self._is_writing and not self._waits():
                if not self.is_stopping and not hand.begun:
                    await hand.note_over()
                return
            next_end = self.attendance.next_end(trio.current_time())
            with trio.move_on_at(next_end if self._is_writing else min(next_end, hand.write_at)):
                await self.changed.wait()

    def _waits(self) -> bool:
        """Return whether something may begin that nothing here makes begin: a bot comes, or the source has
        news."""
        begun, queue = self.hand.begun.values(), () if self.is_stopping else self.hand.queue
        if self._is_paused and not self.is_stopping and (queue or not self._source.is_over):
            return True
        if queue or any(each.waiting for each in begun):
            return bool(self.attendance.missing)
        return not (begun or self.is_stopping or self._source.is_over)

    @property
    def _is_paused(self) -> bool:
        return self._record.field.pause is not None

    @property
    def _begins_blocks(self) -> bool:
        return not self.is_stopping and not self._is_paused

    async def _heed_decisions(self, scope: trio.CancelScope) -> None:
        """Read decisions that are made while nothing else is due."""
        try:
            while True:
                await trio.sleep(DECISIONS_EVERY_S)
                await self.hand.read_decisions()
                if len(self._record.field.decisions) > self._decisions_shown:
                    self.wake()
        except StoreError as error:
            self.fail_with(error, scope)

    async def _show_decisions(self) -> None:
        """Let new decisions take effect, and show them."""
        news = self._record.field.decisions[self._decisions_shown :]
        if news:
            await self.hand.call_off()
        for decision in news:
            self._decisions_shown += 1
            self.observer.decided(decision, self.progress())

    # -- what comes next -------------------------------------------------------------------------

    async def _start_what_can_be(self, nursery: trio.Nursery) -> None:
        courier = self.courier
        if courier is None:
            while self._running < self.here.fair.at_once and await self._start_one(nursery):
                pass
        else:
            while courier.takes_more and self._carried < courier.most:
                if not await self._send_one(nursery, courier):
                    break

    async def _start_one(self, nursery: trio.Nursery) -> bool:
        """Start one match, or begin one block, if possible: of the bots that are there, or else of some that
        have been waited for in vain."""
        for absent in (frozenset[str](), self.attendance.given_up(trio.current_time())):
            for begun in self.hand.begun.values():
                at_once = self.here.rotations_at_once(begun.block)
                if begun.waiting and len(begun.running) < at_once and self._has_room(begun.block, absent):
                    rotation = begun.waiting.popleft()
                    self._note_running(begun, [rotation])
                    self._seating.sit_down(begun.block)
                    nursery.start_soon(self._play, nursery.cancel_scope, begun, rotation)
                    return True
            for block in self.hand.queue if self._begins_blocks else ():
                if self._has_room(block, absent):
                    self.hand.queue.remove(block)
                    await self._begin([block])
                    return True
        return await self._take_more()

    def _has_room(self, block: Block, absent: frozenset[str]) -> bool:
        return self._seating.has_room(block, absent, self._record.conduct.names)

    async def _send_one(self, nursery: trio.Nursery, courier: Courier) -> bool:
        """Give the courier one more block, or find out what comes next. Return False if there is nothing."""
        if self.is_stopping:
            return False
        if self._to_carry:
            self._carried += 1
            nursery.start_soon(self._carry, courier, nursery.cancel_scope, self._to_carry.popleft())
            return True
        queue = self.hand.queue
        if queue and self._begins_blocks:
            count = min(len(queue), courier.most - self._carried, MOST_BEGUN_AT_ONCE)
            await self._begin([queue.popleft() for _ in range(count)])
            return True
        return await self._take_more()

    async def _begin(self, blocks: Sequence[Block]) -> None:
        begun = await self.hand.begin(blocks)
        self._note_begun(begun)
        if len(begun) < len(blocks):
            await self.hand.call_off()

    def _note_begun(self, blocks: Sequence[BegunBlock]) -> None:
        if self.courier is not None:
            self._to_carry += [begun for begun in blocks if begun.waiting]

    async def _take_more(self) -> bool:
        """Take up the next blocks of the source. Return False if none is due."""
        if self.hand.queue or not self._begins_blocks:
            return False
        begun = await self.hand.take_more()
        if begun is None:
            return False
        self._note_begun(begun)
        for each in begun:
            if each.is_over:
                await self._complete(each)
        await self.hand.call_off()
        return True

    # -- matches ---------------------------------------------------------------------------------

    async def _play(self, scope: trio.CancelScope, begun: BegunBlock, rotation: int) -> None:
        """Play a match here, and keep it."""
        try:
            ended = await self.here.play(
                begun.block,
                begun.seed,
                rotation,
                self._record.conduct.names,
                self.attendance.given_up(trio.current_time()),
                partial(self._show, begun.block, rotation),
                self._show_no_more,
            )
            if begun.is_void:
                pass  # another match of the block could not be played
            elif isinstance(ended, str):
                await self._fail(begun, rotation, ended)
            else:
                await self._keep(begun, PlayedBlock((self.here.as_played(*ended),)))
        except (StoreError, RunError) as error:
            self.fail_with(error, scope)
        finally:
            self._running -= 1
            self._seating.stand_up(begun.block)
            self.wake()

    async def _carry(self, courier: Courier, scope: trio.CancelScope, begun: BegunBlock) -> None:
        """Let the courier take a block away, and keep what it brings back."""
        block, rotations = begun.block, tuple(begun.waiting)
        begun.waiting.clear()
        self._note_running(begun, rotations)
        suspended = tuple(name for name in block.entrants if name in self._record.conduct.names)
        try:
            try:
                played = await courier.play(DueBlock(block, begun.seed, rotations, suspended))
                if played is not None:
                    await self._keep(begun, played)
            except BlockFailedError as error:
                await self._fail(begun, error.rotation, str(error), error.machine)
                if not begun.is_void:
                    begun.waiting = deque(rotations)
                    begun.running.clear()
                    self._to_carry.append(begun)
        except (StoreError, RunError) as error:
            self.fail_with(error, scope)
        finally:
            self._running -= len(rotations)
            self._carried -= 1
            self.wake()

    def _note_running(self, begun: BegunBlock, rotations: Sequence[int]) -> None:
        begun.running.update(rotations)
        self._running += len(rotations)

    def _show(self, block: Block, rotation: int, bot_match: BotMatch) -> None:
        """Show a match that has begun, if it may be shown."""
        plan = bot_match.plan
        if plan.is_watchable:
            players = tuple(bot.name for bot in bot_match.bots)
            match = RunningMatch(plan.match, block.number, block.round, rotation, plan.game.id, players)
            self._shown[plan.match] = match
            self.observer.match_began(match, self.progress())

    def _show_no_more(self, bot_match: BotMatch) -> None:
        self._shown.pop(bot_match.plan.match, None)

    # -- what has ended --------------------------------------------------------------------------

    async def _keep(self, begun: BegunBlock, played: PlayedBlock) -> None:
        if await self.hand.keep(begun, played):
            for match in played.matches:
                self._show_kept(begun, match.line)
            if begun.is_over:
                await self._complete(begun)

    async def _write_finished(self, scope: trio.CancelScope) -> None:
        """Write the blocks of house bots that are over, and then show them."""
        try:
            for begun, lines in await self.hand.write_finished():
                for line in lines:
                    begun.kept.add(line.rotation)
                    self._show_kept(begun, line)
                await self._end(begun, lines)
        except (StoreError, RunError) as error:
            self.fail_with(error, scope)
        finally:
            self._is_writing = False
            self.wake()

    def _show_kept(self, begun: BegunBlock, line: MatchLine) -> None:
        own_id = None if line.deal == "same_in_block" else line.match
        self.observer.match_ended(Ended(begun.block, line.rotation, match=own_id), self.progress())

    async def _complete(self, begun: BegunBlock) -> None:
        await self._end(begun, await self.hand.complete(begun))

    async def _end(self, begun: BegunBlock, lines: Sequence[MatchLine]) -> None:
        """Count a block that is on the disk, and show what it changes."""
        block, record = begun.block, self._record
        self.hand.forget(begun)
        self.here.end_deal(begun.seed)
        self._complete_matches += len(lines)
        if self.observer.shows_ratings and trio.current_time() >= self._rate_again_at:
            began = perf_counter()
            outcomes = await self.hand.on_disk(record.outcomes)
            await trio.to_thread.run_sync(record.rate, outcomes)
            self._rate_again_at = trio.current_time() + (perf_counter() - began) / RATING_SHARE
        self.observer.block_ended(BlockEnded(block, "complete", tuple(lines)), self.progress())
        queue = self.hand.queue
        news = [
            Suspended(each, sum(each.bot in block.entrants for block in queue))
            for each in record.conduct.after(block.number)
        ]
        await self.hand.call_off()
        for suspended in news:
            self.observer.suspended(suspended, self.progress())

    async def _fail(self, begun: BegunBlock, rotation: int, cause: str, machine: str = "") -> None:
        """Note that a match could not be played, through no bot's fault. After too many attempts its block is
        void."""
        block = begun.block
        count = await self.hand.fail(begun, rotation, cause, machine)
        if count is None:
            return
        cause = f"{machine}: {cause}" if machine else cause
        self.observer.match_ended(Ended(block, rotation, cause), self.progress())
        if count < ATTEMPTS:
            begun.waiting.append(rotation)
            return
        self.here.end_deal(begun.seed)
        await self.hand.give_up(begun, cause)
        self.observer.block_ended(BlockEnded(block, "void", cause=cause), self.progress())
        self.hand.expect_better(cause)

    # -- how far it has come ---------------------------------------------------------------------

    def progress(self) -> Progress:
        record, hand = self._record, self.hand
        played = self._complete_matches + sum(len(begun.kept) for begun in hand.begun.values())
        seconds = trio.current_time() - self.began_at
        rate = (played - self._played_before) / seconds if seconds > 0 else 0.0
        total = self._source.total
        if total is not None:
            total -= hand.called_off_matches
        out = record.conduct.out
        gone = {
            login.name
            for name, entrant in self._source.entrants.items()
            if name in out
            for login in entrant.logins
        }
        return Progress(
            played=played,
            running=self._running,
            rows=rows_of(record.results.standings, record.ratings, out),
            total=total,
            void_blocks=hand.void_count,
            matches_per_minute=round(60 * rate, 1) if rate > 0 else None,
            seconds_left=None if total is None or rate <= 0 else round(max(0, total - played) / rate, 1),
            missing=tuple(name for name in self.attendance.missing if name not in gone),
            called_off_blocks=hand.called_off_blocks,
            suspended=tuple(record.conduct.of.values()),
            disqualified=tuple(record.field.disqualified),
            paused=self._is_paused,
            matches=tuple(self._shown.values()),
            blocks=tuple(
                RunningBlock(
                    block.number,
                    block.round,
                    self.settings.variants[block.variant].choice.game_id,
                    block.entrants,
                )
                for block in (begun.block for begun in hand.begun.values())
                if not self.here.has_own_deals(block)
            ),
        )
