"""A game in no list: made of parts that there are, on a board of its own."""

from __future__ import annotations

import json
from typing import Final

from stellwerk_engine.boards.board_file import BoardFile, parse_board
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.scoring import ForTheMost, completed_tickets, longest_own_path, ticket_count
from stellwerk_engine.core.state import Game, RuleSet, TrainCards
from stellwerk_engine.core.turn import FewTrains
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.stations.build_station import BuildStation, fewest_stations
from stellwerk_engine.parts.tickets import DrawTickets, FirstTickets

ALPS: Final = RuleSet(
    id="alps",
    title="The Alps",
    rules_version=3,
    board="alps",
    board_features=frozenset({"map", "ferries", "tunnels"}),
    seat_counts=(2, 3),
    train_cards=TrainCards(dealt=5, locomotives_dealt=1, exchange_at=4),
    set_up=(FirstTickets(4, keep=2, shuffle_returned=True),),
    menu=(
        DrawCards(second_optional=True),
        ClaimRoute(open_tracks={2: {2: 1}}),
        DrawTickets(2, keep=1),
        BuildStation(2, points_left=3),
    ),
    last_round=FewTrains(3),
    bonuses=(ForTheMost("guide", 7, ticket_count),),
    tie_breaks=(longest_own_path, fewest_stations, completed_tickets),
)

CITIES: Final = ("bern", "brig", "chur", "como", "genf", "lugano", "luzern", "sion", "zug")
COLORS: Final = ("red", "blue", "gray", "green", "yellow", "gray", "black", "white", "orange", "purple")


def alps_board() -> BoardFile:
    """Return nine cities on a grid of three by three, with a double route, tunnels and a ferry."""
    cities = [
        {"id": city, "name": city.title(), "x": 100 + 300 * (number % 3), "y": 100 + 300 * (number // 3)}
        for number, city in enumerate(CITIES)
    ]
    pairs = [(at, at + 1) for at in range(9) if at % 3 < 2] + [(at, at + 3) for at in range(6)]
    routes: list[dict[str, object]] = [
        {
            "id": f"{CITIES[a]}-{CITIES[b]}",
            "a": CITIES[a],
            "b": CITIES[b],
            "length": 1 + number % 3,
            "color": COLORS[number % len(COLORS)],
        }
        for number, (a, b) in enumerate(pairs)
    ]
    routes[4]["tunnel"] = routes[9]["tunnel"] = 3
    routes[5] |= {"locomotives": 1}
    first = routes[0] | {"parallel": 2}
    routes[0] = first
    routes.append(first | {"id": f"{first['id']}-2", "color": "green"})
    tickets = [
        {"id": f"{CITIES[a]}-{CITIES[b]}", "a": CITIES[a], "b": CITIES[b], "points": 3 + number % 6}
        for number, (a, b) in enumerate((a, b) for a in range(9) for b in range(a + 2, 9, 3))
    ]
    board = {
        "format": "stellwerk-board/1",
        "id": "alps",
        "title": "The Alps",
        "provenance": "Made up for a test.",
        "cards_each_color": 8,
        "locomotives": 10,
        "trains": 14,
        "route_points": {"1": 1, "2": 2, "3": 4},
        "cities": cities,
        "routes": routes,
        "tickets": tickets,
    }
    return parse_board(json.dumps(board), "alps")


def alps(seats: int = 2) -> Game:
    return make_game(ALPS, alps_board(), seats)
