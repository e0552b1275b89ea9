"""The example of a policy gradient, in small: its gradient, its mask, its file, its player, and its curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

import stellwerk
from stellwerk_bots.bot import Answer
from stellwerk_bots.messages import Ask, Start
from stellwerk_learn import HouseEnv, SeatsEnv
from stellwerk_learn.bot import PolicyPlayer
from stellwerk_learn.example.__main__ import main
from stellwerk_learn.example.curve import curve
from stellwerk_learn.example.policy import Learner, Policy, Steps, TrainedBot, load
from stellwerk_learn.example.train import Plan, Round, examine, play, train
from stellwerk_learn.observations import Vector
from stellwerk_learn.table import Mask
from tests.support import table

CURVE: Final = Path(__file__).with_name("curve.svg")
SMALL: Final = Plan(rounds=2, games=2, hidden=4, jobs=1)


def test_the_gradient_is_that_of_what_the_policy_is_to_become() -> None:
    """Beside differences of the loss, computed from its definition, for some of the weights."""
    chance = np.random.default_rng(1)
    policy = Policy.new(table("usa", 2), 3, chance)
    for weight in policy.weights.values():
        weight += chance.normal(0, 0.3, weight.shape).astype(np.float32)
    steps = play(HouseEnv("usa", reward="margin"), policy, 1, 1, best=False).steps
    learner = Learner(policy, entropy=0.1)
    advantages = chance.normal(0, 1, len(steps.chosen)).astype(np.float32)
    rows = np.arange(len(steps.chosen))
    gradient = learner._gradient(steps, advantages, rows)  # pyright: ignore[reportPrivateUsage]  the sum is all
    for name, slope in gradient.items():
        weight = policy.weights[name]
        for index in _largest(slope):
            kept = weight[index]
            losses: list[float] = []
            for change in (1e-2, -1e-2):
                weight[index] = kept + np.float32(change)
                losses.append(_loss(policy, steps, advantages, entropy=0.1))
            weight[index] = kept
            assert (losses[0] - losses[1]) / 2e-2 == pytest.approx(float(slope[index]), rel=0.02, abs=1e-4), (
                name
            )


def _largest(slope: NDArray[np.floating]) -> list[tuple[int, ...]]:
    places: list[int] = np.abs(slope).ravel().argsort()[-3:].tolist()
    return [(place,) if slope.ndim == 1 else divmod(place, slope.shape[1]) for place in places]


def _loss(policy: Policy, steps: Steps, advantages: Vector, entropy: float) -> float:
    weights = {name: weight.astype(np.float64) for name, weight in policy.weights.items()}
    layer = np.tanh(steps.vectors @ weights["first"] + weights["first_bias"])
    values = layer @ weights["value"] + weights["value_bias"]
    scores = layer @ weights["scores"] + weights["scores_bias"]
    total = 0.0
    for row, chosen in enumerate(steps.chosen):
        allowed = steps.masks[row] == 1
        logs = scores[row] - np.log(np.exp(scores[row][allowed]).sum())
        ratio = float(np.exp(logs[chosen] - steps.logs[row]))
        total -= min(ratio * advantages[row], float(np.clip(ratio, 0.8, 1.2)) * advantages[row])
        total += entropy * float((np.exp(logs) * logs)[allowed].sum())
        total += float((values[row] - steps.rewards[row]) ** 2) / 2
    return total / len(steps.chosen)


def test_what_the_mask_does_not_allow_is_never_chosen() -> None:
    chance = np.random.default_rng(1)
    policy = Policy.new(table("usa", 2), 4, chance)
    policy.weights["scores_bias"][:] = chance.normal(0, 50, len(policy.weights["scores_bias"]))
    mask = np.zeros(len(policy.weights["scores_bias"]), np.int8)
    mask[policy.weights["scores_bias"].argsort()[:5]] = 1  # the worst ones
    vector = np.ones(len(policy.weights["first"]), np.float32)
    assert mask[policy.best(vector, mask)]
    assert all(mask[policy.sample(vector, mask, chance)[0]] for _ in range(100))


def test_what_is_sampled_follows_the_probabilities() -> None:
    chance = np.random.default_rng(1)
    policy = Policy.new(table("usa", 2), 4, chance)
    policy.weights["scores_bias"][:3] = np.log([1, 2, 5])
    mask = np.zeros(len(policy.weights["scores_bias"]), np.int8)
    mask[:3] = 1
    vector = np.ones(len(policy.weights["first"]), np.float32)
    drawn = [policy.sample(vector, mask, chance) for _ in range(800)]
    counts = np.bincount([number for number, _ in drawn])
    assert counts == pytest.approx([100, 200, 500], rel=0.3)
    assert np.exp(dict(drawn)[2]) == pytest.approx(5 / 8)


def test_what_is_learned_is_the_same_in_any_number_of_processes() -> None:
    told: list[Round] = []
    policy = train(SMALL, told.append)
    other = train(Plan(rounds=2, games=2, hidden=4, jobs=2), lambda each: None)
    assert [each.games for each in told] == [2, 4]
    for name, weight in policy.weights.items():
        assert (weight == other.weights[name]).all()
    assert np.abs(policy.weights["scores"]).max() > 0
    verdict = examine(SMALL, policy, 2, "beginner")
    assert verdict.won_from <= verdict.won <= verdict.won_to


def test_a_saved_policy_plays_legal_matches(tmp_path: Path) -> None:
    game = table("usa", 2)
    file = tmp_path / "policy.npz"
    Policy.new(game, 4, np.random.default_rng(2)).save(file, game)
    rows = stellwerk.run_match(
        [TrainedBot(file), "random"], game="usa", seed="1", names=["learner", "random"]
    )
    assert [row["refused"] for row in rows] == [0, 0]


@pytest.mark.parametrize("game_id", ["usa", "card_game", "team_asia", "united_kingdom", "europe"])
def test_a_player_over_the_wire_sees_what_its_environment_shows(game_id: str) -> None:
    """And leads to the move that the same integers lead to there."""
    env = SeatsEnv(game_id)
    seen: list[bytes] = []

    def choose(vector: Vector, mask: Mask) -> int:
        seen.append(vector.tobytes() + mask.tobytes())
        return int(mask.nonzero()[0][len(seen) % mask.sum()])

    class Shown:
        """A bot in every seat, beside which the same game is played in an environment."""

        def __init__(self, start: Start, seed_text: str) -> None:
            self.player = PolicyPlayer(start, choose)

        def answer(self, ask: Ask) -> Answer:
            before = len(seen)
            answer = self.player.answer(ask)
            for each in seen[before:]:
                shown = env.observe(env.agent_selection)
                assert each == shown["observation"].tobytes() + shown["action_mask"].tobytes()
                mask: Mask = shown["action_mask"]
                env.step(int(mask.nonzero()[0][(before + 1) % mask.sum()]))
                before += 1
            return answer

    env.reset(seed=1)
    count = len(env.possible_agents)
    bots = count if game_id != "team_asia" else count // 2
    rows = stellwerk.run_match([Shown] * bots, game=game_id, seed="1", names=[f"b{n}" for n in range(bots)])
    result = env.table.state.result
    assert result is not None
    points = {seat: team.points for team in result.teams for seat in team.seats}
    assert {row["seat"]: row["points"] for row in rows} == points


def test_a_policy_of_another_game_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    Policy.new(table("usa", 2), 4, np.random.default_rng(1)).save(file, table("usa", 2))
    with pytest.raises(
        ValueError, match=r"is for usa with 2 players, version \w+, not for usa with 3 players"
    ):
        load(file, table("usa", 3))
    np.savez(tmp_path / "other.npz", weights=np.zeros(3))
    with pytest.raises(ValueError, match="is for another program"):
        load(tmp_path / "other.npz", table("usa", 2))


def test_the_command_trains_saves_draws_and_examines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, picture = tmp_path / "new" / "policy.npz", tmp_path / "curve.svg"
    words = ["--rounds=1", "--games=2", "--jobs=1", "--examined=2", f"--to={file}", f"--curve={picture}"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "2 games: " in printed
    assert "against random: 2 games: " in printed
    assert (
        load(file, table("usa", 2)).weights.keys()
        == Policy.new(table("usa", 2), 1, np.random.default_rng(1)).weights.keys()
    )
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_every_ten_rounds_and_at_the_end_the_means_of_the_last_ten_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fake_train(plan: Plan, tell: Callable[[Round], None]) -> Policy:
        for number in range(plan.rounds):
            tell(Round(number, 10 * (number + 1), number / 50, 2.0 * number))
        return Policy.new(table("usa", 2), 1, np.random.default_rng(1))

    monkeypatch.setattr("stellwerk_learn.example.__main__.train", fake_train)
    assert main(["--rounds=22", "--jobs=1", "--examined=2", f"--to={tmp_path / 'policy.npz'}"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if " won, " in line] == [
        "100 games: 9 % won, +9 points ahead",
        "200 games: 29 % won, +29 points ahead",
        "220 games: 33 % won, +33 points ahead",
    ]


def test_the_picture_of_a_curve_is_the_one_beside_this_file() -> None:
    """Look at what has changed, and keep it with: python -m tests.learn.test_example"""
    assert small_curve() == CURVE.read_text("utf-8")


def small_curve() -> str:
    rounds = [
        Round(number, 64 * (number + 1), 0.08 * number, 14.0 * number - 60 + number % 3)
        for number in range(12)
    ]
    return curve(Plan(), rounds)


def test_the_curve_has_a_point_for_each_round() -> None:
    rounds = [Round(number, 64 * (number + 1), 0.1 * number, -20.0 + number) for number in range(8)]
    root = ElementTree.fromstring(curve(Plan(), rounds))
    circles = [each for each in root if each.tag.endswith("circle")]
    assert len(circles) == 2 * len(rounds)
    heights = [float(each.get("cy", "")) for each in circles[: len(rounds)]]
    assert heights == sorted(heights, reverse=True)  # more is higher


if __name__ == "__main__":
    CURVE.write_text(small_curve(), "utf-8")
