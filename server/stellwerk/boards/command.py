"""`stellwerk boards`: list the shipped boards, show one, check one's own.

What is asked for goes to stdout, what is wrong goes to stderr in one line. Exit codes: 0 done, 1 the reader
left, 2 a board or a file that cannot be used, 4 the output could not be written.
"""

import argparse
import contextlib
import os
import sys

from stellwerk.boards.drawing import can_be_drawn, draw_board
from stellwerk.boards.fit import fitting_games
from stellwerk.boards.summary import in_numbers, listing, summary
from stellwerk.shared.errors import DONE, FAILED, INFRASTRUCTURE, USAGE, not_writable
from stellwerk_engine.boards.board_file import (
    SHIPPED,
    BoardError,
    BoardFile,
    format_board,
    load_board,
    shipped_board,
)
from stellwerk_engine.boards.located_json import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="boards_command", metavar="COMMAND", required=True)
    commands.add_parser(
        "list", help="the boards that come with Stellwerk", description="The boards that come with Stellwerk."
    )
    show = commands.add_parser(
        "show", help="what a board holds", description="What a board holds, and where its facts come from."
    )
    show.add_argument("board", metavar="GAME_OR_FILE", help=f"{', '.join(SHIPPED)}, or a board file")
    form = show.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the board as a normalized board file")
    form.add_argument("--svg", metavar="FILE", help="draw the map into FILE, - for standard output")
    check = commands.add_parser(
        "check",
        help="check board files",
        description="Tell of each file whether it can be played on, and in which games.",
    )
    check.add_argument("files", metavar="FILE", nargs="+")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _give_up_stdout()  # whoever read has seen enough
        return FAILED
    except OSError as error:
        _give_up_stdout()
        _complain(f"stdout: cannot be written: {error.strerror or error}")
        return INFRASTRUCTURE
    return code


def _run(arguments: argparse.Namespace) -> int:
    match arguments.boards_command:
        case "list":
            _say(listing([shipped_board(board) for board in SHIPPED]))
            return DONE
        case "show":
            return _show(arguments.board, as_json=arguments.json, svg=arguments.svg)
        case _:
            return _check(arguments.files)


def _show(name: str, *, as_json: bool, svg: str | None) -> int:
    try:
        board = _find(name)
        if svg is not None and not can_be_drawn(board):
            raise board.error("cities", "no coordinates to draw a map from")
    except BoardError as error:
        _complain(str(error))
        return USAGE
    if svg == "-":
        _say(draw_board(board), errors="xmlcharrefreplace")
    elif svg is not None:
        return _write(svg, draw_board(board))
    elif as_json:
        _say(format_board(board, ascii_only=not _speaks_unicode()))
    else:
        _say(summary(board))
    return DONE


def _find(name: str) -> BoardFile:
    """A shipped board or a file; a plain word that is no file was meant as a shipped board."""
    is_plain_word = os.path.basename(name) == name and "." not in name
    if name in SHIPPED or (is_plain_word and not os.path.lexists(name)):
        return shipped_board(name)
    return load_board(name)


def _check(files: list[str]) -> int:
    code = DONE
    for file in files:
        try:
            board = load_board(file)
            games = fitting_games(board)
        except BoardError as error:
            _complain(str(error))
            code = USAGE
        else:
            _say(f"{printable(file)}: ok, for {', '.join(games)} ({in_numbers(board)})\n")
    return code


def _write(path: str, text: str) -> int:
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        refused = not_writable(path, error)
        _complain(refused.message)
        return refused.exit_code
    return DONE


def _say(text: str, errors: str = "backslashreplace") -> None:
    """Print, with a substitute for what the terminal's encoding does not have."""
    encoding = _encoding()
    print(text.encode(encoding, errors).decode(encoding), end="")


def _complain(line: str) -> None:
    print(printable(line).encode("ascii", "backslashreplace").decode(), file=sys.stderr)


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def _speaks_unicode() -> bool:
    return _encoding().lower().replace("-", "").startswith("utf")


def _give_up_stdout() -> None:
    """Point stdout nowhere, so that the interpreter does not fail once more when it flushes at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
