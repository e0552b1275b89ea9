"""Ratings: the strength of each entrant, from all matches at once, with errors that can be believed.

`rate` fits one model (`choice_model`, `fit`) and takes the errors from how much the blocks disagree
(`block_errors`); `rate_all` does so for all matches, for each size of table and for each game. The scale is
Elo's, 400 / ln 10 to the unit of utility, so that odds of 10 are 400 points.

Laws: neither the order of the matches nor that of the players in a match changes anything. Ratings of a group
of opponents have mean 0, or the anchors have the mean that was asked for. Errors and intervals are those of
the distance from the anchors, or else from the mean of the core: an entrant that only lost would otherwise
lend its unbounded error to all others. Where the matches do not bound an entrant on one side, it has no error
and no limit on that side; the other limit is where the probability of a record so one-sided falls below half
of what the intervals leave out, given all other estimates and with each block counted as one match.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stellwerk_tournament.ratings.block_errors import BlockErrors, block_errors
from stellwerk_tournament.ratings.choice_model import FloatArray, Ties
from stellwerk_tournament.ratings.deal_worth import TableWorth, table_worths
from stellwerk_tournament.ratings.elo import ELO_FOR_ODDS_OF_10
from stellwerk_tournament.ratings.fit import Fit, confounded, fit
from stellwerk_tournament.ratings.game_words import tables_of
from stellwerk_tournament.ratings.model import (
    AlikeTables,
    IntArray,
    Model,
    TableKind,
    blocks_won_and_lost,
    build_model,
    local_terms,
    pieces,
    wins_or_ties,
    with_seat_prior,
)
from stellwerk_tournament.ratings.opponents import Bound, Opponents, compare
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.plain_scores import PlainScore, plain_scores
from stellwerk_tournament.ratings.student import probability_below, quantile

ELO: Final = ELO_FOR_ODDS_OF_10 / math.log(10)
SEAT_PRIOR: Final = 100.0  # Elo, a standard deviation: few games are decided by the seat
LEVEL: Final = 0.95  # of all intervals
MOST_ENTRANTS: Final = 3000  # some matrices with as many rows and columns: 72 MB each
SAME_ELO: Final = 1e-4  # a hundredth of what is shown, and far above what rounding does
FURTHEST: Final = 40.0  # 6,900 Elo away everything is certain, as far as floating point can tell
NO_VARIATION: Final = 1e-6  # of the variance of independent matches: the blocks came out all alike

# 16 equal blocks, from the table in tournament/RATINGS.md: with fewer, 95 % intervals of some tournaments do
# not hold the truth in 93 to 97 % of cases.
FEWEST_DEGREES: Final = 14.5
FEWEST_UPSETS: Final = 5  # blocks: from the same table, where one of two is much the stronger


class RatingError(ValueError):
    """These matches cannot be rated as asked; one line says why."""


@dataclass(frozen=True, slots=True)
class RatingSettings:
    seats: bool = True  # terms of the seats, for each game and size of table
    ties: Ties = "davidson"
    prior: bool = True
    anchors: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Rating:
    name: str
    elo: float
    stderr: float | None
    low: float | None
    high: float | None
    bound: Bound
    matches: int
    blocks: int
    freedom: float  # degrees of freedom of the interval
    group: int  # of opponents; 0 is the largest
    superiority: float | None  # how likely it is to be better than the next one of its group


@dataclass(frozen=True, slots=True)
class SeatEffect:
    game: str
    players: int
    seat: int
    elo: float  # against the mean of the seats
    stderr: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class TieTerm:
    game: str
    players: int
    tied: int  # how many
    weight: float  # of tying, against that of one of as many equal entrants being better: d_t


@dataclass(frozen=True, slots=True)
class RatingWarning:
    code: str
    message: str
    entrants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ratings:
    entrants: tuple[Rating, ...]  # the best first
    seat_effects: tuple[SeatEffect, ...]
    tie_terms: tuple[TieTerm, ...]
    groups: tuple[tuple[str, ...], ...]
    match_count: int
    block_count: int
    warnings: tuple[RatingWarning, ...]
    _comparison: _Comparison = field(repr=False)

    @property
    def by_name(self) -> dict[str, Rating]:
        return {rating.name: rating for rating in self.entrants}

    def superiority(self, name: str, other: str) -> float | None:
        """Return how likely one is to be better than the other. None where their distance has no error."""
        return self._comparison.superiority(name, other)


@dataclass(frozen=True, slots=True)
class RatingReport:
    pooled: Ratings
    by_size: Mapping[int, Ratings]  # empty with one size of table only
    by_game: Mapping[str, Ratings]  # likewise
    plain_scores: tuple[PlainScore, ...]
    deals: tuple[TableWorth, ...] = ()


def rate_all(outcomes: Sequence[Outcome], settings: RatingSettings | None = None) -> RatingReport:
    """Rate everything that the matches allow. RatingError if they cannot be rated."""
    chosen = settings or RatingSettings()
    sizes = sorted({outcome.size for outcome in outcomes})
    games = sorted({outcome.game for outcome in outcomes})
    return RatingReport(
        pooled=rate(outcomes, chosen),
        by_size={size: _rate_part(outcomes, chosen, size=size) for size in sizes if len(sizes) > 1},
        by_game={game: _rate_part(outcomes, chosen, game=game) for game in games if len(games) > 1},
        plain_scores=plain_scores(outcomes),
        deals=table_worths(outcomes),
    )


def rate(outcomes: Sequence[Outcome], settings: RatingSettings | None = None) -> Ratings:
    """Compute one rating for each entrant. RatingError if the matches cannot be rated."""
    chosen = settings or RatingSettings()
    model, opponents, kinds_dropped, fitted = _fitted(outcomes, chosen)
    names = model.names
    errors = block_errors(model, fitted)
    comparison = _Comparison(names, opponents, fitted, errors, chosen.anchors)
    entrants = _ranked(outcomes, comparison, model, chosen)
    return Ratings(
        entrants=entrants,
        seat_effects=tuple(_seat_effects(comparison, model)),
        tie_terms=tuple(_tie_terms(fitted, model)),
        groups=tuple(tuple(names[i] for i in group) for group in opponents.groups),
        match_count=len(outcomes),
        block_count=model.block_count,
        warnings=tuple(_warnings(outcomes, comparison, model, entrants, kinds_dropped, chosen)),
        _comparison=comparison,
    )


def estimates(outcomes: Sequence[Outcome]) -> tuple[dict[str, float], ...]:
    """Return what `rate` would estimate, by name, for each group of opponents.

    It leaves out the errors, which cost as much again. RatingError if the matches cannot be rated.
    """
    chosen = RatingSettings()
    model, opponents, _, fitted = _fitted(outcomes, chosen)
    elo = _elo(model.names, opponents, fitted, chosen.anchors)
    return tuple({model.names[i]: float(elo[i]) for i in group} for group in opponents.groups)


class _Fitted(NamedTuple):
    model: Model
    opponents: Opponents
    kinds_dropped: frozenset[TableKind]
    fit: Fit


def _fitted(outcomes: Sequence[Outcome], chosen: RatingSettings) -> _Fitted:
    _check(outcomes, chosen)
    model = build_model(outcomes, chosen.ties, seats=chosen.seats)
    opponents = compare(wins_or_ties(model))
    if not chosen.prior:
        _check_finite(model.names, opponents)
    groups = tuple(np.array(group, dtype=np.int64) for group in opponents.groups)
    model = replace(model, groups=groups)
    kinds_dropped = _kinds_with_confounded_seats(model)
    if kinds_dropped:
        fewer = build_model(outcomes, chosen.ties, seats=True, seatless=kinds_dropped)
        model = replace(fewer, groups=groups)
    if chosen.prior:
        model = with_seat_prior(model, (SEAT_PRIOR / ELO) ** -2)
    return _Fitted(model, opponents, kinds_dropped, fit(model, prior=chosen.prior))


def _elo(names: Sequence[str], opponents: Opponents, fitted: Fit, anchors: Mapping[str, float]) -> FloatArray:
    """Return the rating of each entrant: with mean 0 in each group, or where the anchors are."""
    elo = np.zeros(len(names))
    for members in opponents.groups:
        group = np.array(members)
        strengths = ELO * fitted.parameters[group]
        elo[group] = strengths - strengths.mean()
        anchored = [i for i in members if names[i] in anchors]
        if anchored:
            wanted = sum(anchors[names[i]] for i in anchored) / len(anchored)
            elo[group] += wanted - elo[anchored].mean()
    return elo


def _rate_part(
    outcomes: Sequence[Outcome], settings: RatingSettings, *, size: int | None = None, game: str | None = None
) -> Ratings:
    part = [outcome for outcome in outcomes if size in (None, outcome.size) and game in (None, outcome.game)]
    names = {name for outcome in part for name in outcome.entrants}
    anchors = {name: elo for name, elo in settings.anchors.items() if name in names}
    return rate(part, replace(settings, anchors=anchors))


def _check(outcomes: Sequence[Outcome], settings: RatingSettings) -> None:
    names = {name for outcome in outcomes for name in outcome.entrants}
    if not names:
        raise RatingError("there is no match to rate")
    if len(names) > MOST_ENTRANTS:
        raise RatingError(f"{len(names)} entrants: more than {MOST_ENTRANTS} cannot be rated at once")
    for name in settings.anchors:
        if name not in names:
            raise RatingError(f"the anchor {name!r} plays in none of the matches")


def _check_finite(names: Sequence[str], opponents: Opponents) -> None:
    outside = [name for name, bound in zip(names, opponents.bounds, strict=True) if bound is not Bound.BOTH]
    if outside:
        raise RatingError(f"without the prior these have no finite rating: {listed(outside)}")


def _kinds_with_confounded_seats(model: Model) -> frozenset[TableKind]:
    """Find the kinds of matches whose seats cannot be distinguished from their occupants."""
    if not model.seats:
        return frozenset()
    nothing = np.abs(confounded(model)) > 1e-6
    return frozenset(kind for kind, seats in model.seats.items() if nothing[list(seats)].any())


# -- errors of distances -----------------------------------------------------------------------------


class _Comparison:
    """Estimates and errors, as the entrants' and the seats' intervals need them."""

    def __init__(
        self,
        names: Sequence[str],
        opponents: Opponents,
        fitted: Fit,
        errors: BlockErrors,
        anchors: Mapping[str, float],
    ) -> None:
        self.names = names
        self.opponents = opponents
        self.fit = fitted
        self.errors = errors
        self.without_variation: set[int] = set()  # parameters for which all blocks came out alike
        count = len(names)
        self._number = {name: i for i, name in enumerate(names)}
        self.group = np.zeros(count, dtype=np.int64)
        self.elo = _elo(names, opponents, fitted, anchors)
        self.stderr = np.full(count, math.nan)
        for number, members in enumerate(opponents.groups):
            group = np.array(members)
            self.group[group] = number
            core = group[opponents.core[group]]
            base = np.array([i for i in members if names[i] in anchors and opponents.core[i]], dtype=np.int64)
            if len(core):
                self.stderr[core] = self._distances(core, base if len(base) else core)

    def superiority(self, name: str, other: str) -> float | None:
        one, two = self._number[name], self._number[other]
        core = self.opponents.core
        if one == two or not (core[one] and core[two]) or self.group[one] != self.group[two]:
            return None
        freedom = float(min(self.errors.freedom[one], self.errors.freedom[two]))
        [stderr] = self._distances(np.array([one]), np.array([two]))
        if freedom < 1 or not stderr > 0:
            return None
        return probability_below(float(self.elo[one] - self.elo[two]) / float(stderr), freedom)

    def seat_stderrs(self, seats: range) -> FloatArray:
        parameters = np.arange(seats.start, seats.stop)
        return self._distances(parameters, parameters)

    def _distances(self, parameters: IntArray, base: IntArray) -> FloatArray:
        """Return the standard errors of distances from the mean of a base, in Elo."""
        variances = _variances(self.errors.covariance, parameters, base)
        independent = _variances(self.fit.inverse, parameters, base)
        alike = (variances < NO_VARIATION * independent) & (independent > 1e-12)
        alike &= self.errors.freedom[parameters] >= 1
        self.without_variation.update(parameters[alike].tolist())
        return ELO * np.sqrt(np.maximum(np.where(alike, independent, variances), 0.0))


def _variances(covariance: FloatArray, parameters: IntArray, base: IntArray) -> FloatArray:
    own = covariance[parameters, parameters]
    crossed = covariance[np.ix_(parameters, base)].mean(axis=1)
    found: FloatArray = own - 2 * crossed + covariance[np.ix_(base, base)].mean()
    return found


def _interval(elo: float, stderr: float, freedom: float) -> tuple[float | None, float | None, float | None]:
    """Return standard error, low and high; None for each where fewer than two blocks have information."""
    if freedom < 1 or math.isnan(stderr):
        return None, None, None
    reach = quantile((1 + LEVEL) / 2, freedom) * stderr
    return stderr, elo - reach, elo + reach


def _ranked(
    outcomes: Sequence[Outcome], comparison: _Comparison, model: Model, settings: RatingSettings
) -> tuple[Rating, ...]:
    matches = Counter(name for outcome in outcomes for name in set(outcome.entrants))
    limits = _one_sided_limits(model, comparison)
    names = comparison.names
    order = _best_first(comparison)
    ranked: list[Rating] = []
    for place, i in enumerate(order):
        below = next((j for j in order[place + 1 :] if comparison.group[j] == comparison.group[i]), None)
        elo, freedom = float(comparison.elo[i]), float(comparison.errors.freedom[i])
        bound = comparison.opponents.bounds[i]
        stderr, low, high = _interval(elo, float(comparison.stderr[i]), freedom)
        if bound is Bound.AT_LEAST:
            low = elo + limits[i]
        elif bound is Bound.AT_MOST:
            high = elo + limits[i]
        ranked.append(
            Rating(
                name=names[i],
                elo=elo,
                stderr=stderr,
                low=low,
                high=high,
                bound=bound,
                matches=matches[names[i]],
                blocks=int(comparison.errors.blocks[i]),
                freedom=freedom,
                group=int(comparison.group[i]),
                superiority=None if below is None else comparison.superiority(names[i], names[below]),
            )
        )
    return tuple(ranked)


def _best_first(comparison: _Comparison) -> list[int]:
    """Sort by rating, and equal ones by name.

    Rounding depends on the order of the matches, so it must not order them.
    """
    falling = np.argsort(-comparison.elo)
    drops = -np.diff(comparison.elo[falling], prepend=math.inf) > SAME_ELO
    tiers = np.cumsum(drops).tolist()
    ordered = sorted(
        zip(tiers, falling.tolist(), strict=True), key=lambda at: (at[0], comparison.names[at[1]])
    )
    return [i for _, i in ordered]


# -- entrants without an error -----------------------------------------------------------------------


def _one_sided_limits(model: Model, comparison: _Comparison) -> dict[int, float]:
    """Compute how far, in Elo, the one limit of each entrant outside the core is from its estimate.

    All that are above it (or below) move with it, because the matches among them say nothing about the
    bound.
    """
    opponents = comparison.opponents
    distances: dict[tuple[Bound, bytes], float] = {}
    limits: dict[int, float] = {}
    for i, bound in enumerate(opponents.bounds):
        if bound in (Bound.AT_LEAST, Bound.AT_MOST):
            if bound is Bound.AT_LEAST:
                moving = opponents.at_least_as_good[i]
            else:
                moving = np.array([above[i] for above in opponents.at_least_as_good], dtype=np.bool_)
            key = (bound, moving.tobytes())
            if key not in distances:
                distances[key] = ELO * _limit(
                    model, comparison.fit, moving, 1 if bound is Bound.AT_LEAST else -1
                )
            limits[i] = distances[key]
    return limits


def _limit(model: Model, fitted: Fit, moving: NDArray[np.bool_], side: int) -> float:
    met: list[AlikeTables] = []
    for tables in model.tables:
        moves = moving[tables.parameters[:, : tables.size]]
        between = moves.any(axis=1) & ~moves.all(axis=1)
        if between.any():
            met.append(tables.rows(np.asarray(between, dtype=np.bool_)))
    blocks = np.concatenate([tables.blocks for tables in met])
    weights = 1 / np.bincount(blocks)[blocks]
    shift = np.zeros(model.parameter_count)
    shift[: len(moving)] = moving

    def surprise(distance: float) -> float:
        parameters = fitted.parameters + distance * shift
        log_likelihoods = [local_terms(piece, parameters).log_likelihood for piece in pieces(met)]
        return float(weights @ np.concatenate(log_likelihoods))

    least = surprise(side * FURTHEST) + math.log((1 - LEVEL) / 2)
    near, far = side * FURTHEST, -side * FURTHEST
    for _ in range(50):
        middle = (near + far) / 2
        if surprise(middle) > least:
            near = middle
        else:
            far = middle
    return near


# -- seats, ties and warnings ------------------------------------------------------------------------


def _seat_effects(comparison: _Comparison, model: Model) -> Iterator[SeatEffect]:
    for kind, seats in model.seats.items():
        for seat, (parameter, stderr) in enumerate(zip(seats, comparison.seat_stderrs(seats), strict=True)):
            elo = ELO * float(comparison.fit.parameters[parameter])
            freedom = float(comparison.errors.freedom[parameter])
            yield SeatEffect(kind.game, kind.size, seat, elo, *_interval(elo, float(stderr), freedom))


def _tie_terms(fitted: Fit, model: Model) -> Iterator[TieTerm]:
    for kind, orders in model.ties.items():
        for order, parameter in orders.items():
            yield TieTerm(kind.game, kind.size, order, math.exp(fitted.parameters[parameter]))


def _warnings(
    outcomes: Sequence[Outcome],
    comparison: _Comparison,
    model: Model,
    entrants: Sequence[Rating],
    kinds_dropped: frozenset[TableKind],
    settings: RatingSettings,
) -> Iterator[RatingWarning]:
    names = comparison.names
    if not comparison.fit.is_converged:
        yield RatingWarning("not_converged", "the fit has not converged: do not use these ratings")
    if len(comparison.opponents.groups) > 1:
        yield RatingWarning(
            "groups",
            f"there are {len(comparison.opponents.groups)} groups of entrants that never met: ratings of "
            "different groups cannot be compared, and each group has its own zero",
        )
    for bound, message in _ONE_SIDED.items():
        concerned = tuple(rating.name for rating in entrants if rating.bound is bound)
        if concerned:
            yield RatingWarning("bounded", f"{message}: {listed(concerned)}", concerned)
    outside = [name for name in settings.anchors if not comparison.opponents.core[names.index(name)]]
    if outside:
        yield RatingWarning(
            "anchor",
            f"the distance from an anchor is only bounded, so errors are those of the distance from the mean "
            f"of the others: {listed(outside)}",
            tuple(outside),
        )
    without = tuple(
        rating.name for rating in entrants if rating.bound is Bound.BOTH and rating.stderr is None
    )
    if without:
        yield RatingWarning(
            "no_interval", f"too few blocks for any interval, so there is none: {listed(without)}", without
        )
    few = tuple(
        rating.name
        for rating in entrants
        if rating.bound is Bound.BOTH and rating.freedom < FEWEST_DEGREES and rating.name not in without
    )
    if few:
        yield RatingWarning(
            "few_blocks",
            f"too few blocks for reliable intervals (fewer than {math.ceil(FEWEST_DEGREES + 1)}, or the "
            f"equivalent): {listed(few)}",
            few,
        )
    upsets = dict(zip(names, np.minimum(*blocks_won_and_lost(model)).tolist(), strict=True))
    rare = tuple(
        rating.name
        for rating in entrants
        if rating.bound is Bound.BOTH
        and upsets[rating.name] < FEWEST_UPSETS
        and rating.name not in (*few, *without)
    )
    if rare:
        yield RatingWarning(
            "few_upsets",
            f"too few blocks with a win or a loss for reliable intervals (fewer than {FEWEST_UPSETS}): "
            f"{listed(rare)}",
            rare,
        )
    alike = tuple(names[i] for i in range(len(names)) if i in comparison.without_variation)
    if alike:
        yield RatingWarning("no_variation", f"{_NO_VARIATION}: {listed(alike)}", alike)
    seats_alike = [
        f"seats at {tables_of(kind.game, kind.size)}"
        for kind, seats in model.seats.items()
        if not comparison.without_variation.isdisjoint(seats)
    ]
    if seats_alike:
        yield RatingWarning("no_variation", f"{_NO_VARIATION}: {listed(seats_alike)}")
    if kinds_dropped:
        where = "; ".join(tables_of(kind.game, kind.size) for kind in sorted(kinds_dropped))
        yield RatingWarning(
            "seats",
            "entrants changed their seats too little to tell the two apart, so there are no seat effects: "
            f"{where}",
        )
    if all(outcome.block is None for outcome in outcomes):
        yield RatingWarning(
            "no_blocks", "no match names its block: errors are right only if no matches share their luck"
        )


_NO_VARIATION: Final = (
    "all blocks ended alike, so the effect of luck is unknown, and errors are those of independent matches"
)
_ONE_SIDED: Final = {
    Bound.AT_LEAST: "never lost to anybody below, so only a lower limit is known",
    Bound.AT_MOST: "never won against anybody above, so only an upper limit is known",
    Bound.NONE: "no chain of results leads to the others from above or from below, so no limit is known",
}


def listed(names: Sequence[str], most: int = 8) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
