"""Two simple figures beside the ratings, for readers who know them: the score, and a running Elo.

Neither is a rating that can be believed. A score depends on who one's opponents were. A running Elo depends
on the order of the matches, forgets early ones, and has no error; bots do not change between matches, so
nothing is gained by forgetting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stellwerk_tournament.ratings.elo import score_of
from stellwerk_tournament.ratings.outcomes import Outcome, ahead

K: Final = 16.0  # points of a running Elo that move from one entrant to another at most in a match of two


@dataclass(frozen=True, slots=True)
class PlainScore:
    name: str
    matches: int
    wins: float  # a win that k entrants share counts 1/k for each
    score: float  # mean over its matches of the share of opponents that it was better than, a tie a half
    mean_rank: float  # tied entrants share the mean of their places
    running_elo: float  # all begin with 0


@dataclass(slots=True)
class _ScoreSums:
    matches: int = 0
    wins: float = 0.0
    score: float = 0.0
    places: float = 0.0
    elo: float = 0.0


def plain_scores(outcomes: Sequence[Outcome]) -> tuple[PlainScore, ...]:
    """Compute the scores, sorted. `outcomes` are in the order in which they were played."""
    sums: dict[str, _ScoreSums] = {}
    for outcome in outcomes:
        rows = [sums.setdefault(name, _ScoreSums()) for name in outcome.entrants]
        moves = [0.0] * outcome.size
        winners = outcome.ranks.count(min(outcome.ranks))
        for i, (row, rank) in enumerate(zip(rows, outcome.ranks, strict=True)):
            beaten = 0.0
            expected = 0.0
            for j, other in enumerate(rows):
                if j != i:
                    beaten += ahead(rank, outcome.ranks[j])
                    expected += score_of(row.elo - other.elo)
            moves[i] = K * (beaten - expected) / (outcome.size - 1)
            row.score += beaten / (outcome.size - 1)
            row.places += outcome.size - beaten
            row.matches += 1
            row.wins += 1 / winners if rank == min(outcome.ranks) else 0.0
        for row, move in zip(rows, moves, strict=True):
            row.elo += move
    return tuple(
        sorted(
            (_plain_score(name, row) for name, row in sums.items()), key=lambda row: (-row.score, row.name)
        )
    )


def _plain_score(name: str, row: _ScoreSums) -> PlainScore:
    return PlainScore(
        name=name,
        matches=row.matches,
        wins=row.wins,
        score=row.score / row.matches,
        mean_rank=row.places / row.matches,
        running_elo=row.elo,
    )
