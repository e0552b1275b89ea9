"""What the gate's tests conclude from the scores of blocks, and how often they err."""

from __future__ import annotations

from itertools import permutations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_tournament.evidence.sequential import (
    FEWEST_BLOCKS,
    FEWEST_FIXED,
    MOST_ELO,
    Conclusion,
    Hypotheses,
    Sample,
    interval,
    interval_at_any_time,
    log_likelihood_ratio,
    look,
    look_once,
)
from stellwerk_tournament.evidence.worth import sample_of_points
from stellwerk_tournament.ratings.elo import elo_of, score_of
from tests.tournament.evidence.error_simulation import (
    SPREAD,
    Setting,
    World,
    measure,
    measure_interval,
    measure_points,
)

FIFTY = Hypotheses(0, 50, 0.05, 0.05)
WIDE = Hypotheses(0, 150, 0.05, 0.05)
OPPOSITE: dict[Conclusion, Conclusion] = {"passed": "failed", "failed": "passed", "undecided": "undecided"}

scores = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.75, 1.0]), min_size=1, max_size=200)


def sample_of(*scores: float) -> Sample:
    sample = Sample()
    for score in scores:
        sample.add(score)
    return sample


# -- Elo ---------------------------------------------------------------------------------------------


@given(st.floats(-MOST_ELO, MOST_ELO))
def test_a_score_has_one_elo(elo: float) -> None:
    assert elo_of(score_of(elo)) == pytest.approx(elo, abs=1e-6)
    assert score_of(-elo) == pytest.approx(1 - score_of(elo))


def test_a_score_of_nothing_or_all_has_no_elo() -> None:
    assert elo_of(0.0) is None
    assert elo_of(1.0) is None


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("elo", [-200.0, 0.0, 50.0, 300.0])
def test_the_expected_score_is_the_same_at_a_table_of_any_size(players: int, elo: float) -> None:
    """Summed over all orders in which the players may finish, each as likely as Plackett and Luce have it."""
    worths = [10 ** (elo / 400), *[1.0] * (players - 1)]
    total = 0.0
    for order in permutations(range(players)):
        likely = prod(
            worths[player] / sum(worths[other] for other in order[n:]) for n, player in enumerate(order)
        )
        total += likely * (players - 1 - order.index(0)) / (players - 1)
    assert total == pytest.approx(score_of(elo))


@pytest.mark.parametrize(
    ("elo0", "elo1", "alpha", "beta"),
    [
        (50, 50, 0.05, 0.05),
        (50, 0, 0.05, 0.05),
        (-MOST_ELO - 1, 0, 0.05, 0.05),
        (0, float("nan"), 0.05, 0.05),
        (0, 50, 0.0, 0.05),
        (0, 50, 0.05, 0.5),
        (0, 50, float("nan"), 0.05),
    ],
)
def test_hypotheses_that_make_no_test_are_refused(
    elo0: float, elo1: float, alpha: float, beta: float
) -> None:
    with pytest.raises(ValueError, match="expected"):
        Hypotheses(elo0, elo1, alpha, beta)


# -- the sequential test -----------------------------------------------------------------------------


def test_nothing_is_concluded_before_the_first_look() -> None:
    sample = sample_of(*[1.0] * (FEWEST_BLOCKS - 1))
    assert log_likelihood_ratio(sample, WIDE) > WIDE.upper
    assert look(sample, WIDE) == "undecided"
    sample.add(1.0)
    assert look(sample, WIDE) == "passed"


@given(scores)
def test_who_is_better_for_one_is_worse_for_the_other(seen: list[float]) -> None:
    sample, mirrored = sample_of(*seen), sample_of(*(1 - score for score in seen))
    turned = Hypotheses(-FIFTY.elo1, -FIFTY.elo0, FIFTY.beta, FIFTY.alpha)
    ratio = log_likelihood_ratio(sample, FIFTY)
    assert log_likelihood_ratio(mirrored, turned) == pytest.approx(-ratio, abs=1e-9)
    assert look(mirrored, turned) == OPPOSITE[look(sample, FIFTY)]
    assert look_once(mirrored, turned) == OPPOSITE[look_once(sample, FIFTY)]


def test_halfway_between_the_hypotheses_nothing_is_shown() -> None:
    middle = (FIFTY.score0 + FIFTY.score1) / 2
    assert log_likelihood_ratio(sample_of(*[middle - 0.2, middle + 0.2] * 500), FIFTY) == pytest.approx(
        0, abs=1e-9
    )


def test_the_stricter_the_later() -> None:
    sample = sample_of(*[1.0, 0.5] * 20)
    assert look(sample, WIDE) == "passed"
    assert look(sample, Hypotheses(0, 150, 1e-6, 1e-6)) == "undecided"


@pytest.mark.parametrize("blocks", [FEWEST_BLOCKS, 1000])
def test_who_plays_just_alike_is_as_good_and_no_better(blocks: int) -> None:
    sample = sample_of(*[0.5] * blocks)
    assert look(sample, WIDE) == "failed"
    assert look(sample, Hypotheses(-150, 0, 0.05, 0.05)) == "passed"


# -- the test that looks once ------------------------------------------------------------------------


