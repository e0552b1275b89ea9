"""Engine states from the messages of a match: the starting point of a bot that thinks ahead.

The law: `start` fixes the game, and the view of an ask, nothing else, fixes the states. Everything that the
seat does not know is dealt with the bot's own random numbers, which follow from its seed text, the match and
the ask. So equal messages and seed texts give equal states, and a bot that has lost its connection continues
as if nothing had happened.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Game
from stellwerk_engine.games.described import game_described
from stellwerk_engine.knowledge.imagine import Imagination
from stellwerk_protocol.views import View

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Start


def game_of(start: Start) -> Game:
    """Return the game of the match. Raise GameError or BoardError for one that this version does not play."""
    return game_described(
        start["game"],
        start["rules_version"],
        len(start["players"]),
        tuple(start["options"]),
        json.dumps(start["board"]),
        json.dumps(start["parts"]).encode() if "parts" in start else b"",
    )


def imagination_of(game: Game, ask: Ask) -> Imagination:
    """Return the content of the ask, ready to be dealt from."""
    return Imagination(game, msgspec.convert(ask["view"], View))


def dice_for(seed_text: str, ask: Ask, deal: int = 0) -> Dice:
    """Return the dice of one imagined deal."""
    words = json.dumps([seed_text, ask["match"], ask["ask"], deal])
    return Dice(sha256(words.encode()).digest())
