"""Nothing is lost or made, what events say is true, and every game ends: after each move, in every
variant."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_engine import engine
from stellwerk_engine.core.board import bits
from stellwerk_engine.core.scoring import connects
from stellwerk_engine.core.state import Events, Move, Seat, State
from stellwerk_engine.core.turn import IDLE_ROUNDS
from stellwerk_engine.games.shipped import RULE_SETS
from tests.properties.laws import (
    assert_lawful,
    assert_networks_are_connected,
    assert_trains_are_conserved,
    team_graph,
)
from tests.properties.playing import Line, Variant, any_kind, any_move, examples, lines, played
from tests.support import VARIANTS, dealt, every_variant, fingerprint, own, started, table, variant_id


@every_variant
@examples(3)
@given(line=lines)
def test_cards_trains_and_tickets_are_conserved_and_what_is_known_is_true(
    variant: Variant, line: Line
) -> None:
    """After the deal and after every move, to the end."""
    for state in played(variant, line):
        assert_lawful(state)


@every_variant
@examples(3)
@given(line=lines)
def test_events_are_told_or_not_without_changing_the_game(variant: Variant, line: Line) -> None:
    events: Events = []
    for with_events, without_events in zip(played(variant, line, events), played(variant, line), strict=True):
        assert fingerprint(with_events) == fingerprint(without_events)
    assert events


# -- networks ----------------------------------------------------------------------------------------


MAPS = tuple(rules.id for rules in RULE_SETS.values() if "map" in rules.board_features)
every_map_variant = pytest.mark.parametrize(
    "variant", [variant for variant in VARIANTS if variant[0] in MAPS], ids=variant_id
)


@every_map_variant
@examples(2)
@given(line=lines)
def test_networks_are_the_connected_components_of_a_teams_routes(variant: Variant, line: Line) -> None:
    """Looked at after each tenth move, and at the end."""
    state = None
    for number, state in enumerate(played(variant, line)):
        if number % 10 == 0:
            assert_networks_are_connected(state)
    assert state is not None
    assert_networks_are_connected(state)


@pytest.mark.parametrize("game_id", MAPS)
@examples(30)
@given(chance=st.randoms(use_true_random=False), route_count=st.integers(0, 60))
def test_a_ticket_is_completed_by_a_path_between_any_places_of_its_two_ends(
    game_id: str, chance: Random, route_count: int
) -> None:
    """Any place of a group will do (France, UK-33), and no path leads from one to the other."""
    state = started(game_id, 4)
    board = state.game.board
    names = chance.sample(sorted(board.route_ids), min(route_count, len(board.route_ids)))
    for name in names:
        own(state, chance.choice((0, 1, 2)), name, trains=False)
    assert_networks_are_connected(state)
    for team, networks in enumerate(state.networks):
        graph = team_graph(state, team)
        for ticket in board.tickets:
            joined = any(
                a in graph and b in graph and nx.has_path(graph, a, b)
                for a in bits(ticket.a_mask)
                for b in bits(ticket.b_mask)
            )
            assert connects(networks, ticket) == joined


def test_the_tickets_of_the_property_above_name_a_group() -> None:
    """Or it would say nothing about France."""
    tickets = table("united_kingdom", 4).board.tickets
    assert any(ticket.a_mask.bit_count() > 1 or ticket.b_mask.bit_count() > 1 for ticket in tickets)


# -- the end -----------------------------------------------------------------------------------------


def first(state: State, seat: Seat, moves: list[Move], chance: Random) -> Move:
    return moves[0]


def last(state: State, seat: Seat, moves: list[Move], chance: Random) -> Move:
    return moves[-1]


def by_chance(state: State, seat: Seat, moves: list[Move], chance: Random) -> Move:
    return any_move(chance, moves)


def by_kind(state: State, seat: Seat, moves: list[Move], chance: Random) -> Move:
    return any_kind(chance, moves)


def failing(state: State, seat: Seat, moves: list[Move], chance: Random) -> Move:
    """Play like a bot that never answers: with the fallback."""
    return engine.fallback(state, seat)


def never_a_claim(state: State, seat: Seat, moves: list[Move], chance: Random) -> Move:
    """Draw tickets and keep as few as possible; then draw cards; claim only if nothing else is left."""
    dull = (
        "DrawTicketsMove",
        "Keep",
        "DrawFirst",
        "TakeFirst",
        "StopDrawing",
        "DrawSecond",
        "Abandon",
        "Pass",
    )
    for kind in dull:
        of_kind = [move for move in moves if type(move).__name__ == kind]
        if of_kind:
            return of_kind[0]
    return moves[-1]


def never_the_end(state: State, seat: Seat, moves: list[Move], chance: Random) -> Move:
    """Draw cards and spend them for technologies; claim only then, and the shortest route."""
    kinds = (
        "Buy",
        "DrawFirst",
        "TakeFirst",
        "DrawThree",
        "DrawSecond",
        "TakeSecond",
        "Share",
        "Keep",
        "Abandon",
    )
    for kind in kinds:
        of_kind = [move for move in moves if type(move).__name__ == kind]
        if of_kind:
            return chance.choice(of_kind)
    return moves[0]


WAYS_TO_PLAY = (first, last, by_chance, by_kind, failing, never_a_claim, never_the_end)


@every_variant
@pytest.mark.parametrize("choose", WAYS_TO_PLAY, ids=lambda choose: choose.__name__)
def test_every_game_ends(variant: Variant, choose: Callable[[State, Seat, list[Move], Random], Move]) -> None:
    """GEN-06: not a turn is played after ten idle ones for each player. What is not idle uses up something:
    cards, trains, tickets or technologies, of which cards alone come back, for trains or technologies."""
    state = dealt(*variant)
    chance = Random(0)
    seats = state.game.seat_count
    decisions = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            engine.apply(state, seat, choose(state, seat, engine.legal(state, seat), chance))
            assert state.turn - state.progress_turn <= IDLE_ROUNDS * seats
            decisions += 1
        assert decisions < 5_000 * seats, "far more than any game takes that does not go round in circles"
    assert state.result is not None
    assert state.result.reason == state.end_reason
    if state.game.board.routes:
        assert_trains_are_conserved(state)
