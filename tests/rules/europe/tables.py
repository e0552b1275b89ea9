"""Small states of the game `europe`."""

from __future__ import annotations

from typing import Final

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.state import Seat, State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_engine.parts.stations.build_station import add_station
from stellwerk_protocol import moves
from stellwerk_protocol.names import CityNames, TicketNames
from stellwerk_protocol.results import Result
from stellwerk_protocol.views import PlayerView
from tests.support import set_hand, set_market, started, wire

BOARD: Final = shipped_board("europe")
ROUTES: Final = {route.id: route for route in BOARD.routes}
REGULAR: Final = tuple(ticket.id for ticket in BOARD.tickets if not ticket.long)
LONG: Final = tuple(ticket.id for ticket in BOARD.tickets if ticket.long)


def build(city: str, text: str) -> moves.BuildStation:
    """Lay these cards for a station in the city."""
    return moves.BuildStation(city, wire(text))


def at_turn(seats: int = 2, hand: str = "") -> State:
    """Give seat 0 the turn and these cards. Nobody else has cards, and nobody has tickets."""
    state = started("europe", seats)
    for seat in range(seats):
        set_hand(state, seat, "")
        hold(state, seat)
    set_market(state, "2 purple, 2 black, white")
    set_hand(state, 0, hand)
    return state


def hold(state: State, seat: Seat, *names: str) -> None:
    """Give the seat these tickets, wherever they were."""
    ids = [state.game.board.ticket_ids[name] for name in names]
    state.ticket_masks[seat] = sum(1 << ticket for ticket in ids)
    state.ticket_pile = [ticket for ticket in state.ticket_pile if ticket not in ids]
    state.removed_masks = tuple([removed & ~state.ticket_masks[seat] for removed in state.removed_masks])


def stand(state: State, seat: Seat, *cities: str) -> None:
    """Build stations of the seat in these cities, for no cards."""
    ids = state.game.board.city_ids
    for city in cities:
        add_station(state, seat, ids[city])


def seen(state: State, seat: Seat = 0) -> PlayerView:
    """Return what everybody may know of the seat."""
    return view(state, PUBLIC).players[seat]


def offered(state: State, seat: Seat) -> TicketNames:
    """Return the tickets that the seat chooses from."""
    names = view(state, seat).players[seat].offered
    assert isinstance(names, tuple)
    return names


def stations(state: State, seat: Seat = 0) -> CityNames:
    built = seen(state, seat).stations
    assert isinstance(built, tuple)
    return built


def used(result: Result, seat: Seat = 0) -> dict[str, str | None]:
    """Return which route each station of the seat uses."""
    built = result.teams[seat].stations
    assert isinstance(built, tuple)
    return {station.city: station.route or None for station in built}


def completed(result: Result, seat: Seat = 0) -> set[str]:
    return {ticket.ticket for ticket in result.teams[seat].tickets if ticket.completed}
