"""The bots by name, each imported when it is asked for: `random` need not wait for what `searcher` needs."""

from __future__ import annotations

from typing import Final

from stellwerk_bots.bot import NewPlayer

NAMES: Final = ("random", "greedy", "planner", "searcher")  # from the weakest to the strongest


def new_player(name: str) -> NewPlayer:
    """What makes the players of the bot of this name, one of NAMES. KeyError for another; SettingError if the
    environment holds what the bot can make no sense of."""
    match name:
        case "random":
            from stellwerk_bots.random_bot import new_random

            return new_random
        case "greedy":
            from stellwerk_bots.greedy import new_greedy

            return new_greedy
        case "planner":
            from stellwerk_bots.planner.bot import new_planner

            return new_planner
        case "searcher":
            from stellwerk_bots.searcher.bot import environments_budget, new_searcher

            environments_budget()  # now, and not when the first match has begun
            return new_searcher
        case _:
            raise KeyError(name)
