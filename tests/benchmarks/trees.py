"""The code that is measured: this checkout, and another commit beside it in the same run.

A tree is run in processes of its own, with this interpreter and the packages installed for it; only the
project's own packages come from the tree.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = ("protocol", "server", "bots/python", "tournament")


class TreeError(Exception):
    """The commit cannot be measured; one line says why."""


@dataclass(frozen=True)
class Tree:
    name: str
    root: Path

    def environment(self) -> dict[str, str]:
        paths = [str(self.root / source) for source in SOURCES]
        return {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(self.root)])}


THIS: Final = Tree("this checkout", ROOT)


@contextmanager
def trees(commit: str | None) -> Generator[list[Tree]]:
    """Give this checkout and, if a commit is named, that one, unpacked in a temporary folder."""
    if commit is None:
        yield [THIS]
        return
    name = (
        _git("rev-parse", "--short", "--verify", "--end-of-options", f"{commit}^{{commit}}").decode().strip()
    )
    with TemporaryDirectory(prefix="stellwerk-bench-") as folder:
        with tarfile.open(fileobj=BytesIO(_git("archive", name))) as archive:
            archive.extractall(folder, filter="data")
        yield [THIS, Tree(name, Path(folder))]


def _git(*words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
    except OSError as error:
        raise TreeError(f"--against needs git: {error.strerror}") from None
    if done.returncode:
        cause = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise TreeError(f"git {words[0]}: {cause}")
    return done.stdout
