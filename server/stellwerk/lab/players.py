"""The players of the laboratory: built-in bots by name, players, and their factories.

Law: what cannot be a bot is refused before the first match, with its place in the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stellwerk_base.texts import unknown
from stellwerk_bots.bot import NewPlayer, Player, maker_of
from stellwerk_bots.players import NAMES, new_player
from stellwerk_processes.bot_spec import BotSpecError, name_from, player_name, unique_names

Bot: TypeAlias = "str | NewPlayer | Player"
"""The name of a built-in bot, a class or function that returns a player for a `start` message and a seed
text, or a player itself. That plays all matches, so it can remember, and it never sees `start`."""


@dataclass(frozen=True, slots=True)
class NamedBot:
    """A bot with the name that it has at all its tables."""

    name: str
    make: NewPlayer


def entrants(bots: Sequence[Bot], names: Sequence[str] | None = None) -> tuple[NamedBot, ...]:
    """Return the entrants, with different names. ValueError for an unknown bot or a name that cannot be,
    TypeError for what is no bot."""
    if isinstance(bots, str):
        raise TypeError(f"bots: expected a list of bots, not the text {bots!r}")
    makers = [_maker(number, bot) for number, bot in enumerate(bots)]
    if names is None:
        names = unique_names(map(_name_of, bots))
    if len(names) != len(makers):
        raise ValueError(f"names: expected {len(makers)}, one for each bot, found {len(names)}")
    if len({name.lower() for name in names}) < len(names):
        raise ValueError(f"names: expected different names, found {', '.join(names)}")
    for name in names:
        try:
            player_name(name)
        except BotSpecError as error:
            raise ValueError(f"names: {error.problem}") from None
    return tuple(map(NamedBot, names, makers))


def _maker(number: int, bot: Bot) -> NewPlayer:
    if isinstance(bot, str):
        if bot not in NAMES:
            raise ValueError(f"bots[{number}]: {unknown('bot', bot, NAMES)}")
        return new_player(bot)
    try:
        return maker_of(bot)
    except TypeError as error:
        raise TypeError(f"bots[{number}]: {error}, nor the name of a built-in bot") from None


def _name_of(bot: Bot) -> str:
    return name_from(bot if isinstance(bot, str) else getattr(bot, "__name__", type(bot).__name__))
