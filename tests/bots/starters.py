"""The starters in `bots/`, a row for each language, and how a test builds and runs them.

The law: a starter is copied out of the repository before it is built, so it is whole by itself, and its
folder stays as it was. A language whose tools are missing is skipped, with their names. So is one that has
to be compiled: all of them together take minutes. Where STELLWERK_ALL_LANGUAGES=1 is set, as `make starters`
does, nothing is skipped, and a missing tool is a failure.
"""

from __future__ import annotations

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

from tests.cli.program import COMMAND, environment

BOTS: Final = Path(__file__).resolve().parents[2] / "bots"
VECTORS: Final = BOTS.parent / "protocol" / "conformance" / "vectors" / "greedy"
SECONDS: Final = 60  # far more than a bot takes for anything: a test that hangs should say so
BUILD_SECONDS: Final = 600
LEFT_BEHIND: Final = ("node_modules", "target", "build", "out", "*.o", "*.class", "stellwerk-bot")

FOLDER: Final = "{folder}"  # in `run`: where the starter was built


@dataclass(frozen=True, slots=True)
class Starter:
    """`build` and `unit_test` are run in the folder of the starter, `run` anywhere."""

    folder: str  # in bots/
    tools: tuple[str, ...]  # the programs that it takes
    run: tuple[str, ...]
    unit_test: tuple[str, ...]
    build: tuple[str, ...] = ()
    bots: tuple[str, ...] = ("random", "greedy")
    resumes: bool = True
    libraries: tuple[str, ...] = ()  # what it takes besides, by the names that pkg-config knows
    trusts: str = ""  # the variable that names a file of certificates, if there is one and the bots speak TLS


STARTERS: Final = (
    Starter(
        folder="javascript",
        tools=("node",),
        run=("node", f"{FOLDER}/bot.js"),
        unit_test=("node", "--test"),
        trusts="NODE_EXTRA_CA_CERTS",
    ),
    Starter(
        folder="go",
        tools=("go",),
        run=(f"{FOLDER}/stellwerk-bot",),
        build=("go", "build", "-o", "stellwerk-bot", "."),
        unit_test=("go", "test", "./..."),
        trusts="SSL_CERT_FILE",
    ),
    Starter(
        folder="rust",
        tools=("cargo",),
        run=(f"{FOLDER}/target/release/stellwerk-bot",),
        build=("cargo", "build", "--release", "--quiet"),
        unit_test=("cargo", "test", "--quiet"),
    ),
    Starter(
        folder="java",
        tools=("javac", "jar", "java", "make"),
        run=("java", "-jar", f"{FOLDER}/build/stellwerk-bot.jar"),
        build=("make",),
        unit_test=("make", "test"),
    ),
    Starter(
        folder="cpp",
        tools=("c++", "make", "pkg-config"),
        libraries=("nlohmann_json",),
        run=(f"{FOLDER}/stellwerk-bot",),
        build=("make", "CXX=c++"),
        unit_test=("make", "CXX=c++", "test"),
    ),
    Starter(
        folder="c",
        tools=("cc", "make", "pkg-config"),
        libraries=("libcjson",),
        run=(f"{FOLDER}/stellwerk-bot",),
        build=("make",),
        unit_test=("make", "test"),
    ),
    Starter(
        folder="shell",
        tools=("bash",),
        run=("bash", f"{FOLDER}/bot.sh"),
        unit_test=("bash", "test/codec_test.sh"),
        bots=("random",),
        resumes=False,
    ),
)


@dataclass(frozen=True, slots=True)
class Built:
    """A starter that can be run."""

    starter: Starter
    folder: Path

    def command(self, *words: str) -> list[str]:
        return [word.replace(FOLDER, str(self.folder)) for word in self.starter.run] + list(words)

    def spec(self, bot: str, transport: str) -> str:
        """For `stellwerk play --bot`."""
        command = shlex.quote(shlex.join(self.command(bot)))
        return f"name={self.starter.folder}-{bot} cmd={command} transport={transport}"

    def done(
        self, *words: str, stdin: str = "", seconds: int = SECONDS, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """The finished program, with these variables and no other of those that a server sets."""
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
        """The program runs, until the end of the block at the latest."""
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


def built(starter: Starter, folder: Path) -> Built:
    """Copied into the folder, which does not exist yet, and built there."""
    if starter.build and not all_languages():
        pytest.skip(f"{starter.folder} has to be compiled: make starters")
    demand(starter.tools, starter.libraries)
    shutil.copytree(BOTS / starter.folder, folder, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    if starter.build:
        done = in_folder(starter.build, folder, BUILD_SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr
    return Built(starter, folder)


def all_languages() -> bool:
    return os.environ.get("STELLWERK_ALL_LANGUAGES") == "1"


def demand(tools: tuple[str, ...], libraries: tuple[str, ...] = ()) -> None:
    """Skip the test, or fail it, if one of these programs or libraries is not there."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if not missing:
        missing = [library for library in libraries if not _has_library(library)]
    if missing and all_languages():
        pytest.fail(f"{', '.join(missing)} is missing")
    if missing:
        pytest.skip(f"{', '.join(missing)} is missing")


def _has_library(name: str) -> bool:
    return subprocess.run(["pkg-config", "--exists", name], check=False).returncode == 0


def in_folder(command: tuple[str, ...], folder: Path, seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)


def bot_environment(**variables: str) -> dict[str, str]:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("STELLWERK_")}
    return inherited | variables


@contextmanager
def served(folder: Path) -> Generator[str]:
    """HOST:PORT of `stellwerk serve`, which keeps its files in the folder."""
    command = [*COMMAND, "serve", "--port", "0", "--data", str(folder)]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().removeprefix("listening on ").strip()
        finally:
            server.kill()
