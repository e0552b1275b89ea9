"""The numbers of an observation mean tomorrow what they mean today: a trained policy knows nothing else."""

from __future__ import annotations

from hashlib import sha256
from random import Random

import numpy as np
import pytest

from stellwerk_learn import SeatsEnv
from stellwerk_learn.observations import HIGHEST, LOWEST

OBSERVED = {  # at every ask of two random games
    "usa": "49dd8434f73fbdaa",
    "card_game": "444cb4656e254769",
    "team_asia": "15deb94eda2decb5",
    "united_kingdom": "0f0a56441c179ee7",
    "europe": "97a3233bcc0c9ecc",
}


@pytest.mark.parametrize("game_id", OBSERVED)
def test_a_policy_that_was_trained_before_sees_the_same_numbers(game_id: str) -> None:
    """If this is to change, policies that exist are of no use any more: say so in the changelog."""
    digest = sha256()
    for number in (1, 2):
        chance = Random(number)
        env = SeatsEnv(game_id)
        env.reset(seed=number)
        while not env.terminations[env.agent_selection]:
            seen = env.observe(env.agent_selection)
            vector = seen["observation"]
            assert vector.min() >= LOWEST
            assert vector.max() <= HIGHEST
            digest.update(vector.tobytes())
            env.step(chance.choice(np.flatnonzero(seen["action_mask"]).tolist()))
    assert digest.hexdigest()[:16] == OBSERVED[game_id]
