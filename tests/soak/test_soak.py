"""The soak run itself works, on few games: `make soak` is run too seldom to find out by it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.command.program import REPOSITORY, SECONDS, environment
from tests.soak.crowds import CASES


def soak(*words: str, program: str = "run.py") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "tests/soak" / program, *words],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def test_it_plays_and_verifies_games_of_the_variants_chosen() -> None:
    done = soak("--games", "3", "--only", "card_game-2")
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows = [line.split() for line in done.stdout.splitlines()]
    assert head == ["games", "decisions", "verified", "errors", "seconds"]
    assert [row[0] for row in rows] == ["card_game-2", "card_game-2-open_stacks"]
    for _, games, decisions, verified, errors, _ in rows:
        assert (games, verified, errors) == ("3", "3", "0")
        assert int(decisions) > 100


def test_what_goes_wrong_is_counted_and_shown() -> None:
    done = soak("--games", "3", "--only", "usa-2", "--bot", "nobody")
    assert done.returncode == 1
    assert 'no built-in bot "nobody"' in done.stdout
    assert "of 3 games 0 were played, 0 recorded, 0 verified" in done.stdout


def test_a_variant_that_does_not_exist_is_refused() -> None:
    done = soak("--only", "atlantis")
    assert done.returncode == 2
    assert "usa-2, usa-3" in done.stderr


@pytest.mark.parametrize(
    ("case", "size"),
    [("deaf-spectators", 3), ("deaf-players", 10), ("leaving-at-once", 50), ("match-after-match", 30)],
)
def test_a_server_outlasts_a_small_crowd_of_each_kind(case: str, size: int) -> None:
    usual = CASES[case][1]
    done = soak("--only", case, "--size", str(size / usual), program="crowds.py")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert f"{case}, {size}: " in done.stdout
    assert ", 0 laws broken" in done.stdout
    assert "its wait p50, p99, longest, ms" in done.stdout
