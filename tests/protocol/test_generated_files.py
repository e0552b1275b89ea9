"""The generated files are what the program makes today."""

from __future__ import annotations

from functools import cache
from itertools import zip_longest
from pathlib import Path

import pytest

from tools import generate
from tools.generate import GENERATORS, TOP, written

pytestmark = pytest.mark.xdist_group("generated files")  # each is made once
made = cache(generate.made)


@pytest.mark.parametrize("group", GENERATORS)
def test_a_generated_file_is_what_its_generator_makes(group: str) -> None:
    new = made(group)
    old = written(new)
    assert {*old} == {*new}
    for path, content in new.items():
        lines = zip_longest(old[path].split(b"\n"), content.split(b"\n"))
        stale = [number for number, (before, after) in enumerate(lines, 1) if before != after]
        name = path.relative_to(TOP)
        assert not stale, f"{name}:{stale[0]} is stale. If that was meant: make generate ARGS={group}"


def test_every_generator_has_its_own_files() -> None:
    """So `make generate` removes no file of another one."""
    places = [{path.parent for path in made(group)} for group in GENERATORS]
    assert sum(map(len, places)) == len(set[Path]().union(*places))
