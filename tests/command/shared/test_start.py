"""How little a command imports before it begins, and what works where Unix's modules are missing.

Imports are most of the time that a short command takes. Time cannot be asserted, so modules are counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib import import_module  # noqa: TID251  as the command does
from pathlib import Path
from typing import Final

import pytest

from stellwerk.command_line import COMMANDS
from tests.command.program import REPOSITORY, SECONDS, environment

WITHOUT_UNIX: Final = str(Path(__file__).with_name("without_unix.py"))
MATCHES: Final = '{"players": ["ann", "bob"], "ranks": [1, 2]}\n' * 20

_IMPORTED: Final = """
import sys
sys.modules["rich"] = None  # structlog imports it where it is installed, and import-linter installs it
bare = set(sys.modules)
from runpy import run_module
sys.argv = sys.argv[1:]
try:
    run_module(sys.argv[0], run_name="__main__", alter_sys=True)
except SystemExit:
    pass
print(*sorted(set(sys.modules) - bare), file=sys.stderr)
"""


def imported(*words: str) -> set[str]:
    """Return the modules that `python -m WORDS` imports beyond those of a bare interpreter."""
    done = _python("-c", _IMPORTED, *words)
    return set(done.stderr.splitlines()[-1].split())


def without_unix(*words: str) -> subprocess.CompletedProcess[str]:
    return _python(WITHOUT_UNIX, *words)


def _python(*words: str) -> subprocess.CompletedProcess[str]:
    bots = str(REPOSITORY / "bots" / "python")
    return subprocess.run(
        [sys.executable, *words],
        env=environment(PYTHONPATH=f"{environment()['PYTHONPATH']}:{bots}"),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


# -- imports -----------------------------------------------------------------------------------------


def test_help_imports_no_command_and_no_other_package() -> None:
    modules = imported("stellwerk", "--help")
    own = {module for module in modules if module.startswith("stellwerk")}
    assert own <= {
        "stellwerk",
        "stellwerk_base",
        "stellwerk_base.texts",
        "stellwerk.command_line",
        "stellwerk.shared",
        "stellwerk.shared.errors",
        "stellwerk.shared.parser",
        "stellwerk.shared.terminal",
    }
    assert modules.isdisjoint({"msgspec", "trio", "structlog", "numpy", "dataclasses", "inspect", "json"})
    assert len(modules) < 70


def test_the_version_imports_no_command_and_no_other_package() -> None:
    modules = imported("stellwerk", "--version")
    assert not [module for module in modules if module.endswith(".command")]
    assert modules.isdisjoint({"msgspec", "trio", "structlog", "numpy"})


@pytest.mark.parametrize(
    ("command", "needless", "most"),
    [
        ("boards", {"trio", "structlog", "numpy", "multiprocessing", "ssl", "asyncio"}, 210),
        ("bots", {"trio", "structlog", "numpy", "multiprocessing", "asyncio"}, 215),
        ("compare", {"structlog", "numpy", "jinja2", "asyncio"}, 500),
        ("play", {"trio", "structlog", "numpy", "jinja2", "ssl", "multiprocessing", "asyncio"}, 270),
        ("ratings", {"trio", "structlog", "numpy", "multiprocessing", "asyncio"}, 145),
        ("replay", {"trio", "structlog", "numpy", "multiprocessing", "ssl", "asyncio"}, 215),
        (
            "serve",
            {
                "numpy",
                "multiprocessing",
                "stellwerk_tournament",
                "stellwerk_processes.standing_server",
                "prometheus_client",
                "h11",
            },
            480,
        ),
        ("token", {"trio", "structlog", "numpy", "stellwerk_engine", "multiprocessing", "asyncio"}, 165),
        ("tournament", {"trio", "structlog", "numpy", "multiprocessing", "asyncio", "jinja2"}, 225),
    ],
)
def test_a_command_imports_what_it_needs(command: str, needless: set[str], most: int) -> None:
    modules = imported("stellwerk", command, "--help")
    assert [module for module in modules if module.endswith(".command")] == [f"stellwerk.{command}.command"]
    assert modules.isdisjoint(needless)
    assert len(modules) < most


@pytest.mark.parametrize("bot", ["random", "greedy"])
def test_a_python_bot_imports_no_more_than_it_needs(bot: str) -> None:
    """Its process is started for each match."""
    modules = imported("stellwerk_bots", bot, "--address", "nowhere")
    assert f"stellwerk_bots.{'random_bot' if bot == 'random' else bot}" in modules
    assert modules.isdisjoint({"ssl", "dataclasses", "inspect", "secrets", "urllib.parse", "msgspec"})
    assert len(modules) < 80


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_arguments_and_what_carries_them_out(command: str) -> None:
    module = import_module(f"stellwerk.{command}.command")
    module.add_arguments(argparse.ArgumentParser())
    assert callable(module.run)


# -- other systems -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [("--version",), ("--help",), ("boards", "list"), ("bots", "list"), ("token", "ann")]
)
def test_what_needs_no_process_works_without_unix(words: tuple[str, ...]) -> None:
    done = without_unix("stellwerk", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_games_of_built_in_bots_are_played_shown_and_verified_without_unix(tmp_path: Path) -> None:
    words = (
        "play",
        "usa",
        "--bot",
        "random",
        "--bot",
        "planner",
        "--games",
        "60",
        "--jobs",
        "2",
        "--seed",
        "42",
        "--replays",
        str(tmp_path),
        "--json",
    )
    done = without_unix("stellwerk", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["matches"]) == 60
    replay = str(next(iter(tmp_path.glob("*.jsonl"))))
    for subcommand in ("show", "verify"):
        done = without_unix("stellwerk", "replay", subcommand, replay)
        assert (done.returncode, done.stderr) == (0, "")


def test_ratings_are_computed_without_unix(tmp_path: Path) -> None:
    (tmp_path / "matches.jsonl").write_text(MATCHES)
    done = without_unix("stellwerk", "ratings", str(tmp_path / "matches.jsonl"))
    assert done.returncode == 0, done.stderr
    assert "ann" in done.stdout


def test_a_bot_is_started_from_a_copy_without_unix(tmp_path: Path) -> None:
    done = without_unix("stellwerk", "bots", "new", "python", str(tmp_path / "bot"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "bot" / "bot.py").exists()


def test_the_python_client_needs_no_unix() -> None:
    done = without_unix("stellwerk_bots", "random", "--address", "tcp://127.0.0.1:1", "--help")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [name for name, entry in COMMANDS.items() if not entry.works_anywhere])
def test_a_command_that_starts_processes_says_what_it_needs(command: str) -> None:
    done = without_unix("stellwerk", command, "--help")
    assert (done.returncode, done.stdout) == (4, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"stellwerk: {command}: needs Linux or another Unix: Python has no module '")
    assert line.endswith(", ".join(name for name, entry in COMMANDS.items() if entry.works_anywhere))
