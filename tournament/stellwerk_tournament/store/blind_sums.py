"""The locomotives that a bot drew blind in all its blocks, against those that chance gives.

Law: the variance counts blocks, not matches. The matches of a block have one deal, so a bot can draw the same
card in several of them. The variance is the one that the blocks show, within its two exact limits: that of
independent matches, and that of matches in which the bot draws the same cards. (For planner,
which mostly draws blind, in 800 blocks of the base game against random: 1.43 times that of independent ones.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt

from msgspec import Struct

from stellwerk_engine.replays.blind_draws import BlindDraws
from stellwerk_tournament.store.match_line import MatchLine


class BlindSums(Struct):
    """The sums of one bot. `expected` is the sum of the chances of a locomotive. Of the difference between
    this and `locomotives`: `least` and `most` are the limits of its variance, and `of_blocks` is the sum of
    the squares of the blocks."""

    cards: int = 0
    locomotives: int = 0
    expected: float = 0.0
    least: float = 0.0
    most: float = 0.0
    of_blocks: float = 0.0

    def add(self, of_block: Sequence[BlindDraws]) -> None:
        """Add the matches of a block."""
        locomotives = sum(each.locomotives for each in of_block)
        expected = sum(each.expected for each in of_block)
        self.cards += sum(each.cards for each in of_block)
        self.locomotives += locomotives
        self.expected += expected
        self.least += sum(each.variance for each in of_block)
        self.most += sum(sqrt(each.variance) for each in of_block) ** 2
        self.of_blocks += (locomotives - expected) ** 2

    @property
    def z(self) -> float | None:
        """Return the difference in standard deviations. None if no draw could have ended otherwise."""
        if not self.least:
            return None
        variance = min(max(self.least, self.of_blocks), self.most)
        return (self.locomotives - self.expected) / sqrt(variance)


def add_block(sums: dict[str, BlindSums], matches: Iterable[MatchLine]) -> None:
    """Add the matches of a block to the sums of its bots."""
    draws: dict[str, list[BlindDraws]] = {}
    for match in matches:
        for name, of_match in zip(match.players, match.blind_draws, strict=bool(match.blind_draws)):
            draws.setdefault(name, []).append(of_match)
    for name, of_block in draws.items():
        sums.setdefault(name, BlindSums()).add(of_block)
