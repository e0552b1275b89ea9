"""The code that is measured: this checkout, and in the same run its compiled build or another commit.

A tree is run in processes of its own, with this interpreter and the packages installed for it; only the
project's own packages come from the tree. The compiled build is run in the environment where it is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
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


COMPILED: Final = ROOT / ".venv-compiled"  # by `make compile`


class TreeError(Exception):
    """The commit, or the compiled build, cannot be measured; one line says why."""


@dataclass(frozen=True)
class Tree:
    name: str
    root: Path
    python: str = sys.executable
    is_installed: bool = False  # its packages are where its Python finds them

    def environment(self) -> dict[str, str]:
        paths = [] if self.is_installed else [str(self.root / source) for source in SOURCES]
        return {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(self.root)])}


THIS: Final = Tree("this checkout", ROOT)


@contextmanager
def trees(commit: str | None, compiled: bool = False) -> Generator[list[Tree]]:
    """Give this checkout, its compiled build if that is wanted, and, if a commit is named, that one, unpacked
    in a temporary folder."""
    own = [THIS, _compiled()] if compiled else [THIS]
    if commit is None:
        yield own
        return
    name = (
        _git("rev-parse", "--short", "--verify", "--end-of-options", f"{commit}^{{commit}}").decode().strip()
    )
    with TemporaryDirectory(prefix="stellwerk-bench-") as folder:
        with tarfile.open(fileobj=BytesIO(_git("archive", name))) as archive:
            archive.extractall(folder, filter="data")
        yield [*own, Tree(name, Path(folder))]


def _compiled() -> Tree:
    """Return the compiled build. Raise TreeError if there is none, or it was made of other sources."""
    packages = next(COMPILED.glob("lib/python*/site-packages/"), None)
    if packages is None:
        raise TreeError("there is no compiled build: run `make compile` first")
    for root in SOURCES:
        for source in (ROOT / root).glob("stellwerk*/**/*.py"):
            copy = packages / source.relative_to(ROOT / root)
            if not copy.exists() or copy.read_bytes() != source.read_bytes():
                raise TreeError(f"the compiled build has another {source.name}: run `make compile` again")
    return Tree("compiled", ROOT, str(COMPILED / "bin" / "python"), is_installed=True)


def _git(*words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
    except OSError as error:
        raise TreeError(f"--against needs git: {error.strerror}") from None
    if done.returncode:
        cause = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise TreeError(f"git {words[0]}: {cause}")
    return done.stdout
