"""`random` chooses any of the listed moves, and the same one again after a lost connection."""

from __future__ import annotations

from collections import Counter
from typing import Any

from stellwerk_bots.random_bot import RandomPlayer


def new_random(match: str, seed: str) -> RandomPlayer:
    start: Any = {"match": match}  # all that it looks at
    return RandomPlayer(start, seed)


def ask(number: int) -> Any:
    return {"ask": number, "legal": [{"type": "pass"}] * 4}


def test_every_listed_move_is_chosen_about_as_often() -> None:
    player = new_random("m", "seed")
    chosen = Counter(player.answer(ask(number))["index"] for number in range(4000))
    assert sorted(chosen) == [0, 1, 2, 3]
    assert all(900 < count < 1100 for count in chosen.values())


def test_a_resumed_player_chooses_the_same_whatever_it_was_asked_before() -> None:
    whole, resumed = (new_random("m", "seed") for _ in range(2))
    answers = [whole.answer(ask(number)) for number in range(40)]
    assert [resumed.answer(ask(number)) for number in range(20, 40)] == answers[20:]


def test_seed_and_match_each_change_the_choice() -> None:
    def answers(match: str, seed: str) -> list[int]:
        player = new_random(match, seed)
        return [player.answer(ask(number))["index"] for number in range(40)]

    assert len({tuple(answers(*each)) for each in [("m", "1"), ("m", "2"), ("n", "1")]}) == 3
    assert answers("m", "1") == answers("m", "1")
