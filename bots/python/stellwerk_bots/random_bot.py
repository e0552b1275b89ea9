"""The bot `random`: it makes every listed move with the same probability."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from stellwerk_bots.bot import IndexAnswer, Player

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Start


def chance_of(seed_text: str, match: str) -> Random:
    """Return the source of one seat in one match: its number n, counted from 0, decides ask n."""
    return Random(f"{seed_text}/{match}")


class RandomPlayer:
    """A player whose choices depend on the seed text, the match and the ask, so a resumed bot chooses the
    same."""

    def __init__(self, start: Start, seed_text: str) -> None:
        self._chance = chance_of(seed_text, start["match"])
        self._numbers: list[float] = []

    def answer(self, ask: Ask) -> IndexAnswer:
        number = ask["ask"]
        while len(self._numbers) <= number:
            self._numbers.append(self._chance.random())
        return {"index": int(self._numbers[number] * len(ask["legal"]))}


def new_random(start: Start, seed_text: str) -> Player:
    return RandomPlayer(start, seed_text)
