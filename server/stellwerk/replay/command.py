"""`stellwerk replay`: show a replay to people, on the terminal or as a page, or verify that it is true.

Results go to standard output. A problem of a file goes to standard error in one line. Exit codes: 0 every
replay is good (or was shown to its end), 1 one is not, 2 there is no such seat, or a file of `page` cannot be
read or written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from stellwerk.replay.story import NoSuchSeatError, story
from stellwerk.shared.errors import DONE, FAILED, usage_error
from stellwerk.shared.parser import argument
from stellwerk.shared.terminal import complain, flush_stdout, say, shows_color, width, wrapped
from stellwerk_base.texts import shown
from stellwerk_engine.replays.reader import ReplayError, lines_of, read_replay
from stellwerk_engine.replays.verify import verify
from stellwerk_protocol.answer_times import ENDING


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="replay_command", metavar="COMMAND", required=True)
    show = commands.add_parser("show", help="show a game", description="Show a game turn by turn.")
    argument(show, "FILE")
    argument(show, "--seat N", "only what the player at seat N (0, 1, ...) could know then", int)
    page = commands.add_parser(
        "page",
        help="write a game as one HTML file that shows and checks it",
        description="Write a recorded game as one HTML file. It opens from a disk, without a network and "
        "without Stellwerk, shows the game move by move, and checks it. For a folder it writes a page "
        "for each *.jsonl, and index.html.",
    )
    argument(page, "FILE", "a replay, or a folder of replays")
    argument(
        page,
        "-o FILE",
        "the page, - for standard output; or the folder for pages (default: beside the replay, with the "
        "ending .html)",
        dest="output",
    )
    check = commands.add_parser(
        "verify",
        help="play recorded games again and compare",
        description="Play recorded games again, and report for each file whether every line of it is true.",
    )
    argument(check, "FILE ...", dest="files")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    if arguments.replay_command == "show":
        return _show_replay(arguments.file, arguments.seat)
    if arguments.replay_command == "page":
        from stellwerk.replay.page import write_pages  # show and verify start faster without it

        return write_pages(arguments.file, arguments.output)
    return max([_verify_file(file) for file in arguments.files])


def _verify_file(file: str) -> int:
    if file.endswith(ENDING):  # as in `replay verify games/*`
        say(f"{shown(file, len(file))}: times of answers, which cannot be verified")
        return DONE
    try:
        verdict = verify(_read_lines(file))
    except _FileError as error:
        complain(f"{file}: {error}")
        return FAILED
    if not verdict.good:
        complain(f"{file}:{verdict.line}: {verdict.message}")
        return FAILED
    say(f"{shown(file, len(file))}: ok, {verdict.message}")
    return DONE


def _show_replay(file: str, seat: int | None) -> int:
    columns = width() if sys.stdout.isatty() else None
    try:
        for line in story(read_replay(_read_lines(file)), seat, shows_color()):
            # In a file a turn is one line.
            for row in [line.text] if columns is None else wrapped(line.text, columns, line.hang):
                say(row)
    except NoSuchSeatError as error:
        raise usage_error(str(error)) from None
    except _FileError as error:
        flush_stdout()  # so that the error appears below what could be read
        complain(f"{file}: {error}")
        return FAILED
    except ReplayError as error:
        flush_stdout()
        complain(f"{file}:{error.line}: {error.message}")
        return FAILED
    return DONE


class _FileError(Exception):
    """The file cannot be read; its name is not in the message."""


def _read_lines(file: str) -> Iterator[bytes]:
    try:
        with open(file, "rb") as stream:
            yield from lines_of(stream)
    except OSError as error:
        raise _FileError(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise _FileError(f"cannot be read: {error}") from None
