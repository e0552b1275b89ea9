"""What ratings cost: up to a thousand entrants and 100,000 matches, beside other ways to fit a part of it.

CPU time and memory are measured in one run. Figures to compare with, from the same run: one solution of a
dense system of linear equations with as many unknowns, which the fit needs once a step; and choix on the
same matches, if they are not too many, which estimates strengths alone, without ties, seats and errors.
`--json FILE` writes the same figures for programs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, TypeVar

import numpy as np

from stellwerk_tournament.ratings.block_errors import block_errors
from stellwerk_tournament.ratings.choice_model import FloatArray
from stellwerk_tournament.ratings.fit import fit
from stellwerk_tournament.ratings.model import build_model
from stellwerk_tournament.ratings.outcomes import Outcome
from stellwerk_tournament.ratings.ratings import rate, rate_all
from tests.benchmarks.rounds import print_table

T = TypeVar("T")

choix: Any = importlib.import_module("choix")  # noqa: TID251  comes without types

CASES: tuple[tuple[int, int, int], ...] = (  # entrants, matches, players
    (10, 1_000, 2),
    (10, 1_000, 4),
    (100, 1_000, 4),
    (100, 10_000, 2),
    (100, 10_000, 4),
    (1_000, 100_000, 2),
    (1_000, 100_000, 4),
)
MOST_FOR_CHOIX = 1_000  # matches; for 10,000 it takes most of a minute
SPREAD = 4.0  # of utility, from the best to the last


@dataclass(frozen=True)
class Figures:
    entrants: int
    matches: int
    players: int
    rate_seconds: float
    rate_all_seconds: float
    model_seconds: float
    fit_seconds: float
    errors_seconds: float
    solve_seconds: float
    choix_seconds: float | None
    peak_mib: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1_000, metavar="N", help="entrants (default 1000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    arguments = parser.parse_args()
    figures: list[Figures] = []
    for entrants, matches, players in CASES:
        if entrants <= arguments.most:
            print(f"measuring {entrants} entrants, {matches} matches of {players} ...", file=sys.stderr)
            figures.append(measure(entrants, matches, players))
    print_figures(figures)
    if arguments.json:
        report = {"ratings": [asdict(figure) for figure in figures]}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


def measure(entrants: int, matches: int, players: int) -> Figures:
    outcomes = tournament(entrants, matches, players, np.random.default_rng(1))
    model_seconds, model = cost(lambda: build_model(outcomes, "davidson", seats=True))
    fit_seconds, fitted = cost(lambda: fit(model, prior=True))
    errors_seconds, _ = cost(lambda: block_errors(model, fitted))
    rate_seconds, ratings = cost(lambda: rate(outcomes))
    best = [rating.name for rating in ratings.entrants[: entrants // 4]]
    assert sum(int(name) for name in best) / len(best) > entrants / 2, (
        "the ratings are not those of the truth"
    )
    rate_all_seconds, _ = cost(lambda: rate_all(outcomes))
    solve_seconds = min(cost(partial(solution, fitted.inverse))[0] for _ in range(5))
    return Figures(
        entrants=entrants,
        matches=len(outcomes),
        players=players,
        rate_seconds=rate_seconds,
        rate_all_seconds=rate_all_seconds,
        model_seconds=model_seconds,
        fit_seconds=fit_seconds,
        errors_seconds=errors_seconds,
        solve_seconds=solve_seconds,
        choix_seconds=of_choix(entrants, outcomes) if len(outcomes) <= MOST_FOR_CHOIX else None,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def tournament(
    entrants: int, matches: int, players: int, generator: np.random.Generator
) -> tuple[Outcome, ...]:
    """Draw blocks of tables, in all rotations of the seats, with points that are sometimes equal."""
    outcomes: list[Outcome] = []
    for block in range(matches // players):
        seated = generator.choice(entrants, players, replace=False)
        names = tuple(map(str, seated.tolist()))
        strengths = SPREAD * seated / entrants
        for rotation in range(players):
            points = np.round(4 * (strengths + generator.gumbel(0, 1, players))).tolist()
            ranks = tuple(1 + sum(other > own for other in points) for own in points)
            seats = tuple((seat + rotation) % players for seat in range(players))
            outcomes.append(Outcome(names, ranks, seats, str(block)))
    return tuple(outcomes)


def solution(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(matrix, matrix[0]), dtype=np.float64)


def of_choix(entrants: int, outcomes: Sequence[Outcome]) -> float:
    """Measure choix. It has no ties, so equal ranks are ordered as the players are listed."""
    rankings = [
        tuple(int(name) for _, name in sorted(zip(outcome.ranks, outcome.entrants, strict=True)))
        for outcome in outcomes
    ]
    seconds, _ = cost(lambda: choix.opt_rankings(entrants, rankings, alpha=1e-3))
    return seconds


def cost(once: Callable[[], T]) -> tuple[float, T]:
    start = process_time()
    result = once()
    return process_time() - start, result


def print_figures(figures: Sequence[Figures]) -> None:
    print("\nCPU seconds; rate = model + fit + errors + intervals; rate all: with scores, each size and game")
    print_table(
        [
            "entrants",
            "matches",
            "of",
            "rate",
            "rate all",
            "model",
            "fit",
            "errors",
            "a solution",
            "choix",
            "peak MiB",
        ],
        [
            [
                f"{f.entrants:,}",
                f"{f.matches:,}",
                f"{f.players}",
                f"{f.rate_seconds:.2f}",
                f"{f.rate_all_seconds:.2f}",
                f"{f.model_seconds:.2f}",
                f"{f.fit_seconds:.2f}",
                f"{f.errors_seconds:.2f}",
                f"{f.solve_seconds:.4f}",
                "" if f.choix_seconds is None else f"{f.choix_seconds:.2f}",
                f"{f.peak_mib:.0f}",
            ]
            for f in figures
        ],
    )
    for f in figures:
        solved = f.rate_seconds / f.solve_seconds
        beside = "" if f.choix_seconds is None else f", {f.rate_seconds / f.choix_seconds:.2f} x choix"
        print(f"{f.entrants:,} entrants, {f.matches:,} of {f.players}: {solved:,.0f} x a solution{beside}")


if __name__ == "__main__":
    main()
