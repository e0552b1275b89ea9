"""The longest continuous path is exact on every network, and no network makes it slow."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.longest_path import Edge, longest_path, search

EFFORT_LIMIT = 60_000
"""Table entries and states: well below half a second."""


def walked(edges: Sequence[Edge]) -> int:
    """Follow the definition word for word: start anywhere, and use one unused edge after the other."""

    @cache
    def farthest(city: int, used_mask: int) -> int:
        longest = 0
        for position, (a, b, length) in enumerate(edges):
            if not used_mask >> position & 1 and city in (a, b):
                other = b if city == a else a
                longest = max(longest, length + farthest(other, used_mask | 1 << position))
        return longest

    return max((farthest(city, 0) for edge in edges for city in edge[:2]), default=0)


def networks(cities: int, most_edges: int, longest_edge: int = 6) -> st.SearchStrategy[list[Edge]]:
    """Draw networks. Several parts and parallel edges are common, and city numbers are neither small nor
    contiguous."""
    city = st.integers(0, cities - 1).map(lambda number: 17 * number - 20)
    pair = st.tuples(city, city).filter(lambda ends: ends[0] != ends[1])
    edge = st.tuples(pair, st.integers(1, longest_edge)).map(lambda drawn: (*drawn[0], drawn[1]))
    return st.lists(edge, max_size=most_edges)


@st.composite
def rings_with_tails(draw: st.DrawFn) -> list[Edge]:
    """Draw one or two rings, with common cities, joined or apart, and tails: the networks on which the
    shortcuts could fail."""
    ring_cities = st.lists(st.integers(0, 6), min_size=2, max_size=4, unique=True)
    pairs = [*ring(*draw(ring_cities)), *draw(st.one_of(st.just([]), ring_cities.map(lambda it: ring(*it))))]
    if draw(st.booleans()):
        pairs.append((pairs[0][0], pairs[-1][1]))
    length = st.integers(1, 9)
    edges = [(a, b, draw(length)) for a, b in pairs if a != b]
    for tail in range(draw(st.integers(0, 3))):
        edges.append((draw(st.sampled_from(edges))[0], 10 + tail, draw(length)))
    return draw(st.permutations(edges))


def units(pairs: Sequence[tuple[int, int]]) -> list[Edge]:
    return [(a, b, 1) for a, b in pairs]


def ring(*cities: int) -> list[tuple[int, int]]:
    return list(pairwise((*cities, cities[0])))


def complete_graph(size: int) -> list[Edge]:
    return units(list(combinations(range(size), 2)))


def grid(height: int, width: int, diagonals: bool = False) -> list[Edge]:
    steps = [(0, 1), (1, 0), (1, 1)] if diagonals else [(0, 1), (1, 0)]
    return units(
        [
            (row * width + column, (row + down) * width + column + right)
            for row in range(height)
            for column in range(width)
            for down, right in steps
            if row + down < height and column + right < width
        ]
    )


def honeycomb(height: int, width: int) -> list[Edge]:
    """Return a brick wall: every inner city has three routes, so a path leaves out about a third."""
    return [
        (a, b, length)
        for a, b, length in grid(height, width)
        if b == a + 1 or (a // width + a % width) % 2 == 0
    ]


def densest_part(board: str, edge_count: int, longest_edge: int) -> list[Edge]:
    """Return short routes of a shipped board, each time the one with most ends in cities that are already
    there."""
    file = shipped_board(board)
    number = {city.id: index for index, city in enumerate(file.cities)}
    routes = sorted(
        {
            (number[route.a], number[route.b], route.length)
            for route in file.routes
            if route.length <= longest_edge and route.a in number and route.b in number
        }
    )
    degree = [0] * len(number)
    for a, b, _ in routes:
        degree[a] += 1
        degree[b] += 1
    reached = {max(range(len(degree)), key=degree.__getitem__)}
    chosen: list[Edge] = []
    while len(chosen) < edge_count:
        near = [edge for edge in routes if edge not in chosen and not reached.isdisjoint(edge[:2])]
        if not near:
            break
        best = max(
            near, key=lambda edge: (len(reached.intersection(edge[:2])), degree[edge[0]] + degree[edge[1]])
        )
        chosen.append(best)
        reached.update(best[:2])
    return chosen


@settings(max_examples=400, deadline=None)
@given(networks(cities=7, most_edges=9))
def test_it_is_what_walking_in_all_ways_finds(edges: list[Edge]) -> None:
    assert longest_path(edges) == walked(edges)


@settings(max_examples=200, deadline=None)
@given(networks(cities=4, most_edges=9, longest_edge=2))
def test_it_is_what_walking_in_all_ways_finds_in_dense_networks(edges: list[Edge]) -> None:
    assert longest_path(edges) == walked(edges)


@settings(max_examples=400, deadline=None)
@given(rings_with_tails())
def test_it_is_what_walking_in_all_ways_finds_in_rings_with_tails(edges: list[Edge]) -> None:
    assert longest_path(edges) == walked(edges)


@pytest.mark.parametrize(
    ("edges", "length"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([(3, 8, 5)], 5, id="one route"),
        pytest.param([(0, 1, 2), (1, 2, 3), (2, 3, 4)], 9, id="a line"),
        pytest.param([(0, 1, 6), (0, 2, 3), (0, 3, 4)], 10, id="a star: the two longest rays"),
        pytest.param([(0, 1, 1), (1, 2, 1), (1, 3, 5), (3, 4, 1), (3, 5, 4)], 10, id="a tree"),
        pytest.param([(0, 1, 9), (2, 3, 4), (3, 4, 4)], 9, id="two parts: the longer one, not the sum"),
        pytest.param([(0, 1, 2), (0, 1, 3)], 5, id="a double route"),
        pytest.param([(0, 1, 2), (0, 1, 3), (0, 1, 4)], 9, id="a triple route"),
        pytest.param(units(ring(0, 1, 2, 3, 4)), 5, id="a ring"),
        pytest.param(units(ring(0, 1, 2) + ring(0, 3, 4)), 6, id="a figure eight"),
        pytest.param(units(ring(0, 1, 2) + ring(3, 4, 5)), 3, id="two rings apart"),
        pytest.param(units([*ring(0, 1, 2), (0, 3), *ring(3, 4, 5)]), 7, id="a dumbbell"),
        pytest.param(units([*ring(0, 1, 2, 3), (0, 4)]), 5, id="a ring with a tail"),
        pytest.param(units([*ring(0, 1, 2, 3), (0, 4), (0, 5)]), 6, id="a ring with two tails at a city"),
        pytest.param(units([*ring(0, 1, 2, 3), (0, 4), (1, 5)]), 5, id="tails at neighbors: the long way"),
        pytest.param([*units(ring(0, 1, 2, 3)), (0, 4, 3), (2, 5, 3)], 8, id="tails at opposite cities"),
        pytest.param([(0, 1, 1), (1, 2, 1), (2, 0, 1), (0, 3, 9), (1, 4, 9)], 20, id="long tails"),
        pytest.param([(0, 1, 1), (1, 2, 1), (0, 2, 5), (1, 3, 9), (1, 4, 9)], 25, id="around and back"),
        pytest.param(
            [*units(ring(2, 3, 0, 1)), (0, 4, 3), (1, 5, 3)], 9, id="long tails at neighbors: the long way"
        ),
        pytest.param(
            [(0, 1, 1), (1, 2, 6), (2, 0, 1), (1, 3, 5), (2, 4, 5)], 16, id="along one side of a ring"
        ),
        pytest.param(
            [*units(ring(0, 1, 2)), (1, 3, 9), (1, 4, 9), (1, 5, 1), (5, 6, 3), (6, 7, 3), (7, 5, 3)],
            22,
            id="two tails at a ring, and another ring: only one tail and both rings hang together",
        ),
        pytest.param(complete_graph(4), 5, id="K4: four odd cities, one route is left out"),
        pytest.param(complete_graph(5), 10, id="K5: a closed tour of all routes"),
        pytest.param(complete_graph(10), 41, id="K10: ten odd cities, four routes are left out"),
        pytest.param(
            units([(0, 1), (0, 1), (0, 2), (0, 2), (0, 3), (1, 3), (2, 3)]), 6, id="the bridges of Königsberg"
        ),
        pytest.param(
            units([(9, 0), (9, 3), (9, 6), *ring(0, 1, 2), *ring(3, 4, 5), *ring(6, 7, 8)]),
            8,
            id="three rings around a city: two of them and what joins them",
        ),
        pytest.param(grid(3, 3), 10, id="a grid: four odd cities, two of them joined by two routes"),
        pytest.param(
            units([*ring(0, 1, 2, 3, 4), *ring(5, 7, 9, 6, 8), (0, 5), (1, 6), (2, 7), (3, 8), (4, 9)]),
            11,
            id="the Petersen graph: ten odd cities",
        ),
    ],
)
def test_a_known_network(edges: list[Edge], length: int) -> None:
    assert longest_path(edges) == length


@settings(max_examples=60, deadline=None)
@given(networks(cities=8, most_edges=12))
def test_it_is_what_walking_in_all_ways_finds_in_longer_networks(edges: list[Edge]) -> None:
    assert longest_path(edges) == walked(edges)


@settings(max_examples=150, deadline=None)
@given(networks(cities=12, most_edges=22), st.randoms(use_true_random=False))
def test_names_order_and_direction_do_not_matter(edges: list[Edge], random: Random) -> None:
    cities = sorted({city for edge in edges for city in edge[:2]})
    names = dict(zip(cities, random.sample(range(-100, 100), len(cities)), strict=True))
    renamed = [
        (names[a], names[b], length) if random.random() < 0.5 else (names[b], names[a], length)
        for a, b, length in edges
    ]
    random.shuffle(renamed)
    assert longest_path(renamed) == longest_path(edges)


@settings(max_examples=150, deadline=None)
@given(networks(cities=10, most_edges=18), st.sets(st.integers(0, 17)))
def test_a_city_in_the_middle_of_a_route_does_not_matter(edges: list[Edge], split: set[int]) -> None:
    halves: list[Edge] = []
    for position, (a, b, length) in enumerate(edges):
        if position in split and length > 1:
            halves += [(a, 1000 + position, 1), (1000 + position, b, length - 1)]
        else:
            halves.append((a, b, length))
    assert longest_path(halves) == longest_path(edges)


@settings(max_examples=150, deadline=None)
@given(networks(cities=10, most_edges=20))
def test_a_further_route_never_shortens_the_path(edges: list[Edge]) -> None:
    lengths = [longest_path(edges[:count]) for count in range(len(edges) + 1)]
    assert lengths == sorted(lengths)


def test_a_network_without_rings_takes_no_search() -> None:
    assert search([(city // 2, city, city) for city in range(2, 26)]).effort == 0


@pytest.mark.parametrize(
    ("edges", "length"),
    [
        pytest.param(grid(5, 6), 43, id="a grid"),
        pytest.param(grid(6, 5), 43, id="the grid turned"),
        pytest.param(grid(4, 6, diagonals=True), 53, id="a grid with diagonals"),
        pytest.param(grid(7, 8), 87, id="a grid for 100 trains"),
        pytest.param(honeycomb(5, 8), 39, id="a honeycomb"),
        pytest.param(honeycomb(4, 10), 39, id="a long honeycomb"),
        pytest.param(complete_graph(10), 41, id="K10"),
        pytest.param(
            units([(hub, 3 + city) for hub in range(3) for city in range(18)]), 38, id="three hubs, 18 cities"
        ),
        pytest.param(
            [edge for edge in complete_graph(6) for _ in range(3)], 43, id="three routes between all of six"
        ),
    ],
)
def test_a_network_built_to_be_slow_is_not(edges: list[Edge], length: int) -> None:
    result = search(edges)
    assert result.length == length
    assert result.effort < EFFORT_LIMIT


@pytest.mark.parametrize(
    ("board", "edge_count", "longest_edge"), [("united_kingdom", 35, 2), ("team_asia", 48, 3), ("usa", 45, 6)]
)
def test_the_densest_network_of_a_shipped_board_is_not_slow(
    board: str, edge_count: int, longest_edge: int
) -> None:
    edges = densest_part(board, edge_count, longest_edge)
    assert len(edges) == edge_count
    assert 0 < search(edges).effort < EFFORT_LIMIT


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.sampled_from(grid(7, 7, diagonals=True)), min_size=40, max_size=54),
    st.lists(st.integers(1, 9), min_size=9, max_size=9),
)
def test_no_planar_network_of_54_routes_is_slow(edges: set[Edge], lengths: list[int]) -> None:
    weighted = [(a, b, lengths[(a + 2 * b) % 9]) for a, b, _ in sorted(edges)]
    assert search(weighted).effort < EFFORT_LIMIT
