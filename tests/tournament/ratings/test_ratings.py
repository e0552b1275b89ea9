"""Ratings against other ways to the same figures: a library, brute force, closed forms, a jackknife."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise, permutations, product
from random import Random
from statistics import pvariance
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk_tournament.ratings.block_errors import block_errors
from stellwerk_tournament.ratings.choice_model import FloatArray, Ties
from stellwerk_tournament.ratings.fit import fit
from stellwerk_tournament.ratings.model import Model, build_model, derivatives
from stellwerk_tournament.ratings.opponents import Bound
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import (
    ELO,
    Rating,
    RatingError,
    Ratings,
    RatingSettings,
    rate,
    rate_all,
)

choix: Any = importlib.import_module("choix")  # noqa: TID251  comes without types
linalg: Any = importlib.import_module("scipy.linalg")  # noqa: TID251  as above
optimize: Any = importlib.import_module("scipy.optimize")  # noqa: TID251  as above

BARE = RatingSettings(seats=False, prior=False)


def played(
    count: int,
    *,
    entrants: int = 5,
    size: int = 3,
    tie: float = 0.0,
    seed: int = 1,
    matches_in_block: int = 1,
) -> list[Outcome]:
    """Return matches by chance between entrants of unequal strength, in seats of unequal worth."""
    random = Random(seed)
    outcomes: list[Outcome] = []
    for match in range(count):
        chosen = random.sample(range(entrants), size)
        points = [0.3 * entrant + 0.2 * seat + random.gauss(0, 1) for seat, entrant in enumerate(chosen)]
        if tie:
            points = [round(point / tie) for point in points]
        outcomes.append(
            Outcome(
                entrants=tuple("abcdefgh"[entrant] for entrant in chosen),
                ranks=tuple(1 + sum(other > point for other in points) for point in points),
                seats=tuple(range(size)),
                block=str(match // matches_in_block),
            )
        )
    return outcomes


def elos(ratings: Ratings) -> dict[str, float]:
    return {rating.name: rating.elo for rating in ratings.entrants}


def of(ratings: Ratings, name: str) -> Any:  # a Rating; its optional figures are there in these tests
    [only_rating] = [rating for rating in ratings.entrants if rating.name == name]
    return only_rating


def figures(rating: Rating) -> list[float]:
    return [
        math.nan if figure is None else figure
        for figure in (rating.elo, rating.stderr, rating.low, rating.high, rating.superiority)
    ]


def duel(wins: int, losses: int, ties: int = 0, *, block: Callable[[int], str] = str) -> list[Outcome]:
    ranks = [(1, 2)] * wins + [(2, 1)] * losses + [(1, 1)] * ties
    return [Outcome(("a", "b"), rank, block=block(match)) for match, rank in enumerate(ranks)]


# -- estimates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 4, 6])
def test_without_ties_the_estimates_are_those_of_choix(size: int) -> None:
    outcomes = played(300, entrants=7, size=size)
    rankings = [
        tuple("abcdefg".index(name) for _, name in sorted(zip(outcome.ranks, outcome.entrants, strict=True)))
        for outcome in outcomes
    ]
    theirs = choix.opt_rankings(7, rankings, alpha=0.0, tol=1e-10)
    theirs -= theirs.mean()

    ours = elos(rate(outcomes, BARE))

    assert [ours[name] for name in "abcdefg"] == pytest.approx(list(ELO * theirs), abs=1e-3)


def weak_orders(size: int) -> Iterator[tuple[int, ...]]:
    """Yield every way in which a match can end: ranks without gaps."""
    for ranks in product(range(1, size + 1), repeat=size):
        if set(ranks) == set(range(1, max(ranks) + 1)):
            yield ranks


def davidson_luce(worths: Sequence[float], ranks: Sequence[int], tie: Sequence[float]) -> float:
    """Return the probability of an outcome, choice by choice as in the paper. `tie[t]` is d_t."""
    left = list(range(len(worths)))
    probability = 1.0
    for rank in sorted(set(ranks)):
        best = tuple(i for i in left if ranks[i] == rank)
        if len(left) > 1:
            weights = {
                chosen: tie[order] * math.prod(worths[i] for i in chosen) ** (1 / order)
                for order in range(1, len(left) + 1)
                for chosen in combinations(left, order)
            }
            probability *= weights[best] / sum(weights.values())
        left = [i for i in left if i not in best]
    return probability


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_probabilities_of_all_outcomes_are_those_of_the_paper_and_sum_to_1(size: int) -> None:
    worths = [1.0, 2.5, 0.7, 1.3][:size]
    tie = [0.0, 1.0, 0.5, 0.2, 0.1]
    outcomes = [Outcome(tuple("abcd"[:size]), ranks) for ranks in weak_orders(size)]
    model = build_model(outcomes, "davidson", seats=False)
    parameters = np.log([*worths, *tie[2 : size + 1]])

    total = 0.0
    for outcome in outcomes:
        # With all orders of ties in the model, whatever the one match has.
        pair = build_model([outcome, *outcomes], "davidson", seats=False)
        without = derivatives(model, parameters).log_likelihood
        probability = math.exp(derivatives(pair, parameters).log_likelihood - without)
        total += probability
        assert probability == pytest.approx(davidson_luce(worths, outcome.ranks, tie))

    assert total == pytest.approx(1.0)


def mean_of_orders(worths: Sequence[float], ranks: Sequence[int]) -> float:
    """Return the mean of the logarithms of the probabilities of all orders that break the ties."""
    logs = [
        sum(math.log(worths[i] / sum(worths[j] for j in order[place:])) for place, i in enumerate(order))
        for order in permutations(range(len(ranks)))
        if all(ranks[i] <= ranks[j] for i, j in pairwise(order))
    ]
    return sum(logs) / len(logs)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_half_a_win_is_the_mean_of_all_orders_of_a_tie(size: int) -> None:
    worths = [1.0, 2.5, 0.7, 1.3, 0.4][:size]
    for ranks in weak_orders(size):
        model = build_model([Outcome(tuple("abcde"[:size]), ranks)], "half", seats=False)

        found = derivatives(model, np.log(worths)).log_likelihood

        assert found == pytest.approx(mean_of_orders(worths, ranks))


@pytest.mark.parametrize("ties", ["davidson", "half"])
def test_with_ties_and_seats_brute_force_finds_no_better_estimates(ties: Ties) -> None:
    outcomes = played(120, entrants=4, size=3, tie=1.2)
    model = build_model(outcomes, ties, seats=True)
    seats = next(iter(model.seats.values()))
    tie_terms = next(iter(model.ties.values()))

    def surprise(parameters: FloatArray) -> float:
        total = 0.0
        tie = [0.0, 1.0, *(math.exp(parameters[term]) for term in tie_terms.values())]
        for outcome in outcomes:
            worths = [
                math.exp(parameters[model.names.index(name)] + parameters[seats[seat]])
                for name, seat in zip(outcome.entrants, outcome.seats or (), strict=True)
            ]
            if ties == "half":
                total -= mean_of_orders(worths, outcome.ranks)
            else:
                total -= math.log(davidson_luce(worths, outcome.ranks, tie))
        return total

    best = optimize.minimize(surprise, np.zeros(model.parameter_count), method="BFGS", options={"gtol": 1e-7})
    theirs = best.x
    for held in model.held_at_mean_0:
        theirs[held] -= theirs[held].mean()

    fitted = fit(model, prior=False)

    assert ties == "half" or list(tie_terms) == [2, 3]
    assert list(fitted.parameters) == pytest.approx(list(theirs), abs=1e-4)
    assert fitted.log_likelihood == pytest.approx(-best.fun, abs=1e-8)


def test_the_information_is_how_the_score_changes() -> None:
    model = build_model(played(40, size=4, tie=1.0), "davidson", seats=True)
    at = np.linspace(-0.5, 0.5, model.parameter_count)
    step = 1e-5

    for parameter in range(model.parameter_count):
        shift = np.zeros(model.parameter_count)
        shift[parameter] = step
        before, after = derivatives(model, at - shift), derivatives(model, at + shift)
        slope = (after.log_likelihood - before.log_likelihood) / (2 * step)
        change = (before.score - after.score) / (2 * step)
        assert derivatives(model, at).score[parameter] == pytest.approx(slope, abs=1e-6)
        assert list(derivatives(model, at).information[parameter]) == pytest.approx(list(change), abs=1e-6)


@pytest.mark.parametrize("ties", ["davidson", "half"])
def test_with_the_prior_the_estimates_are_at_the_peak_of_likelihood_and_prior(ties: Ties) -> None:
    model = build_model(played(30, entrants=4, size=3, tie=1.5), ties, seats=True)

    def height(parameters: FloatArray) -> float:
        now = derivatives(model, parameters)
        values = np.linalg.eigvalsh(now.information)
        return now.log_likelihood + float(np.log(values[values > 1e-9]).sum()) / 2

    fitted = fit(model, prior=True)

    assert fitted.is_converged
    top = height(fitted.parameters)
    random = np.random.default_rng(1)
    for _ in range(60):
        shift = random.normal(0, 1, model.parameter_count)
        slope = (height(fitted.parameters + 1e-4 * shift) - height(fitted.parameters - 1e-4 * shift)) / 2e-4
        assert slope == pytest.approx(0.0, abs=1e-5)
        assert height(fitted.parameters + 0.1 * shift) < top


@pytest.mark.parametrize("matches", [1, 7, 400])
def test_the_prior_is_worth_half_a_win_for_each_of_two(matches: int) -> None:
    ratings = rate(duel(matches, 0))

    assert of(ratings, "a").elo - of(ratings, "b").elo == pytest.approx(400 * math.log10(2 * matches + 1))


def test_davidson_s_ties_say_nothing_about_strength_and_are_reported() -> None:
    ratings = rate(duel(30, 10, ties=20), replace(BARE))

    [term] = ratings.tie_terms
    assert of(ratings, "a").elo - of(ratings, "b").elo == pytest.approx(400 * math.log10(3))
    assert (term.players, term.tied) == (2, 2)
    assert term.weight == pytest.approx(20 / math.sqrt(30 * 10))


def test_half_a_win_for_each_pulls_tied_players_together() -> None:
    ratings = rate(duel(30, 10, ties=20), replace(BARE, ties="half"))

    assert of(ratings, "a").elo - of(ratings, "b").elo == pytest.approx(400 * math.log10(2))
    assert ratings.tie_terms == ()


def test_who_always_sits_well_is_not_taken_for_strong() -> None:
    """a and b are equal, the second seat wins three of four; a sits there three times of four."""
    outcomes: list[Outcome] = []
    for seats, count in (((1, 0), 300), ((0, 1), 100)):
        for match in range(count):
            second_wins = match % 4 != 0
            first_of_pair_wins = second_wins == (seats[0] == 1)
            outcomes.append(Outcome(("a", "b"), (1, 2) if first_of_pair_wins else (2, 1), seats=seats))

    with_seats = rate(outcomes)
    without = rate(outcomes, RatingSettings(seats=False))

    assert of(with_seats, "a").elo == pytest.approx(0, abs=3)  # the prior takes seats for a little less
    assert of(without, "a").elo > 40
    assert [round(effect.elo) for effect in with_seats.seat_effects] == pytest.approx([-95, 95], abs=3)
    assert without.seat_effects == ()


def test_seats_that_no_match_names_have_no_effects() -> None:
    bare = [replace(outcome, seats=None) for outcome in played(50)]

    assert rate(bare).seat_effects == ()


def test_seats_that_nobody_ever_changed_are_left_out_with_a_warning() -> None:
    """Then the worth of the seat cannot be distinguished from the strength of its entrant."""
    outcomes = [replace(outcome, seats=(0, 1)) for outcome in duel(20, 10)]
    mixed = [*outcomes, *(replace(outcome, game="fair") for outcome in played(40, size=2))]

    ratings = rate(outcomes)

    assert ratings.seat_effects == ()
    assert [warning.code for warning in ratings.warnings] == ["seats"]
    assert of(ratings, "a").elo == pytest.approx(of(rate(duel(20, 10)), "a").elo)
    assert {effect.game for effect in rate(mixed).seat_effects} == {"", "fair"}


# -- invariances -------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), size=st.integers(2, 6), count=st.integers(1, 30), order=st.randoms())
def test_neither_the_order_of_matches_nor_that_of_players_matters(
    seed: int, size: int, count: int, order: Random
) -> None:
    outcomes = played(count, entrants=6, size=size, tie=0.8, seed=seed, matches_in_block=2)
    shuffled: list[Outcome] = []
    for outcome in order.sample(outcomes, len(outcomes)):
        players = order.sample(range(size), size)
        assert outcome.seats is not None
        shuffled.append(
            replace(
                outcome,
                entrants=tuple(outcome.entrants[i] for i in players),
                ranks=tuple(outcome.ranks[i] for i in players),
                seats=tuple(outcome.seats[i] for i in players),
            )
        )

    one, other = rate(outcomes), rate(shuffled)

    for rating in one.entrants:
        same = of(other, rating.name)
        assert figures(rating) == pytest.approx(figures(same), rel=1e-4, abs=1e-2, nan_ok=True)
        assert (rating.bound, rating.matches, rating.blocks) == (same.bound, same.matches, same.blocks)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), gap=st.integers(1, 300))
def test_gaps_between_ranks_mean_nothing(seed: int, gap: int) -> None:
    outcomes = played(20, tie=1.0, seed=seed)
    spread = [replace(outcome, ranks=tuple(gap * rank for rank in outcome.ranks)) for outcome in outcomes]

    assert elos(rate(spread)) == elos(rate(outcomes))


def test_who_always_comes_last_changes_nothing_between_the_others() -> None:
    """Luce's axiom. The mean moves, so distances are compared."""
    outcomes = played(60, entrants=3, size=3)
    with_last = [
        Outcome((*outcome.entrants, "last"), (*outcome.ranks, 9), block=outcome.block) for outcome in outcomes
    ]
    alone = rate([replace(outcome, seats=None) for outcome in outcomes])
    together = rate(with_last)

    for one, two in combinations("abc", 2):
        distance = of(alone, one).elo - of(alone, two).elo
        assert of(together, one).elo - of(together, two).elo == pytest.approx(distance, abs=1.5)
        assert together.superiority(one, two) == pytest.approx(alone.superiority(one, two), abs=0.01)


