"""The numbers that a seat sees: those that policies were trained with."""

from __future__ import annotations

from hashlib import sha256

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.knowledge.view import view
from stellwerk_learn.actions import action_map
from stellwerk_learn.observations import layout
from tests.golden.golden_games import GoldenGame, golden_games
from tests.support import table

SEEN = {
    "usa-2": "ef1c19d58a140eac",
    "usa-3": "89f908550d933350",
    "usa-4": "dec9c504b163be53",
    "usa-5": "7b56fcb86776be90",
    "card_game-2": "0df22197ef406abd",
    "card_game-2-open_stacks": "b518219de51f5461",
    "card_game-3": "1dc4c4058980f119",
    "card_game-3-open_stacks": "1958eaf7b303c7fe",
    "card_game-4": "54c5cf61d1407165",
    "card_game-4-open_stacks": "913bfbceee2409a0",
    "team_asia-4": "5be7c733374767c5",
    "team_asia-6": "11ad1d2298fa2200",
    "united_kingdom-2": "14a3f8a746b87580",
    "united_kingdom-2-advanced_technologies": "b91dcc46a3d39677",
    "united_kingdom-3": "6ff5d4998eda5c3f",
    "united_kingdom-3-advanced_technologies": "e970c22f7367a049",
    "united_kingdom-4": "affcb9aa6941e348",
    "united_kingdom-4-advanced_technologies": "6fbe53c29121c9d4",
    "europe-2": "aa19fc64d70affda",
    "europe-3": "99909f4307180161",
    "europe-4": "38366860d4092e48",
    "europe-5": "e094d982ce008808",
    "card_game-2-idle": "ecbbc151aff3f4a3",
    "united_kingdom-4-all_passed": "8c7e91b5b92a531c",
    "united_kingdom-2-collecting": "ebd13ee3c09dad64",
    "united_kingdom-2-advanced_technologies-buying": "4fab0ae7f851dcc8",
    "europe-4-thrifty": "e9ff243498f19411",
}


def digest(golden: GoldenGame) -> str:
    """Return a digest of what each seat sees when it is asked, after some first stage of its answer."""
    game = table(*golden.variant)
    found = sha256()
    state = engine.new_game(game, Dice(seed_from_text(f"golden/{golden.name}")))
    while state.pending is not None:
        for seat in engine.owing(state):
            chosen = state.turn % len(action_map(game))
            found.update(layout(game).vector(view(state, seat), [chosen]).tobytes())
            engine.apply(state, seat, golden.choose(state, seat, engine.legal(state, seat)))
    return found.hexdigest()[:16]


@pytest.mark.parametrize("golden", list(golden_games()), ids=lambda golden: golden.name)
def test_an_asked_seat_sees_the_numbers_that_policies_were_trained_with(golden: GoldenGame) -> None:
    """A change makes all trained policies useless. If it is meant, say so in the changelog."""
    assert digest(golden) == SEEN[golden.name]
