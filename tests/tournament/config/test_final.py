"""The file of a final: the same bots and conditions, and paths that lead to the same files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from stellwerk_tournament.config.final import final_text
from stellwerk_tournament.config.settings import Source
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
