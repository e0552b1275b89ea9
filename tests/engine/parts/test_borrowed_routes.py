"""The choice of routes that stations use, against one that tries all there are (EUR-12)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import networkx as nx
import pytest

from stellwerk_engine.core.board import bits
from stellwerk_engine.core.state import State
from stellwerk_engine.parts.stations.borrowed_routes import best_uses
from tests.rules.europe.tables import BOARD, LONG, REGULAR, ROUTES, at_turn, hold, stand
from tests.support import own

SEATS = 4
ORDER = {city.id: number for number, city in enumerate(BOARD.cities)}


def position(seed: int) -> State:
    """Make a state with many routes claimed, three stations of seat 0, and tickets that it could well
    complete."""
    chance = Random(seed)
    state = at_turn(SEATS)
    taken: set[frozenset[str]] = set()
    for name in chance.sample(sorted(ROUTES), 75):
        ends = frozenset((ROUTES[name].a, ROUTES[name].b))
        if ends not in taken:
            own(state, chance.choice((0, 1, 1, 2, 3)), name, trains=False)
            taken.add(ends)
    for name in chance.sample(sorted(ROUTES), 15):  # the other tracks of double routes
        route = ROUTES[name]
        bit = 1 << state.game.board.route_ids[name]
        if route.parallel == 2 and not state.claimed_mask & bit:
            own(state, 3, name, trains=False)
    hold(state, 0, *chance.sample(REGULAR, 12), chance.choice(LONG))
    stand(state, 0, *chance.sample(sorted(ORDER), 3))
    return state


def choices(state: State) -> Iterator[dict[str, str | None]]:
    """Yield every choice that the rule allows, in the order in which the last criterion prefers them."""
    stations = sorted((BOARD.cities[city].id for city in state.stations[0]), key=ORDER.__getitem__)
    others = {name for seat in range(1, SEATS) for name in state.route_names[seat]}
    offered: list[list[str | None]] = [
        [*(route.id for route in BOARD.routes if route.id in others and city in (route.a, route.b)), None]
        for city in stations
    ]
    for routes in product(*offered):
        yield dict(zip(stations, routes, strict=True))


def worth(state: State, choice: dict[str, str | None]) -> tuple[int, int, int]:
    """Return the points for tickets, the completed tickets, and the stations that use no route."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(ORDER)
    for name in (*state.route_names[0], *filter(None, choice.values())):
        graph.add_edge(ROUTES[name].a, ROUTES[name].b)
    points = completed = 0
    for number in bits(state.ticket_masks[0]):
        ticket = BOARD.tickets[number]
        is_completed = nx.has_path(graph, ticket.a, ticket.b)
        points += ticket.points if is_completed else -ticket.points
        completed += is_completed
    return points, completed, sum(route is None for route in choice.values())


@pytest.mark.parametrize("seed", range(40))
def test_the_choice_is_the_first_of_the_best(seed: int) -> None:
    state = position(seed)
    best = max(choices(state), key=lambda choice: worth(state, choice))
    uses = best_uses(state, 0)
    chosen = {BOARD.cities[city].id: route.name if route else None for city, route in uses.routes}
    assert chosen == best


def test_the_positions_need_the_rule() -> None:
    """In many of them some station uses a route, and in some two or three do."""
    used = [sum(route is not None for _, route in best_uses(position(seed), 0).routes) for seed in range(40)]
    assert sum(number > 0 for number in used) >= 10
    assert max(used) >= 2
