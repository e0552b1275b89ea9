"""The view of a seat as numbers: a vector of one length for all asks of a game.

Law: the vector is made of the view, as the engine gives it to the seat, and of the stages of the seat's own
answer. Nothing else is read, so it shows no more than the view. Players come in the order of their turns, the
viewer first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from stellwerk_engine import engine
from stellwerk_engine.core.dice import SEED_SIZE, Dice
from stellwerk_engine.core.state import Game
from stellwerk_engine.knowledge.view import view as view_of
from stellwerk_learn.actions import action_map
from stellwerk_protocol import decisions
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import COLORS
from stellwerk_protocol.views import PlayerView, TeamView, View

Vector = NDArray[np.float32]

LOWEST: Final = -10.0
HIGHEST: Final = 10.0
"""The bounds of all numbers; a number beyond is set to its bound, such as the turn of a game of 1,000
turns."""

_DECISIONS: Final = (
    decisions.KeepTickets,
    decisions.ShareTicket,
    decisions.TakeTurn,
    decisions.TakeAction,
    decisions.SecondCard,
    decisions.PlaceCard,
    decisions.ClaimRoute,
    decisions.PayTunnel,
    decisions.CompleteTickets,
)
_PLAIN: Final = COLORS[:-1]


@dataclass(frozen=True, slots=True)
class Section:
    """So many numbers in a row, under one name."""

    name: str
    start: int
    size: int


class Layout:
    """The sections of a game's vectors: numbers first, then planes of zeros and ones."""

    def __init__(self, game: Game) -> None:
        board = game.board.file
        self.seat_count = game.seat_count
        self.technologies = _index(action_map(game).technologies)  # those of all options
        self.routes = _index(route.id for route in board.routes)
        self.cities = _index(city.id for city in board.cities)
        self.tickets = _index(ticket.id for ticket in board.tickets)
        # The fields that views of this game have.
        blank = view_of(engine.new_game(game, Dice(bytes(SEED_SIZE))), 0)
        own = blank.players[0]
        self.has_yards = own.yard is not UNSET
        self.has_stations = own.stations is not UNSET
        self.has_holders = blank.teams is not UNSET
        numbers: list[float] = []
        self._planes: dict[str, int] = {}
        self.sections: list[Section] = []
        for name, values in self._numbers(blank):
            self.sections.append(Section(name, len(numbers), len(values)))
            numbers += values
        self.number_count = self.size = len(numbers)
        for name, size in self._plane_sizes(len(action_map(game))):
            self._planes[name] = self.size
            self.sections.append(Section(name, self.size, size))
            self.size += size

    def vector(self, view: View, chosen: Iterable[int]) -> Vector:
        """Return what the viewer sees, after these stages of its own answer."""
        out = np.zeros(self.size, np.float32)
        numbers: list[float] = []
        for _, values in self._numbers(view):
            numbers += values
        out[: self.number_count] = numbers
        np.clip(out, LOWEST, HIGHEST, out=out)
        ones = list(self._ones(view))
        start = self._planes["chosen"]
        ones += [start + number for number in chosen]
        out[ones] = 1.0
        return out

    # -- numbers -------------------------------------------------------------------------------------

    def _numbers(self, view: View) -> Iterator[tuple[str, list[float]]]:
        turns_left = 0 if view.turns_left is UNSET else view.turns_left
        yield (
            "game",
            [
                view.turn / 100,
                (view.turn - view.progress_turn) / 10,
                view.passes / 6,
                view.pile / 100,
                view.ticket_pile / 50,
                float(view.turns_left is not UNSET),
                turns_left / 6,
                _count(view.half) / 2,
                _count(view.removed_tickets) / 10,
            ],
        )
        yield "market", _cards(view.market, 5)
        yield "pile_may_hold", _cards(view.pile_may_hold, 12)
        yield "discards", _cards(view.discards, 12)
        yield "decision", _decision(view)
        if self.technologies:
            supply = {} if view.supply is UNSET else view.supply
            yield "supply", [supply.get(name, 0) / 4 for name in self.technologies]
        own = self._in_order(view)[0]
        yield "own.hand", _cards(own.hand, 10)
        if self.has_yards:
            yield "own.stack", _cards(own.stack, 10)
        if self.has_holders:
            for team in self._teams_in_order(view):
                yield f"team.{team[0]}", _values_of_team(team[1])
        for place, player in enumerate(self._in_order(view)):
            yield f"player.{place}", self._player(player, own.team)

    def _player(self, player: PlayerView, own_team: int) -> list[float]:
        values = [
            player.points / 100,
            _count(player.trains) / 45,
            player.hand_count / 50,
            player.ticket_count / 20,
            float(player.team == own_team),
            *_cards(player.known_cards, 10),
        ]
        if self.has_stations:
            values += [_count(player.stations_left) / 3, _count(player.removed_count) / 5]
        if self.has_yards:
            yard = {} if player.yard is UNSET else {stack.color: stack for stack in player.yard}
            lying = [yard.get(color) for color in _PLAIN]
            values.append(_count(player.stack_count) / 50)
            values += [0.0 if stack is None else stack.cards / 10 for stack in lying]
            values += [0.0 if stack is None else stack.locomotives / 10 for stack in lying]
        return values

    def _in_order(self, view: View) -> list[PlayerView]:
        """Return the players, the viewer first, then those whose turns follow."""
        assert view.seat is not UNSET
        return [view.players[(view.seat + place) % self.seat_count] for place in range(self.seat_count)]

    def _teams_in_order(self, view: View) -> list[tuple[int, TeamView]]:
        assert view.teams is not UNSET
        own = self._in_order(view)[0].team
        count = len(view.teams)
        return [(place, view.teams[(own + place) % count]) for place in range(count)]

    # -- planes --------------------------------------------------------------------------------------

    def _plane_sizes(self, action_count: int) -> Iterator[tuple[str, int]]:
        yield "chosen", action_count
        for name in ("tickets", "offered", "returned", "removed", "shared"):
            yield f"own.{name}", len(self.tickets)
        yield "tunnel", len(self.routes)
        yield "bought", len(self.technologies)
        for place in range(self.seat_count):
            yield f"player.{place}.routes", len(self.routes)
            yield f"player.{place}.technologies", len(self.technologies)
            yield f"player.{place}.stations", len(self.cities) if self.has_stations else 0
            yield f"player.{place}.completed", len(self.tickets) if self.has_yards else 0

    def _ones(self, view: View) -> Iterator[int]:
        players = self._in_order(view)
        own = players[0]
        yield from self._of("own.tickets", self.tickets, own.tickets)
        yield from self._of("own.offered", self.tickets, own.offered)
        yield from self._of("own.returned", self.tickets, own.returned)
        yield from self._of("own.removed", self.tickets, own.removed)
        if self.has_holders:
            yield from self._of("own.shared", self.tickets, self._teams_in_order(view)[0][1].shared_tickets)
        match view.pending:
            case decisions.PayTunnel() as bill:
                yield self._planes["tunnel"] + self.routes[bill.route]
            case decisions.ClaimRoute() as claim:
                yield self._planes["bought"] + self.technologies[claim.technology]
            case _:
                pass
        for place, player in enumerate(players):
            yield from self._of(f"player.{place}.routes", self.routes, player.routes)
            if self.technologies:
                yield from self._of(f"player.{place}.technologies", self.technologies, player.technologies)
            if self.has_stations:
                yield from self._of(f"player.{place}.stations", self.cities, player.stations)
            if self.has_yards:
                yield from self._of(f"player.{place}.completed", self.tickets, player.completed)

    def _of(self, plane: str, index: dict[str, int], names: Iterable[str] | UnsetType) -> Iterator[int]:
        if isinstance(names, UnsetType):
            return
        start = self._planes[plane]
        for name in names:
            yield start + index[name]


