"""Cards that were too good: the locomotives that bots drew blind, in the report, its JSON and `verify`.

Law: this names a figure and its chance, and accuses no bot. The chance is that of the highest figure of all
bots: by Bonferroni's inequality it is at most their number times the chance of one, however much they depend
on each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erfc, sqrt
from typing import Final

from msgspec import Struct

from stellwerk_base.texts import counted, percent
from stellwerk_tournament.store.blind_sums import BlindSums

_SMALLEST: Final = 1e-9  # no tail of a bell curve is known better


class BlindRow(Struct, frozen=True):
    """A bot. `z` is how many standard deviations `locomotives` are above `expected`; null if it drew no card
    blind."""

    name: str
    cards: int
    locomotives: int
    expected: float
    z: float | None


class Highest(Struct, frozen=True):
    """The highest z. `chance` is a bound: if no bot saw hidden cards, the highest of `bots` is as high in at
    most this share of tournaments."""

    name: str
    z: float
    bots: int
    chance: float

    @property
    def words(self) -> str:
        of = "the only bot" if self.bots == 1 else f"the highest of {counted(self.bots, 'bot')}"
        if self.chance == 1:
            rarity = "usually gives as much"
        elif self.chance >= 0.01:
            rarity = f"gives as much in at most {percent(self.chance)} of tournaments"
        else:
            rarity = f"gives as much in at most 1 of {round(1 / self.chance):,} tournaments"
        return f"z {self.z:+.2f} of {self.name} is {of}; chance alone {rarity}"


class BlindFile(Struct, frozen=True):
    """The content of `blind_draws.json`. `highest` is null if no bot drew a card blind."""

    entrants: tuple[BlindRow, ...]
    highest: Highest | None


def blind_file(sums: Mapping[str, BlindSums], names: Sequence[str]) -> BlindFile:
    """Compute the figures of these bots, in their order."""
    rows = tuple(_row(name, sums.get(name, BlindSums())) for name in names)
    known = [(row.z, row.name) for row in rows if row.z is not None]
    if not known:
        return BlindFile(rows, None)
    z, name = max(known, key=lambda each: each[0])
    chance = len(known) * erfc(z / sqrt(2)) / 2
    return BlindFile(rows, Highest(name, z, len(known), min(1.0, max(chance, _SMALLEST))))


def _row(name: str, sums: BlindSums) -> BlindRow:
    z = None if sums.z is None else round(sums.z, 4)
    return BlindRow(name, sums.cards, sums.locomotives, round(sums.expected, 4), z)
