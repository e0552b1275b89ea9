"""What hostile bots achieve in real matches: nothing of what a level promises to refuse, whoever runs it.

`make hostile` prints all attacks at all levels. These are the cells that are promised, by the bots that need
them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest

from stellwerk_processes.bench.landlock import landlock_abi
from stellwerk_processes.bench.levels import Level
from tests.processes.sandbox.hostile.arena import ATTACKS
from tests.processes.sandbox.hostile.table import Column, column, organizers
from tests.tools import needs

# One match after another: some of what bots tell each other by, such as the times of /dev/null, is the same
# for all processes of the machine.
pytestmark = pytest.mark.xdist_group("hostile bots")

NONE: Final = {
    *("outlive", "outlive_supervisor", "outlive_stopped", "burn_on", "diary_processes"),
    *("token_commands", "print"),
}
OF_OTHERS: Final = {"token_environ", "victim_memory", "trace_victim", "runner_memory"}
OF_THE_MACHINE: Final = {  # what a runner, a kernel or a container can refuse to all bots
    *("runner_memory", "victim_memory", "trace_victim", "user_namespace"),
    *("diary_keyrings", "diary_posix_queues", "diary_attributes", "diary_reading", "diary_cache"),
    *("diary_mincore", "diary_cachestat", "diary_faults", "diary_hints", "diary_flags"),
    *("told_hints", "told_flags", "told_signals", "told_descriptors", "told_watches"),
}
NEVER: Final = {"diary_faults", "told_descriptors"}  # what no level refuses to everybody
OF_SIGNALS: Final = {"signal_victim", "signal_runner", "kill_supervisor"}
LIMITS: Final = NONE | {"processes"} | OF_OTHERS | (OF_SIGNALS if landlock_abi() >= 6 else set[str]())
OF_NAMESPACES: Final = {
    *("other_address", "diary_reading", "private_disk", "starve", "told_running", "told_signals"),
}
OF_ALL: Final = {attack for name in ("spy", "diarist", "listener") for attack in ATTACKS[name]}
LANDLOCK: Final = LIMITS | OF_SIGNALS | (OF_ALL | {"shared_disk"}) - OF_NAMESPACES - NEVER
OF_COUNTERS: Final = {*ATTACKS["watcher"]} - {"count_numbers"}  # see `test_search.py`
NAMESPACE: Final = LANDLOCK | OF_NAMESPACES | OF_COUNTERS
FULL: Final = NAMESPACE | {"memory", "memory_in_parts"}

MATCHES: Final[dict[Level, tuple[set[str], tuple[str, ...]]]] = {
    "none": (NONE, ("clinger", "assassin", "hypnotist", "burner", "printer")),
    "limits": (LIMITS, ("spy", "forker", "clinger", "assassin")),
    "landlock": (LANDLOCK, ("spy", "diarist", "listener", "forker", "hoarder")),
    "namespace": (NAMESPACE, ("spy", "diarist", "listener", "forker", "hoarder", "clinger")),
    "full": (FULL, ("spy", "diarist", "listener", "hoarder", "herd")),
}
PROMISED: Final[dict[str, set[str]]] = {level: promised for level, (promised, _) in MATCHES.items()}
PAGE: Final = Path(__file__).parents[3] / "tournament" / "STRANGERS.md"


@cache
def played(level: Level, organizer: str, bots: tuple[str, ...]) -> Column:
    command = organizers(level)[organizer]
    result = column(level, organizer, command, bots)
    assert result.problem == ""
    return result


LADDER = [
    pytest.param("none"),
    pytest.param("limits", marks=needs("Landlock")),
    pytest.param("landlock", marks=needs("Landlock")),
    pytest.param("namespace", marks=needs("bwrap", "namespaces")),
]


def assert_kept(level: Level, organizer: str) -> None:
    promised, bots = MATCHES[level]
    cells = played(level, organizer, bots).cells
    tried = {attack for bot in bots for attack in ATTACKS[bot]}
    assert cells.keys() == tried
    broken = {attack: cells[attack].how for attack in promised & tried if cells[attack].done}
    assert not broken


@pytest.mark.parametrize("level", LADDER)
@needs("ordinary user's Python")
def test_what_a_level_promises_is_kept_when_an_ordinary_user_runs_it(level: Level) -> None:
    assert_kept(level, "user")


@pytest.mark.parametrize("level", LADDER)
@needs("root", "ordinary user's Python")
def test_what_a_level_promises_is_kept_when_root_runs_it(level: Level) -> None:
    assert_kept(level, "root")


@pytest.mark.parametrize("level", ["limits", pytest.param("landlock", marks=needs("Landlock"))])
@needs("root", "closed Python", "Landlock", "control groups")
def test_what_a_level_promises_is_kept_when_bots_stay_root(level: Level) -> None:
    assert_kept(level, "root*")


@needs("root", "ordinary user's Python", "bwrap", "namespaces", "control groups")
def test_the_highest_level_refuses_memory_too() -> None:
    assert_kept("full", "root")


@needs("ordinary user's Python")
def test_without_a_sandbox_the_attacks_succeed() -> None:
    """Else they would prove nothing where they fail."""
    cells = played("none", "user", ("spy", "diarist", "listener", "assassin")).cells
    expected = (OF_ALL | {"kill_supervisor"}) - NONE - OF_THE_MACHINE
    assert not {attack for attack in expected if cells[attack].done is False}


def test_the_page_for_organizers_has_every_attack_and_every_promise() -> None:
    rows = [
        line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")
    ]
    [head] = [row for row in rows if row[0] == "a bot could"]
    by_words = {row[0]: dict(zip(head, row, strict=True)) for row in rows if len(row) == len(head)}
    for attacks in ATTACKS.values():
        for attack, words in attacks.items():
            for title, cell in list(by_words[words].items())[1:]:
                promised = PROMISED[title.split("`")[1]]
                assert cell == "-" or (cell == "yes" and attack not in promised), (words, title)
