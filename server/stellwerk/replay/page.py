"""`stellwerk replay page`: write a recorded match as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from stellwerk.shared.errors import DONE, not_writable, usage_error
from stellwerk.shared.terminal import say
from stellwerk.shared.version import version
from stellwerk_page.one_file import page_of
from stellwerk_protocol.canonical import shown
from stellwerk_protocol.replays import MAX_BYTES

STDOUT: Final = "-"


def write_page(file: str, output: str | None) -> int:
    """Write the page of a replay, beside it unless `output` names a file; return the exit code."""
    page = page_of(_bytes_of(file), Path(file).name, version())
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


def _bytes_of(file: str) -> bytes:
    try:
        with open(file, "rb") as stream:
            replay = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise usage_error(f"{file}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise usage_error(f"{shown(file)}: cannot be read: {error}") from None
    if len(replay) > MAX_BYTES:
        raise usage_error(f"{file}: longer than a replay can be ({MAX_BYTES:,} bytes)")
    return replay
