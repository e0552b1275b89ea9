"""`stellwerk replay page`: write recorded matches as HTML files, with an index if they are a folder's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from stellwerk.shared.errors import DONE, usage_error
from stellwerk.shared.folders import writable_folder
from stellwerk.shared.pages import page_beside, page_text, write_folder, write_page
from stellwerk.shared.terminal import say
from stellwerk_base.texts import counted, shown

STDOUT: Final = "-"


def write_pages(file: str, output: str | None) -> int:
    """Write the page of a replay, or the pages and the index of a folder; return the exit code."""
    replay = Path(file)
    if _is_folder(replay):
        return _write_folder(replay, output)
    if output == STDOUT:
        sys.stdout.buffer.write(page_text(replay).encode())
        return DONE
    target = page_beside(replay) if output is None else Path(output)
    if _are_same(target, replay):
        raise usage_error(f"{target}: this is the replay; name another file for the page")
    say(f"wrote {shown(str(write_page(replay, target)), 1000)}; open it in a browser")
    return DONE


def _write_folder(folder: Path, output: str | None) -> int:
    if output == STDOUT:
        raise usage_error("-o -: the pages of a folder are many files; name a folder for them")
    written = write_folder(folder, folder if output is None else writable_folder(output))
    pages = counted(sum(row.page is not None for row in written.rows), "page")
    problems = sum(bool(row.problem) for row in written.rows)
    noted = f"; the index says what is wrong with {counted(problems, 'file')}" if problems else ""
    say(f"wrote {pages} and {shown(str(written.index), 1000)}{noted}")
    return DONE


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except ValueError:  # a name that no file can have: reading it will say so
        return False


def _are_same(target: Path, replay: Path) -> bool:
    try:
        return target.exists() and target.samefile(replay)
    except (OSError, ValueError):
        return False  # writing it will say why
