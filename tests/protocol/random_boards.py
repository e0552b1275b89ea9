"""Boards that nobody drew, for games that must be played alike on every board.

A board depends on its game and its label alone. It has what the rules of its game speak of, and what the
shipped boards lack: triple routes in every game, ferries with a color, few cards.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.parts.long_tickets import LongTickets
from stellwerk_engine.parts.tickets import FirstTickets

Json = dict[str, Any]  # Any: a JSON value

COLORS: Final = ("purple", "blue", "orange", "white", "green", "yellow", "black", "red")
LANDS: Final = ("wales", "ireland", "france", "scotland", "england", "england", "england")
LONG: Final = 5
LONGEST: Final = 6
GROUP: Final = "pair"


def random_board(game: str, label: str) -> Json:
    chance = Random(label)
    count = chance.randint(8, 14)
    cities: list[Json] = [{"id": f"c{city}", "name": f"C{city}"} for city in range(count)]
    routes = [track for a, b in _edges(chance, count) for track in _tracks(chance, game, a, b)]
    if _has(game, "regions"):
        for city in cities:
            city["region"] = chance.choice(LANDS)
        cities.append({"id": "far", "name": "Far", "region": "overseas"})
        color = chance.choice(("gray", "red"))
        routes.append({"id": "far", "a": "c0", "b": "far", "length": 10, "color": color, "locomotives": 3})
    chance.shuffle(routes)
    tickets = _tickets(chance, game, count)
    lengths = sorted({route["length"] for route in routes})
    board: Json = {
        "format": "stellwerk-board/1",
        "id": "random",
        "title": "Random",
        "provenance": "Drawn by chance.",
        "cards_each_color": chance.choice((4, 5, 8, 12)),
        "locomotives": chance.choice((5, 6, 14, 20)),
        "trains": chance.choice((3, 10, 20, 45)),
        "route_points": {str(length): chance.randint(1, 40) for length in lengths},
        "cities": cities,
        "routes": routes,
        "tickets": tickets,
    }
    if any(ticket["b"] == GROUP for ticket in tickets):
        board["city_groups"] = {GROUP: ["c1", "c2"]}
    return board


def _edges(chance: Random, count: int) -> list[tuple[int, int]]:
    """Return pairs of cities that connect all of them."""
    edges = [(chance.randrange(city), city) for city in range(1, count)]
    while len(edges) < 2 * count:
        a, b = sorted(chance.sample(range(count), 2))
        if (a, b) not in edges:
            edges.append((a, b))
    return edges


def _tracks(chance: Random, game: str, a: int, b: int) -> list[Json]:
    length = chance.randint(1, LONGEST)
    parallel = chance.choice((1, 1, 1, 2, 2, 3))
    shared: Json = {"length": length}
    if parallel > 1:
        shared["parallel"] = parallel
        if chance.random() < 0.3:
            shared["always_open"] = True
    if _has(game, "tunnels") and chance.random() < 0.4:
        shared["tunnel"] = chance.choice((1, 3, 5))
    tracks: list[Json] = []
    for number in range(parallel):
        color = chance.choice((*COLORS, *["gray"] * 6))
        track: Json = {"id": f"c{a}-c{b}-{number}", "a": f"c{a}", "b": f"c{b}", "color": color, **shared}
        if _has(game, "ferries") and "tunnel" not in shared and chance.random() < 0.3:
            track["locomotives"] = chance.randint(1, min(length, 4))
        tracks.append(track)
    return tracks


def _tickets(chance: Random, game: str, count: int) -> list[Json]:
    tickets: list[Json] = []
    for number in range(_dealt_tickets(game) + chance.randint(1, 7)):
        a, b = chance.sample(range(count), 2)
        to_group = a not in (1, 2) and chance.random() < 0.2
        end = GROUP if to_group else f"c{b}"
        tickets.append({"id": f"t{number}", "a": f"c{a}", "b": end, "points": chance.randint(1, 22)})
    if _has(game, "long_tickets"):
        for ticket in tickets[:LONG]:
            ticket["long"] = True
    chance.shuffle(tickets)
    return tickets


def _has(game: str, feature: str) -> bool:
    return feature in RULE_SETS[game].board_features


def _dealt_tickets(game: str) -> int:
    """Return how many tickets the set-up deals to the most players (BOARDS.md, Which game takes which
    board)."""
    rules = RULE_SETS[game]
    dealt = sum(part.number for part in rules.set_up if isinstance(part, FirstTickets | LongTickets))
    return max(rules.seat_counts) * dealt