# -- errors ------------------------------------------------------------------------------------------


def test_the_error_of_independent_duels_is_that_of_a_proportion() -> None:
    """With the usual n - 1: the correction for leverage is exact here."""
    wins, losses = 13, 8
    share = wins / (wins + losses)
    distance = ELO * math.sqrt(1 / ((wins + losses - 1) * share * (1 - share)))

    rating = of(rate(duel(wins, losses), BARE), "a")

    assert rating.stderr == pytest.approx(distance / 2)  # of the distance from the mean of both
    assert rating.freedom == pytest.approx(wins + losses - 1)
    assert rating.high - rating.elo == pytest.approx(2.0859634 * rating.stderr)


def test_matches_of_a_block_that_end_alike_are_worth_one() -> None:
    once = of(rate(duel(13, 8), BARE), "a")
    four_times = [outcome for outcome in duel(13, 8) for _ in range(4)]

    in_blocks = of(rate(four_times, BARE), "a")
    taken_for_independent = of(rate([replace(outcome, block=None) for outcome in four_times], BARE), "a")

    assert in_blocks.stderr == pytest.approx(once.stderr)
    assert taken_for_independent.stderr == pytest.approx(once.stderr / 2, rel=0.05)


def numeric(function: Callable[[FloatArray], float], at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first derivatives, and minus the second ones, by differences."""
    count, step = len(at), 1e-3
    shifts = step * np.eye(count)
    score = np.array([function(at + shift) - function(at - shift) for shift in shifts]) / (2 * step)
    information = np.zeros((count, count))
    for i in range(count):
        for j in range(i + 1):
            one, two = shifts[i] + shifts[j], shifts[i] - shifts[j]
            curve = function(at + one) - function(at + two) - function(at - two) + function(at - one)
            information[i, j] = information[j, i] = -curve / (4 * step * step)
    return score, information


def test_the_covariance_is_the_sandwich_of_blocks_each_corrected_by_its_leverage() -> None:
    """All of it by differences of the paper's probabilities, and with matrices that are not symmetric."""
    outcomes = played(60, entrants=3, size=3, tie=2.0, seed=3, matches_in_block=5)
    model = build_model(outcomes, "davidson", seats=True)
    [seats], [terms] = model.seats.values(), model.ties.values()
    fitted = fit(model, prior=False)

    def log_likelihood(block: str, parameters: FloatArray) -> float:
        tie = [0.0, 1.0, *(math.exp(parameters[term]) for term in terms.values())]
        total = 0.0
        for outcome in outcomes:
            if outcome.block == block:
                worths = [
                    math.exp(parameters[model.names.index(name)] + parameters[seats[seat]])
                    for name, seat in zip(outcome.entrants, outcome.seats or (), strict=True)
                ]
                total += math.log(davidson_luce(worths, outcome.ranks, tie))
        return total

    each = [numeric(partial(log_likelihood, str(block)), fitted.parameters) for block in range(12)]
    bread: FloatArray = linalg.pinv(np.sum([information for _, information in each], axis=0), rtol=1e-6)
    meat = np.zeros_like(bread)
    for score, information in each:
        power = linalg.fractional_matrix_power(np.eye(len(bread)) - information @ bread, -0.5)
        correction: FloatArray = np.real(power)  # by rounding it may have imaginary parts
        meat += np.outer(correction @ score, correction @ score)
    expected = bread @ meat @ bread

    found = block_errors(model, fitted).covariance

    assert list(terms) == [2, 3]
    center = np.eye(model.parameter_count)
    for held in model.held_at_mean_0:
        center[np.ix_(held, held)] -= 1 / len(held)
    assert list((center @ found @ center).ravel()) == pytest.approx(
        list(expected.ravel()), rel=1e-3, abs=1e-4
    )


@pytest.mark.parametrize("size", [2, 3, 4])
def test_errors_are_close_to_those_of_a_jackknife_over_blocks(size: int) -> None:
    chosen = RatingSettings(prior=False)
    outcomes = played(400, entrants=4, size=size, tie=0.7, matches_in_block=8)
    blocks = sorted({outcome.block for outcome in outcomes if outcome.block is not None})
    without = [
        elos(rate([outcome for outcome in outcomes if outcome.block != block], chosen)) for block in blocks
    ]

    ratings = rate(outcomes, chosen)

    for rating in ratings.entrants:
        values = [elo[rating.name] for elo in without]
        jackknife = math.sqrt((len(blocks) - 1) * pvariance(values))
        assert rating.stderr == pytest.approx(jackknife, rel=0.08)


def test_superiority_is_one_sided_and_adds_up() -> None:
    ratings = rate(duel(30, 20))

    better, worse = ratings.superiority("a", "b"), ratings.superiority("b", "a")

    assert better is not None
    assert worse is not None
    assert 0.9 < better < 0.95  # a sign test says 0.92
    assert better + worse == pytest.approx(1)
    assert ratings.superiority("a", "a") is None
    assert [rating.superiority for rating in ratings.entrants] == [better, None]


def test_one_block_has_no_error() -> None:
    ratings = rate(duel(3, 2, block=lambda match: "only"))

    assert {(rating.stderr, rating.low, rating.high) for rating in ratings.entrants} == {(None, None, None)}
    assert ratings.superiority("a", "b") is None
    assert [warning.code for warning in ratings.warnings] == ["no_interval"]


def test_blocks_that_all_end_alike_get_the_errors_of_independent_matches() -> None:
    """One win each in every block: the true error may be small, but nothing shows how small."""
    alternating = [
        Outcome(("a", "b"), ((1, 2), (2, 1))[match % 2], block=str(match // 2)) for match in range(40)
    ]

    ratings = rate(alternating, BARE)

    assert [(warning.code, warning.entrants) for warning in ratings.warnings] == [
        ("no_variation", ("a", "b"))
    ]
    assert of(ratings, "a").elo == pytest.approx(0)
    assert of(ratings, "a").stderr == pytest.approx(ELO / 2 * math.sqrt(4 / 40))


def test_seats_whose_blocks_all_end_alike_are_named_apart_from_the_entrants() -> None:
    """One entrant wins both matches of a block, the better one in two of three."""
    outcomes = [
        Outcome(
            ("a", "b"), (1, 2) if block % 3 else (2, 1), seats=(seat, 1 - seat), block=str(block), game="go"
        )
        for block in range(30)
        for seat in (0, 1)
    ]

    [warning] = rate(outcomes).warnings

    assert (warning.code, warning.entrants) == ("no_variation", ())
    assert "seats at tables of two players (go)" in warning.message


def test_few_blocks_are_warned_of_and_many_are_not() -> None:
    few = rate(played(11, entrants=3, tie=0.5))
    many = rate(played(60, entrants=3, tie=0.5))

    assert [(warning.code, set(warning.entrants)) for warning in few.warnings] == [("few_blocks", set("abc"))]
    assert many.warnings == ()


def test_few_blocks_with_a_win_or_a_loss_are_warned_of_and_a_tie_is_both() -> None:
    """Two matches of a block count once."""
    twice = [outcome for outcome in duel(30, 4) for _ in range(2)]

    [warning] = rate(twice).warnings

    assert (warning.code, set(warning.entrants)) == ("few_upsets", {"a", "b"})
    assert rate(duel(30, 5)).warnings == ()
    assert rate(duel(30, 4, ties=1)).warnings == ()


def test_matches_without_blocks_are_warned_of() -> None:
    ratings = rate([replace(outcome, block=None) for outcome in played(60, entrants=3)])

    assert [warning.code for warning in ratings.warnings] == ["no_blocks"]
    assert ratings.block_count == 60


# -- what the matches do not bound -------------------------------------------------------------------


@pytest.mark.parametrize(("blocks", "matches"), [(10, 1), (5, 4)])
def test_who_only_won_has_a_lower_limit_and_no_upper_one(blocks: int, matches: int) -> None:
    """The limit: so strong that as many blocks are won with a probability of 2.5 %."""
    ratings = rate(duel(blocks * matches, 0, block=lambda match: str(match % blocks)))
    winner, loser = of(ratings, "a"), of(ratings, "b")
    share = 0.025 ** (1 / blocks)
    distance = 400 * math.log10(share / (1 - share))

    assert (winner.bound, winner.stderr, winner.high) == (Bound.AT_LEAST, None, None)
    assert (loser.bound, loser.stderr, loser.low) == (Bound.AT_MOST, None, None)
    assert winner.low - loser.elo == pytest.approx(distance, abs=1e-3)
    assert winner.elo - loser.high == pytest.approx(distance, abs=1e-3)
    assert [warning.code for warning in ratings.warnings] == ["bounded", "bounded"]


def test_an_unbounded_entrant_does_not_lend_its_error_to_the_others() -> None:
    outcomes = [replace(outcome, seats=None) for outcome in played(80, entrants=3, size=2)]
    hopeless = [Outcome(("abc"[match % 3], "z"), (1, 2), block=f"z{match}") for match in range(30)]

    alone, together = rate(outcomes), rate([*outcomes, *hopeless])

    assert of(together, "z").bound is Bound.AT_MOST
    for name in "abc":
        assert of(together, name).bound is Bound.BOTH
        assert of(together, name).stderr == pytest.approx(of(alone, name).stderr, rel=0.05)
    assert sum(elos(together).values()) == pytest.approx(0, abs=1e-6)


def test_a_set_that_lost_to_nobody_outside_is_bounded_as_a_whole() -> None:
    """c, d and e beat each other in turn; so do a and b, who together never lost to them."""
    inside = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "e"), ("e", "c")]
    between = [("a", "c"), ("b", "d"), ("a", "e")]
    ratings = rate([Outcome(pair, (1, 2), block=str(n)) for n, pair in enumerate((inside + between) * 3)])

    assert {name: of(ratings, name).bound for name in "abcde"} == {
        "a": Bound.AT_LEAST,
        "b": Bound.AT_LEAST,
        "c": Bound.BOTH,
        "d": Bound.BOTH,
        "e": Bound.BOTH,
    }
    assert ratings.superiority("a", "c") is None
    assert ratings.superiority("c", "d") is not None


def test_nothing_is_known_of_who_stands_aside() -> None:
    """a and b are the core; both z and they have beaten y, and z has met nobody else."""
    pairs = [("a", "b"), ("b", "a"), ("a", "y"), ("z", "y")] * 3
    ratings = rate([Outcome(pair, (1, 2), block=str(n)) for n, pair in enumerate(pairs)])

    assert of(ratings, "y").bound is Bound.AT_MOST
    assert (of(ratings, "z").bound, of(ratings, "z").low, of(ratings, "z").high) == (Bound.NONE, None, None)


def test_a_tie_is_a_chain_both_ways() -> None:
    ratings = rate(duel(9, 0, ties=1))

    assert of(ratings, "a").bound is Bound.BOTH


def test_without_the_prior_an_infinite_rating_is_refused() -> None:
    with pytest.raises(RatingError, match="no finite rating: a, b"):
        rate(duel(5, 0), BARE)


def test_groups_that_never_met_are_reported_and_have_their_own_zeros() -> None:
    """The larger group comes first, and superiority is given within a group only."""
    there = [
        Outcome(("x", "y"), ((1, 2), (2, 1), (1, 2))[match % 3], block=f"x{match}") for match in range(30)
    ]
    ratings = rate([*played(60, entrants=3), *there])

    assert ratings.groups == (("a", "b", "c"), ("x", "y"))
    assert sum(of(ratings, name).elo for name in "abc") == pytest.approx(0, abs=1e-6)
    assert sum(of(ratings, name).elo for name in "xy") == pytest.approx(0, abs=1e-6)
    assert ratings.superiority("a", "x") is None
    assert of(ratings, "x").superiority == ratings.superiority("x", "y")
    assert of(ratings, "y").superiority is None
    assert "groups" in [warning.code for warning in ratings.warnings]


def test_tournaments_that_share_nothing_are_rated_together_as_each_alone() -> None:
    """The simulation of coverage rests on this."""
    outcomes = [
        replace(outcome, entrants=tuple(mark + name for name in outcome.entrants), game=mark)
        for mark, seed in (("x", 1), ("y", 2), ("z", 3))
        for outcome in played(40, entrants=4, tie=0.7, seed=seed, matches_in_block=2)
    ]

    together = rate(outcomes)

    for mark in "xyz":
        for rating in rate([outcome for outcome in outcomes if outcome.game == mark]).entrants:
            same = of(together, rating.name)
            assert figures(same) == pytest.approx(figures(rating), rel=1e-6, nan_ok=True)
            assert same.freedom == pytest.approx(rating.freedom, rel=1e-6)


def test_matches_that_are_alike_count_as_often_as_they_were_played() -> None:
    """The fit looks at them once."""
    outcomes = played(30, entrants=3, size=2, tie=0.7)
    counted = build_model(outcomes * 5, "davidson", seats=True)
    scaled = derivatives(build_model(outcomes, "davidson", seats=True), np.zeros(counted.parameter_count))

    merged = replace(counted, tables=tuple(tables.merged() for tables in counted.tables))
    found = derivatives(merged, np.zeros(counted.parameter_count))

    assert sum(len(tables.blocks) for tables in merged.tables) <= len(outcomes)
    assert found.log_likelihood == pytest.approx(5 * scaled.log_likelihood)
    assert list(found.score) == pytest.approx(list(5 * scaled.score))
    assert list(found.information.ravel()) == pytest.approx(list(5 * scaled.information.ravel()))


# -- anchors, parts and teams ------------------------------------------------------------------------


def test_an_anchor_has_its_rating_without_error_and_errors_count_from_it() -> None:
    outcomes = played(100)
    free = rate(outcomes)

    ratings = rate(outcomes, RatingSettings(anchors={"b": 1500}))

    anchor = of(ratings, "b")
    assert (anchor.elo, anchor.stderr) == (pytest.approx(1500), pytest.approx(0, abs=1e-6))
    for name in "acde":
        assert of(ratings, name).elo - 1500 == pytest.approx(of(free, name).elo - of(free, "b").elo)
        assert of(ratings, name).stderr > of(free, name).stderr
    assert ratings.superiority("c", "d") == pytest.approx(free.superiority("c", "d"))


def test_several_anchors_have_the_mean_that_was_asked_for() -> None:
    ratings = rate(played(100), RatingSettings(anchors={"a": 1000, "b": 1400}))

    assert of(ratings, "a").elo + of(ratings, "b").elo == pytest.approx(2400)


def test_an_anchor_that_only_lost_gives_the_zero_and_no_errors() -> None:
    hopeless = [Outcome(("abc"[match % 3], "z"), (1, 2), block=f"z{match}") for match in range(30)]
    ratings = rate([*played(80, entrants=3, size=2), *hopeless], RatingSettings(anchors={"z": 0}))

    assert of(ratings, "z").elo == pytest.approx(0)
    assert of(ratings, "a").stderr is not None
    assert "anchor" in [warning.code for warning in ratings.warnings]


def test_an_anchor_that_does_not_play_is_refused() -> None:
    with pytest.raises(RatingError, match="'nobody' plays in none"):
        rate(played(5), RatingSettings(anchors={"nobody": 1500}))


def test_no_matches_are_refused() -> None:
    with pytest.raises(RatingError, match="no match"):
        rate_all([])


def test_each_size_of_table_and_each_game_has_ratings_of_its_own() -> None:
    """Here the strongest with two players is the weakest with three: the pooled rating is between the two."""
    two = played(80, entrants=4, size=2)
    three = [replace(outcome, ranks=tuple(4 - rank for rank in outcome.ranks), game="other")
             for outcome in played(80, entrants=4, size=3)]  # fmt: skip
    report = rate_all([*two, *three], RatingSettings(anchors={"a": 0}))

    assert list(report.by_size) == [2, 3]
    assert list(report.by_game) == ["", "other"]
    assert elos(report.by_size[2]) == elos(report.by_game[""])
    assert of(report.by_size[2], "d").elo > of(report.pooled, "d").elo > of(report.by_size[3], "d").elo
    assert of(report.by_size[3], "a").elo == pytest.approx(0, abs=1e-6)
    assert {(effect.game, effect.players) for effect in report.pooled.seat_effects} == {("", 2), ("other", 3)}
    assert not rate_all(two).by_size
    assert not rate_all(two).by_game


def test_blocks_of_different_games_are_different_blocks() -> None:
    outcomes = [*duel(5, 4), *(replace(outcome, game="other") for outcome in duel(4, 5))]

    assert rate(outcomes).block_count == 18


def test_plain_scores_count_shared_wins_and_ties_by_halves() -> None:
    report = rate_all(
        [Outcome(("a", "b", "c"), (1, 1, 3), block="1"), Outcome(("a", "b"), (2, 1), block="2")]
    )
    rows = {score.name: score for score in report.plain_scores}

    assert [score.name for score in report.plain_scores] == ["b", "a", "c"]
    assert (rows["b"].matches, rows["b"].wins, rows["b"].score) == (2, 1.5, (0.75 + 1) / 2)
    assert (rows["a"].wins, rows["a"].mean_rank) == (0.5, (1.5 + 2) / 2)
    assert (rows["c"].wins, rows["c"].score, rows["c"].mean_rank) == (0, 0, 3)


def test_a_running_elo_depends_on_the_order_and_keeps_its_sum() -> None:
    forth = {score.name: score.running_elo for score in rate_all(duel(10, 10)).plain_scores}
    back = {score.name: score.running_elo for score in rate_all(duel(10, 10)[::-1]).plain_scores}

    assert forth["a"] < 0 < back["a"]
    assert sum(forth.values()) == pytest.approx(0)


def test_a_model_s_parameters_are_laid_out_without_gaps() -> None:
    model: Model = build_model([*played(40, tie=1.0), *played(40, size=2, tie=1.0)], "davidson", seats=True)
    ties = [term for terms in model.ties.values() for term in terms.values()]
    seats = [term for terms in model.seats.values() for term in terms]

    assert sorted([*range(len(model.names)), *seats, *ties]) == list(range(model.parameter_count))
