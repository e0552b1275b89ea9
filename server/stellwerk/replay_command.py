"""`stellwerk replay`: show a replay to people, or verify that it is true.

What is asked for goes to stdout, what is wrong goes to stderr in one line. Exit codes: 0 every replay is good
(or was shown to its end), 1 one is not, 2 there is no such seat.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator
from typing import Final

from stellwerk.replay_story import NoSuchSeatError, Told, tell
from stellwerk_engine.replay_reader import ReplayError, lines_of, read_replay
from stellwerk_engine.replay_verify import verify
from stellwerk_engine.view import ALL_HANDS
from stellwerk_protocol.canonical import shown

GOOD: Final = 0
NOT_GOOD: Final = 1
NO_SUCH_SEAT: Final = 2

_NARROWEST: Final = 40  # columns; on less, lines are broken so often that nothing can be read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="replay_command", metavar="COMMAND", required=True)
    show = commands.add_parser(
        "show", help="tell a game turn by turn", description="Tell a game turn by turn."
    )
    show.add_argument("file", metavar="FILE")
    show.add_argument(
        "--seat",
        metavar="N",
        type=int,
        help="only what the player at seat N (0, 1, ...) could know at the time",
    )
    check = commands.add_parser(
        "verify",
        help="play recorded games again and compare",
        description="Play recorded games again, and tell of each file whether every line of it is true.",
    )
    check.add_argument("files", metavar="FILE", nargs="+")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    try:
        if arguments.replay_command == "show":
            code = _show(arguments.file, arguments.seat)
        else:
            code = max([_verify(file) for file in arguments.files])
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _give_up_stdout()  # whoever read has seen enough
        return NOT_GOOD
    except OSError as error:
        _give_up_stdout()
        _complain(f"stdout: cannot be written: {error.strerror or error}")
        return NOT_GOOD
    return code


# -- verify ------------------------------------------------------------------------------------------


def _verify(file: str) -> int:
    try:
        verdict = verify(_lines_of(file))
    except _FileError as error:
        _complain(f"{file}: {error}")
        return NOT_GOOD
    if verdict.good:
        _say(f"{shown(file, len(file))}: ok, {verdict.message}")
        return GOOD
    _complain(f"{file}:{verdict.line}: {verdict.message}")
    return NOT_GOOD


# -- show --------------------------------------------------------------------------------------------


def _show(file: str, seat: int | None) -> int:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    try:
        records = read_replay(_lines_of(file))
        for told in tell(records, ALL_HANDS if seat is None else seat, _shows_color()):
            for line in _wrapped(told, width):
                _say(line)
    except NoSuchSeatError as error:
        _complain(str(error))
        return NO_SUCH_SEAT
    except _FileError as error:
        _complain(f"{file}: {error}")
        return NOT_GOOD
    except ReplayError as error:
        sys.stdout.flush()  # so that the error stands below what could be read
        _complain(f"{file}:{error.line}: {error.message}")
        return NOT_GOOD
    return GOOD


_SGR: Final = re.compile(r"\x1b\[[0-9;]*m")
_WORDS: Final = re.compile(r" *[^ ]+")


def _wrapped(told: Told, width: int) -> Iterator[str]:
    """The line in parts that fit the terminal."""
    if width < _NARROWEST or _columns(told.text) <= width:
        yield told.text
        return
    indent = " " * told.hang
    part = ""
    for word in _WORDS.findall(told.text):
        if part.strip() and _columns(part + word) > width:
            yield part
            part = indent + word.lstrip()
        else:
            part += word
    yield part


def _columns(text: str) -> int:
    return len(_SGR.sub("", text))


# -- in and out --------------------------------------------------------------------------------------


class _FileError(Exception):
    """The file cannot be read; its name is not in the message."""


def _lines_of(file: str) -> Iterator[bytes]:
    try:
        with open(file, "rb") as stream:
            yield from lines_of(stream)
    except OSError as error:
        raise _FileError(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise _FileError(f"cannot be read: {error}") from None


def _shows_color() -> bool:
    """https://no-color.org"""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _say(line: str) -> None:
    """Print, with a substitute for what the terminal's encoding does not have."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding))


def _complain(line: str) -> None:
    print(shown(line, len(line)).encode("ascii", "backslashreplace").decode(), file=sys.stderr)


def _give_up_stdout() -> None:
    """Point stdout nowhere, so that the interpreter does not fail once more when it flushes at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
