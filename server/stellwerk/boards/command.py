"""`stellwerk boards`: list the shipped boards, show one, also as it is in a match, check board files."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from stellwerk.boards.summary import in_numbers, listing, summary
from stellwerk.shared.errors import DONE, USAGE, reading, refusing, usage_error, writing
from stellwerk.shared.parser import argument
from stellwerk.shared.terminal import complain, output_encoding, say
from stellwerk_base.texts import printable
from stellwerk_engine.boards.board_file import (
    SHIPPED,
    BoardError,
    BoardFile,
    format_board,
    load_board,
    shipped_board,
)
from stellwerk_engine.core.game import make_game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.limits import check_line
from stellwerk_engine.replays.reader import ReplayError, lines_of
from stellwerk_page.drawing import draw_board
from stellwerk_page.layout import can_be_drawn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="boards_command", metavar="COMMAND", required=True)
    commands.add_parser(
        "list", help="the boards that come with Stellwerk", description="The boards that come with Stellwerk."
    )
    show = commands.add_parser(
        "show",
        help="print a board, or draw it with or without a position",
        description="Print a board, and where its facts come from, or draw it with --svg. With --replay or "
        "--view the drawing shows a position of a match.",
    )
    argument(show, "[GAME_OR_FILE]", f"{', '.join(SHIPPED)}, or a board file", dest="board")
    form = show.add_mutually_exclusive_group()
    argument(form, "--json", "the board as a normalized board file")
    argument(form, "--svg FILE", "draw the map into FILE, - for standard output")
    position = show.add_mutually_exclusive_group()
    argument(position, "--replay FILE", "draw a position of this recorded match")
    argument(position, "--view FILE", "draw the view in this file, as JSON: a view, or an ask that has one")
    argument(show, "--at N", "the position after N moves (default: the last one)", int)
    argument(show, "--seat N", "only what the player at seat N (0, 1, ...) could know then", int)
    check = commands.add_parser(
        "check",
        help="check board files",
        description="Report for each file whether it can be played on, and in which games.",
    )
    argument(check, "FILE ...", dest="files")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    match arguments.boards_command:
        case "list":
            say(listing([shipped_board(board) for board in SHIPPED]), end="")
            return DONE
        case "show":
            if arguments.replay is not None or arguments.view is not None:
                _show_position(arguments)
            elif arguments.at is not None or arguments.seat is not None:
                raise usage_error("--at and --seat: only with --replay")
            else:
                _show_board(arguments.board, as_json=arguments.json, svg=arguments.svg)
            return DONE
        case _:
            return _check_files(arguments.files)


def _show_board(name: str | None, *, as_json: bool, svg: str | None) -> None:
    if name is None:
        raise usage_error(f"expected a board: {', '.join(SHIPPED)}, or a file")
    with refusing(BoardError):
        board = _load_board(name)
        if svg is not None and not can_be_drawn(board):
            raise board.error("routes", "no routes to draw a map from")
    if svg is not None:
        _write_drawing(draw_board(board), svg)
    elif as_json:
        is_unicode = output_encoding().lower().replace("-", "").startswith("utf")
        say(format_board(board, ascii_only=not is_unicode), end="")
    else:
        say(summary(board), end="")


def _show_position(arguments: argparse.Namespace) -> None:
    """Draw a position of a replay, or a view."""
    from stellwerk_page.position import position_of, positions_of  # boards are shown sooner without it

    if arguments.svg is None:
        raise usage_error("--replay and --view draw a position: say where with --svg FILE, or --svg -")
    if arguments.view is not None:
        if arguments.board is None or arguments.at is not None or arguments.seat is not None:
            raise usage_error("--view: expected GAME_OR_FILE, and neither --at nor --seat")
        with refusing(BoardError):
            board = _load_board(arguments.board)
        with reading(arguments.view):
            content = Path(arguments.view).read_bytes()
        with refusing(ValueError, where=arguments.view):
            _write_drawing(position_of(board, content).svg, arguments.svg)
        return
    if arguments.board is not None:
        raise usage_error("--replay: leave GAME_OR_FILE out, because the replay names its board")
    with reading(arguments.replay), open(arguments.replay, "rb") as file:
        lines = list(lines_of(file))
    try:
        positions = list(positions_of(lines, arguments.seat))
    except ReplayError as error:
        raise usage_error(f"{arguments.replay}:{error.line}: {error.message}") from None
    except ValueError as error:
        raise usage_error(f"{arguments.replay}: {error}") from None
    last = len(positions) - 1
    at = last if arguments.at is None else arguments.at
    if not 0 <= at <= last:
        raise usage_error(f"--at {at}: this match has the positions 0 (after the deal) to {last}")
    _write_drawing(positions[at].svg, arguments.svg)


def _write_drawing(drawing: str, path: str) -> None:
    if path == "-":
        say(drawing, errors="xmlcharrefreplace", end="")
    else:
        with writing(path):
            Path(path).write_text(drawing, "utf-8", newline="\n")


def _load_board(name: str) -> BoardFile:
    """Load a shipped board or a file. A plain word that names no file is taken for a shipped board's name."""
    is_plain_word = os.path.basename(name) == name and "." not in name
    if name in SHIPPED or (is_plain_word and not os.path.lexists(name)):
        return shipped_board(name)
    return load_board(name)


def _check_files(files: list[str]) -> int:
    code = DONE
    for file in files:
        try:
            board = load_board(file)
            games = _fitting_games(board)
        except BoardError as error:
            complain(str(error))
            code = USAGE
        else:
            say(f"{printable(file)}: ok, for {', '.join(games)} ({in_numbers(board)})")
    return code


def _fitting_games(board: BoardFile) -> list[str]:
    """Return the ids of the games that a board fits, at least one.

    BoardError if there is none. It says what is missing for the game that has the board's name, or for
    the first game that is played with or without a map as this board is.
    """
    fitting: list[str] = []
    faults: dict[str, BoardError] = {}
    for rules in RULE_SETS.values():
        if ("map" in rules.board_features) == bool(board.routes):
            try:
                options = [option.id for option in rules.options]  # with all of them it needs most
                check_line(make_game(rules, board, max(rules.seat_counts), options))
                fitting.append(rules.id)
            except BoardError as fault:
                faults[rules.id] = fault
    if not fitting:
        raise faults.get(board.id) or next(iter(faults.values()))
    return fitting
