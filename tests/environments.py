"""Virtual environments for tests."""

from __future__ import annotations

import shutil
import venv
from importlib.util import find_spec
from pathlib import Path


def make_environment(folder: Path) -> Path:
    """Make an environment with nothing but pip, and return its Python.

    A copy of this Python's pip is there at once, where `ensurepip` takes five seconds.
    """
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    pip = find_spec("pip")
    assert pip is not None
    assert pip.origin is not None
    shutil.copytree(Path(pip.origin).parent, packages / "pip")
    return folder / "bin" / "python"
