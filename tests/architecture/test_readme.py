"""The commands in README.md and in first steps work as they are printed there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import needs

REPOSITORY = Path(__file__).parents[2]
PAGES = ("README.md", "docs/first_steps.md")
TARGETS = {
    page: set(re.findall(r"`make ([a-z0-9-]+)", (REPOSITORY / page).read_text(encoding="utf-8")))
    for page in (*PAGES, "docs/compiled.md", "CONTRIBUTING.md")
}


def documented_targets() -> set[str]:
    """Return the targets that `make help` lists."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9-]+):.*## ", makefile, re.MULTILINE))


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (REPOSITORY / page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_bot_of_the_readme_is_that_of_the_specification() -> None:
    """tests/protocol/test_first_bot.py lets that one play all games against a server."""
    program = next(block for block in blocks("README.md", "python") if "socket" in block)
    assert sum(bool(line.strip()) for line in program.splitlines()) <= 15
    specification = REPOSITORY / "protocol" / "README.md"
    assert f"```python\n{program}```" in specification.read_text(encoding="utf-8")


def commands(page: str) -> list[list[str]]:
    return [
        shlex.split(line, comments=True)[1:]
        for block in blocks(page, "sh")
        for line in block.splitlines()
        if line.startswith(".venv/bin/stellwerk ")
    ]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_work_one_after_the_other(page: str, tmp_path: Path) -> None:
    assert commands(page)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    for words in commands(page):
        spread = [
            str(file) for word in words for file in (sorted(tmp_path.glob(word)) if "*" in word else [word])
        ]
        few = ["20" if word == "1000" else word for word in spread]  # games, of which more only take longer
        done = subprocess.run(
            [sys.executable, "-m", "stellwerk", *few],
            cwd=tmp_path,
            env=os.environ | {"DISPLAY": "", "WAYLAND_DISPLAY": ""},  # one of them would open a browser
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "stellwerk:" in done.stderr) == (0, False), (words, done.stderr)


def test_two_commands_do_everything_on_a_fresh_machine() -> None:
    """`make demo` sets up what it needs and does the main job, `make test` runs the suite."""
    page = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    section = page.partition("## Try it\n")[2].partition("\n## ")[0]
    first_block = section.split("```sh\n")[1].partition("```")[0]
    assert [line.partition(" # ")[0].rstrip() for line in first_block.splitlines()] == [
        "make demo",
        "make test",
    ]
    for command in ("demo", "test"):  # what it takes
        assert re.search(rf"^\* `make {command}` takes .*minute", section, re.MULTILINE)


@needs("Debian", "git checkout", "make")
def test_the_bare_machine_runs_the_two_commands_of_the_readme(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "make $* in $(pwd), with $ARGS" >>{shlex.quote(str(asked))}\n')
    make.chmod(0o755)
    subprocess.run(
        [REPOSITORY / ".ci" / "bare-machine", tmp_path / "skipped"],
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(tmp_path)},
        check=True,
    )
    lines = asked.read_text(encoding="utf-8").splitlines()
    assert [line.partition(" in ")[0] for line in lines] == ["make demo", "make test"]
    assert all(line.endswith(f"/a fresh clone, with --skipped-to={tmp_path}/skipped") for line in lines)


@pytest.mark.parametrize("page", TARGETS)
def test_the_targets_of_a_page_are_those_of_the_makefile(page: str) -> None:
    assert documented_targets() >= TARGETS[page]


def test_make_help_lists_every_target() -> None:
    """CONTRIBUTING.md has those that people need, and leaves all others to `make help`."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    phony = {
        target for line in re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE) for target in line.split()
    }
    assert phony - {"can-compile"} == documented_targets()  # a step of others, and no command for people
    assert "help" in TARGETS["CONTRIBUTING.md"]
