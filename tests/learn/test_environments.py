"""The environments: the checks of PettingZoo and Gymnasium, the engine beside them, and what each
promises."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final
from warnings import catch_warnings, filterwarnings

import gymnasium
import msgspec
import numpy as np
import pettingzoo  # pyright: ignore[reportMissingTypeStubs]  it has types, but no py.typed
import pettingzoo.test  # pyright: ignore[reportMissingTypeStubs]  as above
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from stellwerk_bots.bot import Answer
from stellwerk_bots.greedy import Greedy
from stellwerk_bots.messages import Ask, Start
from stellwerk_engine import engine
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.verify import verify
from stellwerk_learn import HouseEnv, IllegalActionError, SeatsEnv
from stellwerk_learn.rewards import REWARDS
from stellwerk_learn.table import Mask, Table, game_seed
from stellwerk_protocol import messages
from tests.learn.games import play_alike
from tests.properties.playing import Variant
from tests.support import every_variant

CHECKS: Final[Any] = pettingzoo.test  # Any: its functions have no types

every_game = pytest.mark.parametrize("game", RULE_SETS)


@contextmanager
def expected_warnings() -> Generator[None]:
    """Let PettingZoo warn of what every environment with masks has."""
    with catch_warnings():
        filterwarnings("ignore", message="Observation space for each agent probably should be")
        filterwarnings("ignore", message="Observation is not a NumPy array")
        filterwarnings("ignore", message="Action mask numpy array is all zeros")  # at the end
        yield


# -- their own checks --------------------------------------------------------------------------------


@every_game
def test_the_checks_of_pettingzoo_pass(game: str) -> None:
    with expected_warnings():
        CHECKS.api_test(pettingzoo.make("aec", f"stellwerk/{game}_v0"), num_cycles=100)
    CHECKS.seed_test(lambda: pettingzoo.make("aec", f"stellwerk/{game}_v0"), num_cycles=100)


@every_game
def test_the_render_test_of_pettingzoo_passes(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    CHECKS.render_test(partial(SeatsEnv, game))
    assert "turn 0, points" in capsys.readouterr().out  # "human"


def test_the_performance_benchmark_of_pettingzoo_passes(capsys: pytest.CaptureFixture[str]) -> None:
    CHECKS.performance_benchmark(SeatsEnv("usa"))
    assert "turns per second" in capsys.readouterr().out


@every_game
def test_the_check_of_gymnasium_passes(game: str) -> None:
    check_env(gymnasium.make(f"stellwerk/{game}-v0", render_mode="ansi").unwrapped)


# -- the engine --------------------------------------------------------------------------------------


@every_variant
def test_random_games_are_those_of_the_engine(variant: Variant) -> None:
    """`make learn-games` plays 1,000 of each game."""
    for number in range(2):
        assert play_alike(variant, number) > 20


def test_a_replay_can_be_verified() -> None:
    env = SeatsEnv("europe", players=3)
    env.reset(seed=5)
    _play_on(env)
    verdict = verify(env.table.replay().splitlines(keepends=True))
    assert verdict.good
    assert verdict.result == env.table.state.result


# -- agents ------------------------------------------------------------------------------------------


def test_nobody_sees_whether_others_have_answered_the_same_decision() -> None:
    env = SeatsEnv("usa", players=3, view=True)
    env.reset(seed=1)
    assert env.table.owing == (0, 1, 2)
    before = {agent: _bytes_of(env, agent) for agent in ("seat_1", "seat_2")}
    views = {agent: env.infos[agent]["view"] for agent in before}
    assert all(_mask(env, agent).any() for agent in before)
    _answer(env)
    assert env.agent_selection == "seat_1"
    assert not _mask(env, "seat_0").any()
    assert {agent: _bytes_of(env, agent) for agent in before} == before
    assert {agent: env.infos[agent]["view"] for agent in before} == views
    _answer(env)
    assert env.agent_selection == "seat_2"
    assert _bytes_of(env, "seat_2") == before["seat_2"]
    _answer(env)
    assert env.table.state.turn == 1


def test_an_agent_stays_selected_until_its_move_is_made_and_sees_its_stages() -> None:
    env = SeatsEnv("usa")
    env.reset(seed=1)
    first = _bytes_of(env, "seat_0")
    env.step(int(_mask(env, "seat_0").nonzero()[0][0]))
    assert env.agent_selection == "seat_0"
    assert not env.table.made
    assert _bytes_of(env, "seat_0") != first


def test_an_agent_that_owes_nothing_has_an_empty_mask_and_no_view() -> None:
    env = SeatsEnv("usa", view=True)
    env.reset(seed=1)
    while env.table.state.turn == 0:
        _answer(env)
    assert not _mask(env, "seat_1").any()
    assert not env.infos["seat_1"]["action_mask"].any()
    assert "view" not in env.infos["seat_1"]
    assert json.loads(env.infos["seat_0"]["view"])["seat"] == 0


def test_at_the_end_every_agent_sees_the_result() -> None:
    env = SeatsEnv("usa", view=True)
    env.reset(seed=1)
    _play_on(env)
    for agent in env.agents:
        assert "result" in json.loads(env.infos[agent]["view"])


def test_an_illegal_action_of_an_agent_is_refused_and_changes_nothing() -> None:
    env = SeatsEnv("usa")
    env.reset(seed=1)
    before = _bytes_of(env, "seat_0")
    with pytest.raises(IllegalActionError, match="as the mask says"):
        env.step(0)
    assert env.agent_selection == "seat_0"
    assert _bytes_of(env, "seat_0") == before


def test_partners_share_their_reward() -> None:
    env = SeatsEnv("team_asia", reward="margin")
    env.reset(seed=3)
    _play_on(env)
    rewards = [env.rewards[agent] for agent in env.possible_agents]
    assert rewards[0] == rewards[1] == -rewards[2] == -rewards[3] != 0


@pytest.mark.parametrize("reward", REWARDS)
def test_a_reward_comes_at_the_end_only(reward: str) -> None:
    env = SeatsEnv("usa", players=4, reward=reward)
    env.reset(seed=1)
    chance = np.random.default_rng(1)
    while not env.terminations[env.agent_selection]:
        assert set(env.rewards.values()) == {0.0}
        env.step(chance.choice(_mask(env, env.agent_selection).nonzero()[0]))
    result = env.table.state.result
    assert result is not None
    points = [team.points for team in result.teams]
    rewards = [env.rewards[agent] for agent in env.possible_agents]
    match reward:
        case "rank":
            assert sum(rewards) == pytest.approx(0)
            assert rewards[points.index(max(points))] == 1
            assert rewards[points.index(min(points))] == -1
        case "margin":
            assert max(rewards) == pytest.approx((sorted(points)[-1] - sorted(points)[-2]) / 100)
        case _:
            assert rewards == pytest.approx([each / 100 for each in points])


def test_a_seed_fixes_the_deal_and_those_of_later_resets() -> None:
    one, other = SeatsEnv("usa"), SeatsEnv("usa")
    seen: list[list[bytes]] = [[], []]
    for env, deals in zip((one, other), seen, strict=True):
        env.reset(seed=9)
        assert env.table.state.dice.seed == game_seed(9)
        deals.append(_bytes_of(env, "seat_0"))
        for _ in range(2):
            env.reset()
            deals.append(_bytes_of(env, "seat_0"))
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 3


def test_an_environment_that_was_not_reset_says_so() -> None:
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        SeatsEnv("usa").step(0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"game": "chess"}, "game: expected one of usa, "),
        ({"players": 9}, "not played by 9"),
        ({"options": ["fast"]}, "no option 'fast'"),
        ({"reward": "fame"}, "reward: expected one of rank, margin, points, found 'fame'"),
    ],
)
def test_what_there_is_not_is_a_clear_error(arguments: dict[str, Any], problem: str) -> None:
    for make in (SeatsEnv, HouseEnv):
        with pytest.raises(ValueError, match=problem):
            make(**arguments)


def test_trainers_that_ask_for_pictures_can_do_without_them() -> None:
    """`make_vec_env` of Stable-Baselines3 asks for `rgb_array`, and for nothing after a TypeError."""
    for make in (SeatsEnv, HouseEnv):
        with pytest.raises(TypeError, match="render_mode: expected one of ansi, human, found 'rgb_array'"):
            make(render_mode="rgb_array")


# -- one agent among bots ----------------------------------------------------------------------------


class Recorder:
    """A bot that notes what it gets, and answers as `greedy`."""

    starts: list[Start]
    asks: list[Ask]

    def __init__(self, start: Start, seed_text: str) -> None:
        Recorder.starts.append(start)
        self._greedy = Greedy(start, seed_text)

    def answer(self, ask: Ask) -> Answer:
        Recorder.asks.append(ask)
        answer = self._greedy.answer(ask)
        return {"move": ask["legal"][answer["index"]]} if ask["ask"] % 2 else answer


@every_game
def test_bots_get_the_messages_of_a_server_and_answer_by_index_or_move(game: str) -> None:
    Recorder.starts, Recorder.asks = [], []
    env = HouseEnv(game, opponents=Recorder, seat=1)
    _play_house(env, seed=2)
    count = env.table.game.seat_count
    assert [start["seat"] for start in Recorder.starts] == [seat % count for seat in range(2, count + 1)]
    for start in Recorder.starts:
        msgspec.json.decode(json.dumps(start), type=messages.Start)
    for ask in Recorder.asks:
        asked = msgspec.convert(ask, messages.Ask)
        assert asked.view is not msgspec.UNSET
        assert asked.view.seat in asked.decision.seats
    made = sum(seat != 1 for seat, _ in env.table.made)
    assert made == len(Recorder.asks)


def test_every_opponent_can_be_another_one() -> None:
    env = HouseEnv("usa", opponents=["random", "beginner", Recorder], seat=0)
    Recorder.starts, Recorder.asks = [], []
    _play_house(env, seed=1)
    assert [start["seat"] for start in Recorder.starts] == [3]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"index": 99}, "expected a move, or an index below 4"),
        ({"index": 0, "move": {"type": "pass"}}, "expected a move, or an index below 4"),
        ({"index": -1}, "Expected `int` >= 0"),
        ({"move": {"type": "pass"}}, "expected keep_tickets, for the tickets offered"),
        (None, "not a mapping"),
    ],
)
def test_an_opponent_that_answers_wrongly_is_a_clear_error(answer: Any, problem: str) -> None:
    """Any: of whatever type."""

    class Wrong:
        def answer(self, ask: Ask) -> Answer:
            wrong: Answer = answer
            return wrong

    with pytest.raises(ValueError, match=f"the bot in seat 1 answered .*{problem}"):
        HouseEnv("usa", opponents=Wrong(), seat=0).reset(seed=1)


def test_many_environments_can_be_stepped_at_once() -> None:
    envs = gymnasium.make_vec("stellwerk/usa-v0", num_envs=2, vectorization_mode="sync", view=True)
    seen, infos = envs.reset(seed=1)
    _, _, _, _, infos = envs.step(seen["action_mask"].argmax(axis=1))
    assert [json.loads(view)["game"] for view in infos["view"]] == ["usa", "usa"]
    envs.close()


def test_the_seat_is_another_one_each_time_unless_it_is_fixed() -> None:
    env = HouseEnv("usa", players=3)
    env.reset(seed=0)
    assert {(env.reset(), env.seat)[1] for _ in range(20)} == {0, 1, 2}


def test_a_seed_fixes_a_whole_game_with_bots() -> None:
    replays: set[bytes] = set()
    for _ in range(2):
        env = HouseEnv("usa", players=3)
        _play_house(env, seed=7)
        replays.add(env.table.replay())
    assert len(replays) == 1


def test_the_mask_is_in_both_places_and_the_view_in_the_info_if_it_is_asked_for() -> None:
    seen, info = HouseEnv("usa").reset(seed=0)
    assert (seen["action_mask"] == info["action_mask"]).all()
    assert seen["observation"].dtype == np.float32
    assert seen["action_mask"].dtype == np.int8
    assert info.keys() == {"action_mask"}
    env = HouseEnv("usa", view=True)
    _, info = env.reset(seed=0)
    assert json.loads(info["view"])["seat"] == env.seat


def test_a_vector_of_environments_plays_on_through_the_ends_of_games_by_its_masks_alone() -> None:
    """The default vector mode resets at the step after an end, and samplers refuse an empty mask there."""
    envs = gymnasium.make_vec("stellwerk/card_game-v0", num_envs=2, vectorization_mode="sync")
    seen, _ = envs.reset(seed=1)
    ends = 0
    while ends < 3:
        sampled = [spaces.Discrete(len(mask)).sample(mask=mask) for mask in seen["action_mask"]]
        seen, _, over, _, _ = envs.step(np.array(sampled))
        ends += int(over.sum())
    envs.close()


def test_maskable_trainers_find_the_mask_where_they_look_for_it() -> None:
    env = gymnasium.make("stellwerk/usa-v0")
    seen, _ = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert (masks == seen["action_mask"]).all()


def test_the_mask_is_made_once_for_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    env = HouseEnv("usa", seat=0)
    env.reset(seed=1)
    made: list[Any] = []
    full: Any = np.full

    def counted(*given: object) -> Any:
        made.append(given)
        return full(*given)

    monkeypatch.setattr("stellwerk_learn.table.np.full", counted)
    for _ in range(20):
        env.step(int(env.action_masks().nonzero()[0][0]))
    assert len(made) == 20


def test_imagined_states_look_to_the_agent_as_the_real_one_does_and_change_nothing() -> None:
    env = HouseEnv("usa", opponents="greedy", seat=0, view=True)
    seen, info = env.reset(seed=1)
    for _ in range(30):
        seen, _, _, _, info = env.step(int(env.action_masks().nonzero()[0][0]))
    states = env.imagine(5)
    table = Table(env.table.game)
    for state in states:
        table.set_state(state)
        assert (table.vector(0) == seen["observation"]).all()
        assert (table.mask(0) == seen["action_mask"]).all()
        assert table.info(0, has_view=True) | {"action_mask": None} == info | {"action_mask": None}
    assert len({tuple(state.hands) for state in states}) > 1
    after, _ = env.table.observe(0), env.table.choose(0, int(env.action_masks().nonzero()[0][0]))
    assert (after["observation"] == seen["observation"]).all()


def test_an_illegal_action_ends_an_episode_as_a_loss_or_raises() -> None:
    env = HouseEnv("usa")
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (-1, True, False)
    assert "as the mask says" in info["illegal"]
    env = HouseEnv("usa", on_illegal="raise")
    env.reset(seed=0)
    with pytest.raises(IllegalActionError):
        env.step(0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"opponents": "nobody"}, "opponents: expected some of random, "),
        ({"opponents": ["random"], "players": 3}, "opponents: expected 2, found 1"),
        ({"seat": 2}, "seat: expected one below 2, found 2"),
        ({"on_illegal": "cry"}, "on_illegal: expected"),
    ],
)
def test_what_there_is_not_among_bots_is_a_clear_error(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        HouseEnv("usa", **arguments)


def test_without_the_extra_an_environment_says_what_to_install() -> None:
    for missing in ("gymnasium", "pettingzoo"):
        code = (
            f"import sys; sys.modules[{missing!r}] = None; import stellwerk_learn; stellwerk_learn.SeatsEnv"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"stellwerk_learn.SeatsEnv needs {missing}" in done.stderr
        assert "pip install 'stellwerk[learn]'" in done.stderr


# -- helpers -----------------------------------------------------------------------------------------


def _mask(env: SeatsEnv, agent: str) -> np.ndarray[Any, np.dtype[np.int8]]:
    mask: np.ndarray[Any, np.dtype[np.int8]] = env.observe(agent)["action_mask"]
    return mask


def _bytes_of(env: SeatsEnv, agent: str) -> bytes:
    seen = env.observe(agent)
    return bytes(seen["observation"].tobytes() + seen["action_mask"].tobytes())


def _step(env: SeatsEnv) -> None:
    """Choose the last integer of the mask."""
    env.step(int(_mask(env, env.agent_selection).nonzero()[0][-1]))


def _answer(env: SeatsEnv) -> None:
    """Go on until a move is made."""
    made = len(env.table.made)
    while len(env.table.made) == made:
        _step(env)


def _play_on(env: SeatsEnv) -> None:
    chance = np.random.default_rng(0)
    while engine.owing(env.table.state):
        env.step(int(chance.choice(_mask(env, env.agent_selection).nonzero()[0])))


def _play_house(env: HouseEnv, seed: int) -> float:
    chance = np.random.default_rng(seed)
    seen, _ = env.reset(seed=seed)
    while True:
        mask: Mask = seen["action_mask"]
        seen, reward, over, _, _ = env.step(int(chance.choice(mask.nonzero()[0])))
        if over:
            return reward
