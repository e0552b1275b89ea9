"""Pages of recorded matches as files: one beside its replay, or one for each replay of a folder, with an
index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from stellwerk.shared.errors import CommandError, reading, usage_error, writing
from stellwerk.shared.progress import WorkLine
from stellwerk.shared.terminal import complain
from stellwerk.shared.version import version
from stellwerk_page.index import Row, index_of, row_of
from stellwerk_page.one_file import page_of
from stellwerk_protocol.answer_times import MAX_BYTES as MAX_TIMES_BYTES
from stellwerk_protocol.answer_times import AnswerTimes, read_times, times_beside
from stellwerk_protocol.replays import MAX_BYTES

INDEX: Final = "index.html"
MADE_HERE: Final = '<meta name="generator" content="Stellwerk '


@dataclass(frozen=True, slots=True)
class FolderOfPages:
    """The index of a folder, and its rows."""

    index: Path
    rows: Sequence[Row]


def page_beside(replay: Path) -> Path:
    """Return the name of a page beside its replay: `game.html` beside `game.jsonl`."""
    return (
        replay.with_suffix(".html") if replay.suffix == ".jsonl" else replay.with_name(replay.name + ".html")
    )


def page_text(replay: Path) -> str:
    """Return the page of a replay. CommandError if the file cannot be read, or is too long for any replay."""
    return page_of(_read_bytes(replay, MAX_BYTES), replay.name, version(), _read_times_of(replay))


def write_page(replay: Path, page: Path) -> Path:
    """Write the page of a replay, and return where it is."""
    _write_text(page, page_text(replay))
    return page


def write_folder(folder: Path, target: Path) -> FolderOfPages:
    """Write the pages of all replays of a folder into another one, or into the same, and their index."""
    with reading(folder):
        replays = sorted(path for path in folder.iterdir() if path.suffix == ".jsonl" and path.is_file())
    if not replays:
        raise usage_error(f"{folder}: no file *.jsonl is in this folder")
    index = target / INDEX
    if index.exists() and MADE_HERE not in index.read_text("utf-8", "replace")[:2000]:
        raise usage_error(f"{index}: not an index that Stellwerk made; name another folder for the pages")
    rows: list[Row] = []
    with WorkLine() as work:
        for replay in replays:
            work.count("wrote", len(rows), len(replays), "pages")
            rows.append(_write_one(replay, target))
        _write_text(index, index_of(folder.resolve().name, rows, version()))
    return FolderOfPages(index, rows)


def _write_one(replay: Path, target: Path) -> Row:
    """Write the page of a file that may be anything, and return its row."""
    try:
        content = _read_bytes(replay, MAX_BYTES)
    except CommandError as error:
        return Row(replay.name, problem=str(error).removeprefix(f"{replay}: "))
    page = page_beside(target / replay.name)
    row = row_of(replay.name, page.name, content)
    if row.page is not None:
        _write_text(page, page_of(content, replay.name, version(), _read_times_of(replay)))
    return row


def _read_times_of(replay: Path) -> AnswerTimes | None:
    """Return the times of a replay, if they are beside it and can be read. The page is good without them."""
    path = times_beside(replay)
    if not path.exists():
        return None
    try:
        return read_times(_read_bytes(path, MAX_TIMES_BYTES))
    except (msgspec.DecodeError, CommandError) as error:
        complain(f"{path}: left out: {error}")
        return None


def _write_text(target: Path, text: str) -> None:
    with writing(target):
        target.write_text(text, "utf-8")


def _read_bytes(file: Path, most: int) -> bytes:
    with reading(file), open(file, "rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise usage_error(f"{file}: longer than such a file can be ({most:,} bytes)")
    return content
