"""Build stations, and what they bring at the end (EUR-10, EUR-12, EUR-14).

The n-th station of a player costs n cards of one color, locomotives for any of them. For each free city one
payment is listed, the same for all cities, so that the list stays short: the one with fewest locomotives, and
of several colors the one with the fewest cards in the hand, of equal ones the first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from msgspec import UNSET
from msgspec.structs import replace

from stellwerk_base.texts import counted
from stellwerk_engine.core.board import Board, CityId
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    LOCOMOTIVE_SHIFT,
    PLAIN_COLORS,
    SHIFT,
    CardSet,
    counts,
    covers,
    describe,
    from_wire,
    to_wire,
    total,
)
from stellwerk_engine.core.folding import onto_discards, out_of_hand, present, with_player, with_progress
from stellwerk_engine.core.lengths import CARD_BYTES, names_bytes
from stellwerk_engine.core.piles import discard
from stellwerk_engine.core.state import (
    Action,
    Award,
    Events,
    Game,
    Move,
    Seat,
    Standing,
    State,
    ViewerId,
)
from stellwerk_engine.core.turn import end_turn
from stellwerk_engine.core.words import Words
from stellwerk_engine.parts.claiming.place_claim import spend
from stellwerk_engine.parts.stations.borrowed_routes import best_uses
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import CityName, CityNames
from stellwerk_protocol.results import Station, TeamResult
from stellwerk_protocol.views import View


class StationFields:
    """Stations."""

    stations: tuple[tuple[int, ...], ...]  # cities, a seat, in the order of building


class Build(Move):
    __slots__ = ("city", "name", "pay")

    def __init__(self, city: CityId, name: CityName, pay: CardSet) -> None:
        self.city = city
        self.name = name
        self.pay = pay

    def to_wire(self) -> wire_moves.BuildStation:
        return wire_moves.BuildStation(self.name, to_wire(self.pay))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        spend(state, seat, self.pay, 0)
        add_station(state, seat, self.city)
        state.progress_turn = state.turn
        if events is not None:
            events.append(ev.StationBuilt(seat, self.name, to_wire(self.pay)))
        discard(state, self.pay, events)
        end_turn(state, seat, events)


class Builds(dict[CardSet, tuple[Move, ...]]):
    """The moves that build a station in each city, by payment, made when first asked for."""

    def __init__(self, board: Board) -> None:
        super().__init__()
        self._cities = board.file.cities

    def __missing__(self, pay: CardSet) -> tuple[Move, ...]:
        self[pay] = builds = tuple(Build(city, record.id, pay) for city, record in enumerate(self._cities))
        return builds


@dataclass(frozen=True, slots=True)
class BuildStation(Action):
    """The action of a turn. Each player has so many stations, and gets points for those left at the end."""

    number: int
    points_left: int
    builds: Mapping[CardSet, tuple[Move, ...]] = field(
        default_factory=dict[CardSet, tuple[Move, ...]], repr=False, compare=False
    )

    @property
    def events(self) -> tuple[type[object], ...]:
        return (ev.StationBuilt,)

    def on_board(self, board: Board) -> Self:
        return dataclasses.replace(self, builds=Builds(board))

    def begin(self, state: State) -> None:
        state.stations = ((),) * state.game.seat_count

    # the action

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        cost = self._next_cost(state, seat)
        pay = cheapest_payment(state.hands[seat], cost) if cost else 0
        if pay:
            free = free_mask(state)
            moves += [build for city, build in enumerate(self.builds[pay]) if free >> city & 1]

    def legal_complete(self, state: State, seat: Seat) -> bool:
        cost = self._next_cost(state, seat)
        return not cost or not free_mask(state) or _payment_count(state.hands[seat], cost) <= 1

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        if not isinstance(wire, wire_moves.BuildStation):
            return None
        game = state.game
        cost = self._next_cost(state, seat)
        if not cost:
            raise IllegalMoveError("game.not_available", "/type", "another action, for no station is left")
        city = game.board.city_ids.get(wire.city)
        if city is None:
            raise IllegalMoveError("game.unknown_name", "/city", "the id of a city of this board")
        if not free_mask(state) >> city & 1:
            raise IllegalMoveError("game.not_available", "/city", "a city in which nobody has a station")
        pay = from_wire(wire.cards)
        if not covers(state.hands[seat], pay):
            raise IllegalMoveError(
                "game.not_enough_cards", "/cards", f"cards out of the hand: {describe(state.hands[seat])}"
            )
        if not _pays(pay, cost):
            price = "1 card" if cost == 1 else f"{cost} cards of one color or locomotives"
            raise IllegalMoveError("game.wrong_payment", "/cards", price)
        return self.builds[pay][city]

    def fallback(self, state: State, seat: Seat) -> Move | None:
        """Return the first move that is listed."""
        moves: list[Move] = []
        self.add_legal(state, seat, moves)
        return moves[0] if moves else None

    def _next_cost(self, state: State, seat: Seat) -> int:
        """Return how many cards the seat's next station costs; 0 if it has none left."""
        built = len(state.stations[seat])
        return built + 1 if built < self.number else 0

    # what viewers know

    def redact(self, game: Game, event: ev.Event, viewer: ViewerId) -> ev.Event:
        return event  # everybody may know all of it

    def fold(self, game: Game, view: View, event: ev.Event) -> View:
        assert isinstance(event, ev.StationBuilt)
        view = out_of_hand(onto_discards(view, event.cards), event.seat, event.cards)
        player = view.players[event.seat]
        player = replace(
            player,
            stations=(*present(player.stations), event.city),
            stations_left=present(player.stations_left) - 1,
        )
        return with_progress(with_player(view, player))

    # how long messages get

    def view_bytes(self, game: Game) -> int:
        """Count the longest names of cities, as many as there are stations."""
        names = sorted((city.id for city in game.board.file.cities), key=len, reverse=True)
        return names_bytes(names[: self.number * game.seat_count])

    def moves_bytes(self, game: Game) -> tuple[int, int]:
        """Count one payment for each city."""
        cities = game.board.file.cities
        head = len('{"type":"build_station","city":"","cards":{}},') + sum(sorted(CARD_BYTES)[-2:])
        return sum(head + len(city.id) for city in cities), len(cities)

    # for people who read what happened

    def rule(self, game: Game) -> str:
        return (
            "build_station: in a city without a station; your first one costs 1 card, the second 2 of one "
            "color, and so on (locomotives replace any). At the end it lends you one route of another player "
            f"that ends in its city, for tickets only. You have {self.number}; each one not built brings "
            f"{counted(self.points_left, 'point')}."
        )

    def sentence(self, event: ev.Event, words: Words) -> str:
        assert isinstance(event, ev.StationBuilt)
        return f"builds a station in {words.place(event.city)} with {words.cards(event.cards)}"

    def see(self, state: State, view: View) -> None:
        ids = state.game.board.city_ids
        state.stations = tuple(
            [tuple([ids[name] for name in present(player.stations)]) for player in view.players]
        )

    # the end

    def completes(self, state: State, team: int) -> int:
        return best_uses(state, team).completed_mask

    def awards(self, state: State, standings: list[Standing]) -> list[Award]:
        return [
            Award(seat, "stations_left", self.points_left * (self.number - len(built)))
            for seat, built in enumerate(state.stations)
            if len(built) < self.number
        ]

    def in_result(self, state: State, result: TeamResult) -> TeamResult:
        cities = state.game.board.file.cities
        return replace(
            result,
            stations=tuple(
                Station(cities[city].id, UNSET if route is None else route.name)
                for city, route in best_uses(state, result.team).routes
            ),
        )


