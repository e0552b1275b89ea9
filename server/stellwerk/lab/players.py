"""The players of the laboratory: built-in bots by name, players, and their factories.

Law: what cannot be a bot is refused before the first match, with its place in the list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from stellwerk_base.texts import unknown
from stellwerk_bots.bot import NewPlayer, Player, maker_of
from stellwerk_bots.players import NAMES, new_player
from stellwerk_protocol.names import PLAYER_NAME

Bot: TypeAlias = "str | NewPlayer | Player"
"""The name of a built-in bot, a class or function that returns a player for a `start` message and a seed
text, or a player itself. That plays all matches, so it can remember, and it never sees `start`."""

LONGEST_NAME: Final = 32  # as on the wire
_NAME: Final = re.compile(PLAYER_NAME)
_NO_PART_OF_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot with the name that it has at all its tables."""

    name: str
    make: NewPlayer


def entrants(bots: Sequence[Bot], names: Sequence[str] | None = None) -> tuple[Entrant, ...]:
    """Return the entrants, with different names. ValueError for an unknown bot or a name that cannot be,
    TypeError for what is no bot."""
    if isinstance(bots, str):
        raise TypeError(f"bots: expected a list of bots, not the text {bots!r}")
    makers = [_maker(number, bot) for number, bot in enumerate(bots)]
    if names is None:
        names = _different([_name_of(bot) for bot in bots])
    if len(names) != len(makers):
        raise ValueError(f"names: expected {len(makers)}, one for each bot, found {len(names)}")
    if len({name.lower() for name in names}) < len(names):
        raise ValueError(f"names: expected different names, found {', '.join(names)}")
    for name in names:
        if not _NAME.fullmatch(name):
            expected = f"1 to {LONGEST_NAME} letters, digits, _ . or -, the first one a letter or digit"
            raise ValueError(f"names: expected {expected}, found {name!r:.60}")
    return tuple(map(Entrant, names, makers))


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
    name = bot if isinstance(bot, str) else getattr(bot, "__name__", type(bot).__name__)
    return _NO_PART_OF_A_NAME.sub("-", name).strip("_.-")[:LONGEST_NAME] or "bot"


def _different(names: Sequence[str]) -> list[str]:
    """Rename the second `greedy` to `greedy-2`."""
    taken: list[str] = []
    for name in names:
        number, free = 1, name
        while free.lower() in [other.lower() for other in taken]:
            number += 1
            free = f"{name[: LONGEST_NAME - 4]}-{number}"
        taken.append(free)
    return taken
