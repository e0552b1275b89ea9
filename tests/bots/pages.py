"""Tutorials, carried out: their files are written, their commands run, and their output is compared.

A block of Python or TOML is the file that its first line names. Each line of a `sh` block is a command. A
block without a language has what the command before it prints; a block of `text` only resembles it. The tests
shorten what takes long. In full, all pages or some:

    python -m tests.bots.pages [PAGE ...]
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PAGES: Final = ("TUTORIAL.md", "SEARCH.md", "LEARN.md", "LANGUAGE_MODELS.md")
SECONDS: Final = 1200
_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE: Final = re.compile(r"# (\w+\.(?:py|toml))\n")


def carry_out(page: str, folder: Path, shorter: Mapping[str, str], *, shows: bool = False) -> None:
    """Carry out a page in a folder. `shorter` replaces words in it by others; with `shows`, print what the
    commands print. AssertionError if something is not as the page says."""
    text = (REPOSITORY / "bots" / "python" / page).read_text(encoding="utf-8")
    printed = ""
    for language, block in _BLOCK.findall(text):
        for words, others in shorter.items():
            block = block.replace(words, others)
        match language:
            case "python" | "toml":
                name = _FILE.match(block)
                assert name is not None, f"{page}: this file has no name:\n{block}"
                (folder / name[1]).write_text(block, encoding="utf-8")
            case "sh":
                printed = "".join(_run(page, line, folder) for line in block.splitlines())
                if shows:
                    print(f"{block}\n{printed}", flush=True)
            case "text":
                pass  # from the page's author, such as a part of a long output
            case _:
                assert printed == block, f"{page}: expected\n{block}\nfound\n{printed}"


def _run(page: str, line: str, folder: Path) -> str:
    program, *words = shlex.split(line)
    start = {"stellwerk": [sys.executable, "-m", "stellwerk"], "python3": [sys.executable]}[program]
    bin = os.path.dirname(sys.executable)  # where `python3` of a bot's command is found
    done = subprocess.run(
        [*start, *words],
        cwd=folder,
        env={**os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    is_undecided = words[:1] == ["compare"] and "--most" in words
    assert done.returncode == 0 or (is_undecided and done.returncode == 3), f"{page}: {line}\n{done}"
    return done.stdout


if __name__ == "__main__":
    for page in sys.argv[1:] or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            carry_out(page, Path(folder), {}, shows=True)
        print(f"{page}: as it says")
