"""Tables, at which blocks are played one after the other: the processes that stay there, and their end."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.command.program import COMMAND, REPOSITORY, SECONDS, environment
from tests.command.tournament.travelling import HOUSE, cup, did, exported, outcome, replays
from tests.processes.test_local_bot import has_ended

pytestmark = pytest.mark.xdist_group("travelling blocks")

ROUNDS: Final = 3  # blocks of two rotations

# Plays as `random` does, tells of each match its process, and of its process a file outside of all folders.
BOT: Final = """
import os, sys
sys.path.insert(0, {path!r})
from stellwerk_bots.client import Client
from stellwerk_bots.connection import default_address
from stellwerk_bots.players import new_player

with open(sys.argv[1], "a") as file:
    file.write(f"{{os.getpid()}}\\n")

def player(start, seed):
    print("process", os.getpid(), file=sys.stderr, flush=True)
    return new_player("random")(start, seed)

Client(
    default_address(), "ann", player, token=os.environ["STELLWERK_TOKEN"], tell_result=lambda _: None
).run()
"""


def with_reused_bot(folder: Path, rounds: int = ROUNDS, head: str = "") -> Path:
    """Write a cup with a bot whose processes are reused. They are noted in the file `processes` beside it."""
    bot = folder / "ann"
    bot.mkdir(parents=True)
    (bot / "main.py").write_text(BOT.format(path=str(REPOSITORY / "bots" / "python")))
    command = f"{shlex.quote(sys.executable)} ../ann/main.py {shlex.quote(str(folder / 'processes'))}"
    return cup(
        folder / "cup", (f'name = "ann"\ncmd = "{command}"\nprocess = "reused"', HOUSE[2]), head, rounds
    )


def noted(folder: Path) -> list[int]:
    """Return the processes of the bot, in the order in which they were started."""
    return list(map(int, (folder / "processes").read_text().split()))


def expect_ended(folder: Path) -> None:
    """Wait until no process of the bot lives, if some have lived."""
    assert noted(folder)
    assert all(map(has_ended, noted(folder)))


def expect_processes_that_see_no_deal_twice(folder: Path, cup: Path, blocks: int) -> None:
    """Two processes have played all blocks: each of them one rotation of each."""
    log = (cup / "logs" / "ann.log").read_text()
    matches = {
        (int(block), int(rotation)): pid
        for block, rotation, pid in re.findall(
            r"== block (\d+), rotation (\d+), seat \d\nprocess (\d+)\n", log
        )
    }
    assert len(matches) == 2 * blocks
    assert sorted(Counter(matches.values()).values()) == [blocks, blocks]
    assert all(matches[block, 0] != matches[block, 1] for block in range(blocks))
    assert sorted(set(matches.values())) == sorted(map(str, noted(folder)))


def test_processes_are_reused_from_one_file_to_the_next_and_no_deal_is_played_twice(tmp_path: Path) -> None:
    here = tmp_path / "here"
    folder = with_reused_bot(here)
    did("block", *exported(folder, tmp_path / "orders"), "-o", f"{tmp_path}/results/")
    expect_ended(here)
    did("merge", folder, tmp_path / "results")
    expect_processes_that_see_no_deal_twice(here, folder, ROUNDS)
    did("verify", folder)


def test_reused_processes_make_the_same_bytes_at_a_table_as_in_the_runner(tmp_path: Path) -> None:
    bots = ('built_in = "greedy"\nprocess = "reused"', HOUSE[1], HOUSE[2])
    one, folder = (cup(tmp_path / name, bots) for name in ("one", "folder"))
    did("run", one, "--seed", "s", "--no-preflight", "--progress", "none")
    did("block", *exported(folder, tmp_path / "orders", "--seed", "s"), "-o", f"{tmp_path}/results/")
    did("merge", folder, tmp_path / "results")
    assert outcome(folder) == outcome(one)
    assert replays(folder) == replays(one)
    assert (folder / "ratings.json").read_bytes() == (one / "ratings.json").read_bytes()


def test_a_block_of_another_tournament_gets_processes_of_its_own(tmp_path: Path) -> None:
    orders: list[Path] = []
    for name in ("first", "second"):
        folder = with_reused_bot(tmp_path / name, rounds=1)
        orders += exported(folder, tmp_path / f"orders of {name}")
    did("block", *orders, "-o", f"{tmp_path}/results/")
    assert [len(noted(tmp_path / name)) for name in ("first", "second")] == [2, 2]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_with_the_program_that_plays_blocks(tmp_path: Path, end: signal.Signals) -> None:
    here = tmp_path / "here"
    orders = exported(with_reused_bot(here, rounds=50), tmp_path / "orders")
    command = [*COMMAND, "tournament", "block", *map(str, orders), "-o", f"{tmp_path}/results/"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "block 0, 2 matches" in process.stdout.readline()
        process.send_signal(end)
        process.communicate(timeout=SECONDS)
    expect_ended(here)
    assert len(noted(here)) == 2