def fewest_stations(state: State, standing: Standing, awards: list[Award]) -> int:
    """Prefer, in a tie, the team that built fewer stations (EUR-16)."""
    return -len(state.stations[standing.team])


def add_station(state: State, seat: Seat, city: CityId) -> None:
    built = list(state.stations)
    built[seat] = (*built[seat], city)
    state.stations = tuple(built)


def stations_left(state: State, seat: Seat) -> int:
    """Return how many stations the seat can still build."""
    part = state.game.part(BuildStation)
    return 0 if part is None else part.number - len(state.stations[seat])


def stations_view(state: State, seat: Seat) -> CityNames:
    cities = state.game.board.file.cities
    return tuple([cities[city].id for city in state.stations[seat]])


def free_mask(state: State) -> int:
    """Return the cities in which nobody has a station."""
    free = (1 << len(state.game.board.file.cities)) - 1
    for cities in state.stations:
        for city in cities:
            free &= ~(1 << city)
    return free


def cheapest_payment(hand: CardSet, cost: int) -> CardSet:
    """Return the payment that is listed (see above), or 0 if the hand does not pay."""
    by_count = counts(hand)
    locomotives = by_count[LOCOMOTIVE]
    best = (cost, 0, LOCOMOTIVE)  # locomotives, cards of the color in the hand, color
    for color in PLAIN_COLORS:
        mine = by_count[color]
        if mine:
            best = min(best, (max(0, cost - mine), mine, color))
    needed, _, color = best
    if needed > locomotives:
        return 0
    return (needed << LOCOMOTIVE_SHIFT) + ((cost - needed) << SHIFT[color] if needed < cost else 0)


def _pays(pay: CardSet, cost: int) -> bool:
    """Return whether these are exactly so many cards, of one color or locomotives."""
    return total(pay) == cost and max(counts(pay)[:LOCOMOTIVE]) + (pay >> LOCOMOTIVE_SHIFT) == cost


def _payment_count(hand: CardSet, cost: int) -> int:
    by_count = counts(hand)
    locomotives = by_count[LOCOMOTIVE]
    ways = sum(max(0, min(by_count[color], cost) - max(1, cost - locomotives) + 1) for color in PLAIN_COLORS)
    return ways + (locomotives >= cost)
