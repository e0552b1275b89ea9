"""The command `stellwerk` as its users run it, in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from stellwerk import __main__

REPOSITORY = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "stellwerk")
SECONDS = 120  # far more than any test takes: a test that hangs should say so


def environment(**changes: str) -> dict[str, str]:
    roots = os.pathsep.join(str(REPOSITORY / root) for root in ("protocol", "server"))
    return {**os.environ, "PYTHONPATH": roots, "COLUMNS": "80", **changes}


@dataclass(frozen=True, slots=True)
class Done:
    """What a command line printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def stellwerk(*words: str | bytes, **changes: str) -> Done:
    """Carry out a command line in this process; `changes` are those of the environment.

    A process of its own takes a quarter of a second to import what is imported here. Tests start one where
    signals, a terminal, a full disk, standard input or the imports themselves are the point.
    """
    with (
        TemporaryFile("w+", encoding="utf-8") as stdout,
        TemporaryFile("w+", encoding="utf-8") as stderr,
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        patch.setattr(sys, "argv", [__main__.__file__, *map(os.fsdecode, words)])
        patch.setattr(tempfile, "tempdir", None)  # where TMPDIR says
        for name, value in environment(**changes).items():
            patch.setenv(name, value)
        code = __main__.main()
        stdout.seek(0)
        stderr.seek(0)
        return Done(code, stdout.read(), stderr.read())


def process(*words: str | bytes, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own; `changes` are those of the environment."""
    return subprocess.run(
        [*COMMAND, *words],
        env=environment(**changes),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


@contextmanager
def started(*words: str) -> Generator[subprocess.Popen[str]]:
    """Start the program, and kill it at the end of the block."""
    with subprocess.Popen(
        [*COMMAND, *words], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def refused(*words: str | bytes, code: int = 2) -> str:
    """Return the one line in which the program refuses a command line that it cannot carry out."""
    done = stellwerk(*words)
    assert (done.returncode, done.stdout) == (code, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("stellwerk: ")
    assert line.isprintable()
    return line
