"""A game is made of rules, options, a board and a number of seats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.boards.board_file import Route as RouteRecord
from stellwerk_engine.core.board import Board, RouteId, compile_board
from stellwerk_engine.core.cards import CardSet
from stellwerk_engine.core.fit import check_fit
from stellwerk_engine.core.perks import Perks
from stellwerk_engine.core.state import Game, Move, RuleSet
from stellwerk_engine.core.turn import TakeTurn

__all__ = ["Game", "GameError", "make_game"]


T = TypeVar("T")


class GameError(Exception):
    """No such game, option or number of players; one line says what there is."""


def make_game(rules: RuleSet, board_file: BoardFile, seat_count: int, options: Sequence[str] = ()) -> Game:
    """Make a game. Raise GameError for a number of players or an option that the rules do not have, and
    BoardError for a board that does not fit them."""
    known = {option.id for option in rules.options}
    for option in options:
        if option not in known:
            names = ", ".join(sorted(known)) or "none"
            raise GameError(f"the game {rules.id} has no option {option!r}; its options: {names}")
    if seat_count not in rules.seat_counts:
        counts = ", ".join(map(str, rules.seat_counts))
        raise GameError(f"the game {rules.id} is not played by {seat_count}; numbers of players: {counts}")
    chosen = tuple(sorted(set(options)))
    rules = _with_options(rules, chosen)
    check_fit(board_file, rules)
    board = _compiled(board_file, rules)
    rules = _on_board(rules, board)
    parts = rules.parts
    seats = range(seat_count)
    all_perks = [part.perks(board) for part in parts]
    all_claims = [part.claims(board, seat_count) for part in parts]
    return Game(
        rules=rules,
        options=chosen,
        board=board,
        seat_count=seat_count,
        team_of=tuple(seat // rules.team_size for seat in seats),
        seats_of_team=tuple(
            tuple(range(first, first + rules.team_size)) for first in range(0, seat_count, rules.team_size)
        ),
        parts=parts,
        by_kind={type(part): part for part in parts},
        owners={kind: part for part in parts for kind in (*part.events, *part.decisions)},
        perks=_first(all_perks, {0: Perks(names=(), openable_mask=board.routes_mask)}),
        claims=_first(all_claims, _NoClaims()),
        take_turn=tuple(TakeTurn(seat, rules.before_action) for seat in seats),
        take_action=tuple(TakeTurn(seat, (), is_whole=False) for seat in seats),
    )


def _first(tables: Sequence[T | None], otherwise: T) -> T:
    return next((table for table in tables if table is not None), otherwise)


def _with_options(rules: RuleSet, chosen: tuple[str, ...]) -> RuleSet:
    """Return the rule set as the options change it; the names have been checked."""
    for option in rules.options:
        if option.id in chosen:
            rules = replace(rules, **option.changes)
    return rules


def _compiled(board_file: BoardFile, rules: RuleSet) -> Board:
    def needs(route: RouteRecord) -> int:
        return sum(part.needs(board_file, route) for part in rules.parts)

    return compile_board(board_file, needs)


def _on_board(rules: RuleSet, board: Board) -> RuleSet:
    """Return the rule set whose parts have their tables for the board."""
    return replace(
        rules,
        set_up=tuple(part.on_board(board) for part in rules.set_up),
        menu=tuple(action.on_board(board) for action in rules.menu),
        before_action=tuple(action.on_board(board) for action in rules.before_action),
        other_parts=tuple(part.on_board(board) for part in rules.other_parts),
    )


class _NoClaims:
    """The claims of a game without a map."""

    @property
    def track_limits(self) -> dict[RouteId, int]:
        return {}

    def add_claims(
        self, open_mask: int, hand: CardSet, holder: CardSet, discount: int, moves: list[Move]
    ) -> None:
        pass

    def lists_all(self, open_mask: int, hand: CardSet, discount: int) -> bool:
        return True
