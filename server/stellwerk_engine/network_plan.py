"""Which routes to claim for a set of tickets: shortest paths, one ticket after the other.

The first tickets' routes cost the later ones nothing, so paths join into one network where they can.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from stellwerk_engine.board import NO_ROUTE, CityId, Route, RouteId, bits

if TYPE_CHECKING:
    from stellwerk_engine.game import Game

PLANS_KEPT: Final = 4096
CLAIM_COST: Final = 1  # beside its cards a claim costs a turn: few long routes rather than many short ones
TECHNOLOGY_COST: Final = 3  # a locomotive is as dear as some cards
SYMBOL_COST: Final = 2

Links = tuple[tuple[tuple[CityId, Route], ...], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    routes_mask: int  # to be claimed
    technologies_mask: int  # to be bought for them
    trains: int
    cost: int
    reached_mask: int  # tickets that are completed once all that is done
    points: int  # of these tickets, less those of the others


@lru_cache(maxsize=PLANS_KEPT)
def make_plan(
    game: Game,
    free_mask: int,
    usable_mask: int,
    tickets_mask: int,
    technologies_mask: int,
    trains: int,
) -> Plan:
    """Connect the tickets with routes out of `usable_mask`, beside those of `free_mask`, which are the team's own,
    buying only technologies out of `technologies_mask`; tickets for which the trains do not suffice are left."""
    tickets = game.board.tickets
    order = sorted(bits(tickets_mask), key=lambda ticket: -tickets[ticket].points)
    planned = bought = reached = 0
    left = trains
    total_cost = points = 0
    for number in order:
        ticket = tickets[number]
        costs = _costs(game, free_mask | planned, usable_mask, bought, technologies_mask)
        path = cheapest_path(game, ticket.a_mask, ticket.b_mask, costs)
        routes = [] if path is None else [game.board.routes[route] for route in path[1] if costs[route]]
        length = sum(route.length for route in routes)
        if path is None or length > left:
            points -= ticket.points
            continue
        left -= length
        total_cost += path[0]
        reached |= 1 << number
        points += ticket.points
        for route in routes:
            planned |= route.bit
            bought |= route.needs_mask & technologies_mask
    return Plan(planned, bought, trains - left, total_cost, reached, points)


def _costs(game: Game, free_mask: int, usable_mask: int, bought: int, to_buy: int) -> list[int]:
    """What each route costs in cards and turns; -1: not to be had."""
    technologies = game.rules.technologies
    costs = [-1] * len(game.board.routes)
    for number in bits(usable_mask):
        route = game.board.routes[number]
        missing = route.needs_mask & to_buy & ~bought
        costs[number] = (
            route.length
            + CLAIM_COST
            + SYMBOL_COST * route.symbols
            + TECHNOLOGY_COST * sum(technologies[technology].cost for technology in bits(missing))
        )
    for number in bits(free_mask):
        costs[number] = 0
    return costs


def cheapest_path(
    game: Game, start_mask: int, goal_mask: int, costs: list[int]
) -> tuple[int, list[RouteId]] | None:
    """From a city of one mask to one of the other: the cost and the routes; None if there is no way."""
    links = _links(game)
    queue = [(0, city, -1) for city in bits(start_mask)]
    came_by: dict[CityId, RouteId] = {}
    while queue:
        cost, city, by = heappop(queue)
        if city in came_by:
            continue
        came_by[city] = by
        if goal_mask >> city & 1:
            return cost, _walk_back(game, city, came_by)
        for neighbor, route in links[city]:
            step = costs[route.id]
            if step >= 0 and neighbor not in came_by:
                heappush(queue, (cost + step, neighbor, route.id))
    return None


def _walk_back(game: Game, city: CityId, came_by: dict[CityId, RouteId]) -> list[RouteId]:
    path: list[RouteId] = []
    while came_by[city] >= 0:
        route = game.board.routes[came_by[city]]
        path.append(route.id)
        city = route.a if route.b == city else route.b
    return path


@lru_cache(maxsize=32)
def _links(game: Game) -> Links:
    """For each city its neighbors and the routes there."""
    links: list[list[tuple[CityId, Route]]] = [[] for _ in game.board.city_ids]
    for route in game.board.routes:
        if route is not NO_ROUTE:
            links[route.a].append((route.b, route))
            links[route.b].append((route.a, route))
    return tuple(map(tuple, links))
