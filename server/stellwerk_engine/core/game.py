"""A game before its first shuffle: rules, board, options and seats, with all tables made from them.

Built once and shared by every state of every match that plays it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk_engine.boards.board import Board, RouteId, compile_board
from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.core.decision import Seat
from stellwerk_engine.core.rule_set import RuleSet
from stellwerk_engine.core.turn import TakeTurn
from stellwerk_engine.parts.claiming.claim_route import Claim
from stellwerk_engine.parts.claiming.claim_table import ClaimTable
from stellwerk_engine.parts.draw_cards import SecondCard
from stellwerk_engine.parts.technologies.perks import PerksTable
from stellwerk_engine.parts.tickets import Shares
from stellwerk_protocol.names import Place


class GameError(Exception):
    """No such game, option or number of players; one line says what there is."""


@dataclass(frozen=True, eq=False)
class Game:
    rules: RuleSet  # as the options changed them
    options: tuple[str, ...]
    board: Board
    seat_count: int
    team_of: tuple[int, ...]
    seats_of_team: tuple[tuple[Seat, ...], ...]
    track_limits: dict[RouteId, int]  # routes of which only so many beside each other can be claimed
    perks: PerksTable
    claims: ClaimTable
    shares: Shares
    technology_ids: dict[str, int]
    # decisions without content, made once
    take_turn: tuple[TakeTurn, ...]
    take_action: tuple[TakeTurn, ...]  # after a purchase
    second_card: dict[tuple[Seat, Place], SecondCard]

    @property
    def id(self) -> str:
        return self.rules.id


def make_game(rules: RuleSet, board_file: BoardFile, seat_count: int, options: Sequence[str] = ()) -> Game:
    """GameError for a number of players or an option that the rules do not have; BoardError for a board
    that does not fit them."""
    known = {option.id for option in rules.options}
    for option in options:
        if option not in known:
            names = ", ".join(sorted(known)) or "none"
            raise GameError(f"the game {rules.id} has no option {option!r}; its options: {names}")
    if seat_count not in rules.seat_counts:
        counts = ", ".join(map(str, rules.seat_counts))
        raise GameError(f"the game {rules.id} is not played by {seat_count}; numbers of players: {counts}")
    chosen = tuple(sorted(set(options)))
    rules = rules.with_options(chosen)
    board = compile_board(board_file, rules)
    seats = range(seat_count)
    places: tuple[Place, ...] = ("hand", "holder")
    return Game(
        rules=rules,
        options=chosen,
        board=board,
        seat_count=seat_count,
        team_of=tuple(seat // rules.team_size for seat in seats),
        seats_of_team=tuple(
            tuple(range(first, first + rules.team_size)) for first in range(0, seat_count, rules.team_size)
        ),
        track_limits=_track_limits(board, rules, seat_count),
        perks=PerksTable(rules, board),
        claims=ClaimTable(board, Claim),
        shares=Shares(board),
        technology_ids={technology.id: number for number, technology in enumerate(rules.technologies)},
        take_turn=tuple(TakeTurn(seat, rules.before_action) for seat in seats),
        take_action=tuple(TakeTurn(seat, ()) for seat in seats),
        second_card={
            (seat, place): SecondCard(seat, place, rules.second_card_optional)
            for seat in seats
            for place in places
        },
    )


def _track_limits(board: Board, rules: RuleSet, seat_count: int) -> dict[RouteId, int]:
    limits: dict[RouteId, int] = {}
    by_tracks = rules.open_tracks.get(seat_count, {})
    for route in board.routes:
        tracks = route.group_mask.bit_count()
        if tracks in by_tracks and not route.always_open:
            limits[route.id] = by_tracks[tracks]
    return limits
