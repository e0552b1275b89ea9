"""The file of a final: the same bots and conditions, and paths that lead to the same files."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from stellwerk_processes.bench.views import is_beneath, view_of
from stellwerk_processes.bot_spec import BotSpec
from stellwerk_tournament.config.final import final_text
from stellwerk_tournament.config.settings import FILE, Settings, Source, parse, settings_of
from stellwerk_tournament.config.template import schedule_text

TEXT = """
title = "cup"
anonymous = true
tokens = "secret/tokens.txt"
bind = ["data", "/usr"]
levels = ["low", "high"]

[clocks]
move_ms = 500

[later]
unknown_here = [1, 2.5, true]
"odd key" = "a \\"word\\", \u00e9, \\u007f"

[schedule]
kind = "swiss"

[[games]]
game = "usa"
board = "boards/own.json"
options = []

[[bots]]
name = "ann"
cmd = "python3 bots/ann.py --level 3 missing.py"
env = { THREADS = "2", EMPTY = "" }

[[bots]]
name = "bob"
dir = "bob"
cmd = "./run.sh weights.bin"

[[bots]]
name = "cleo"
cmd = "bots/cleo"

[[bots]]
built_in = "greedy"
"""


def final(tmp_path: Path, folder: str, *bots: int) -> dict[str, Any]:  # Any: that is how TOML is read
    cup = tmp_path / "cup"
    (cup / "bots").mkdir(parents=True)
    (cup / "bots" / "ann.py").touch()
    path = cup / "tournament.toml"
    path.write_text(TEXT)
    text = final_text(Source(path, TEXT), tmp_path / folder, bots, schedule_text("random", 7), ["the best"])
    assert text.startswith("# the best\n")
    return tomllib.loads(text)


def test_it_has_all_that_the_cup_had_but_title_schedule_and_the_other_bots(tmp_path: Path) -> None:
    old, new = tomllib.loads(TEXT), final(tmp_path, "final", 3, 0)
    assert new.keys() == old.keys() - {"title"}
    for key in ("anonymous", "levels", "clocks", "later"):
        assert new[key] == old[key]
    assert new["schedule"] == {"kind": "random", "rounds": 7}
    assert new["bots"][0] == old["bots"][3]
    assert new["bots"][1]["env"] == old["bots"][0]["env"]


def test_its_paths_lead_to_the_files_of_the_cup(tmp_path: Path) -> None:
    new = final(tmp_path, "deep/final", 0, 1, 2)
    assert new["tokens"] == "../../cup/secret/tokens.txt"
    assert new["bind"] == ["../../cup/data", "/usr"]
    assert new["games"][0]["board"] == "../../cup/boards/own.json"
    ann, bob, cleo = new["bots"]
    assert ann["cmd"] == "python3 ../../cup/bots/ann.py --level 3 missing.py"
    assert (bob["dir"], bob["cmd"]) == ("../../cup/bob", "./run.sh weights.bin")
    assert cleo["cmd"] == "../../cup/bots/cleo"


def test_a_program_in_the_new_folder_keeps_a_slash(tmp_path: Path) -> None:
    """Without it a program is looked for in PATH."""
    assert final(tmp_path, "cup/bots", 2)["bots"][0]["cmd"] == "./cleo"


SANDBOXED = """
sandbox = "auto"
require = "landlock"
bind = ["data", "/usr/share/dict"]
network = true
processes = 64
disk_mb = 16

[[games]]
game = "usa"

[[bots]]
name = "ann"
cmd = "python3 bots/ann/main.py"
folder = "bots/ann"

[[bots]]
name = "bob"
cmd = "python3 bob.py"
"""


def sandboxed(tmp_path: Path) -> Settings:
    """Return the settings of a final in another folder than the cup."""
    cup, final = tmp_path / "cup", tmp_path / "finals" / "final"
    for folder in (cup / "bots" / "ann", cup / "data", final):
        folder.mkdir(parents=True)
    for name in ("bots/ann/main.py", "bob.py"):
        (cup / name).touch()
    path = cup / FILE
    path.write_text(SANDBOXED)
    text = final_text(Source(path, SANDBOXED), final, [1, 0], schedule_text("random", 1), [])
    (final / FILE).write_text(text)
    return settings_of(parse(final), final)


def test_its_sandbox_is_that_of_the_cup(tmp_path: Path) -> None:
    sandbox = sandboxed(tmp_path).confinement
    assert (sandbox.level, sandbox.require) == ("auto", "landlock")
    assert (sandbox.network, sandbox.processes, sandbox.disk_mb) == (True, 64, 16)
    assert list(map(os.path.realpath, sandbox.bind)) == [
        os.path.realpath(path) for path in (tmp_path / "cup" / "data", "/usr/share/dict")
    ]


def test_its_bots_see_their_own_files_in_the_folder_of_the_cup_and_no_others(tmp_path: Path) -> None:
    """The cup's folder has the tokens of its bots, its logs, and the other bots."""
    settings = sandboxed(tmp_path)
    seen = {entrant.name: _seen(settings, entrant.bot) for entrant in settings.entrants}
    cup = os.path.realpath(tmp_path / "cup")
    assert f"{cup}/bots/ann" in seen["ann"]
    assert f"{cup}/bob.py" in seen["bob"]
    for paths in seen.values():
        assert not is_beneath(f"{cup}/state.sqlite", paths)
        assert not is_beneath(os.path.realpath(tmp_path / "finals" / "final" / "state.sqlite"), paths)
    assert not is_beneath(f"{cup}/bob.py", seen["ann"])
    assert not is_beneath(f"{cup}/bots/ann", seen["bob"])


def _seen(settings: Settings, bot: BotSpec) -> set[str]:
    sandbox = settings.confinement
    view = view_of(
        bot.command, os.defpath, folder=bot.folder, directory=None, built_in=False, hidden=sandbox.hidden
    )
    return set(map(os.path.realpath, view.paths))
