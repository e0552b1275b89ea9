"""The compiled build: which modules it has, where it runs, and that a checkout has none of it.

`make test-compiled` runs this and the suites of the compiled rooms in the environment of the compiled build.
It sets STELLWERK_COMPILED, and these tests fail if the sources were run instead.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module  # noqa: TID251  of names that pyproject.toml lists
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, Final

import pytest

from stellwerk.shared.version import build
from tests.tools import needs

REPOSITORY: Final = Path(__file__).resolve().parents[2]
SOURCE_ROOTS: Final = ("protocol", "server", "bots/python", "tournament")
IS_COMPILED: Final = os.environ.get("STELLWERK_COMPILED") == "1"
SECONDS: Final = 60


def hook() -> dict[str, Any]:  # Any: that is how a TOML document is read
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    table: dict[str, Any] = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    return table


def paths(entries: list[str]) -> set[Path]:
    """Return the modules that a list names, and those of the rooms that it names."""
    named = [
        path for root in SOURCE_ROOTS for entry in entries if (path := REPOSITORY / root / entry).exists()
    ]
    assert len(named) == len(entries), "no such module or room"
    modules = {path for entry in named for path in (entry, *entry.rglob("*.py"))}
    return {path for path in modules if path.suffix == ".py" and path.name != "__init__.py"}


@cache
def sources() -> dict[str, Path]:
    """Return the modules that are compiled, by name."""
    return {
        ".".join(path.with_suffix("").relative_to(root).parts): path
        for path in sorted(paths(hook()["compiled"]) - paths(hook()["left-plain"]))
        for root in map(REPOSITORY.joinpath, SOURCE_ROOTS)
        if path.is_relative_to(root)
    }


def test_a_checkout_has_no_compiled_modules() -> None:
    """Python would import them instead of the sources beside them, also after these have been changed."""
    left_over = [
        path
        for root in SOURCE_ROOTS
        for package in (REPOSITORY / root).glob("stellwerk*/")
        for path in package.rglob("*")
        if path.suffix in (".so", ".pyd")
    ]
    assert left_over == []


def test_what_runs_is_what_this_run_is_meant_to_test() -> None:
    """Each module on the list comes from a compiled file in the environment, or each from the checkout."""
    for name, source in sources().items():
        file = import_module(name).__file__
        assert file is not None
        if IS_COMPILED:
            assert file.endswith(tuple(EXTENSION_SUFFIXES)), name
            assert Path(file).is_relative_to(sys.prefix), name
        else:
            assert Path(file) == source


def test_the_compiled_build_was_made_of_these_sources() -> None:
    for name, source in sources().items():
        file = import_module(name).__file__
        assert file is not None
        copy = Path(file).with_name(source.name)
        assert copy.read_bytes() == source.read_bytes(), f"{name}: make compile"


def test_the_version_says_what_runs() -> None:
    assert build() == (f"compiled, {len(sources())} modules" if IS_COMPILED else "plain Python")


def test_what_is_left_plain_is_in_a_compiled_room() -> None:
    assert paths(hook()["left-plain"]) < paths(hook()["compiled"])


def test_no_compiled_module_defines_a_record_of_msgspec() -> None:
    """A compiled class loses the keywords that say how it is encoded, such as its tag."""
    records = [
        f"{name}: {node.name}"
        for name, source in sources().items()
        for node in ast.walk(ast.parse(source.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
        and {"Struct", "msgspec.Struct"}.intersection(map(ast.unparse, node.bases))
    ]
    assert records == []


def test_what_planner_and_searcher_think_with_is_compiled() -> None:
    """Their games were hardly faster with the compiled build as long as it left them out."""
    planner = {f"stellwerk_bots.planner.{name}" for name in ("map_worth", "network_plan", "yard_worth")}
    searcher = {f"stellwerk_bots.searcher.{name}" for name in ("guessed_tickets", "rollout")}
    assert planner | searcher <= sources().keys()


if IS_COMPILED:  # it compares the compiled build with the sources

    @pytest.mark.parametrize("game", ["usa", "europe", "team_asia", "united_kingdom", "card_game"])
    def test_compiled_bots_play_the_games_that_the_sources_play(game: str) -> None:
        """Move by move: by planners, and by the search's own way to play on."""

        def digest(**variables: str) -> str:
            done = subprocess.run(
                [sys.executable, "-m", "tests.architecture.bot_games", game],
                cwd=REPOSITORY,
                env=os.environ | variables,
                capture_output=True,
                text=True,
                timeout=10 * SECONDS,
                check=True,
            )
            return done.stdout

        plain = digest(PYTHONPATH=os.pathsep.join(str(REPOSITORY / root) for root in SOURCE_ROOTS))
        compiled = digest()
        assert plain.startswith("plain Python ")
        assert compiled.startswith("compiled, ")
        assert plain.rpartition(" ")[2] == compiled.rpartition(" ")[2]


@needs("make", "cc", "Python headers")
def test_a_machine_with_a_compiler_and_headers_can_compile() -> None:
    done = can_compile()
    assert (done.returncode, done.stderr) == (0, "")


@needs("make")
def test_without_a_compiler_make_compile_names_what_is_missing() -> None:
    done = can_compile(CC="no-such-compiler")
    assert done.returncode == 2
    assert re.search(r"error: .* C compiler, .* 'no-such-compiler'.*: apt-get install gcc", done.stderr)


@needs("make")
def test_without_the_headers_of_python_make_compile_names_what_is_missing(tmp_path: Path) -> None:
    python = tmp_path / "python"
    asks_where = 'case "$2" in *include*) echo /nowhere; exit;; esac'
    python.write_text(f'#!/bin/sh\n{asks_where}\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    done = can_compile(f"PYTHON={python}", CC="make")  # any program
    assert done.returncode == 2
    assert (
        "error: make compile needs the headers of Python, and there is no /nowhere/Python.h." in done.stderr
    )


def can_compile(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--silent", "can-compile", *words],
        cwd=REPOSITORY,
        env={name: text for name, text in os.environ.items() if not name.startswith("MAKE")} | variables,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