@cache
def layout(game: Game) -> Layout:
    """Return the sections of the game's vectors."""
    return Layout(game)


def _index(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _count(number: int | UnsetType) -> int:
    return 0 if isinstance(number, UnsetType) else number


def _cards(cards: Cards | UnsetType, scale: int) -> list[float]:
    if isinstance(cards, UnsetType):
        cards = NO_CARDS
    return [
        cards.purple / scale,
        cards.blue / scale,
        cards.orange / scale,
        cards.white / scale,
        cards.green / scale,
        cards.yellow / scale,
        cards.black / scale,
        cards.red / scale,
        cards.locomotive / scale,
    ]


def _values_of_team(team: TeamView) -> list[float]:
    return [
        team.holder_count / 10,
        team.shared_count / 10,
        *_cards(team.known_holder, 10),
        *_cards(team.holder, 10),
    ]


def _decision(view: View) -> list[float]:
    """Return which decision is pending, whether it is the viewer's, and what it contains."""
    pending = view.pending
    values = [0.0] * (len(_DECISIONS) + 1)
    if pending is not UNSET:
        values[_DECISIONS.index(type(pending))] = 1.0
        values[-1] = float(view.seat in pending.seats)
    keep = to_holder = may_stop = is_open = claims_left = right_of_way = extra = 0
    card: str | UnsetType = UNSET
    laid = holder_laid = revealed = NO_CARDS
    match pending:
        case decisions.KeepTickets():
            keep = pending.keep
        case decisions.SecondCard():
            to_holder, may_stop = pending.place == "holder", pending.may_stop
        case decisions.PlaceCard():
            is_open, card = pending.open, pending.card
        case decisions.ClaimRoute():
            claims_left, right_of_way, may_stop = pending.claims_left, pending.right_of_way, pending.may_stop
        case decisions.PayTunnel():
            laid, holder_laid, revealed = pending.cards, pending.holder_cards, pending.revealed
            extra = pending.extra
        case _:
            pass
    values += [keep / 3, float(to_holder), float(may_stop), float(is_open)]
    values += [claims_left / 2, float(right_of_way), extra / 3]
    values += [float(color == card) for color in COLORS]
    return values + _cards(laid, 5) + _cards(holder_laid, 5) + _cards(revealed, 3)
