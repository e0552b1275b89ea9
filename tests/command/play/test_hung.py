"""A Python bot that hangs: where it does so is in the report of the command that ended it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Final

import pytest

from stellwerk.__main__ import main
from tests.tools import needs

HANGS: Final = """\
import os, threading
from stellwerk_bots.client import Client
from stellwerk_bots.connection import default_address

def wait_for_ever():
    threading.Event().wait()

class Hanging:
    def __init__(self, start, seed_text):
        pass
    def answer(self, ask):
        if ask["ask"] == 2:
            wait_for_ever()
        return {"index": 0}

Client(default_address(), os.environ["STELLWERK_NAME"], Hanging, token=os.environ["STELLWERK_TOKEN"]).run()
"""

LEVELS: Final = [
    "none",
    "limits",
    pytest.param("landlock", marks=needs("Landlock")),
    pytest.param("namespace", marks=needs("bwrap", "namespaces")),
]


@pytest.fixture
def hanging(tmp_path: Path) -> list[str]:
    """Return the command of a bot that never answers its second ask."""
    bot = tmp_path / "hangs.py"
    bot.write_text(HANGS)
    bot.chmod(0o644)
    return [sys.executable, str(bot)]


@pytest.mark.parametrize("level", LEVELS)
def test_a_hung_python_bot_shows_where_it_hangs(
    level: str, hanging: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its stack is in the fault, and in its log."""
    words = ["--move-time", "50", "--bank", "0", "--sandbox", level, "--log", str(tmp_path), "--seed", "1"]
    bots = ["--bot", "greedy", "--bot", f"name=hanging cmd={shlex.quote(shlex.join(hanging))}"]
    assert main(["play", "usa", *bots, *words, "--json"]) == 0
    [match] = json.loads(capsys.readouterr().out)["matches"]
    [seat] = [seat for seat in match["seats"] if seat["bot"] == "hanging"]
    [fault] = seat["faults"]
    assert (fault["kind"], fault["late"]["ask"]) == ("hang", 2)
    head, *calls = fault["last_lines"]
    assert head.startswith("Current thread 0x")
    ours = [call.partition('hangs.py", ')[2] for call in calls if "hangs.py" in call]
    assert ours[:2] == ["line 6 in wait_for_ever", "line 13 in answer"]
    assert "line 6 in wait_for_ever" in Path(seat["log"]).read_text("utf-8")


def test_a_hung_bot_that_would_play_again_shows_where_it_hangs(
    hanging: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--move-time", "50", "--bank", "0", "--seed", "1", "--process", "reused", "--games", "2"]
    bots = ["--bot", "greedy", "--bot", f"name=hanging cmd={shlex.quote(shlex.join(hanging))}"]
    assert main(["play", "usa", *bots, *words, "--json"]) == 0
    matches = json.loads(capsys.readouterr().out)["matches"]
    faults = [fault for match in matches for seat in match["seats"] for fault in seat["faults"]]
    assert [fault["kind"] for fault in faults] == ["hang", "hang"]
    for fault in faults:
        assert any("line 6 in wait_for_ever" in line for line in fault["last_lines"])


def test_the_doctor_shows_where_a_python_bot_hangs(
    hanging: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kit", "doctor", "--timeout", "2", "--json", "--", *hanging]) == 1
    steps = json.loads(capsys.readouterr().out)["steps"]
    [failure] = [step["failure"] for step in steps if step["verdict"] == "FAIL"]
    assert any("line 6 in wait_for_ever" in line for line in failure["printed"])
