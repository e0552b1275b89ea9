"""ARCHITECTURE.md names files that exist, and every room."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PAGE: Final = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROOTS: Final = ("protocol", "server", "bots/python", "tournament", "tests")
FILES: Final = frozenset(
    f"/{path.relative_to(REPOSITORY).as_posix()}"
    for root in ROOTS
    for path in (REPOSITORY / root).rglob("*.py")
) | {f"/{path.name}" for path in REPOSITORY.glob("*.py")}
ROOMED: Final = ("server/stellwerk_engine", "server/stellwerk_server", "tournament/stellwerk_tournament")


def test_a_file_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    assert {file for file in named if not any(path.endswith(f"/{file}") for path in FILES)} == set()


@pytest.mark.parametrize("package", ROOMED)
def test_the_page_lists_every_room_of_a_package(package: str) -> None:
    rooms = {init.parent.name for init in (REPOSITORY / package).glob("*/__init__.py")}
    section = PAGE.split(f"\n{package} ", 1)[1]
    listed = re.findall(r"^    (\w+)/", re.split(r"\n\w", section, maxsplit=1)[0], re.MULTILINE)
    assert set(listed) == rooms
