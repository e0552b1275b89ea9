"""The files that the runner keeps of a match that was played, here or elsewhere.

Every call may wait for the disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from stellwerk_tournament.play.matches_here import heading
from stellwerk_tournament.store.store import Finished

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stellwerk_tournament.play.courier import PlayedBlock, PlayedMatch
    from stellwerk_tournament.schedule.schedule import Block
    from stellwerk_tournament.store.match_line import MatchLine
    from stellwerk_tournament.store.store import Store


def keep_match(store: Store, block: Block, match: PlayedMatch) -> None:
    """Keep a match of a block that runs, and what its bots printed. StoreError."""
    line = _with_attempt(store, block, match.line)
    store.keep(line, match.replay, match.times)
    for seat, (bot, printed) in enumerate(match.printed):
        store.log(bot, f"{heading(block, line.rotation)}, seat {seat}", printed)


def finished(store: Store, block: Block, seed: bytes, matches: Iterable[PlayedMatch]) -> Finished:
    """Return a block of house bots alone, which print nothing. StoreError."""
    in_order = sorted(matches, key=lambda match: match.line.rotation)
    of_block = ((_with_attempt(store, block, each.line), each.replay, each.times) for each in in_order)
    return Finished(block, seed, tuple(of_block))


def _with_attempt(store: Store, block: Block, line: MatchLine) -> MatchLine:
    """Return a line that says how often its match has failed before, and where."""
    failed = store.failed_on(block, line.rotation)
    line = msgspec.structs.replace(line, attempt=len(failed) + 1)
    if line.machine is UNSET:
        return line
    machine = msgspec.structs.replace(line.machine, failed_on=tuple(filter(None, failed)))
    return msgspec.structs.replace(line, machine=machine)


def take_in(store: Store, block: Block, played: PlayedBlock) -> None:
    """Keep all matches of a block that came back. StoreError."""
    with store.together():
        for rotation, cause in played.failures:
            store.fail(block, rotation, cause, played.machine)
        for match in played.matches:
            keep_match(store, block, match)
