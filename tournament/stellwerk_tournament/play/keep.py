"""The files that the runner keeps of a match that was played, here or elsewhere.

Every call may wait for the disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from stellwerk_tournament.play.matches_here import heading

if TYPE_CHECKING:
    from stellwerk_tournament.play.courier import PlayedBlock, PlayedMatch
    from stellwerk_tournament.schedule.schedule import Block
    from stellwerk_tournament.store.store import Store


def keep_match(store: Store, block: Block, match: PlayedMatch) -> None:
    """Keep a match of a block that runs, and what its bots printed. StoreError."""
    line = match.line
    failed = store.failed_on(block, line.rotation)
    line = msgspec.structs.replace(line, attempt=len(failed) + 1)
    if line.machine is not UNSET:
        machine = msgspec.structs.replace(line.machine, failed_on=tuple(filter(None, failed)))
        line = msgspec.structs.replace(line, machine=machine)
    store.keep(line, match.replay, match.times)
    for seat, (bot, printed) in enumerate(match.printed):
        store.log(bot, f"{heading(block, line.rotation)}, seat {seat}", printed)


def take_in(store: Store, block: Block, played: PlayedBlock) -> None:
    """Keep all matches of a block that came back. StoreError."""
    with store.together():
        for rotation, cause in played.failures:
            store.fail(block, rotation, cause, played.machine)
        for match in played.matches:
            keep_match(store, block, match)
