"""The blocks that a runner has been given and that are not over, and what is written of them.

Laws:
- the seed of a block is drawn when its first match begins, and made known when its last one is over;
- a block in which a suspended or disqualified bot would play never begins. One that has begun is played to
  its end;
- a match that failed is due again, at most twice; then its block is void, and listed;
- blocks of house bots alone come out the same again, so they are written once a second, many at a time. Their
  seeds are drawn, and stored, when they are given;
- all that is shown is on the disk before (`store.py`).
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Final, TypeVar

import trio

from stellwerk_tournament.play.courier import PlayedBlock, PlayedMatch, RunError
from stellwerk_tournament.play.keep import finished, take_in
from stellwerk_tournament.play.source import BlockSource
from stellwerk_tournament.schedule.deal import block_secret
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.conduct import Suspensions
from stellwerk_tournament.store.field_file import locked_field, read_on
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.results import Results
from stellwerk_tournament.store.store import KnownBlock, Store

VOIDS_IN_A_ROW: Final = 3  # after so many there is something wrong that will not pass
WRITE_EVERY_S: Final = 1.0  # blocks of house bots, of which there can be a hundred a second

_LOST: Final = -1  # the stage of a block of which only the lines are left

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class BegunBlock:
    """A block that is being played, here or elsewhere. `kept` are the rotations that are on the disk.
    `unwritten` has the matches that were played, if the block is written when all of them are over."""

    block: Block
    seed: bytes
    waiting: deque[int]
    running: set[int] = field(default_factory=set[int])
    kept: set[int] = field(default_factory=set[int])
    is_void: bool = False
    unwritten: list[PlayedMatch] | None = None

    @property
    def is_over(self) -> bool:
        return not self.waiting and not self.running


class BlocksInHand:
    """`queue` has the blocks that wait to begin, `begun` those that are played, by their numbers."""

    def __init__(
        self,
        store: Store,
        source: BlockSource,
        known: Mapping[int, KnownBlock],
        conduct: Suspensions,
        is_repeatable: Callable[[Block], bool],
        seed: str | None,
        *,
        writes_later: bool,
    ) -> None:
        """Take up what is `known` of the blocks that the folder has, by their numbers."""
        self._store = store
        self._source = source
        self._known = known
        self._conduct = conduct
        self._is_repeatable = is_repeatable
        self._seed = seed
        self._writes_later = writes_later
        self._limiter = trio.CapacityLimiter(1)  # the store's calls must not overlap
        self._seeds = {  # on disk, of blocks that are queued
            number: each.seed
            for number, each in known.items()
            if each.status == "queued" and each.seed is not None
        }
        self._finished: list[BegunBlock] = []  # and not written yet
        self._voids_in_a_row = 0
        self.write_at = inf
        self.queue: deque[Block] = deque()
        self.begun: dict[int, BegunBlock] = {}
        self.void_count = sum(each.status == "void" for each in known.values())
        self.called_off_blocks = 0
        self.called_off_matches = 0

    async def on_disk(self, work: Callable[[], T]) -> T:
        return await trio.to_thread.run_sync(work, limiter=self._limiter)

    @property
    def has_finished(self) -> bool:
        """Return whether there are blocks to write."""
        return bool(self._finished)

    # -- blocks begin ----------------------------------------------------------------------------

    async def take_more(self) -> list[BegunBlock] | None:
        """Take the next blocks of the source. Return those that had begun when the folder was opened, or None
        if no block is due."""
        blocks = await self.on_disk(self._take)
        begun: list[BegunBlock] = []
        for block in blocks:
            standing = self._known.get(block.number)
            if standing is None or standing.status in ("queued", "called_off"):
                self.queue.append(block)
            elif standing.status == "running" and standing.seed is not None:
                waiting = deque(rotation for rotation in block.rotations if rotation not in standing.kept)
                begun.append(BegunBlock(block, standing.seed, waiting, kept=set(standing.kept)))
        self.begun |= {each.block.number: each for each in begun}
        return begun if blocks else None

    def _take(self) -> Sequence[Block]:
        """Take blocks of the source until one is not over: a folder that is resumed can have very many that
        are."""
        while blocks := self._draw_more():
            new, lost, is_all_over = list[Block](), list[Block](), True
            for block in blocks:
                standing = self._known.get(block.number)
                if standing is None:
                    new.append(block)
                    continue
                _expect_same(block, standing.block)
                if standing.block.stage == _LOST:
                    lost.append(block)
                is_all_over = is_all_over and standing.status in ("complete", "void")
            if new:
                self._seeds |= {
                    block.number: self._draw_seed(block) for block in new if self._is_repeatable(block)
                }
                self._store.enqueue(new, "queued", self._seeds)
            if lost:
                self._store.enqueue(lost, "complete")
            if new or not is_all_over:
                return blocks
        return ()

    def _draw_more(self) -> Sequence[Block]:
        """Let the source draw, after all decisions so far, and before any other one."""
        folder = self._store.folder
        with locked_field(folder):
            read_on(self._conduct.field, folder)
            return self._source.due([each.block for each in self.begun.values()])

    def _draw_seed(self, block: Block) -> bytes:
        return secrets.token_bytes(32) if self._seed is None else block_secret(self._seed, block.number)

    async def begin(self, blocks: Sequence[Block]) -> list[BegunBlock]:
        """Begin blocks that have left the queue. Those of bots that are just out come back to
        it."""
        seeds = {block.number: self._seeds.get(block.number) or self._draw_seed(block) for block in blocks}
        later = {block.number for block in blocks if self._writes_later and block.number in self._seeds}
        if len(later) < len(blocks):
            eager = {block: seeds[block.number] for block in blocks if block.number not in later}
            called_off = await self.on_disk(partial(self._mark_begun, eager))
        else:
            called_off = []
        called_off += [each for each in blocks if each.number in later and self._conduct.concern(each)]
        self.queue += called_off
        begun = [
            BegunBlock(
                block,
                seeds[block.number],
                deque(block.rotations),
                unwritten=[] if block.number in later else None,
            )
            for block in blocks
            if block not in called_off
        ]
        self.begun |= {each.block.number: each for each in begun}
        return begun

    def _mark_begun(self, seeds: Mapping[Block, bytes]) -> list[Block]:
        """Write down that blocks begin, at once. Return those of bots that are out, which do not."""
        called_off: list[Block] = []
        with self._store.together():
            for block, seed in seeds.items():
                if self._conduct.concern(block):
                    called_off.append(block)
                else:
                    self._store.begin(block, seed)
        return called_off

    async def read_decisions(self) -> None:
        """Take in the decisions that have been made meanwhile."""
        await self.on_disk(partial(read_on, self._conduct.field, self._store.folder))

    async def call_off(self) -> None:
        """Call off the blocks of bots that are out, unless they have begun."""
        blocks = [block for block in self.queue if self._conduct.concern(block)]
        if blocks:
            self.queue = deque(block for block in self.queue if not self._conduct.concern(block))
            self.called_off_blocks += len(blocks)
            self.called_off_matches += sum(len(block.rotations) for block in blocks)
            await self.on_disk(partial(self._store.call_off, blocks))

    # -- matches end -----------------------------------------------------------------------------

    async def keep(self, begun: BegunBlock, played: PlayedBlock) -> bool:
        """Keep matches of a block. Return whether they are on the disk, and can be shown."""
        if begun.unwritten is not None:
            for rotation, cause in played.failures:
                await self.on_disk(partial(self._store.fail, begun.block, rotation, cause, played.machine))
            begun.unwritten += played.matches
            begun.running.difference_update(match.line.rotation for match in played.matches)
            if begun.is_over:
                self.write_at = min(self.write_at, trio.current_time() + WRITE_EVERY_S)
                self._finished.append(begun)
            return False
        await self.on_disk(partial(take_in, self._store, begun.block, played))
        rotations = {match.line.rotation for match in played.matches}
        begun.running -= rotations
        begun.kept |= rotations
        return not begun.is_void  # it may have become so meanwhile

    async def complete(self, begun: BegunBlock) -> Sequence[MatchLine]:
        """Write the lines of a block that is over. Return them with their forfeits."""
        return await self.on_disk(partial(self._complete, begun))

    def _complete(self, begun: BegunBlock) -> Sequence[MatchLine]:
        lines = self._store.complete(begun.block, begun.seed, self._conduct.judge)
        self._source.ended(begun.block, lines)
        return lines

    async def write_finished(self) -> list[tuple[BegunBlock, Sequence[MatchLine]]]:
        """Write the blocks of house bots that are over, all at once. Return them with their lines."""
        done, self._finished, self.write_at = self._finished, [], inf
        return list(zip(done, await self.on_disk(partial(self._write, done)), strict=True))

    def _write(self, done: Sequence[BegunBlock]) -> Sequence[Sequence[MatchLine]]:
        blocks = [finished(self._store, each.block, each.seed, each.unwritten or ()) for each in done]
        written = self._store.complete_all(blocks, self._conduct.judge)
        for begun, lines in zip(done, written, strict=True):
            self._source.ended(begun.block, lines)
        return written

    async def note_over(self) -> None:
        """Note that all has been played."""
        await self.on_disk(partial(self._store.note_over, True))

    def forget(self, begun: BegunBlock) -> None:
        """Forget a block that is complete, and has been counted."""
        del self.begun[begun.block.number]
        self._voids_in_a_row = 0

    async def fail(self, begun: BegunBlock, rotation: int, cause: str, machine: str) -> int | None:
        """Note that a match failed, through no bot's fault. Return how often it has by now. None if its block
        is void, which it may have become meanwhile."""
        fail = partial(self._store.fail, begun.block, rotation, cause, machine)
        count = await self.on_disk(fail)
        begun.running.discard(rotation)
        return None if begun.is_void else count

    async def give_up(self, begun: BegunBlock, cause: str) -> None:
        """Make a block void."""
        begun.is_void = True
        begun.waiting.clear()
        del self.begun[begun.block.number]
        self.void_count += 1
        self._voids_in_a_row += 1
        await self.on_disk(partial(self._give_up, begun.block, cause))

    def _give_up(self, block: Block, cause: str) -> None:
        self._store.give_up(block, cause)
        self._source.ended(block, ())

    def expect_better(self, cause: str) -> None:
        """Raise a RunError if nothing could be played lately."""
        if self._voids_in_a_row >= VOIDS_IN_A_ROW:
            raise RunError(
                f"{VOIDS_IN_A_ROW} blocks in a row could not be played, the last one because: {cause}"
            )


def known_blocks(standings: Iterable[KnownBlock], results: Results) -> Mapping[int, KnownBlock]:
    """Return the blocks that a folder has, by their numbers: those of its lines, too, if its state was
    lost."""
    known = {each.block.number: each for each in standings}
    for number in results.blocks:
        if number not in known:
            met = results.met(number)
            known[number] = KnownBlock(Block(number, _LOST, met.round, 0, tuple(met.scores)), "complete")
    return known


def _expect_same(block: Block, found: Block) -> None:
    """Raise a RunError if a block on disk is not the one of the source."""
    if (found.entrants, found.round) != (block.entrants, block.round):
        raise RunError(
            f"block {block.number} is between {', '.join(found.entrants)} in round {found.round} here, and "
            f"between {', '.join(block.entrants)} in round {block.round} by the settings: has "
            f"tournament.toml been changed?"
        )
