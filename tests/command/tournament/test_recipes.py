"""The recipes of tournament/MACHINES.md for many machines, run as they are printed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command.program import REPOSITORY, SECONDS, environment
from tests.command.tournament.travelling import cup, did, outcome, replays
from tests.tools import needs


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Make a folder with a cup, where `stellwerk` is a command and a seed is given to each `export`."""
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "stellwerk"
    program.write_text(
        '#!/bin/sh\n[ "$2" = export ] && set -- "$@" --seed s --no-preflight\n'
        f'exec {shlex.quote(sys.executable)} -m stellwerk "$@"\n'
    )
    program.chmod(0o755)
    for name in ("cup", "one"):
        cup(tmp_path / name, rounds=1)
    did("run", tmp_path / "one", "--seed", "s", "--progress", "none")
    return tmp_path


def recipe(title: str) -> str:
    """Return the first script under a title."""
    page = (REPOSITORY / "tournament" / "MACHINES.md").read_text()
    section = page.partition(f"## {title}\n")[2]
    return section.partition("```sh\n")[2].partition("```")[0]


def run(place: Path, script: str, **changes: str) -> None:
    path = f"{place / 'programs'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=place,
        env=environment(PATH=path, HOME=str(place), **changes),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def expect_the_same(place: Path) -> None:
    assert outcome(place / "cup") == outcome(place / "one")
    assert replays(place / "cup") == replays(place / "one")
    assert (place / "cup" / "ratings.json").read_bytes() == (place / "one" / "ratings.json").read_bytes()
    assert {path.stat().st_mode & 0o777 for path in (place / "results").iterdir()} == {0o600}


@needs("parallel")
def test_the_recipe_for_gnu_parallel_comes_to_the_same_as_one_process(place: Path) -> None:
    run(place, recipe("GNU parallel"))
    expect_the_same(place)
    run(place, recipe("GNU parallel"))  # once more does no harm
    expect_the_same(place)


def test_the_recipe_for_slurm_comes_to_the_same_as_one_process(place: Path) -> None:
    tasks = 3
    script = recipe("Slurm")
    assert "#SBATCH --array=0-199" in script
    run(place, "stellwerk tournament export cup -o orders")
    for task in range(tasks):
        run(place, script, SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT=str(tasks))
    run(place, "stellwerk tournament merge cup results")
    expect_the_same(place)
