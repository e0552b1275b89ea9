"""What a bot is: something that gives an answer for each ask of one match.

The law: everything that an answer depends on stands in the match's `start` message and in the ask. A player
that remembers more between two asks would be lost after a lost connection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Message = dict[str, Any]  # a message of the wire as json decodes it, and json knows no types
Answer = dict[str, Any]  # {"index": n}, n counting from 0 in the ask's `legal`, or {"move": {...}}


class SettingError(ValueError):
    """The environment holds a setting that makes no sense; the message says which, and what would."""


class Player(Protocol):
    """Plays one match for one seat."""

    def answer(self, ask: Message) -> Answer: ...


NewPlayer = Callable[[Message, str], Player]
"""Makes a player for a new match from its `start` message and a seed text for its chance, if it uses any."""
