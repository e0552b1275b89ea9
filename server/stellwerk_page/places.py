"""Where the cities of a board lie: where its file puts them, or else where its routes do.

The law: the same board, the same places. Without coordinates each pair of cities wants to be as far apart as
the shortest path between them is long, and the places give in to all of these wishes as well as they can.
"""

import cmath
import math
from collections.abc import Sequence
from typing import Final

from stellwerk_engine.boards.board_file import BoardFile

SCALE: Final = (
    1.8  # pixels for a thousandth of the board's longer side: the shortest space stays longer than wide
)
SPACE: Final = 46.0  # pixels for a space, where a board has no coordinates
ENDS: Final = 0.6  # spaces that the two cities of a route take
ROUNDS: Final = 60  # of giving in: more change nothing that one could see
GOLDEN: Final = 2.399963  # an angle that does not repeat itself


def places_of(board: BoardFile) -> dict[str, complex]:
    """Return the place of each city in pixels."""
    if has_places(board):
        return {city.id: SCALE * complex(city.x or 0, city.y or 0) for city in board.cities}
    wishes = _measure_distances(board)
    places = _turn_upright(_move_as_wished(_first_places(wishes), wishes))
    return {city.id: SPACE * place for city, place in zip(board.cities, places, strict=True)}


def has_places(board: BoardFile) -> bool:
    """Say whether the file has the places of its cities."""
    return all(city.x is not None for city in board.cities)


def _measure_distances(board: BoardFile) -> list[list[float]]:
    """Return the length of the shortest path between each two cities, in spaces."""
    numbers = {city.id: number for number, city in enumerate(board.cities)}
    count = len(numbers)
    distances = [[math.inf] * count for _ in range(count)]
    for number in range(count):
        distances[number][number] = 0.0
    for route in board.routes:
        a, b = numbers[route.a], numbers[route.b]
        length = min(distances[a][b], route.length + ENDS)
        distances[a][b] = distances[b][a] = length
    for middle in distances:
        by_way = list(middle)
        for number, row in enumerate(distances):
            there = by_way[number]
            distances[number] = [min(one, there + other) for one, other in zip(row, by_way, strict=True)]
    return distances


def _first_places(distances: Sequence[Sequence[float]]) -> list[complex]:
    """Spread the cities between two that lie far apart, and away from both; none are at one place."""
    west = distances[0].index(max(distances[0]))
    east = distances[west].index(max(distances[west]))
    sums = [min(one, other) for one, other in zip(distances[west], distances[east], strict=True)]
    south = sums.index(max(sums))
    return [
        complex(distances[west][city] - distances[east][city], -distances[south][city])
        + 0.3 * cmath.exp(1j * GOLDEN * city)
        for city in range(len(distances))
    ]


def _move_as_wished(places: list[complex], wishes: Sequence[Sequence[float]]) -> list[complex]:
    """Move every city to the mean of where the others want it, near ones counting more (SMACOF)."""
    for _ in range(ROUNDS):
        for city, wanted in enumerate(wishes):
            here = places[city]
            total, weights = 0j, 0.0
            for other, distance in enumerate(wanted):
                if distance > 0.0:
                    weight = 1.0 / (distance * distance)
                    away = here - places[other]
                    total += weight * (places[other] + distance * away / (abs(away) or 1.0))
                    weights += weight
            places[city] = total / weights
    return places


def _turn_upright(places: Sequence[complex]) -> list[complex]:
    """Turn the places so that they are broader than high, and begin at 0."""
    center = sum(places) / len(places)
    spread = sum((place - center) ** 2 for place in places)
    turn = cmath.exp(-0.5j * cmath.phase(spread)) if spread else 1.0
    turned = [(place - center) * turn for place in places]
    corner = complex(min(place.real for place in turned), min(place.imag for place in turned))
    return [place - corner for place in turned]
