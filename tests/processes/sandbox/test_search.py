"""What a bot can learn of another one from numbers that it can read: nothing at `namespace` and `full` but
what no level hides, which is named (`hostile/search.py`, KNOWN).

`make hostile` searches with all actions at all levels. Here are those whose numbers were exact.
"""

from __future__ import annotations

import subprocess
from typing import Final

import msgspec
import pytest
import trio

from stellwerk_processes.bench.levels import Level
from tests.processes.sandbox.hostile.search import COUNT, Found, follows, pair_of_bots, unexplained
from tests.processes.sandbox.hostile.table import SEARCH_PROGRAM, organizers
from tests.tools import needs

ACTIONS: Final = ("fork", "open pipes", "open events", "open sockets", "connect", "set up asynchronous calls")
SECONDS: Final = 600

pytestmark = pytest.mark.xdist_group("search")  # one search would find another


def found_by(level: Level, organizer: str) -> Found:
    command = [*organizers(level)[organizer], SEARCH_PROGRAM, level, *ACTIONS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout, type=Found)


@needs("bwrap", "namespaces", "Landlock", "ordinary user's Python")
def test_a_bot_of_an_ordinary_user_reads_nothing_off_counters_in_namespaces() -> None:
    assert unexplained(found_by("namespace", "user")) == {}


@pytest.mark.parametrize("level", ["namespace", pytest.param("full", marks=needs("control groups"))])
@needs("root", "bwrap", "namespaces", "Landlock", "ordinary user's Python")
def test_a_bot_of_root_reads_nothing_off_counters_in_namespaces(level: Level) -> None:
    assert unexplained(found_by(level, "root")) == {}


def test_without_a_sandbox_the_numbers_follow() -> None:
    """Else the search would prove nothing where it finds nothing. Nobody but the other bot moves this one."""

    async def main() -> bool:
        async with pair_of_bots("none") as pair:
            name = f"/proc/{pair.actor}/statm 0"
            return follows((await pair.deltas(["use memory"], 3, [name]))[name])

    assert trio.run(main)


def test_a_number_follows_a_count_in_proportion_or_as_a_switch_and_noise_does_not() -> None:
    def deltas(none: list[int], some: list[int], many: list[int]) -> dict[int, list[int]]:
        return {0: none, COUNT: some, 2 * COUNT: many}

    assert follows(deltas([3, 9, 5], [98, 103, 99], [197, 900, 204]))  # one look went wrong
    assert follows(deltas([0, 0, 0], [-12, -12, -12], [-24, -24, -24]))
    assert follows(deltas([0, 0, 0], [48, 48, 48], [48, 48, 48]))
    assert not follows(deltas([3, 9, 5], [4, 7, 6], [5, 8, 3]))
    assert not follows(deltas([0, 0, 0], [1, 1, 1], [2, 2, 2]))  # it only took longer
    assert not follows(deltas([0, 10, 0], [90, 95, 99], [100, 104, 103]))
