"""A policy with one hidden layer, its gradient by hand, and its file.

Law: an integer that the mask does not allow has the probability 0, when it plays and when it learns.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from stellwerk_engine.core.state import Game
from stellwerk_learn.actions import action_map
from stellwerk_learn.bot import PolicyPlayer
from stellwerk_learn.observations import Vector, layout
from stellwerk_learn.table import Mask

if TYPE_CHECKING:
    from stellwerk_bots.messages import Start

Floats = NDArray[np.float32]
Weights = dict[str, Floats]
Gradient = dict[str, NDArray[np.floating[Any]]]  # Any: of any width that numpy computes

_NEVER: Final = np.float32(-1e9)  # the score of what the mask does not allow
_FOR: Final = "for"  # the entry of the file that says for which game the policy is


class Policy:
    """Scores for all integers, and a value: what reward to expect."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    @staticmethod
    def new(game: Game, hidden: int, chance: np.random.Generator) -> Policy:
        """Return a policy that knows nothing: it chooses all integers alike."""
        inputs, outputs = layout(game).size, len(action_map(game))
        first = chance.normal(0.0, 1 / np.sqrt(30), (inputs, hidden))  # some 30 inputs are not 0
        return Policy(
            {
                "first": np.asarray(first, np.float32),
                "first_bias": np.zeros(hidden, np.float32),
                "scores": np.zeros((hidden, outputs), np.float32),
                "scores_bias": np.zeros(outputs, np.float32),
                "value": np.zeros(hidden, np.float32),
                "value_bias": np.zeros(1, np.float32),
            }
        )

    def best(self, vector: Vector, mask: Mask) -> int:
        """Return the integer with the highest probability."""
        return int(self._log_probabilities(vector, mask).argmax())

    def sample(self, vector: Vector, mask: Mask, chance: np.random.Generator) -> tuple[int, float]:
        """Return an integer by its probability, and the logarithm of that."""
        logs = self._log_probabilities(vector, mask)
        allowed = np.flatnonzero(mask)
        sums: Floats = np.cumsum(np.exp(logs[allowed]))
        place = int(np.sum(sums < chance.random() * sums[-1]))
        number = int(allowed[min(place, len(allowed) - 1)])
        return number, float(logs[number])

    def save(self, path: str | PathLike[str], game: Game) -> None:
        arrays: dict[str, Any] = {**self.weights, _FOR: np.array(_described(game))}  # Any: as savez has it
        np.savez(path, **arrays)

    def _log_probabilities(self, vector: Vector, mask: Mask) -> Floats:
        weights = self.weights
        inputs = np.flatnonzero(vector)  # most are 0
        layer = np.tanh(vector[inputs] @ weights["first"][inputs] + weights["first_bias"])
        scores = np.where(mask, layer @ weights["scores"] + weights["scores_bias"], _NEVER)
        scores -= scores.max()
        return np.asarray(scores - np.log(np.exp(scores).sum()), np.float32)


def load(path: str | PathLike[str], game: Game) -> Policy:
    """Return the policy of a file. ValueError if it is for another game, or another version of it."""
    with np.load(path) as file:
        weights = {name: np.asarray(file[name]) for name in file.files}
    known = str(weights.pop(_FOR, "another program"))
    if known != _described(game):
        raise ValueError(f"{path} is for {known}, not for {_described(game)}")
    return Policy(weights)


def _described(game: Game) -> str:
    """Describe all that the weights depend on."""
    words = [*action_map(game).names, *(f"{each.name} {each.size}" for each in layout(game).sections)]
    digest = sha256("\n".join(words).encode()).hexdigest()[:12]
    return f"{game.id} with {game.seat_count} players, version {digest}"


class TrainedBot:
    """The maker of players from a policy's file, for `stellwerk_bots.client.Client` or
    `stellwerk.run_match`."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path

    def __call__(self, start: Start, seed_text: str) -> PolicyPlayer:
        player = PolicyPlayer(start, lambda vector, mask: policy.best(vector, mask))
        policy = load(self._path, player.game)
        return player


# -- learning ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of some games, one row each: what was seen and chosen, and the reward at the end of its game."""

    vectors: Floats
    masks: NDArray[np.int8]
    chosen: NDArray[np.int64]
    logs: Floats  # the logarithm of the probability with which it was chosen
    rewards: Floats


class Learner:
    """Changes a policy by the gradient of what it brought (proximal policy optimization), with Adam."""

    def __init__(self, policy: Policy, *, rate: float = 1e-3, entropy: float = 0.01) -> None:
        self.policy = policy
        self._rate = rate
        self._entropy = entropy
        self._count = 0
        self._mean = {name: np.zeros_like(weight) for name, weight in policy.weights.items()}
        self._square = {name: np.zeros_like(weight) for name, weight in policy.weights.items()}

    def learn(self, steps: Steps, chance: np.random.Generator, *, passes: int = 3, size: int = 512) -> None:
        """Make several passes over these steps, in parts of this size."""
        advantages = steps.rewards - self._forward(steps.vectors)[1]
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        for _ in range(passes):
            order = chance.permutation(len(steps.chosen))
            for start in range(0, len(order), size):
                self._change_weights(self._gradient(steps, advantages, order[start : start + size]))

    def _forward(self, vectors: Floats) -> tuple[Floats, Floats]:
        """Return the hidden layer and the values."""
        weights = self.policy.weights
        layer = np.tanh(vectors @ weights["first"] + weights["first_bias"])
        return layer, layer @ weights["value"] + weights["value_bias"]

    def _gradient(self, steps: Steps, advantages: Floats, rows: NDArray[np.int64]) -> Gradient:
        """Return the gradient of the loss: policy's loss, plus the error of the value, less the entropy."""
        weights = self.policy.weights
        vectors, chosen, advantage = steps.vectors[rows], steps.chosen[rows], advantages[rows]
        each = np.arange(len(rows))
        layer, values = self._forward(vectors)
        scores = np.where(steps.masks[rows], layer @ weights["scores"] + weights["scores_bias"], _NEVER)
        scores -= scores.max(axis=1, keepdims=True)
        probabilities = np.exp(scores)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        logs = np.log(probabilities + 1e-12)
        ratio = np.exp(logs[each, chosen] - steps.logs[rows])
        # Beyond a fifth more or less than when it was chosen, a step teaches nothing more.
        counts = ~(((ratio > 1.2) & (advantage > 0)) | ((ratio < 0.8) & (advantage < 0)))
        by_score = probabilities * (ratio * advantage * counts)[:, None]
        by_score[each, chosen] -= ratio * advantage * counts
        entropy = -(probabilities * logs).sum(axis=1, keepdims=True)
        by_score += self._entropy * probabilities * (logs + entropy)
        by_score /= len(rows)
        by_value = (values - steps.rewards[rows]) / len(rows)
        by_layer = (by_score @ weights["scores"].T + by_value[:, None] * weights["value"]) * (1 - layer**2)
        return {
            "first": vectors.T @ by_layer,
            "first_bias": by_layer.sum(axis=0),
            "scores": layer.T @ by_score,
            "scores_bias": by_score.sum(axis=0),
            "value": layer.T @ by_value,
            "value_bias": by_value.sum(keepdims=True),
        }

    def _change_weights(self, gradient: Gradient) -> None:
        self._count += 1
        for name, weight in self.policy.weights.items():
            slope = gradient[name]
            mean, square = self._mean[name], self._square[name]
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            step = mean / (1 - 0.9**self._count) / (np.sqrt(square / (1 - 0.999**self._count)) + 1e-8)
            weight -= np.float32(self._rate) * step
