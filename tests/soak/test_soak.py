"""The soak run itself works, on few games: `make soak` is run too seldom to find out by it."""

from __future__ import annotations

import subprocess
import sys

from tests.command.program import REPOSITORY, SECONDS, environment


def soak(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "tests/soak/run.py", *words],
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
    done = soak("--games", "3", "--only", "usa-2", "--policy", "nobody")
    assert done.returncode == 1
    assert 'no policy "nobody"' in done.stdout
    assert "of 3 games 0 were played, 0 recorded, 0 verified" in done.stdout


def test_a_variant_that_does_not_exist_is_refused() -> None:
    done = soak("--only", "atlantis")
    assert done.returncode == 2
    assert "usa-2, usa-3" in done.stderr
