"""The starters in `bots/`, and how a test builds and runs them.

The law: tests use a copy that `stellwerk bots new` creates; the folder in `bots/` is not changed. Each copy
is created and built once in a run of the tests, by the first worker that needs it, and shared. A language
whose tools are missing is skipped: see `tests/tools.py`.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from stellwerk.bots.starters import BY_LANGUAGE, STARTERS, Starter, copy_starter
from tests.command.program import COMMAND, REPOSITORY, environment
from tests.tools import demand, go_without, of_starter

BOTS: Final = REPOSITORY / "bots"
VECTORS: Final = REPOSITORY / "protocol" / "conformance" / "vectors" / "greedy"
SECONDS: Final = 60  # far more than a bot needs for anything: a test that hangs fails
BUILD_SECONDS: Final = 600

# Python's is small, since the library has what the others bring along: see tests/bots/test_new.py.
WITH_OWN_CLIENT: Final = tuple(starter for starter in STARTERS if starter.language != "python")

# Optimizing takes compilers minutes, and the bots play no better here.
QUICKLY: Final = {"CXXFLAGS": "-O0", "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0"}

NOTHING_FETCHED: Final = ("failed to download", "failed to get", "Could not resolve host")


@dataclass(frozen=True, slots=True)
class Built:
    """A starter that can be run."""

    starter: Starter
    folder: Path

    def command(self, *words: str) -> list[str]:
        return [*self.starter.program(str(self.folder)), *words]

    def spec(self, bot: str, transport: str) -> str:
        """Return the specification for `stellwerk play --bot`."""
        command = shlex.quote(shlex.join(self.command(bot)))
        return f"name={self.starter.language}-{bot} cmd={command} transport={transport}"

    def done(
        self, *words: str, stdin: str = "", seconds: int = SECONDS, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the program to its end, with these variables and none of the others that a server sets."""
        return subprocess.run(
            self.command(*words),
            input=stdin,
            env=bot_environment(**variables),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    @contextmanager
    def started(self, *words: str, **variables: str) -> Generator[None]:
        """Run the program until the end of the block at the latest."""
        with subprocess.Popen(
            self.command(*words),
            env=bot_environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process:
            try:
                yield
            finally:
                process.kill()


def built(language: str, factory: pytest.TempPathFactory) -> Built:
    """Return a copy of the starter, built."""
    starter = BY_LANGUAGE[language]
    demand(*of_starter(language))
    place = _place_of_the_run(factory)
    folder, is_built = place / language, place / f"{language}.built"
    with open(place / f"{language}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_built.exists():
            shutil.rmtree(folder, ignore_errors=True)
            copy_starter(starter, folder, "tested")
            _build(starter, folder)
            is_built.touch()
    return Built(starter, folder)


def _place_of_the_run(factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all workers of a run share."""
    own = factory.getbasetemp()
    place = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "starters"
    place.mkdir(exist_ok=True)
    return place


def _build(starter: Starter, folder: Path) -> None:
    if not starter.build:
        return
    done = in_folder(starter.build, folder, BUILD_SECONDS)
    output = done.stdout + done.stderr
    if done.returncode != 0 and any(words in output for words in NOTHING_FETCHED):
        go_without("what cargo fetches")
    assert done.returncode == 0, output


def in_folder(command: tuple[str, ...], folder: Path, seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **QUICKLY},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def bot_environment(**variables: str) -> dict[str, str]:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("STELLWERK_")}
    return inherited | variables


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Yield HOST:PORT of `stellwerk serve`, which keeps its files in the folder."""
    command = [*COMMAND, "serve", "--listen", "0", "--data", str(folder)]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().removeprefix("listening on ").strip()
        finally:
            server.kill()
