"""The file names of replays, which follow from the game, the seed and the number of the game."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from stellwerk_engine.core.state import Game

_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def replay_name(game: Game, seed: str, number: int) -> str:
    """Return the name of a replay's file.

    It has the seed, or a part of the seed and of its hash if the seed is not a plain file name.
    """
    if not _SAFE_NAME.fullmatch(seed):
        digest = sha256(seed.encode()).hexdigest()[:8]
        seed = re.sub(r"[^A-Za-z0-9_-]+", "_", seed)[:40] + "-" + digest
    return f"{game.id}-{seed}-{number}.jsonl"
