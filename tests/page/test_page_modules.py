"""The page's modules in Node: all that needs no browser. Each `*.test.mjs` says which promise it proves."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.tools import needs

pytestmark = needs("node")

HERE: Final = Path(__file__).parent
SECONDS: Final = 120


@pytest.mark.parametrize("file", sorted(HERE.glob("*.test.mjs")), ids=lambda file: file.name)
def test_a_module_keeps_its_promises(file: Path) -> None:
    done = subprocess.run(
        ["node", "--test", str(file)], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
