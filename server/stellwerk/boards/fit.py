"""Which games can be played on a board."""

from __future__ import annotations

from stellwerk_engine.boards.board_file import BoardError, BoardFile
from stellwerk_engine.core.game import make_game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.limits import check_line


def fitting_games(board: BoardFile) -> list[str]:
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
