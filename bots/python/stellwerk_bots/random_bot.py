"""The bot `random`: it makes every listed move with the same probability."""

from __future__ import annotations

import random

from stellwerk_bots.bot import Answer, Message, Player


class RandomPlayer:
    """A player whose choices depend on the seed text, the match and the ask, so a resumed bot chooses the
    same."""

    def __init__(self, start: Message, seed_text: str) -> None:
        self._chance = f"{seed_text}/{start['match']}"

    def answer(self, ask: Message) -> Answer:
        return {"index": random.Random(f"{self._chance}/{ask['ask']}").randrange(len(ask["legal"]))}


def new_random(start: Message, seed_text: str) -> Player:
    return RandomPlayer(start, seed_text)
