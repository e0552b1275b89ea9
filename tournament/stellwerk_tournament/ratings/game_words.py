"""Games and tables in words: shipped games by their titles, others by the name that they have."""

from __future__ import annotations

from typing import Final

from stellwerk_engine.games.shipped import RULE_SETS

_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six")


def game_title(game: str) -> str:
    return RULE_SETS[game].title if game in RULE_SETS else game


def has_teams(game: str) -> bool:
    return game in RULE_SETS and RULE_SETS[game].team_size > 1


def tables_of(game: str, size: int) -> str:
    """Write `tables of three players (The card game)`. Where teams play, it counts the teams."""
    number = _NUMBERS[size] if size < len(_NUMBERS) else str(size)
    tables = f"tables of {number} {'teams' if has_teams(game) else 'players'}"
    return f"{tables} ({game_title(game)})" if game else tables
