"""The worth of one deal in every seat: how many single matches a match of a block stands for.

The worth is the variance of a mean over single matches, each with a deal and a seat of its own, divided by
that of a mean over as many matches in blocks. With a correlation r of two matches of a block it is
1 / (1 + (m - 1) r) for blocks of m matches. A deal that favors a seat makes r negative, because every bot
gets that seat once: the worth is above 1. A deal that suits one of the bots makes r positive: it is below 1.

The interval is that of the logarithm of this ratio. Its error is the first-order jackknife over blocks
(linearized, so nothing is drawn by chance), with Student's t. A result that is rare and did not occur leaves
no trace in such an error. So the interval is no narrower than it is if the matches of a block have nothing in
common, and has no upper limit if this reaches to blocks that all end alike.
`tests/tournament/ratings/deal_worth_simulation.py` shows how often it holds the truth.

Laws:
- only blocks with the same game and the same entrants are compared, because strength is no luck;
- without an interval there is no figure.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, NamedTuple

from msgspec import Struct

from stellwerk_tournament.ratings.outcomes import Outcome, ahead
from stellwerk_tournament.ratings.student import quantile

FEWEST_BLOCKS: Final = 30  # with fewer the interval says next to nothing
FEWEST_ALIKE: Final = 10  # blocks of the same entrants; fewer of them are one observation
LEVEL: Final = 0.95
NOTHING: Final = (0.8, 1.25)  # an interval in here, with 1 in it, shows that there is no gain to speak of


class DealWorth(Struct, frozen=True):
    """How many single matches each match in a block was worth, with the 95 % interval. `high` is null if
    there is no upper limit."""

    worth: float
    low: float
    high: float | None
    blocks: int


class TableWorth(DealWorth, frozen=True):
    """The same at the tables of a game."""

    game: str
    players: int


class _Block(NamedTuple):
    """A block with the mean and the mean square of each of its series, which have one value for each match.
    `information` is that about the inverse of the worth if its matches have nothing in common."""

    means: tuple[float, ...]
    squares: tuple[float, ...]
    matches: int
    information: float


class _Terms(NamedTuple):
    """The part of a block in the variance of a mean over single matches, and in that over blocks."""

    single: float
    together: float


@dataclass(slots=True)
class SharedDeals:
    """Blocks that played one deal in every seat, by who played them."""

    of: dict[Hashable, list[_Block]] = field(default_factory=dict[Hashable, list[_Block]])

    def add(self, lineup: Hashable, series: Sequence[Sequence[float]], free: int = 1) -> None:
        """Count a block. Each of the `series` has a value for each match; `free` of them say something of
        their own. A block of one match says nothing."""
        matches = len(series[0])
        if matches < 2:
            return
        means = tuple(sum(values) / matches for values in series)
        squares = tuple(sum(value * value for value in values) / matches for values in series)
        information = free * matches / (2 * (matches - 1))
        self.of.setdefault(lineup, []).append(_Block(means, squares, matches, information))

    def worth(self) -> DealWorth | None:
        """Return the worth. None if there are too few blocks, or all ended alike."""
        count, information, observations = 0, 0.0, list[_Terms]()
        for blocks in self.of.values():
            if len(blocks) > 1:
                count += len(blocks)
                information += sum(block.information for block in blocks)
                terms = _terms(blocks)
                observations += terms if len(blocks) >= FEWEST_ALIKE else [_sum(terms)]
        single, together = _sum(observations)
        if count < FEWEST_BLOCKS or len(observations) < 2 or min(single, together) < 1e-9 * count:
            return None
        worth = single / together
        spread = sum((each.single / single - each.together / together) ** 2 for each in observations)
        t = quantile((1 + LEVEL) / 2, len(observations) - 1)
        reach = math.exp(t * math.sqrt(spread * len(observations) / (len(observations) - 1)))
        margin = t / math.sqrt(
            information
        )  # of the inverse, if the matches of a block have nothing in common
        low = min(worth / reach, 1 / (1 / worth + margin))
        high = max(worth * reach, 1 / (1 / worth - margin)) if worth * margin < 1 else None
        return DealWorth(round(worth, 4), round(low, 4), None if high is None else round(high, 4), count)


def table_worths(outcomes: Iterable[Outcome]) -> tuple[TableWorth, ...]:
    """Compute the worth for each game and size of table, by who of any two was ahead. A block with other
    entrants in each match says nothing."""
    blocks: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.block is not None and not outcome.has_own_deal:
            blocks.setdefault((outcome.game, outcome.block), []).append(outcome)
    tables: dict[tuple[str, int], SharedDeals] = {}
    for (game, _), matches in blocks.items():
        ranks = [dict(zip(match.entrants, match.ranks, strict=True)) for match in matches]
        names = sorted(ranks[0])
        if all(match.keys() == ranks[0].keys() for match in ranks):
            pairs = combinations(names, 2)
            series = [[ahead(match[one], match[other]) for match in ranks] for one, other in pairs]
            deals = tables.setdefault((game, len(names)), SharedDeals())
            deals.add((*names,), series, len(names) - 1)
    found = ((table, deals.worth()) for table, deals in sorted(tables.items()))
    return tuple(
        TableWorth(worth.worth, worth.low, worth.high, worth.blocks, *table)
        for table, worth in found
        if worth is not None
    )


def worth_in_words(worth: DealWorth) -> str:
    """Write `1.62 single ones (95 %: 1.38 to 1.92)`."""
    return f"{worth.worth:.2f} single ones (95 %: {worth_range(worth)}){_judged(worth)}"


def worth_range(worth: DealWorth) -> str:
    """Write `1.38 to 1.92`, or `at least 1.38`."""
    return f"at least {worth.low:.2f}" if worth.high is None else f"{worth.low:.2f} to {worth.high:.2f}"


def gain_in_words(worth: DealWorth) -> str:
    """Say what one deal in every seat gains."""
    if worth.low > 1:
        return "a gain"
    if worth.high is None:
        return "no gain is shown"
    if worth.high < 1:
        return "a loss"
    least, most = NOTHING
    return "about 1: no gain" if least < worth.low and worth.high < most else "no gain is shown"


def _judged(worth: DealWorth) -> str:
    return "" if worth.low > 1 else f", {gain_in_words(worth)}"


def _terms(blocks: Sequence[_Block]) -> list[_Terms]:
    """Return the terms of blocks of the same entrants, around their own means."""
    count = len(blocks)
    centers = [sum(means) / count for means in zip(*(block.means for block in blocks), strict=True)]
    terms: list[_Terms] = []
    for block in blocks:
        around = sum((mean - center) ** 2 for mean, center in zip(block.means, centers, strict=True))
        squares = sum(
            square - 2 * center * mean + center * center
            for square, mean, center in zip(block.squares, block.means, centers, strict=True)
        )
        together = around * count / (count - 1)  # unbiased, and so is the other one
        terms.append(_Terms((squares + together / count) / block.matches, together))
    return terms


def _sum(terms: Sequence[_Terms]) -> _Terms:
    return _Terms(sum(each.single for each in terms), sum(each.together for each in terms))
