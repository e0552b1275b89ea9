"""`stellwerk replay page`: write a recorded match as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import msgspec

from stellwerk.shared.errors import DONE, CommandError, not_writable, usage_error
from stellwerk.shared.terminal import complain, say
from stellwerk.shared.version import version
from stellwerk_page.one_file import page_of
from stellwerk_protocol.answer_times import MAX_BYTES as MAX_TIMES_BYTES
from stellwerk_protocol.answer_times import AnswerTimes, read_times, times_beside
from stellwerk_protocol.canonical import shown
from stellwerk_protocol.replays import MAX_BYTES

STDOUT: Final = "-"


def write_page(file: str, output: str | None) -> int:
    """Write the page of a replay, beside it unless `output` names a file; return the exit code."""
    page = page_of(_bytes_of(file, MAX_BYTES), Path(file).name, version(), _times_of(file))
    if output == STDOUT:
        sys.stdout.buffer.write(page.encode())
        return DONE
    target = page_beside(Path(file)) if output is None else Path(output)
    try:
        if target.exists() and target.samefile(file):
            raise usage_error(f"{target}: this is the replay; name another file for the page")
        target.write_text(page, "utf-8")
    except OSError as error:
        raise not_writable(str(target), error) from None
    except ValueError as error:  # a name that no file can have
        raise usage_error(f"{shown(str(target))}: cannot be written: {error}") from None
    say(f"wrote {shown(str(target), 1000)}; open it in a browser")
    return DONE


def page_beside(replay: Path) -> Path:
    """Return the name of a page beside its replay: `game.html` beside `game.jsonl`."""
    return (
        replay.with_suffix(".html") if replay.suffix == ".jsonl" else replay.with_name(replay.name + ".html")
    )


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
