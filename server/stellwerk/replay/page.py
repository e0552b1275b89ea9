"""`stellwerk replay page`: write recorded matches as HTML files, with an index if they are a folder's."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import msgspec

from stellwerk.shared.errors import DONE, CommandError, not_writable, usage_error
from stellwerk.shared.folders import writable_folder
from stellwerk.shared.progress import WorkLine
from stellwerk.shared.terminal import complain, say
from stellwerk.shared.version import version
from stellwerk_page.index import Row, index_of, row_of
from stellwerk_page.one_file import page_of
from stellwerk_protocol.answer_times import MAX_BYTES as MAX_TIMES_BYTES
from stellwerk_protocol.answer_times import AnswerTimes, read_times, times_beside
from stellwerk_protocol.canonical import shown
from stellwerk_protocol.figures import counted
from stellwerk_protocol.replays import MAX_BYTES

STDOUT: Final = "-"
INDEX: Final = "index.html"
MADE_HERE: Final = '<meta name="generator" content="Stellwerk '


def write_pages(file: str, output: str | None) -> int:
    """Write the page of a replay, or the pages and the index of a folder; return the exit code."""
    if os.path.isdir(file):
        return _write_folder(Path(file), output)
    page = page_of(_bytes_of(file, MAX_BYTES), Path(file).name, version(), _times_of(file))
    if output == STDOUT:
        sys.stdout.buffer.write(page.encode())
        return DONE
    target = page_beside(Path(file)) if output is None else Path(output)
    if _is_same(target, file):
        raise usage_error(f"{target}: this is the replay; name another file for the page")
    _write(target, page)
    say(f"wrote {shown(str(target), 1000)}; open it in a browser")
    return DONE


def page_beside(replay: Path) -> Path:
    """Return the name of a page beside its replay: `game.html` beside `game.jsonl`."""
    return (
        replay.with_suffix(".html") if replay.suffix == ".jsonl" else replay.with_name(replay.name + ".html")
    )


def write_page_beside(replay: Path) -> Path:
    """Write the page of a replay that is known to be good, and return where it is."""
    page = page_beside(replay)
    _write(page, page_of(_bytes_of(str(replay), MAX_BYTES), replay.name, version(), _times_of(str(replay))))
    return page


def _write_folder(folder: Path, output: str | None) -> int:
    if output == STDOUT:
        raise usage_error("-o -: the pages of a folder are many files; name a folder for them")
    try:
        replays = sorted(path for path in folder.iterdir() if path.suffix == ".jsonl" and path.is_file())
    except OSError as error:
        raise usage_error(f"{folder}: cannot be read: {error.strerror or error}") from None
    if not replays:
        raise usage_error(f"{folder}: no file *.jsonl is in this folder")
    target = folder if output is None else writable_folder(output)
    index = target / INDEX
    if index.exists() and MADE_HERE not in index.read_text("utf-8", "replace")[:2000]:
        raise usage_error(f"{index}: not an index that Stellwerk made; name another folder with -o")
    rows: list[Row] = []
    with WorkLine() as work:
        for replay in replays:
            work.count("wrote", len(rows), len(replays), "pages")
            rows.append(_write_one(replay, target))
        _write(index, index_of(folder.resolve().name, rows, version()))
    pages = counted(sum(row.page is not None for row in rows), "page")
    problems = sum(bool(row.problem) for row in rows)
    noted = f"; the index says what is wrong with {counted(problems, 'file')}" if problems else ""
    say(f"wrote {pages} and {shown(str(index), 1000)}{noted}")
    return DONE


def _write_one(replay: Path, target: Path) -> Row:
    """Write the page of a file that may be anything, and return its row."""
    try:
        content = _bytes_of(str(replay), MAX_BYTES)
    except CommandError as error:
        return Row(replay.name, problem=str(error).removeprefix(f"{replay}: "))
    page = page_beside(target / replay.name)
    row = row_of(replay.name, page.name, content)
    if row.page is not None:
        _write(page, page_of(content, replay.name, version(), _times_of(str(replay))))
    return row


def _times_of(file: str) -> AnswerTimes | None:
    """Return the times of a replay, if they are beside it and can be read. The page is good without them."""
    path = times_beside(Path(file))
    if not path.exists():
        return None
    try:
        return read_times(_bytes_of(str(path), MAX_TIMES_BYTES))
    except (msgspec.DecodeError, CommandError) as error:
        complain(f"{path}: left out: {error}")
        return None


def _is_same(target: Path, file: str) -> bool:
    try:
        return target.exists() and target.samefile(file)
    except (OSError, ValueError):
        return False  # writing it will say why


def _write(target: Path, text: str) -> None:
    try:
        target.write_text(text, "utf-8")
    except OSError as error:
        raise not_writable(str(target), error) from None
    except ValueError as error:  # a name that no file can have
        raise usage_error(f"{shown(str(target))}: cannot be written: {error}") from None


def _bytes_of(file: str, most: int) -> bytes:
    try:
        with open(file, "rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        raise usage_error(f"{file}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise usage_error(f"{shown(file)}: cannot be read: {error}") from None
    if len(content) > most:
        raise usage_error(f"{file}: longer than such a file can be ({most:,} bytes)")
    return content
