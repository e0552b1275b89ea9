"""The files that the runner keeps of a match that was played, here or elsewhere.

Every call may wait for the disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stellwerk_tournament.play.matches_here import heading

if TYPE_CHECKING:
    from stellwerk_tournament.play.courier import PlayedBlock, PlayedMatch
    from stellwerk_tournament.schedule.schedule import Block
    from stellwerk_tournament.store.store import Store


def keep_match(store: Store, block: Block, match: PlayedMatch) -> None:
    """Keep a match of a block that runs, and what its bots printed. StoreError."""
    line = match.line
    attempt = store.failures_of(block, line.rotation) + 1
    store.keep(msgspec.structs.replace(line, attempt=attempt), match.replay, match.times)
    for seat, (bot, printed) in enumerate(match.printed):
        store.log(bot, f"{heading(block, line.rotation)}, seat {seat}", printed)


def take_in(store: Store, block: Block, played: PlayedBlock) -> None:
    """Keep all matches of a block that came back. StoreError."""
    for rotation, cause in played.failures:
        store.fail(block, rotation, cause)
    for match in played.matches:
        keep_match(store, block, match)
