"""The pages' modules in Node: all that needs no browser. Each `*.test.mjs` says which promise it proves."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.tools import needs

pytestmark = needs("node")

TESTS: Final = Path(__file__).parents[1]
FOLDERS: Final = (TESTS / "page", TESTS / "web_pages")
FILES: Final = sorted(file for folder in FOLDERS for file in folder.glob("*.test.mjs"))
SECONDS: Final = 120


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_module_keeps_its_promises(file: Path) -> None:
    done = subprocess.run(
        ["node", "--test", str(file)], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
