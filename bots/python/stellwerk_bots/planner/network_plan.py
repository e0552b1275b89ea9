"""The routes to claim for a set of tickets: cheapest paths, one ticket after the other.

A route planned for one ticket costs the next ones nothing, so their paths join where they can. The tickets
with most points come first; the others branch off from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from stellwerk_engine.core.board import NO_ROUTE, CityId, Route, RouteId, Ticket, bits, mask_of
from stellwerk_engine.parts.technologies.buy_technology import technologies_of

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Game

# In cards: a turn for the claim itself, so that few long routes beat many short ones; the locomotives.
CLAIM_COST: Final = 1
SYMBOL_COST: Final = 2
TECHNOLOGY_COST: Final = 3
STATION_COST: Final = 8  # its cards, its turn, and the points for a station that is not built

PLANS_KEPT: Final = 4096  # most moves change nothing that a plan depends on
GAMES_KEPT: Final = 64

Step = tuple[CityId, RouteId, int, int, int]  # to, by, its bit, its cost, the technologies it needs


@dataclass(frozen=True, slots=True)
class Plan:
    routes_mask: int  # to be claimed
    technologies_mask: int  # to be bought for them
    cost: int
    points: int  # of the tickets that this completes, minus those of the others
    cities_mask: int = 0  # where to build stations


@dataclass(frozen=True, slots=True)
class Stations:
    """The options of a seat with stations (EUR-10, EUR-12)."""

    left: int  # to be built
    idle_mask: int  # cities with a station of the seat that completes no ticket yet
    free_mask: int  # cities in which one can be built
    lendable_mask: int  # routes of others


NO_STATIONS: Final = Stations(0, 0, 0, 0)


@lru_cache(maxsize=PLANS_KEPT)
def make_plan(
    game: Game,
    network_mask: int,
    usable_mask: int,
    tickets_mask: int,
    to_buy_mask: int,
    trains: int,
    stations: Stations = NO_STATIONS,
) -> Plan:
    """Plan to connect the tickets through the team's network and usable routes, for which only technologies
    of `to_buy_mask` are missing, and through routes of others that stations can use. A ticket that needs more
    trains or stations than there are is left out."""
    routes = game.board.routes
    tickets = [game.board.tickets[ticket] for ticket in bits(tickets_mask)]
    planned_mask = bought_mask = cost = points = borrowed_mask = cities_mask = 0
    idle_mask = stations.idle_mask
    for ticket in sorted(tickets, key=lambda ticket: -ticket.points):
        free_mask = network_mask | planned_mask | borrowed_mask
        missing_mask = to_buy_mask & ~bought_mask
        path = cheapest_path(game, ticket, free_mask, usable_mask, missing_mask, stations.lendable_mask)
        new = [routes[route] for route in path[1] if not free_mask >> route & 1] if path else []
        to_claim = [route for route in new if route.bit & usable_mask]
        length = sum(route.length for route in to_claim)
        places = _places(new, usable_mask, idle_mask, stations.free_mask & ~cities_mask)
        if path is None or length > trains or places is None:
            points -= ticket.points
            continue
        idle_mask &= ~places
        if (cities_mask | places & stations.free_mask).bit_count() > stations.left:
            points -= ticket.points
            continue
        cities_mask |= places & stations.free_mask
        trains -= length
        cost += path[0]
        points += ticket.points
        for route in new:
            if route.bit & usable_mask:
                planned_mask |= route.bit
                bought_mask |= route.needs_mask & to_buy_mask
            else:
                borrowed_mask |= route.bit
    return Plan(planned_mask, bought_mask, cost, points, cities_mask)


def _places(new: list[Route], usable_mask: int, idle_mask: int, free_mask: int) -> int | None:
    """Return a city at one end of each route of others: one with an idle station, or one that is free for a
    new station. None if there are not enough."""
    places = 0
    for route in new:
        if route.bit & usable_mask:
            continue
        ends_mask = route.ends_mask & ~places
        here = ends_mask & idle_mask or ends_mask & free_mask
        if not here:
            return None
        places |= here & -here
    return places


Path = tuple[int, list[RouteId]]  # the cost, and the routes


def cheapest_path(
    game: Game, ticket: Ticket, free_mask: int, usable_mask: int, missing_mask: int, lendable_mask: int = 0
) -> Path | None:
    """Return the cheapest path between the ticket's places, or None. An earlier result is still the cheapest
    while all of it is usable and nothing else has become usable."""
    paths = _paths(game)
    key = (ticket.id, free_mask, missing_mask, lendable_mask)
    known = paths.get(key)
    if known is not None:
        then_usable_mask, path_mask, path = known
        if not usable_mask & ~then_usable_mask and not path_mask & ~(usable_mask | free_mask | lendable_mask):
            return path
    elif len(paths) >= PLANS_KEPT:
        paths.clear()
    path = _search(game, ticket, free_mask, usable_mask, missing_mask, lendable_mask)
    paths[key] = usable_mask, mask_of(path[1]) if path else 0, path
    return path


@lru_cache(maxsize=GAMES_KEPT)
def _paths(game: Game) -> dict[tuple[int, int, int, int], tuple[int, int, Path | None]]:
    """Return the last results by ticket and by free, missing and lendable routes: what was usable then, and
    the path."""
    return {}


def _search(
    game: Game, ticket: Ticket, free_mask: int, usable_mask: int, missing_mask: int, lendable_mask: int
) -> Path | None:
    steps = _steps(game)
    queue: list[tuple[int, CityId, RouteId]] = [(0, city, NO_ROUTE.id) for city in bits(ticket.a_mask)]
    came_by: dict[CityId, RouteId] = {}
    while queue:
        cost, city, by = heappop(queue)
        if city in came_by:
            continue
        came_by[city] = by
        if ticket.b_mask >> city & 1:
            return cost, _way_back(game, city, came_by)
        for neighbor, route, bit, price, needs_mask in steps[city]:
            if neighbor in came_by:
                continue
            if bit & free_mask:
                heappush(queue, (cost, neighbor, route))
            elif bit & usable_mask:
                if needs_mask & missing_mask:
                    price += _technologies_cost(game, needs_mask & missing_mask)
                heappush(queue, (cost + price, neighbor, route))
            elif bit & lendable_mask:
                heappush(queue, (cost + STATION_COST, neighbor, route))
    return None


def _way_back(game: Game, city: CityId, came_by: dict[CityId, RouteId]) -> list[RouteId]:
    way: list[RouteId] = []
    while came_by[city] != NO_ROUTE.id:
        route = game.board.routes[came_by[city]]
        way.append(route.id)
        city = route.a if route.b == city else route.b
    return way


@lru_cache(maxsize=GAMES_KEPT)
def _steps(game: Game) -> tuple[tuple[Step, ...], ...]:
    """Return the steps from each city."""
    steps: list[list[Step]] = [[] for _ in game.board.city_ids]
    for route in game.board.routes:
        if route is not NO_ROUTE:
            price = route.length + CLAIM_COST + SYMBOL_COST * route.symbols
            steps[route.a].append((route.b, route.id, route.bit, price, route.needs_mask))
            steps[route.b].append((route.a, route.id, route.bit, price, route.needs_mask))
    return tuple(map(tuple, steps))


@lru_cache(maxsize=PLANS_KEPT)
def _technologies_cost(game: Game, technologies_mask: int) -> int:
    technologies = technologies_of(game.rules)
    return TECHNOLOGY_COST * sum(technologies[number].cost for number in bits(technologies_mask))
