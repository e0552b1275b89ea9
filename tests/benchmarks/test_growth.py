"""The measurement of growth: its figures, and the tournaments that it makes up."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk.__main__ import main
from stellwerk_tournament.store.store import read_matches
from tests.benchmarks.bench_growth import Cost, growth
from tests.benchmarks.made_up_tournament import made_up_tournament, played_tournament

START = 0.5  # seconds without any line


def costs(exponent: float) -> list[Cost]:
    return [
        Cost("ratings", lines, START + 1e-4 * lines**exponent, 50.0) for lines in (0, 1_000, 10_000, 100_000)
    ]


def test_what_is_linear_grows_by_one_whatever_a_command_takes_to_start() -> None:
    assert growth(costs(1)) == [None, None, pytest.approx(1)]


def test_what_grows_with_the_square_has_the_ratio_of_the_sizes() -> None:
    assert growth(costs(2)) == [None, pytest.approx(10), pytest.approx(10)]


def test_a_made_up_tournament_is_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So what is measured is what a tournament of that length would take."""
    cup = made_up_tournament(played_tournament(tmp_path / "played", bots=10), tmp_path / "cup", 200)
    blocks = [line.block for line in read_matches(cup)]
    assert blocks == [number // 2 for number in range(200)]
    assert main(["tournament", "verify", str(cup)]) == 0
    assert "200 matches" in capsys.readouterr().out
    assert main(["tournament", "status", str(cup)]) == 0
    assert "100 complete" in capsys.readouterr().out
