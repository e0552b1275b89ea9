"""No bot plays two matches of one deal at the same time, whichever command plays them.

A bot notes when it is asked in each of its matches, and what its processes do between matches.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from stellwerk_engine.boards.board_file import board_content, shipped_board
from tests.command.program import stellwerk

# Each process has a thread that shows that it runs, every few milliseconds.
SCRIPT = """
import os, threading, time
import stellwerk_bots.client as client
from stellwerk_bots.connection import default_address
from stellwerk_bots.players import new_player

notes = os.open(NOTES, os.O_WRONLY | os.O_APPEND)

def note(*words):
    os.write(notes, " ".join(map(str, (time.monotonic_ns(), os.getpid(), *words))).encode() + b"\\n")

def show_life():
    while True:
        time.sleep(0.003)
        note("lives", "-")

def observe(message):
    if message["type"] in ("start", "ask"):
        note(message["type"], message["match"])
        time.sleep(0.01)  # so that matches side by side overlap for long

threading.Thread(target=show_life, daemon=True).start()
client.Client(
    default_address(), os.environ["STELLWERK_NAME"], new_player("random"),
    token=os.environ["STELLWERK_TOKEN"], tell_result=lambda _: None, observe=observe,
).run()
"""


@dataclass(slots=True)
class Noted:
    """The notes of one match: when it began, and the last ask in it."""

    pid: int
    start: int
    end: int = 0


@dataclass(slots=True)
class Notes:
    """What the bot noted: its matches, and when each process ran."""

    matches: dict[str, Noted] = field(default_factory=dict[str, Noted])
    life: dict[int, list[int]] = field(default_factory=dict[int, list[int]])

    def of_blocks(self, block_of: dict[str, int]) -> list[list[Noted]]:
        """Return the matches of each block, in the order in which they began. A match that this machine made
        fail is played again, and only then is it one of them."""
        blocks: dict[int, list[Noted]] = {}
        for match, block in block_of.items():
            blocks.setdefault(block, []).append(self.matches[match])
        return [sorted(matches, key=lambda noted: noted.start) for matches in blocks.values()]


class Bot:
    def __init__(self, folder: Path) -> None:
        self.notes = folder / "notes"
        self.notes.touch()
        script = folder / "noting.py"
        script.write_text(f"NOTES = {str(self.notes)!r}\n{SCRIPT}")
        self.command = shlex.join([sys.executable, str(script)])
        self.spec = f"name=notes cmd={shlex.quote(self.command)}"
        self.board = folder / "board.json"
        self.board.write_text(json.dumps(board_content(shipped_board("usa")) | {"trains": 8}))

    def cup(self, folder: Path, concurrency: int, process: str = "fresh", rounds: int = 3) -> Path:
        folder.mkdir()
        (folder / "board.json").write_bytes(self.board.read_bytes())
        (folder / "tournament.toml").write_text(
            f'sandbox = "limits"\nconcurrency = {concurrency}\n[schedule]\nrounds = {rounds}\n'
            f'[[games]]\ngame = "usa"\nboard = "board.json"\n'
            f'[[bots]]\nname = "notes"\ncmd = {json.dumps(self.command)}\nprocess = "{process}"\n'
            '[[bots]]\nbuilt_in = "random"\n'
        )
        return folder

    def read(self) -> Notes:
        notes = Notes()
        for line in self.notes.read_text().splitlines():
            time, pid, kind, match = line.split()
            notes.life.setdefault(int(pid), []).append(int(time))
            if kind == "start":
                notes.matches[match] = Noted(int(pid), int(time))
            elif kind == "ask":
                notes.matches[match].end = int(time)
        return notes


@pytest.fixture
def bot(tmp_path: Path) -> Bot:
    return Bot(tmp_path)


def run(*words: str | Path, codes: tuple[int, ...] = (0,)) -> str:
    done = stellwerk(*map(str, words))
    assert done.returncode in codes, done.stderr
    return done.stdout


def blocks_of(lines: list[dict[str, Any]]) -> dict[str, int]:  # Any: that is how JSON is read
    return {line["match"]: line["block"] for line in lines}


def blocks_on_disk(folder: Path) -> dict[str, int]:
    return blocks_of([json.loads(line) for line in (folder / "matches.jsonl").read_bytes().splitlines()])


def expect_no_overlap(blocks: list[list[Noted]], count: int) -> None:
    assert len(blocks) == count
    for matches in blocks:
        assert len(matches) == 2
        for one, other in pairwise(matches):
            assert one.end < other.start


@pytest.mark.parametrize("process", ["fresh", "reused"])
def test_a_tournament_plays_rotations_of_a_deal_in_turn(bot: Bot, tmp_path: Path, process: str) -> None:
    """Other blocks fill the places meanwhile."""
    cup = bot.cup(tmp_path / "cup", concurrency=3, process=process)
    run("tournament", "run", cup, "--no-preflight")
    notes = bot.read()
    expect_no_overlap(notes.of_blocks(blocks_on_disk(cup)), 3)
    matches = list(notes.matches.values())
    assert any(one.start < other.end and other.start < one.end for one, other in combinations(matches, 2))


@pytest.mark.parametrize("command", ["tournament", "play"])
def test_a_process_that_has_played_a_deal_is_stopped_while_another_one_plays_it(
    bot: Bot, tmp_path: Path, command: str
) -> None:
    if command == "tournament":
        cup = bot.cup(tmp_path / "cup", concurrency=2, process="reused", rounds=4)
        run("tournament", "run", cup, "--no-preflight")
        block_of = blocks_on_disk(cup)
    else:
        words = ("--games=8", "--jobs=2", "--process=reused", "--sandbox=limits", "--json")
        report = run("play", "usa", "--board", bot.board, *words, "--bot", bot.spec, "--bot=random")
        block_of = blocks_of(json.loads(report)["matches"])
    notes = bot.read()
    blocks = notes.of_blocks(block_of)
    expect_no_overlap(blocks, 4)
    for matches in blocks:
        first, second = matches
        assert first.pid != second.pid
        assert not [time for time in notes.life[first.pid] if second.start <= time <= second.end]
    assert len(notes.life) < len(notes.matches)  # some process has played again


def test_a_series_of_games_plays_rotations_of_a_deal_in_turn(bot: Bot) -> None:
    words = ("--games=6", "--jobs=3", "--sandbox=limits", "--json")
    report = run("play", "usa", "--board", bot.board, *words, "--bot", bot.spec, "--bot=random")
    expect_no_overlap(bot.read().of_blocks(blocks_of(json.loads(report)["matches"])), 3)


def test_a_comparison_plays_rotations_of_a_deal_in_turn(bot: Bot) -> None:
    words = ("--game=usa", "--most=3", "--jobs=3", "--sandbox=limits", "--json")
    report = run("compare", "random", bot.spec, "--board", bot.board, *words, codes=(3,))
    expect_no_overlap(bot.read().of_blocks(blocks_of(json.loads(report)["matches"])), 3)


def test_a_gate_plays_rotations_of_a_deal_in_turn(bot: Bot, tmp_path: Path) -> None:
    words = ("--no-doctor", "--blocks=10", "--concurrency=3", "--sandbox=limits", "--game=usa")
    candidate = ("--candidate", bot.spec, "--baseline=random", "--directory", tmp_path / "gate")
    run("gate", *candidate, "--board", bot.board, *words, codes=(0, 1, 3))
    expect_no_overlap(bot.read().of_blocks(blocks_on_disk(tmp_path / "gate")), 10)


def test_blocks_elsewhere_play_rotations_of_a_deal_in_turn(bot: Bot, tmp_path: Path) -> None:
    cup = bot.cup(tmp_path / "cup", concurrency=1, rounds=2)
    run("tournament", "export", cup, "-o", tmp_path / "orders", "--no-preflight")
    orders = sorted((tmp_path / "orders").iterdir())
    run("tournament", "block", *orders, "-o", tmp_path / "results", "--concurrency=4")
    run("tournament", "merge", cup, tmp_path / "results")
    expect_no_overlap(bot.read().of_blocks(blocks_on_disk(cup)), 2)
    assert os.listdir(tmp_path / "results")
