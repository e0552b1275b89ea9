"""The command `stellwerk` as its users run it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "stellwerk")
SECONDS = 120  # far more than any test takes: a test that hangs should say so


def environment(**changes: str) -> dict[str, str]:
    roots = os.pathsep.join(str(REPOSITORY / root) for root in ("protocol", "server"))
    return {**os.environ, "PYTHONPATH": roots, "COLUMNS": "80", **changes}


def stellwerk(*words: str | bytes, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the program; `changes` are those of the environment."""
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
