"""What each level refuses, as a witness sees it: as root and as an ordinary user."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from stellwerk_processes.bench import resolve_sandbox, witness
from stellwerk_processes.bench.levels import (
    LEVELS,
    TRIALS,
    Confinement,
    Level,
    SandboxError,
    SandboxRecord,
    describe,
)
from stellwerk_processes.bench.resolve_sandbox import Attempt, resolve
from tests.tools import as_ordinary_user, bwrap, needs

PROGRAM: Final = str(Path(__file__).with_name("try_level.py"))
SECONDS: Final = 120

NONE: Final = {"outlive"}
LIMITS: Final = NONE | {"gain_privileges", "many_processes"}
LANDLOCK: Final = LIMITS | {
    *(
        "read_files",
        "write_files",
        "change_files",
        "leave_memory",
        "slow_others",
        "loopback",
        "udp",
        "internet",
        "abstract_sockets",
        "unix_sockets",
        "read_counters",
    ),
    *("see_processes", "signal_runner", "read_runner_memory", "signal_other_bots", "read_other_bots"),
    *("see_locks", "see_cache", "open_port"),
    "user_namespaces",
}
NAMESPACE: Final = LANDLOCK | {"other_address", "fill_disk"}
FULL: Final = NAMESPACE | {"much_memory"}
BEYOND_USERS: Final = {"many_processes"}  # limits that count by user are none for root

LADDER = [
    pytest.param("none", NONE),
    pytest.param("limits", LIMITS),
    pytest.param("landlock", LANDLOCK, marks=needs("Landlock")),
    pytest.param("namespace", NAMESPACE, marks=needs("bwrap", "namespaces")),
]


def seen(command: Sequence[str], *words: str) -> dict[str, Any]:
    """Return what a runner finds out. Any: that is how JSON is read."""
    done = subprocess.run(
        [*command, PROGRAM, *words], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(("level", "refused"), LADDER)
@needs("ordinary user's Python")
def test_what_a_level_refuses_when_an_ordinary_user_runs_it(level: str, refused: set[str]) -> None:
    record = seen(as_ordinary_user(), level)
    assert record["problem"] == ""
    missing = refused - set(record["refused"]) - set(record.get("untried", ()))
    assert not missing
    assert record["user"] == "runner" if "user" in record else True


@pytest.mark.parametrize(("level", "refused"), LADDER)
@needs("root")
def test_what_a_level_refuses_when_root_runs_it(level: str, refused: set[str]) -> None:
    record = seen([sys.executable], level)
    assert record["problem"] == ""
    if record.get("user") == "root_without_powers":
        refused = refused - BEYOND_USERS
    assert not refused - set(record["refused"]) - set(record.get("untried", ()))
    if level == "namespace":
        assert record["user"] == "own"


@needs("root", "bwrap", "namespaces", "control groups")
def test_at_the_highest_level_everything_is_refused() -> None:
    record = seen([sys.executable], "full")
    assert record["problem"] == ""
    assert not FULL - set(record["refused"]) - set(record.get("untried", ()))
    assert record["cgroup"] in (1, 2)


@needs("root", "bwrap", "namespaces")
def test_a_level_holds_while_another_trial_holds_its_locks() -> None:
    """Some of what bots share is the machine's, such as the inode of event descriptors."""
    other = [sys.executable, witness.__file__, "wait 4711"]
    with subprocess.Popen(other, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline()
        assert seen([sys.executable], "namespace")["problem"] == ""
        process.stdin.write(b"\n")


@needs("ordinary user's Python")
def test_the_witness_can_do_what_nobody_refuses() -> None:
    """Else it would prove nothing where something is refused."""
    record = seen(as_ordinary_user(), "none", "open")
    assert set(TRIALS) - NONE == set(record["allowed"]) | set(record.get("untried", ()))


# -- which level is taken ----------------------------------------------------------------------------


def fake_attempts(monkeypatch: pytest.MonkeyPatch, problems: dict[Level, str]) -> list[Level]:
    """Let levels hold but for those with a problem. Return the list of those that are tried."""
    tried: list[Level] = []

    async def fake(confinement: Confinement, level: Level) -> Attempt:
        tried.append(level)
        record = SandboxRecord(level=level, asked=confinement.level)
        confinement = replace(confinement, level=level)
        return Attempt(confinement, record, problems.get(level, ""))

    monkeypatch.setattr(resolve_sandbox, "try_level", fake)
    return tried


def test_auto_is_the_highest_level_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = fake_attempts(monkeypatch, {"full": "no groups", "namespace": "no bubblewrap"})
    resolved = trio.run(resolve, Confinement(level="auto", require="limits"))
    assert tried == ["full", "namespace", "landlock"]
    assert resolved.confinement.level == "landlock"
    assert (resolved.record.level, resolved.record.asked) == ("landlock", "auto")


def test_nothing_below_the_level_that_was_asked_for_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = fake_attempts(monkeypatch, {"namespace": "no bubblewrap"})
    with pytest.raises(SandboxError, match="namespace: no bubblewrap"):
        trio.run(resolve, Confinement(level="namespace"))
    assert tried == ["namespace"]


def test_auto_stops_at_the_level_that_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = fake_attempts(monkeypatch, dict.fromkeys(LEVELS, "broken"))
    with pytest.raises(SandboxError, match=r"at least namespace: full: broken; namespace: broken"):
        trio.run(resolve, Confinement(level="auto", require="namespace"))
    assert tried == ["full", "namespace"]


@needs("bwrap", "sandboxes")
def test_a_wrap_is_described_by_what_it_refuses() -> None:
    resolved = trio.run(resolve, Confinement(wrap=bwrap()))
    assert resolved.record.wrapped
    assert {"loopback", "internet", "see_processes"} <= set(resolved.record.refused)
    assert "read_files" in resolved.record.allowed


def test_the_sentence_names_what_was_open_and_what_was_not_tried() -> None:
    record = SandboxRecord(level="limits", asked="limits", allowed=("udp",), untried=("internet",))
    assert describe(record) == (
        "limits: bots ran as the runner's own user; a bot could send over UDP; not tried: reach the internet"
    )


def test_a_machine_without_bubblewrap_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stellwerk_processes.bench.launch.bubblewrap", lambda: None)
    attempt = trio.run(resolve_sandbox.try_level, Confinement(), "namespace")
    assert attempt.problem == "bubblewrap is not installed"
    assert set(attempt.record.untried) == set(TRIALS)


# -- the table ---------------------------------------------------------------------------------------


def test_each_level_keeps_the_measures_of_those_before_it() -> None:
    rows = [(row.powers, row.hides_files, row.calls, row.namespaces) for row in LEVELS.values()]
    assert rows == sorted(rows)
    assert all(row.landlock for row in list(LEVELS.values())[1:])
    assert all(row.file_sizes or row.namespaces for row in list(LEVELS.values())[1:])


def test_the_page_for_organizers_says_what_each_level_is_made_of() -> None:
    page = (Path(__file__).parents[3] / "tournament" / "STRANGERS.md").read_text()
    for level, row in LEVELS.items():
        assert f"| `{level}` | {row.made_of} | " in page


def test_the_words_for_many_processes_are_what_the_witness_starts() -> None:
    assert TRIALS["many_processes"][1] == f"start {witness.MANY_PROCESSES} processes"
