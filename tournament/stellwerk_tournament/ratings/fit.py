"""Fitting the model: the parameters that explain all matches at once best.

Prior: the likelihood is multiplied by the square root of the determinant of the information, which is
Jeffreys' prior. It takes away the bias of first order (D. Firth, "Bias reduction of maximum likelihood
estimates", 1993), and it keeps every estimate finite: an entrant that won n of n matches against an equal
opponent gets odds of 2n + 1, as if each had won half a match more. It knows no scale and no entrant's
name, and it weighs about half a match for each parameter. Terms of seats have a normal prior too
(`Model.precision`): without it, a seat in which a strong entrant never lost would get an unbounded error.
Both priors can be left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from stellwerk_tournament.ratings.choice_model import FloatArray
from stellwerk_tournament.ratings.model import (
    Derivatives,
    Model,
    add_matrix,
    add_vector,
    choices,
    derivatives,
    pieces,
    products,
)

MOST_STEPS: Final = 200  # far more than ever seen
CONVERGED: Final = 1e-8  # of a step, in natural units: 0.000002 Elo
LONGEST_STEP: Final = 3.0  # 520 Elo: beyond, the quadratic picture of the likelihood says nothing
FIRST_STEPS: Final = (
    4  # at most so many without the prior, which costs more than all the rest and moves little
)
NEARLY: Final = 0.1  # of a step: from here on the prior is looked at
CONFOUNDED: Final = 1e-10  # of the largest eigenvalue: directions in which the matches say nothing


@dataclass(frozen=True, slots=True)
class Fit:
    parameters: FloatArray
    inverse: FloatArray
    """The inverse of the information at the parameters, where what is held at mean 0 has been added."""
    response: FloatArray
    """How far the estimates move with the score: the inverse too, but with the information of the prior. It
    draws estimates together, and with few matches errors without it would be too wide."""
    log_likelihood: float
    is_converged: bool


def fit(model: Model, *, prior: bool) -> Fit:
    model = replace(model, tables=tuple(tables.merged() for tables in model.tables))
    start = derivatives(model, np.zeros(model.parameter_count))
    weights = _weights(model, start)
    point = _Point(np.zeros(model.parameter_count), start, _held(model, start.information, weights))
    if prior:
        point, _ = _climb(model, point, weights, FIRST_STEPS, NEARLY, prior=False)
    point, is_converged = _climb(model, point, weights, MOST_STEPS, CONVERGED, prior=prior)
    inverse = response = _inverse(point.matrix)
    if prior:
        _, leveraged = _prior_terms(model, point.parameters, inverse)
        response = _inverse(_held(model, leveraged, weights))
    return Fit(point.parameters, inverse, response, point.now.log_likelihood, is_converged)


class _Point(NamedTuple):
    parameters: FloatArray
    now: Derivatives
    matrix: FloatArray  # the information, with what is held at mean 0

    def objective(self, *, prior: bool) -> float:
        """Return the penalized likelihood, up to a constant.

        Parameters that are held at mean 0 add a factor to the determinant that never changes.
        """
        return self.now.log_likelihood + (float(np.linalg.slogdet(self.matrix)[1]) / 2 if prior else 0.0)


def _point(model: Model, parameters: FloatArray, weights: list[float]) -> _Point:
    now = derivatives(model, parameters)
    return _Point(parameters, now, _held(model, now.information, weights))


def _climb(
    model: Model, point: _Point, weights: list[float], most_steps: int, close: float, *, prior: bool
) -> tuple[_Point, bool]:
    """Climb by Newton's method, halving a step that goes too far, until a step is shorter than `close`."""
    objective = point.objective(prior=prior)
    for _ in range(most_steps):
        score, steering = point.now.score, point.matrix
        if prior:
            adjustment, leveraged = _prior_terms(model, point.parameters, _inverse(point.matrix))
            score = score + adjustment
            steering = _held(model, leveraged, weights)
        step = np.linalg.solve(steering, score)
        length = float(np.abs(step).max())
        if length < close:
            return point, True
        step *= min(1.0, LONGEST_STEP / length)
        slope = float(score @ step)
        while True:
            tried = _point(model, _centered(model, point.parameters + step), weights)
            reached = tried.objective(prior=prior)
            # Rounding of the objective must not stop the last steps.
            if reached >= objective + 1e-4 * slope - 1e-11 * abs(objective):
                break
            step, slope = step / 2, slope / 2
            if float(np.abs(step).max()) < close:
                return point, False
        point, objective = tried, reached
    return point, False


def confounded(model: Model) -> FloatArray:
    """Return the directions in parameter space that no match determines: one a column, of length 1."""
    now = derivatives(model, np.zeros(model.parameter_count))
    matrix = _held(model, now.information, _weights(model, now))
    least, greatest = np.linalg.eigvalsh(matrix)[[0, -1]]
    if least > CONFOUNDED * greatest:  # as nearly always, and the vectors cost much more than the values
        return np.zeros((model.parameter_count, 0))
    values, vectors = np.linalg.eigh(matrix)
    nothing: FloatArray = vectors[:, values <= CONFOUNDED * greatest]
    return nothing


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _weights(model: Model, start: Derivatives) -> list[float]:
    """Choose how firmly each mean is held: as the matches hold the rest.

    Any weight gives the same estimates.
    """
    diagonal = start.information.diagonal()
    return [max(float(diagonal[held].mean()), 1e-6) for held in model.held_at_mean_0]


def _held(model: Model, information: FloatArray, weights: list[float]) -> FloatArray:
    matrix = information.copy()
    for held, weight in zip(model.held_at_mean_0, weights, strict=True):
        matrix[np.ix_(held, held)] += weight / len(held)
    return matrix


def _centered(model: Model, parameters: FloatArray) -> FloatArray:
    """Center again, against the drift of rounding."""
    for held in model.held_at_mean_0:
        parameters[held] -= parameters[held].mean()
    return parameters


def _prior_terms(model: Model, parameters: FloatArray, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the derivative of the prior's logarithm, and a matrix that makes good steps.

    The former is half the trace of inverse x (derivative of the information), in closed form for each
    choice. For the latter each choice counts 1 + its leverage times, which is exact enough for two
    alternatives and a little too careful for more.
    """
    adjustment = np.zeros(model.parameter_count)
    leveraged = np.diag(model.precision)
    for piece in pieces(model.tables):
        values = parameters[piece.parameters]
        count, width = values.shape
        covariance = inverse[piece.parameters[:, :, None], piece.parameters[:, None, :]]
        local = np.zeros((count, width))
        information = np.zeros((count, width, width))
        for stage in piece.stages:
            _, _, shares, mean = choices(stage, values)
            outer = products(stage)
            own = covariance.reshape(count, -1) @ outer.T  # the variance of each alternative's utility
            with_mean = np.einsum("mi,mij->mj", mean, covariance) @ stage.design.T
            mean_own = (shares * own).sum(axis=1, keepdims=True)
            of_mean = (shares * with_mean).sum(axis=1, keepdims=True)
            local += (
                stage.weight / 2 * (shares * (own - 2 * with_mean - mean_own + 2 * of_mean)) @ stage.design
            )
            leverage = stage.weight * (mean_own - of_mean)
            squares = (shares @ outer).reshape(count, width, width)
            spread = squares - mean[:, :, None] * mean[:, None, :]
            information += stage.weight * (1 + leverage)[:, :, None] * spread
        add_vector(adjustment, piece, piece.counts[:, None] * local)
        add_matrix(leveraged, piece, piece.counts[:, None, None] * information)
    return adjustment, leveraged
