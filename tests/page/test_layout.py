"""One layout for every picture of a board: the page gets as data what `boards show --svg` draws."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from itertools import combinations

import pytest

from stellwerk_engine.boards.board_file import SHIPPED, BoardFile, format_board, parse_board, shipped_board
from stellwerk_page.drawing import draw_board
from stellwerk_page.layout import can_be_drawn, lay_out, layout_data
from stellwerk_page.places import places_of

WITH_A_MAP = [id for id in SHIPPED if shipped_board(id).routes]
# Whoever changes a drawing on purpose changes these, after a look at it.
DRAWINGS = {
    "usa": "234bba5f9aea3a60",
    "team_asia": "dca3ba84f3825d6e",
    "united_kingdom": "dab46750147ed75d",
    "europe": "8086ec62199c8c3d",
}
POLYGON = re.compile(r'<polygon points="([^"]+)"')


def without_coordinates(board: BoardFile) -> BoardFile:
    file = json.loads(format_board(board))
    for city in file["cities"]:
        del city["x"], city["y"]
    return parse_board(json.dumps(file), "board.json")


@pytest.mark.parametrize("id", WITH_A_MAP)
def test_the_drawings_of_the_shipped_boards_stay_as_they_are(id: str) -> None:
    assert sha256(draw_board(shipped_board(id)).encode()).hexdigest()[:16] == DRAWINGS[id]


@pytest.mark.parametrize("id", WITH_A_MAP)
def test_the_data_has_the_spaces_that_are_drawn(id: str) -> None:
    """The corners of every space of the data are points of a space of the drawing, and none is missing."""
    board = shipped_board(id)
    data = json.loads(json.dumps(layout_data(board)))
    left, top, _, _ = lay_out(board).frame
    drawn = {
        frozenset(tuple(float(number) for number in point.split(",")) for point in outline.split())
        for outline in POLYGON.findall(draw_board(board))
    }
    spaces = {
        frozenset(zip(outline[::2], outline[1::2], strict=True))
        for route in data["routes"].values()
        for outline in route["spaces"]
    }
    assert len(spaces) == len(drawn) == sum(route.length for route in board.routes)
    corners = {point for outline in drawn for point in outline}
    assert all(point in corners for space in spaces for point in space)
    assert data["frame"][:2] == [pytest.approx(left, abs=0.06), pytest.approx(top, abs=0.06)]


@pytest.mark.parametrize("id", WITH_A_MAP)
def test_the_data_has_all_of_a_board_and_little_more(id: str) -> None:
    board = shipped_board(id)
    data = layout_data(board)
    assert set(data["cities"]) == {city.id for city in board.cities}  # type: ignore[arg-type]  # a dict
    assert set(data["names"]) == {city.id for city in board.cities if not city.junction}  # type: ignore[arg-type]
    assert list(data["routes"]) == [route.id for route in board.routes]  # type: ignore[arg-type]
    text = json.dumps(data, separators=(",", ":"))
    assert not re.search(r"\d\.\d\d", text)
    assert len(text) < 40_000


@pytest.mark.parametrize("id", WITH_A_MAP)
def test_no_two_names_lie_on_one_another_small_or_large(id: str) -> None:
    data = json.loads(json.dumps(layout_data(shipped_board(id))))
    for names in (data["names"], data["large_names"]):
        for (*_, left, top, right, bottom), (*_, west, north, east, south) in combinations(names.values(), 2):
            assert right <= west or east <= left or bottom <= north or south <= top


def test_a_board_without_coordinates_gets_places_by_its_routes() -> None:
    """The cities of the base game lie apart, and those with a short route between them closer than others."""
    board = without_coordinates(shipped_board("usa"))
    assert can_be_drawn(board)
    places = places_of(board)
    assert min(abs(places[a] - places[b]) for a, b in combinations(places, 2)) > 25
    neighbors = [abs(places[route.a] - places[route.b]) / (route.length + 1) for route in board.routes]
    assert max(neighbors) < 4 * min(neighbors)
    assert "The file has no coordinates" in draw_board(board)
    assert layout_data(board)["made_up"]
    assert "made_up" not in layout_data(shipped_board("usa"))
    assert layout_data(board) == layout_data(board)


def test_a_board_without_routes_has_no_layout() -> None:
    assert not can_be_drawn(shipped_board("card_game"))
