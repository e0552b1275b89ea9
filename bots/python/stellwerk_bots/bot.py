"""The interface of a bot: an object that returns an answer for each ask of one match.

The law: an answer depends only on the match's `start` message and on the ask. A player that needs more state
between two asks would lose it with its process. A player with a method `event` also gets the events of its
match, as far as its seat may know them, each before the next ask. Over a network that needs `events=True`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NotRequired, Protocol, TypeAlias, TypedDict, final, runtime_checkable

if TYPE_CHECKING:  # these types are many, and a bot may be started for a single match
    from stellwerk_bots.messages import Ask, EventMessage, Move, Start

Message: TypeAlias = dict[str, Any]  # any message as json decodes it; `messages.py` has a type for each


@final
class IndexAnswer(TypedDict):
    """A listed move: `index` counts from 0 in the ask's `legal`. The replay keeps the note."""

    index: int
    note: NotRequired[str]


@final
class MoveAnswer(TypedDict):
    """Any legal move, listed or not."""

    move: Move
    note: NotRequired[str]


Answer: TypeAlias = IndexAnswer | MoveAnswer


class SettingError(ValueError):
    """An invalid setting in the environment. The message names the setting and shows a valid value."""


class Player(Protocol):
    """A player of one match for one seat."""

    def answer(self, ask: Ask) -> Answer: ...


@runtime_checkable
class Listener(Protocol):
    """A player that also hears of the events of its match: messages of the type `event`."""

    def event(self, message: EventMessage) -> object: ...


NewPlayer: TypeAlias = Callable[["Start", str], Player]
"""A callable that returns a player for a `start` message and a seed text for its random choices, if any."""


def maker_of(bot: NewPlayer | Player) -> NewPlayer:
    """Return what makes the players of a bot. A bot that is a player itself plays all its matches, and never
    sees their `start`. Raise TypeError for anything else."""
    if callable(bot):
        return bot
    if callable(getattr(bot, "answer", None)):
        player = bot
        return lambda start, seed_text: player
    raise TypeError(f"expected a player (with a method `answer`), or what makes players, not {bot!r:.60}")
