"""The commands in the README work as they are printed there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_bot_of_the_readme_is_that_of_the_specification() -> None:
    """tests/protocol/test_first_bot.py lets that one play all games against a server."""
    program = next(block for block in blocks("python") if "socket" in block)
    assert sum(bool(line.strip()) for line in program.splitlines()) <= 15
    specification = README.parent / "protocol" / "README.md"
    assert f"```python\n{program}```" in specification.read_text(encoding="utf-8")


COMMANDS = [
    shlex.split(line, comments=True)[1:]
    for block in blocks("sh")
    for line in block.splitlines()
    if line.startswith(".venv/bin/stellwerk ")
    and line.split()[1] != "serve"  # tests/command/serve/test_serve.py does
]


def test_the_commands_of_the_readme_work_one_after_the_other(tmp_path: Path) -> None:
    assert len(COMMANDS) >= 5
    (tmp_path / ".venv").symlink_to(sys.prefix)
    for words in COMMANDS:
        spread = [
            str(file) for word in words for file in (sorted(tmp_path.glob(word)) if "*" in word else [word])
        ]
        done = subprocess.run(
            [sys.executable, "-m", "stellwerk", *spread],
            cwd=tmp_path,
            env=os.environ | {"DISPLAY": "", "WAYLAND_DISPLAY": ""},  # one of them would open a browser
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "stellwerk:" in done.stderr) == (0, False), (words, done.stderr)


@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"`make (\w+)`", README.read_text(encoding="utf-8"))))
)
def test_a_make_target_of_the_readme_exists(target: str) -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*##", makefile, re.MULTILINE)