def test_one_look_passes_fails_or_leaves_it_open() -> None:
    assert look_once(sample_of(*[0.5, 1.0] * 15), FIFTY) == "passed"
    assert look_once(sample_of(*[0.5, 0.0] * 15), FIFTY) == "failed"
    assert look_once(sample_of(*[0.0, 1.0] * 15), FIFTY) == "undecided"


def test_too_few_blocks_show_nothing() -> None:
    sample = sample_of(*[1.0] * (FEWEST_FIXED - 1))
    assert look_once(sample, FIFTY) == "undecided"
    assert interval(sample) is None


def test_blocks_that_are_all_alike_still_leave_a_doubt() -> None:
    found = interval(sample_of(*[1.0] * FEWEST_FIXED))
    assert found is not None
    assert 0.8 < found.low < 0.95


def test_the_interval_is_students() -> None:
    """Ten scores around 0.5, the imagined block's quarter, and the 97.5 % quantile for nine degrees of
    freedom from a table."""
    sample = sample_of(*[0.0] * 4, *[1.0] * 4, *[0.5] * 2)
    found = interval(sample)
    assert found is not None
    margin = 2.262157 * ((4 * 0.25 + 4 * 0.25 + 0.25) / 10 / 9) ** 0.5
    assert (found.low, found.high) == pytest.approx((0.5 - margin, 0.5 + margin), abs=1e-6)


# -- how often they err ------------------------------------------------------------------------------

WORLDS = (
    World(2),
    World(2, points=0.5),
    World(2, noise=0.2),
    World(3),
    World(4, points=0.5),
    World(2, opposition=(-0.8, 0.8)),
)
SIMULATED = 500  # tests of each kind here; `error_simulation` makes thousands


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
@pytest.mark.parametrize("setting", [Setting(FIFTY), Setting(FIFTY, blocks=60)], ids=lambda each: each.name)
def test_errors_are_as_rare_as_promised(world: World, setting: Setting) -> None:
    """With a fixed seed, so that it passes always or never. The share of errors may be above what was
    promised by chance, but not at the lower end of its 95 % interval."""
    for elo in (FIFTY.elo0, FIFTY.elo1):
        errors = measure(world, setting, elo, SIMULATED, seed=5)
        assert errors.interval[0] <= 0.05
        if setting.blocks is None:
            assert errors.undecided == 0
            assert errors.mean_blocks < 250


def test_what_is_clearly_better_or_worse_needs_no_more_than_the_first_looks() -> None:
    setting = Setting(Hypotheses(0, 50, 0.01, 0.01))
    for elo in (300.0, -300.0):
        errors = measure(World(2), setting, elo, SIMULATED, seed=6)
        assert errors.wrong == 0
        assert errors.mean_blocks < 2 * FEWEST_BLOCKS


# -- the interval that is valid at any time ----------------------------------------------------------


def test_before_the_first_look_there_is_no_interval_at_any_time() -> None:
    assert interval_at_any_time(sample_of(*[0.5] * (FEWEST_BLOCKS - 1))) is None
    assert interval_at_any_time(sample_of(*[0.5] * FEWEST_BLOCKS)) is not None


@pytest.mark.parametrize("true_elo", [0.0, 150.0])
def test_the_interval_at_any_time_holds_the_truth_after_every_block(true_elo: float) -> None:
    """95 % of comparisons, however often one looks; `make simulations` shows it in every world."""
    errors = measure_interval(World(2), true_elo, tests=400, seed=5, end=300)
    assert errors.wrong / errors.tests <= 0.05


@pytest.mark.parametrize("alike", [0.0, 0.97])
def test_the_interval_at_any_time_holds_the_true_lead_in_points(alike: float) -> None:
    """So does `compare --by points` with two versions that play nearly all deals alike."""
    errors = measure_points(World(2, points=SPREAD, alike=alike), 2.0, tests=300, seed=5, end=200)
    assert errors.wrong / errors.tests <= 0.05


def test_points_that_happen_to_be_alike_do_not_prove_that_all_are() -> None:
    """Thirty deals without a difference leave room for a lead that one deal in thirty gives."""
    sample = sample_of_points()
    for _ in range(FEWEST_BLOCKS):
        sample.add(0.0)
    limits = interval_at_any_time(sample)
    assert limits is not None
    assert limits.low < -2
    assert limits.high > 2


def test_the_interval_of_a_test_that_looks_once_fails_if_one_looks_after_every_block() -> None:
    """So it is not the one to stop by."""
    sample, missed = Sample(), False
    for number, score in enumerate([1.0, 0.0] * 10 + [1.0] * 14 + [0.0] * 14, 1):
        sample.add(score)
        once, anytime = interval(sample), interval_at_any_time(sample)
        if number >= FEWEST_BLOCKS:
            assert once is not None
            assert anytime is not None
            assert anytime.low < once.low
            assert once.high < anytime.high
            missed |= once.low > 0.5 and anytime.low <= 0.5
    assert missed


@given(scores)
def test_the_interval_at_any_time_of_the_other_version_is_its_mirror(values: list[float]) -> None:
    one, other = (
        interval_at_any_time(sample_of(*each)) for each in (values, [1 - value for value in values])
    )
    if one is None or other is None:
        assert one is other
    else:
        assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))
