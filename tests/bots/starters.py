"""The starters in `bots/`, and how a test builds and runs them.

The law: tests use a copy that `stellwerk bots new` creates; the folder in `bots/` is not changed. Each copy
is built once, in `build/starters`, and again when the starter changes: by `make test` before the tests, as
`python -m tests.bots.starters`, or by the first test that needs it. A language whose tools are missing is
skipped: see `tests/tools.py`.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from stellwerk.bots.starters import BY_LANGUAGE, STARTERS, Starter, copy_starter
from tests.command.program import COMMAND, REPOSITORY, environment
from tests.tools import MISSING, demand, go_without, lack, of_starter

BOTS: Final = REPOSITORY / "bots"
PLACE: Final = REPOSITORY / "build" / "starters"
VECTORS: Final = REPOSITORY / "protocol" / "conformance" / "vectors" / "greedy"
SECONDS: Final = 60  # far more than a bot needs for anything: a test that hangs fails
BUILD_SECONDS: Final = 600

# Python's is small, since the library has what the others bring along: see tests/bots/test_new.py.
WITH_OWN_CLIENT: Final = tuple(starter for starter in STARTERS if starter.language != "python")

# Optimizing takes compilers minutes, and the bots play no better here.
QUICKLY: Final = {"CXXFLAGS": "-O0", "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0"}

QUICK_JAVA: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

NOTHING_FETCHED: Final = ("failed to download", "failed to get", "Could not resolve host")


@dataclass(frozen=True, slots=True)
class Built:
    """A starter that can be run."""

    starter: Starter
    folder: Path

    def command(self, *words: str) -> list[str]:
        program, *rest = self.starter.program(str(self.folder))
        return [program, *(QUICK_JAVA if program == "java" else ()), *rest, *words]

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


def built(language: str) -> Built:
    """Return a copy of the starter, built. An earlier run may have built it."""
    starter = BY_LANGUAGE[language]
    demand(*of_starter(language))
    return Built(starter, _build(starter))


def _build(starter: Starter) -> Path:
    """Build a copy, unless one of the same content is built, and return its folder."""
    PLACE.mkdir(parents=True, exist_ok=True)
    folder, stamp = PLACE / starter.language, PLACE / f"{starter.language}.built"
    with open(PLACE / f"{starter.language}.lock", "w") as lock, TemporaryDirectory(dir=PLACE) as new:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy_starter(starter, Path(new), "tested")
        content = _digest(starter, Path(new))
        if stamp.exists() and stamp.read_text() == content:
            return folder
        stamp.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(new, folder)
        if starter.build:
            done = in_folder(starter.build, folder, BUILD_SECONDS)
            output = done.stdout + done.stderr
            if done.returncode != 0 and any(words in output for words in NOTHING_FETCHED):
                go_without("what cargo fetches")
            assert done.returncode == 0, output
        stamp.write_text(content)
    return folder


def _digest(starter: Starter, folder: Path) -> str:
    digest = sha256(repr(starter.build).encode())
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(folder)}\0{file.stat().st_mode}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def paired(starters: Sequence[Starter], number: int) -> list[tuple[Starter, Starter]]:
    """Return all of them in pairs, in each round with other partners. One of an odd number meets itself."""
    first, *others = starters
    turn = number % len(others)
    circle = [first, *others[turn:], *others[:turn]]
    half = (len(circle) + 1) // 2
    pairs = list(zip(circle[:half], reversed(circle[-half:]), strict=True))
    return [(second, first) for first, second in pairs] if number % 2 else pairs


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


def main() -> None:
    """Build all starters whose tools this machine has."""
    for starter in STARTERS:
        if all(lack(need) is None for need in of_starter(starter.language)):
            try:
                _build(starter)
            except (AssertionError, *MISSING):
                print(f"{starter.language}: the starter cannot be built; its tests report why")


if __name__ == "__main__":
    main()
