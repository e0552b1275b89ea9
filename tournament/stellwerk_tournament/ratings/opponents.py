"""Groups of entrants that can be compared: what the matches say before any model is fitted.

Two entrants can be compared if a chain of matches leads from one to the other. Their distance is finite only
if chains of results lead both ways: each link a win or a tie (L. R. Ford Jr., 1957). An entrant that only won
has no such chain leading to it, so the matches set a lower bound to its strength and no upper one; the same
holds for a set of entrants that never lost to one outside. So entrants fall into

* groups, between which nothing is known, and in each group
* a core, the largest set of entrants whose distances are all finite, and the entrants outside it, of whom
  only a bound is known, or nothing at all. One entrant alone is not a core: then the bounds are towards all
  others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]


class Bound(Enum):
    """A bound of an entrant's distance from the core of its group, or from the others without one."""

    BOTH = "both"  # an estimate with its error
    AT_LEAST = "at_least"  # it, or a set that it belongs to, never lost to an entrant below
    AT_MOST = "at_most"
    NONE = "none"  # it is on one side of an entrant that is on the other side of the core


@dataclass(frozen=True, slots=True)
class Opponents:
    groups: tuple[tuple[int, ...], ...]  # the largest first
    core: BoolArray  # of each entrant: whether it belongs to the core of its group
    bounds: tuple[Bound, ...]
    at_least_as_good: tuple[BoolArray, ...]
    """For each entrant: itself and all from whom a chain of results leads to it."""


def compare(beats: BoolArray) -> Opponents:
    """Find the groups of opponents. `beats[i, j]`: i has won against j, or tied with it, at least once."""
    above = _reachable_from(beats.T)
    met = beats | beats.T
    groups = sorted(_components(met), key=lambda group: (-len(group), group))
    core = np.zeros(len(beats), dtype=np.bool_)
    bounds = [Bound.BOTH] * len(beats)
    for group in groups:
        core_of_group = _core(above, group)
        if len(core_of_group) > 1:
            core[core_of_group] = True
        for entrant in group:
            if not core[entrant]:
                bounds[entrant] = _bound(above, entrant, core_of_group)
    return Opponents(tuple(groups), core, tuple(bounds), tuple(above))


def _bound(above: BoolArray, entrant: int, core: Sequence[int]) -> Bound:
    if len(core) > 1:
        is_above, is_below = above[core[0], entrant], above[entrant, core[0]]
    else:
        is_above, is_below = above[entrant].sum() == 1, above[:, entrant].sum() == 1
    if is_above == is_below:
        return Bound.NONE
    return Bound.AT_LEAST if is_above else Bound.AT_MOST


def _core(above: BoolArray, group: Sequence[int]) -> list[int]:
    """Return the largest set of mutual chains; of two, the one whose first member comes first."""
    rest = list(group)
    largest: list[int] = []
    while rest:
        both_ways = [other for other in rest if above[rest[0], other] and above[other, rest[0]]]
        if len(both_ways) > len(largest):
            largest = both_ways
        rest = [other for other in rest if other not in set(both_ways)]
    return largest


def _components(met: BoolArray) -> Iterator[tuple[int, ...]]:
    left = np.ones(len(met), dtype=np.bool_)
    while left.any():
        members = _reached(met, int(left.argmax()))
        left &= ~members
        yield tuple(int(member) for member in np.flatnonzero(members))


def _reachable_from(leads: BoolArray) -> BoolArray:
    """Return a matrix whose row i has all that can be reached from i, and i itself."""
    reach = np.zeros_like(leads)
    for start in range(len(leads)):
        if not reach[start].any():
            members = _reached(leads, start)
            back = _reached(leads.T, start)
            reach[np.flatnonzero(members & back)] = (
                members  # entrants that reach each other both ways reach the same ones
            )
    return reach


def _reached(leads: BoolArray, start: int) -> BoolArray:
    reached = np.zeros(len(leads), dtype=np.bool_)
    reached[start] = True
    frontier = reached
    while frontier.any():
        frontier = leads[frontier].any(axis=0) & ~reached
        reached |= frontier
    return reached
