"""What the sandbox hides from a bot, by what the bot was given and what it printed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from stellwerk_processes.bench.hidden_files import hidden_hint
from stellwerk_processes.bench.levels import Confinement, Wanted
from stellwerk_processes.bot_spec import BotSpec


@pytest.fixture(name="odd")
def odd_folder(tmp_path: Path) -> Path:
    """Make a folder with a bot, and an odd one with all that it needs."""
    for name in ("bot", "odd/venv/bin", "odd/data"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("bot/bot.py", "odd/venv/bin/python", "odd/data/model.bin"):
        (tmp_path / name).touch()
    return tmp_path / "odd"


def spec(odd: Path, *words: str, **environment: str) -> BotSpec:
    path = str(odd.parent / "bot" / "bot.py")
    return BotSpec("ann", (sys.executable, path, *words), environment=environment)


def hint(bot: BotSpec, *printed: str, level: Wanted = "namespace", bind: tuple[str, ...] = ()) -> str:
    return hidden_hint(bot, Confinement(level=level, bind=bind), printed)


def test_a_program_is_shown_with_what_is_installed_with_it(odd: Path) -> None:
    said = hint(spec(odd), f"run.sh: 1: exec: {odd}/venv/bin/python: not found")
    assert said.endswith(f"write bind = {json.dumps([f'{odd}/venv'])}")


def test_a_file_is_shown_with_its_folder_and_each_folder_once(odd: Path) -> None:
    bot = spec(odd, f"--model={odd}/data/model.bin", DATA=f"{odd}/data", LIBRARIES=f"/usr/lib:{odd}/venv")
    said = hint(bot, f"cannot open '{odd}/data/model.bin'")
    assert said.endswith(f"write bind = {json.dumps([f'{odd}/data', f'{odd}/venv'])}")


def test_what_a_bot_sees_is_not_hidden(odd: Path) -> None:
    bot = spec(odd)
    seen = ("/usr/bin/env", sys.executable, "/proc/self/maps", bot.command[1], f"{odd}/data/model.bin")
    assert hint(bot, *(f"cannot read {path}" for path in seen), bind=(f"{odd}/data",)) == ""


def test_what_is_not_there_and_what_is_no_bots_is_not_named(odd: Path) -> None:
    home = os.path.expanduser("~")
    assert (
        hint(spec(odd), f"cannot read {odd}/nothing", f"nor {home}", "nor /", f"{odd.parent.parent}!") == ""
    )


def test_a_bot_that_lacks_something_without_saying_where_is_told_what_it_sees(odd: Path) -> None:
    said = hint(spec(odd), "libodd.so.1: cannot open shared object file")
    assert said.startswith("at the level namespace it sees its own folder")
    assert "bind = [...]" in said
    assert hint(spec(odd), "IndexError: list index out of range") == ""


@pytest.mark.parametrize("level", ["none", "limits"])
def test_where_nothing_is_hidden_nothing_is_said(odd: Path, level: Wanted) -> None:
    assert hint(spec(odd), f"cannot read {odd}/data/model.bin", level=level) == ""
