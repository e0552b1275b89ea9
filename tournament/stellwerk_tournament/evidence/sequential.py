"""Is a candidate better than its baselines? One test that looks again and again, and one that looks once.

The unit is the block: one deal, played in every rotation of the seats. Its score is the candidate's mean
score in its matches, where the score in a match is the share of opponents that the candidate was ahead of, a
tie counting a half. Blocks have nothing in common, matches of a block have their deal: so blocks are counted,
and never matches.

**Elo.** A candidate of `elo` above its baselines has the expected score 1 / (1 + 10^(-elo / 400)), at a table
of any size. For in the model of the ratings (Plackett-Luce) which of two is ahead of the other does not
depend on who else sits there, and the score is the mean over such pairs. It is the Elo of scores: where ties
are frequent, the ratings (`ratings.py`), which set them apart, give the same result a greater distance.

**The sequential test** is a generalized sequential probability ratio test (GSPRT). Its hypotheses are that
the mean score of a block is that of `elo0`, or that of `elo1`; the likelihood of the scores seen is that of a
normal distribution, whose unknown variance is taken as what fits each of the hypotheses best. When the
logarithm of their ratio leaves Wald's bounds, the test is over. It passes a candidate of at most `elo0` with
a probability of at most `alpha`, and fails one of at least `elo1` with at most `beta`;
`tests/tournament/evidence/error_simulation.py` shows how nearly.

**The interval that is valid at any time** is a confidence sequence: with a probability of 95 % the true mean
is in it after *every* block from the first look on, so one may stop whenever one likes, for instance when the
interval no longer holds the score of equals. It is wider than that of a test that looks once. That is the
price. `stellwerk compare` stops by it. It is Robbins' normal mixture with the variance estimated
(Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence
sequences", Annals of Statistics, 2024).

Before the first look there are so many blocks that the mean is nearly normal and the variance is known. The
interval needs no bounds of the values, so it holds for points as for scores: blocks must be independent, with
the same distribution and a finite variance. Points have one, because trains and tickets end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from stellwerk_tournament.ratings.elo import score_of
from stellwerk_tournament.ratings.student import quantile

FEWEST_BLOCKS: Final = 30  # before the first look
FEWEST_FIXED: Final = 10  # of a test that looks once; with fewer its intervals are not to be believed
MOST_ELO: Final = 800.0  # a score of 0.99: beyond that a block says next to nothing
LEVEL: Final = 0.95  # of the intervals that are shown
NARROWEST_AT: Final = 150  # blocks: there the interval that is valid at any time is as narrow as it can be
FAR: Final = 0.5  # the distance of the imagined block, as if of one that was won or lost in every seat
FAR_IN_POINTS: Final = 80.0  # the same for a lead in points, which hardly any deal exceeds in both seats

Conclusion: TypeAlias = Literal["passed", "failed", "undecided"]


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """Hypotheses: `elo0` is not good enough, `elo1` is. ValueError if the test cannot separate them."""

    elo0: float
    elo1: float
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            raise ValueError(f"expected -{MOST_ELO:g} <= elo0 < elo1 <= {MOST_ELO:g}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError("expected alpha and beta between 0 and 0.5")

    @property
    def score0(self) -> float:
        return score_of(self.elo0)

    @property
    def score1(self) -> float:
        return score_of(self.elo1)

    @property
    def lower(self) -> float:
        """Return where the test fails the candidate."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Return where the test passes it."""
        return math.log((1 - self.beta) / self.alpha)


@dataclass(slots=True)
class Sample:
    """The values of blocks, added up: scores, or others for which another distance is `far`."""

    far: float = FAR
    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, score: float) -> None:
        self.count += 1
        self.total += score
        self.squares += score * score

    @property
    def mean(self) -> float:
        return self.total / self.count

    def spread_around(self, center: float, far: float = FAR) -> float:
        """Return the mean squared distance from a center, with that of an imagined block.

        The imagined block is there because a few values that happen to be alike do not prove that all
        are: two versions of a bot may play most deals alike.
        """
        squared = self.squares - 2 * center * self.total + self.count * center * center
        return (squared + far * far) / self.count


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


def log_likelihood_ratio(sample: Sample, hypotheses: Hypotheses) -> float:
    """Compute the logarithm of how much more likely `elo1` makes the scores than `elo0`."""
    spread0 = sample.spread_around(hypotheses.score0)
    spread1 = sample.spread_around(hypotheses.score1)
    # With the mean estimated, (count - 3) / (count * spread) is the unbiased estimate of 1 / variance.
    return (sample.count - 3) / 2 * math.log(spread0 / spread1)


def look(sample: Sample, hypotheses: Hypotheses) -> Conclusion:
    """Look once more in a sequential test. "undecided": it needs more blocks."""
    if sample.count < FEWEST_BLOCKS:
        return "undecided"
    ratio = log_likelihood_ratio(sample, hypotheses)
    if ratio >= hypotheses.upper:
        return "passed"
    return "failed" if ratio <= hypotheses.lower else "undecided"


def look_once(sample: Sample, hypotheses: Hypotheses) -> Conclusion:
    """Judge after a number of blocks that was fixed beforehand.

    Passed if the mean score is surely (but for `alpha`) above that of `elo0`, failed if it is surely (but
    for `beta`) below that of `elo1`.
    """
    if sample.count < FEWEST_FIXED:
        return "undecided"
    if sample.mean - _margin(sample, 1 - hypotheses.alpha) > hypotheses.score0:
        return "passed"
    is_below = sample.mean + _margin(sample, 1 - hypotheses.beta) < hypotheses.score1
    return "failed" if is_below else "undecided"


def interval(sample: Sample, fewest: int = FEWEST_FIXED) -> Interval | None:
    """Return the interval that holds the mean in 95 % of tests that look once.

    None if the blocks are too few. After a sequential test the mean is a little too far out, because it
    stopped when it was. The values need not be scores.
    """
    if sample.count < fewest:
        return None
    margin = _margin(sample, (1 + LEVEL) / 2)
    return Interval(sample.mean - margin, sample.mean + margin)


def interval_at_any_time(sample: Sample) -> Interval | None:
    """Return the interval that holds the mean after every block, in 95 % of tests that stop when they like.

    None before the first look. The values need not be scores.
    """
    if sample.count < FEWEST_BLOCKS:
        return None
    grown = sample.count * _MIXTURE + 1
    variance = sample.spread_around(sample.mean, sample.far) * sample.count / (sample.count - 1)
    squared = 2 * grown / (sample.count**2 * _MIXTURE) * math.log(math.sqrt(grown) / (1 - LEVEL))
    margin = math.sqrt(squared * variance)
    return Interval(sample.mean - margin, sample.mean + margin)


def _mixture(count: int, error: float) -> float:
    """Return the variance of the mixture with which the interval is narrowest after so many blocks."""
    bits = -2 * math.log(error)
    return (bits + math.log(bits + 1)) / count


_MIXTURE: Final = _mixture(NARROWEST_AT, 1 - LEVEL)


def _margin(sample: Sample, probability: float) -> float:
    freedom = sample.count - 1
    return quantile(probability, freedom) * math.sqrt(sample.spread_around(sample.mean) / freedom)
