"""What is true of every state, a real one and an imagined one."""

from __future__ import annotations

from collections import Counter

import networkx as nx

from stellwerk_engine.core import cards as card_sets
from stellwerk_engine.core.board import bits, mask_of
from stellwerk_engine.core.cards import covers
from stellwerk_engine.core.piles import MARKET_SIZE
from stellwerk_engine.core.state import State
from stellwerk_engine.parts.long_tickets import long_tickets
from stellwerk_engine.parts.stations.build_station import stations_left
from stellwerk_engine.parts.tickets import KeepTickets
from tests.support import all_cards


def assert_lawful(state: State) -> None:
    assert all_cards(state) == state.game.board.deck, "train cards were lost or made"
    assert_tickets_are_conserved(state)
    assert_trains_are_conserved(state)
    assert_knowledge_is_true(state)
    assert_stations_are_lawful(state)
    if state.pile:
        assert card_sets.total(state.market) == MARKET_SIZE, "the market is short, and there is a pile"


def assert_tickets_are_conserved(state: State) -> None:
    """Assert that each ticket lies in exactly one place."""
    tickets = Counter(state.ticket_pile)
    for mask in (*state.ticket_masks, *state.shared_masks, *state.completed_masks, *state.removed_masks):
        tickets.update(bits(mask))
    for seat, offered in enumerate(state.offered):
        if isinstance(state.pending, KeepTickets):
            tickets.update(offered)
        else:
            assert not mask_of(offered) & ~state.ticket_masks[seat]
    assert tickets == Counter(range(len(state.game.board.tickets)))


def assert_stations_are_lawful(state: State) -> None:
    """Assert that stations are in different cities and no more than there are, that nobody has two long
    tickets, and that the pile has none."""
    cities = [city for stations in state.stations for city in stations]
    assert len(cities) == len(set(cities))
    assert all(stations_left(state, seat) >= 0 for seat in range(len(state.stations)))
    long_mask = mask_of(long_tickets(state.game))
    assert not mask_of(state.ticket_pile) & long_mask or state.turn == 0
    for seat, held in enumerate(state.ticket_masks):
        held |= mask_of(state.offered[seat])
        held |= state.removed_masks[seat] if state.removed_masks else 0
        assert (held & long_mask).bit_count() == (1 if long_mask else 0)


def assert_trains_are_conserved(state: State) -> None:
    """Assert that each train is on the board or left."""
    board = state.game.board
    for seat, left in enumerate(state.trains):
        lengths = [board.routes[board.route_ids[name]].length for name in state.route_names[seat]]
        assert left == board.trains - sum(lengths) >= 0


def assert_knowledge_is_true(state: State) -> None:
    """Check that hands and holders contain what is known of them, and the pile only what it may hold."""
    for held, known in zip(state.hands, state.known, strict=True):
        assert covers(held, known)
    for held, known in zip(state.holders, state.known_holders, strict=True):
        assert covers(held, known)
    assert covers(state.may_hold, card_sets.of(state.pile))


def team_graph(state: State, team: int) -> nx.Graph[int]:
    """Return the routes of a team as a graph of cities."""
    board = state.game.board
    graph: nx.Graph[int] = nx.Graph()
    for seat in state.game.seats_of_team[team]:
        for name in state.route_names[seat]:
            route = board.routes[board.route_ids[name]]
            graph.add_edge(route.a, route.b)
    return graph


def assert_networks_are_connected(state: State) -> None:
    """Check that a team's networks are the connected components of its routes."""
    for team, networks in enumerate(state.networks):
        components = [mask_of(component) for component in nx.connected_components(team_graph(state, team))]
        assert sorted(networks) == sorted(components)
