"""What the README tells people to type works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_player_of_the_readme_plays_a_game_to_its_end() -> None:
    (program,) = blocks("python")
    assert sum(bool(line.strip()) for line in program.splitlines()) <= 15
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Result(reason='trains'")
    assert done.stderr == ""


COMMANDS = [
    line.split("#")[0].split()[1:]
    for block in blocks("sh")
    for line in block.splitlines()
    if "bin/stellwerk" in line
]


def test_the_commands_of_the_readme_work_one_after_the_other(tmp_path: Path) -> None:
    assert len(COMMANDS) >= 5
    for words in COMMANDS:
        spread = [
            str(file) for word in words for file in (sorted(tmp_path.glob(word)) if "*" in word else [word])
        ]
        done = subprocess.run(
            [sys.executable, "-m", "stellwerk", *spread],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), words


@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"`make (\w+)`", README.read_text(encoding="utf-8"))))
)
def test_a_make_target_of_the_readme_exists(target: str) -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*##", makefile, re.MULTILINE)
