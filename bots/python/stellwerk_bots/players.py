"""The bots by name. Each is imported only when it is used, so `random` starts without the imports of
`searcher`."""

from __future__ import annotations

from typing import Final

from stellwerk_bots.bot import NewPlayer

NAMES: Final = ("random", "beginner", "greedy", "planner", "searcher")  # from the weakest to the strongest


def new_player(name: str) -> NewPlayer:
    """Return the factory of players for the bot of this name, one of NAMES. Raise KeyError for another name,
    and SettingError if the environment has an invalid setting for the bot."""
    match name:
        case "random":
            from stellwerk_bots.random_bot import new_random

            return new_random
        case "beginner":
            from stellwerk_bots.beginner import new_beginner

            return new_beginner
        case "greedy":
            from stellwerk_bots.greedy import new_greedy

            return new_greedy
        case "planner":
            from stellwerk_bots.planner.bot import new_planner

            return new_planner
        case "searcher":
            from stellwerk_bots.searcher.bot import environments_budget, new_searcher

            environments_budget()  # now, not when the first match begins
            return new_searcher
        case _:
            raise KeyError(name)
