"""Which routes of others a player's stations use, to complete tickets (EUR-12).

All choices are compared, since there are few: a station has the routes of its city that others have claimed,
and of those to one neighbor only the first can ever be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from stellwerk_engine.core.board import CityId, Route, Ticket, bits
from stellwerk_engine.core.scoring import connects
from stellwerk_engine.core.state import Seat, State

Choice = tuple[Route | None, ...]
"""The route that each station uses."""


@dataclass(frozen=True, slots=True)
class Uses:
    """The uses of a player's stations."""

    routes: tuple[tuple[CityId, Route | None], ...]  # of each station, in the order of building
    completed_mask: int  # tickets that the player's own routes leave open


def best_uses(state: State, seat: Seat) -> Uses:
    """Return the choice of EUR-12: the most points, then the most tickets, then the fewest routes, then the
    first in the order of the board file."""
    in_board_order = sorted(state.stations[seat])
    offers = [_offered(state, seat, city) for city in in_board_order]
    tickets = _tickets_in_reach(state, seat, offers)
    best: Choice = (None,) * len(offers)
    best_mask = 0
    if tickets:
        best_worth = (-1, 0, 0)
        for choice in product(*offers):  # in the order of the last criterion
            completed = _completed(state.networks[seat], choice, tickets)
            points = sum([ticket.points for ticket in completed])
            worth = (points, len(completed), choice.count(None))
            if worth > best_worth:
                best_worth, best = worth, choice
                best_mask = sum([1 << ticket.id for ticket in completed])
    route_at = dict(zip(in_board_order, best, strict=True))
    return Uses(tuple((city, route_at[city]) for city in state.stations[seat]), best_mask)


def _tickets_in_reach(state: State, seat: Seat, offers: list[Choice]) -> list[Ticket]:
    """Return the open tickets that would be completed if each station used all its routes."""
    networks = state.networks[seat]
    tickets = [state.game.board.tickets[ticket] for ticket in bits(state.ticket_masks[seat])]
    open_tickets = [ticket for ticket in tickets if not connects(networks, ticket)]
    return _completed(networks, tuple(route for offered in offers for route in offered), open_tickets)


def _completed(networks: tuple[int, ...], choice: Choice, tickets: list[Ticket]) -> list[Ticket]:
    for route in choice:
        if route is not None:
            networks = _joined(networks, route.ends_mask)
    return [ticket for ticket in tickets if connects(networks, ticket)]


def _offered(state: State, seat: Seat, city: CityId) -> Choice:
    """List what a station in the city can use: in the order of the board file a route of others to each
    neighbor, and at last none."""
    board = state.game.board
    others_mask = 0
    for other, owned_mask in enumerate(state.owned_masks):
        if other != seat:
            others_mask |= owned_mask
    first: dict[int, Route] = {}
    for record in board.file.routes:
        route = board.routes[board.route_ids[record.id]]
        if route.bit & others_mask and route.ends_mask >> city & 1:
            first.setdefault(route.ends_mask, route)
    return (*first.values(), None)


def _joined(networks: tuple[int, ...], ends_mask: int) -> tuple[int, ...]:
    merged = ends_mask
    apart: list[int] = []
    for network in networks:
        if network & ends_mask:
            merged |= network
        else:
            apart.append(network)
    apart.append(merged)
    return tuple(apart)
