"""Processes that play match after match: what they may see, what they leave, and when they are replaced."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stellwerk_processes.bench.family import descendants_ms
from tests.command.program import environment
from tests.command.tournament.test_tournament import cup, lines_of, tournament

# Tells of each match its process, how many it has played before, whether there is another one of it just now,
# and what it finds in its folder; its start takes three tenths of a second of processor time at least.
SCRIPT = """
import fcntl, os, sys, time
import stellwerk_bots.client as client
from stellwerk_bots.connection import default_address
from stellwerk_bots.players import new_player

lock = open(sys.argv[1], "a")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    alone = True
except OSError:
    alone = False
until = time.process_time() + 0.3
while time.process_time() < until:
    pass
played = 0

def player(start, seed):
    global played
    found = sorted(os.listdir(os.environ["HOME"]))
    print("process", os.getpid(), played, alone, found, file=sys.stderr, flush=True)
    played += 1
    if "crash" in sys.argv and played == 2:
        os._exit(3)
    os.mkdir(os.environ["HOME"] + "/left")
    open(os.environ["HOME"] + "/left/behind", "w").close()
    os.chmod(os.environ["HOME"] + "/left", 0o500)
    return new_player("random")(start, seed)

client.Client(
    default_address(), "my-own-name", player, token=os.environ["STELLWERK_TOKEN"], tell_result=lambda _: None
).run()
"""
RANDOM = 'built_in = "random"\nname = "other"'


def played(folder: Path, *words: str, more: str = "", rounds: int = 3) -> list[dict[str, Any]]:
    """Run a tournament with one bot that is used again. Return its lines. Any: that is how JSON is read."""
    script = folder.with_suffix(".py")
    script.write_text(SCRIPT)
    command = shlex.join([sys.executable, str(script), str(folder.with_suffix(".lock")), *words])
    stays = f'name = "stays"\ncmd = {json.dumps(command)}\nprocess = "reused"\n{more}'
    cup(folder, [stays, RANDOM], f"concurrency = 1\n[schedule]\nrounds = {rounds}")
    tournament("run", folder)
    return lines_of(folder)


def reports(folder: Path) -> dict[tuple[int, int], tuple[str, int, bool, str]]:
    """Read the bot's log, by block and rotation: the process, its matches before that, whether it was the
    only one, and what it found in its folder."""
    log = (folder / "logs" / "stays.log").read_text()
    pattern = r"== block (\d+), rotation (\d+), seat \d\nprocess (\d+) (\d+) (True|False) (.*)\n"
    headings = re.findall(pattern, log)
    assert len(headings) == log.count("== ")
    return {
        (int(block), int(rotation)): (process, int(before), alone == "True", left)
        for block, rotation, process, before, alone, left in headings
    }


def faults(lines: Sequence[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter(
        (seat["bot"], fault["kind"]) for line in lines for seat in line["bots"] for fault in seat["faults"]
    )


@pytest.fixture(scope="module", params=["tcp", "stdio"])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reuse") / "cup"
    played(folder, more=f'transport = "{request.param}"', rounds=2)
    return folder


def test_a_process_plays_match_after_match_but_no_deal_twice(finished: Path) -> None:
    matches = reports(finished)
    assert len(matches) == 4
    processes = Counter(process for process, *_ in matches.values())
    assert sorted(processes.values()) == [2, 2]
    for block in range(2):
        assert matches[block, 0][0] != matches[block, 1][0]
    assert faults(lines_of(finished)) == {}
    assert "ok, 4 matches" in tournament("verify", finished)


def test_its_folder_is_empty_before_each_match(finished: Path) -> None:
    assert {left for *_, left in reports(finished).values()} == {"[]"}


def test_its_processor_time_is_that_of_the_match(finished: Path) -> None:
    """The first match of a process pays for its start, and no other does."""
    matches = reports(finished)
    spent = {
        (line["block"], line["rotation"]): seat["cpu_ms"]
        for line in lines_of(finished)
        for seat in line["bots"]
        if seat["bot"] == "stays"
    }
    first = {process: spent[key] for key, (process, before, _, _) in matches.items() if before == 0}
    assert min(first.values()) >= 300
    for key, (process, before, _, _) in matches.items():
        assert before == 0 or 0 < spent[key] < first[process], spent


def test_the_result_says_how_it_was_run(finished: Path) -> None:
    lines = lines_of(finished)
    assert {seat["bot"]: seat.get("process", "fresh") for line in lines for seat in line["bots"]} == {
        "stays": "reused",
        "other": "house",
    }
    assert {line["deal"] for line in lines} == {"same_in_block"}
    assert "stays: processes that play match after match" in (finished / "report.html").read_text()


def test_there_are_never_more_processes_of_it_than_it_may_have(tmp_path: Path) -> None:
    """With one process, each other rotation of a deal ends the process that has seen the deal."""
    played(tmp_path / "cup", more="instances = 1", rounds=2)
    matches = reports(tmp_path / "cup")
    assert len(matches) == 4
    assert all(alone for _, _, alone, _ in matches.values())
    assert all(matches[block, 0][0] != matches[block, 1][0] for block in range(2))


def test_after_a_fault_a_fresh_process_plays(tmp_path: Path) -> None:
    """Each crashes in its second match."""
    lines = played(tmp_path / "cup", "crash")
    matches = reports(tmp_path / "cup")
    assert max(before for _, before, _, _ in matches.values()) == 1
    crashed = {key for key, (_, before, _, _) in matches.items() if before == 1}
    assert len(crashed) == 2
    assert faults(lines) == {("stays", "crash"): 2}
    assert {(line["block"], line["rotation"]) for line in lines if faults([line])} == crashed


def test_a_program_that_is_gone_is_the_machines_fault(tmp_path: Path) -> None:
    """Its processes go on, but none may play the other rotation of its first deal."""
    script = tmp_path / "once.sh"
    script.write_text(f'#!/bin/sh\nrm -f "$0"\nexec {shlex.quote(sys.executable)} -m stellwerk_bots random\n')
    script.chmod(0o755)
    bots = [f'name = "once"\ncmd = "{script}"\nprocess = "reused"', RANDOM]
    folder = cup(tmp_path / "cup", bots, "concurrency = 1")
    tournament("run", folder, code=4)
    assert lines_of(folder) == []
    [failure, *more] = json.loads(tournament("status", folder, "--json"))["failures"]
    assert "there is no program" in failure["cause"]
    assert len(more) == 2


def test_both_of_a_team_are_processes_that_stay(tmp_path: Path) -> None:
    bots = ['built_in = "random"\nprocess = "reused"', 'built_in = "greedy"\nprocess = "reused"']
    folder = cup(tmp_path / "cup", bots, "concurrency = 1", game='game = "team_asia"')
    tournament("run", folder)
    lines = lines_of(folder)
    assert len(lines) == 2
    assert faults(lines) == {}


def test_a_seed_repeats_all_matches_whichever_process_plays_them(tmp_path: Path) -> None:
    """With one process at a time, or several side by side, and with other matches before."""
    bots = ['built_in = "random"\nprocess = "reused"', f'{RANDOM}\nprocess = "reused"']
    replays: list[dict[str, bytes]] = []
    for concurrency in (1, 3):
        folder = cup(
            tmp_path / str(concurrency), bots, f"concurrency = {concurrency}\n[schedule]\nrounds = 3"
        )
        tournament("run", folder, "--seed", "s")
        replays.append({path.name: path.read_bytes() for path in (folder / "replays").glob("*.jsonl")})
    assert replays[0] == replays[1]
    assert len(replays[0]) == 6


def test_processor_time_counts_children_that_run_and_children_that_have_ended() -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass\n"
    burn_and_stay = f"{burn}print(1, flush=True)\ninput()"
    parent = (
        "import subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {burn!r}])\n"
        f"subprocess.run([sys.executable, '-c', {burn_and_stay!r}])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", parent], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert descendants_ms(process.pid) >= 390  # both, but for the ticks in which children are counted
        process.communicate(b"\n")
    assert descendants_ms(process.pid) == 0
