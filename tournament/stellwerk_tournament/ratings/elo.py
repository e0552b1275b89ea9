"""The Elo scale: a distance in rating, and the score that it leads one to expect."""

from __future__ import annotations

import math
from typing import Final

ELO_FOR_ODDS_OF_10: Final = 400.0


def score_of(elo: float) -> float:
    """Return the expected score of a player that is so much better than the opponent."""
    return 1 / (1 + 10 ** (-elo / ELO_FOR_ODDS_OF_10))


def elo_of(score: float) -> float | None:
    """Return the distance that leads one to expect this score; None for 0 and 1, which no finite one does."""
    return ELO_FOR_ODDS_OF_10 * math.log10(score / (1 - score)) if 0 < score < 1 else None


def hundredths(elo: float) -> float:
    """Round for files: far below any error, and above what another processor rounds otherwise."""
    return round(elo, 2) + 0.0  # and never -0.0
