"""A board that has what a game does not know is refused, with the place of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk_engine.boards.board_file import BoardError, shipped_board
from stellwerk_engine.core.game import make_game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.parts.long_tickets import LongTickets


@pytest.mark.parametrize("id", [rules.id for rules in RULE_SETS.values() if rules.part(LongTickets) is None])
def test_a_game_without_long_tickets_refuses_a_board_that_has_some(id: str) -> None:
    rules = RULE_SETS[id]
    board = shipped_board(rules.board)
    marked = (*board.tickets[:3], replace(board.tickets[3], long=True), *board.tickets[4:])
    with pytest.raises(BoardError, match=rf"tickets\[3\]\.long: the game {id} has no long tickets"):
        make_game(rules, replace(board, tickets=marked), rules.seat_counts[0])
