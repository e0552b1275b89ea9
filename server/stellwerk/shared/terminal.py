"""Standard output and standard error as the commands use them.

Everything can be printed in any encoding of the terminal. Text of a command line or a file is shown without
control characters.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from stellwerk_base.texts import columns_of

NAME: Final = "stellwerk"
DEFAULT_WIDTH: Final = 80
_NARROWEST: Final = 40  # on less, lines are broken so often that nothing can be read
_WORDS: Final = re.compile(r" *[^ ]+")


def say(text: str, *, errors: str = "backslashreplace", end: str = "\n") -> None:
    """Print to standard output. `errors` is how to replace what its encoding does not have."""
    encoding = output_encoding()
    print(text.encode(encoding, errors).decode(encoding), end=end)


def say_record(record: object) -> None:
    """Print a record as one JSON object, in ASCII, which every terminal can show."""
    import json  # only commands with --json need them

    import msgspec

    say(json.dumps(msgspec.to_builtins(record)))


def output_encoding() -> str:
    """Return the encoding of standard output."""
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def complain(message: str) -> None:
    """Print one line to standard error."""
    from stellwerk_base.texts import shown  # its imports would double the time of --help

    line = shown(message, len(message)).encode("ascii", "backslashreplace").decode()
    with contextlib.suppress(OSError):  # standard error is closed
        print(f"stellwerk: {line}", file=sys.stderr)


def complain_of(heading: str, lines: Sequence[str]) -> None:
    for line in (heading, *lines):
        complain(line)


def own_name() -> str:
    """Return what to type to call this program again, from any folder."""
    called = sys.argv[0]
    on_path = shutil.which(NAME)
    if os.path.basename(called) != NAME or (on_path is not None and os.path.samefile(called, on_path)):
        return NAME
    return os.path.abspath(called)


def flush_stdout() -> None:
    """Flush now: when the interpreter flushes at its end, an error can no longer be reported."""
    if sys.stdout is not None:
        sys.stdout.flush()


def give_up_stdout() -> None:
    """Point it nowhere, so that the interpreter does not fail once more when it flushes at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def shows_color() -> bool:
    """Return whether standard output shows colors (https://no-color.org)."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Return the number of columns to write in. `COLUMNS` overrides what the terminal says."""
    return max(_NARROWEST, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def size() -> tuple[int, int]:
    """Return the columns and rows of the terminal, if there is one."""
    return width(), shutil.get_terminal_size((DEFAULT_WIDTH, 24)).lines


def wrapped(line: str, columns: int, indent: int) -> Iterator[str]:
    """Break a line into parts of so many columns, all but the first one indented."""
    part = ""
    for word in _WORDS.findall(line):
        if part.strip() and columns_of(part + word) > columns:
            yield part
            part = " " * indent + word.lstrip()
        else:
            part += word
    yield part
