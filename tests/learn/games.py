"""Random games in an environment and, beside them, on the engine alone: `make learn-games` plays 1,000 of
each game.

After every move both states, and what every seat sees of them, are the same; at the end both have the same
result, and the replay of the environment is that of the moves.
"""

from __future__ import annotations

import argparse
import itertools
from random import Random

import numpy as np

from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.writer import ReplayWriter, header_of
from stellwerk_learn import SeatsEnv
from stellwerk_learn.table import Mask, Table, game_seed
from tests.properties.playing import Variant
from tests.support import VARIANTS, fingerprint


def play_alike(variant: Variant, number: int) -> int:
    """Play one game, and return how many steps it took. AssertionError if anything differs."""
    game_id, players, options = variant
    chance = Random(number)
    env = SeatsEnv(game_id, players=players, options=options, reward="margin")
    env.reset(seed=number)
    game = env.table.game
    seed = game_seed(number)
    writer = ReplayWriter()
    events: Events = []
    state = engine.new_game(game, Dice(seed), events)
    lines = [writer.header(header_of(game)), writer.reveal(seed), writer.set_up(events)]
    steps = moves = 0
    is_asked = True  # and not in the middle of an answer
    while not env.terminations[env.agent_selection]:
        agent = env.agent_selection
        mask: Mask = env.observe(agent)["action_mask"]
        assert mask.any()
        assert (env.infos[agent]["action_mask"] == mask).all()
        if is_asked:
            _assert_sees_alike(env, Table(game), state.copy())
        env.step(chance.choice(np.flatnonzero(mask).tolist()))
        steps += 1
        is_asked = len(env.table.made) > moves
        for seat, move in env.table.made[moves:]:
            events = []
            made = engine.play(state, seat, move.wire, events)
            lines.append(writer.move(state, seat, made, events))
            moves += 1
        assert fingerprint(state) == fingerprint(env.table.state)
    assert state.result is not None
    assert state.result == env.table.state.result
    lines.append(writer.end(state.result))
    assert env.table.replay() == b"".join(lines)
    points = {seat: team.points for team in state.result.teams for seat in team.seats}
    for seat, agent in enumerate(env.possible_agents):
        others = [team.points for team in state.result.teams if seat not in team.seats]
        assert round(100 * env.rewards[agent]) == points[seat] - max(others)
    return steps


def _assert_sees_alike(env: SeatsEnv, table: Table, state: State) -> None:
    """Compare what every seat sees, and which integers it may choose, with what a new table shows of the
    state."""
    table.set_state(state)
    for seat, agent in enumerate(env.possible_agents):
        ours, fresh = env.observe(agent), table.observe(seat)
        assert (ours["observation"] == fresh["observation"]).all()
        assert (ours["action_mask"] == fresh["action_mask"]).all()
        assert bool(ours["action_mask"].any()) == (seat in engine.owing(state))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=1000, help="of each game, over all its variants")
    parser.add_argument("--game", choices=RULE_SETS, nargs="+", default=list(RULE_SETS))
    chosen = parser.parse_args()
    wanted: int = chosen.games
    for game_id in chosen.game:
        variants = itertools.cycle([variant for variant in VARIANTS if variant[0] == game_id])
        steps = sum(play_alike(next(variants), number) for number in range(wanted))
        print(f"{game_id}: {wanted} games, {steps} steps, alike", flush=True)


if __name__ == "__main__":
    main()
