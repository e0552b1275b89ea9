"""A board file is loaded whole or refused with the place of its first fault."""

import copy
import hashlib
import itertools
import json
import os
import pickle
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stellwerk_engine.boards import located_json
from stellwerk_engine.boards.board_file import (
    BOUNDS,
    COLORS,
    SHIPPED,
    BoardError,
    BoardFile,
    City,
    Route,
    Ticket,
    board_content,
    format_board,
    load_board,
    parse_board,
    shipped_board,
)
from stellwerk_engine.boards.located_json import Document, JsonError, Value, member_field, parsed, read_json
from stellwerk_protocol import boards
from tests.protocol.test_schemas import faults, validator
from tests.tools import demand

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDER = REPOSITORY / "server/stellwerk_engine/boards"
PAGE = (REPOSITORY / "protocol/BOARDS.md").read_text(encoding="utf-8")
EXAMPLE = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0]

Content: TypeAlias = dict[str, Any]  # a JSON object that tests edit at will
Edit: TypeAlias = Callable[[Content], object]

MAP: Content = {
    "format": "stellwerk-board/1",
    "id": "island",
    "title": "The island",
    "provenance": "Made up.",
    "cards_each_color": 6,
    "locomotives": 4,
    "trains": 12,
    "route_points": {"1": 1, "2": 2, "3": 4},
    "cities": [
        {"id": "north", "name": "North", "x": 10, "y": 0.5, "region": "hills"},
        {"id": "east", "name": "East", "x": 20, "y": 5},
        {"id": "south", "name": "South", "x": 10, "y": 10},
        {"id": "fork", "name": "Fork", "x": 5, "y": 5, "junction": True},
    ],
    "city_groups": {"coast": ["north", "south"]},
    "routes": [
        {"id": "north-east", "a": "north", "b": "east", "length": 2, "color": "red"},
        {"id": "east-south-1", "a": "east", "b": "south", "length": 1, "color": "gray", "parallel": 2},
        {"id": "east-south-2", "a": "south", "b": "east", "length": 1, "color": "gray", "parallel": 2},
        {"id": "fork-south", "a": "fork", "b": "south", "length": 3, "color": "blue", "locomotives": 1},
        {"id": "fork-south-tunnel", "a": "fork", "b": "south", "length": 2, "color": "gray", "tunnel": 3},
    ],
    "tickets": [
        {"id": "north-south", "a": "north", "b": "south", "points": 3},
        {"id": "east-coast", "a": "east", "b": "coast", "points": 2, "doubtful": True},
        {"id": "north-east", "a": "north", "b": "east", "points": 9, "long": True},
    ],
}

CARDS: Content = {
    "format": "stellwerk-board/1",
    "id": "cards",
    "title": "Cards",
    "provenance": "Made up.",
    "cards_each_color": 6,
    "locomotives": 4,
    "cities": [{"id": "north", "name": "North"}, {"id": "south", "name": "South"}],
    "tickets": [
        {"id": "north-south-1", "a": "north", "b": "south", "points": 3, "cards": {"red": 1, "blue": 6}},
        {"id": "north-south-2", "a": "south", "b": "north", "points": 3, "cards": {"red": 1}},
    ],
    "big_cities": {"north": 8},
}


def refused(text: bytes | str) -> BoardError:
    with pytest.raises(BoardError) as raised:
        parse_board(text, "my.json")
    return raised.value


def edited(content: Content, edit: Edit) -> Content:
    changed = copy.deepcopy(content)
    edit(changed)
    return changed


def keeps_to_schema(content: Content) -> bool:
    return not faults(validator("Board"), content)


def put(*path: str | int, value: object) -> Edit:
    """Return an edit that puts a value at a path."""

    def edit(content: Content) -> None:
        place: Any = content
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return edit


def remove(*path: str | int) -> Edit:
    def edit(content: Content) -> None:
        place: Any = content
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return edit


def reverse(*path: str) -> Edit:
    def edit(content: Content) -> None:
        place: Any = content
        for step in path:
            place = place[step]
        place.reverse()

    return edit


def move_cities_to_the_end(content: Content) -> None:
    content["cities"] = content.pop("cities")


def both(*edits: Edit) -> Edit:
    def edit(content: Content) -> None:
        for each in edits:
            each(content)

    return edit


def add_islands(content: Content) -> None:
    for id in ("far", "near"):
        content["cities"].append({"id": id, "name": id.title(), "x": 1, "y": 1})
    content["routes"].append({"id": "far-near", "a": "far", "b": "near", "length": 1, "color": "red"})


# The shipped boards


def test_every_file_in_the_folder_is_shipped_under_its_id() -> None:
    assert {file.stem for file in FOLDER.glob("*.json")} == set(SHIPPED)
    assert [shipped_board(id).id for id in SHIPPED] == list(SHIPPED)


@pytest.mark.parametrize("id", SHIPPED)
def test_a_shipped_file_is_written_as_the_formatter_writes_it(id: str) -> None:
    assert (FOLDER / f"{id}.json").read_text(encoding="utf-8") == format_board(shipped_board(id))


@pytest.mark.parametrize(
    ("id", "cities", "tracks", "spaces", "tickets", "points", "deck", "trains"),
    [
        ("usa", 36, 100, 309, 30, 349, 110, 45),
        ("card_game", 34, 0, 0, 46, 581, 96, 0),
        ("team_asia", 46, 126, 289, 60, 630, 110, 27),
        ("united_kingdom", 49, 125, 274, 57, 382, 116, 35),
        ("europe", 47, 101, 300, 46, 444, 110, 45),
    ],
)
def test_a_shipped_board_has_its_totals(
    id: str, cities: int, tracks: int, spaces: int, tickets: int, points: int, deck: int, trains: int
) -> None:
    """USA-01, CARD-01, ASIA-02, ASIA-09, UK-01, UK-06, EUR-01."""
    board = shipped_board(id)
    assert len(board.cities) == cities
    assert len(board.routes) == tracks
    assert sum(route.length for route in board.routes) == spaces
    assert len(board.tickets) == tickets
    assert sum(ticket.points for ticket in board.tickets) == points
    assert len(COLORS) * board.cards_each_color + board.locomotives == deck
    assert board.trains == trains


def test_only_hong_kong_canton_is_always_open() -> None:
    """ASIA-12."""
    open_routes = {route.id for id in SHIPPED for route in shipped_board(id).routes if route.always_open}
    assert open_routes == {"canton-hong_kong-red", "canton-hong_kong-white"}


def test_the_two_routes_between_penzance_and_plymouth_are_no_double_route() -> None:
    """UK-33."""
    routes = {route.id: route for route in shipped_board("united_kingdom").routes}
    land, sea = routes["penzance-plymouth"], routes["penzance-plymouth-ferry"]
    assert (land.length, land.color, land.locomotives, land.parallel) == (2, "black", 0, 1)
    assert (sea.length, sea.color, sea.locomotives, sea.parallel) == (3, "gray", 1, 1)


def test_doubtful_facts_are_marked() -> None:
    asia = shipped_board("team_asia")
    assert sum(route.doubtful for route in asia.routes) == 5
    assert all(ticket.doubtful for ticket in asia.tickets)
    for id in set(SHIPPED) - {"team_asia"}:
        board = shipped_board(id)
        assert not any(route.doubtful for route in board.routes)
        assert not any(ticket.doubtful for ticket in board.tickets)


def test_a_junction_is_on_no_shipped_ticket() -> None:
    """ASIA-25."""
    asia = shipped_board("team_asia")
    junctions = {city.id for city in asia.cities if city.junction}
    assert len(junctions) == 3
    assert not junctions & {end for ticket in asia.tickets for end in (ticket.a, ticket.b)}


def test_the_regions_have_the_cities_that_the_concessions_speak_of() -> None:
    """UK-11, UK-12, UK-13."""
    regions = Counter(city.region for city in shipped_board("united_kingdom").cities)
    assert regions["wales"] == 5
    assert regions["ireland"] == 10
    assert regions["scotland"] == 10
    assert regions["france"] == 2


def test_a_shipped_board_is_read_once() -> None:
    assert shipped_board("usa") is shipped_board("usa")


def test_an_unknown_shipped_board_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(BoardError, match=r'^usb: no such board; .*; did you mean "usa"\?$'):
        shipped_board("usb")


# What a file says


def test_a_board_is_what_its_file_says() -> None:
    board = parse_board(json.dumps(MAP), "my.json")
    assert (board.file, board.id, board.title, board.provenance) == (
        "my.json",
        "island",
        "The island",
        "Made up.",
    )
    assert (board.trains, board.cards_each_color, board.locomotives) == (12, 6, 4)
    assert board.route_points == {1: 1, 2: 2, 3: 4}
    assert board.city_groups == {"coast": ("north", "south")}
    assert board.cities[0] == City("north", "North", 10.0, 0.5, "hills", junction=False)
    assert board.cities[3] == City("fork", "Fork", 5.0, 5.0, None, junction=True)
    assert board.routes[1] == Route("east-south-1", "east", "south", 1, "gray", parallel=2)
    assert board.routes[3] == Route("fork-south", "fork", "south", 3, "blue", locomotives=1)
    assert board.routes[4] == Route("fork-south-tunnel", "fork", "south", 2, "gray", tunnel=3)
    assert board.tickets[1] == Ticket("east-coast", "east", "coast", 2, doubtful=True)
    assert board.tickets[2] == Ticket("north-east", "north", "east", 9, long=True)


def test_a_board_without_routes_has_cards_on_its_tickets() -> None:
    board = parse_board(json.dumps(CARDS), "my.json")
    assert (board.trains, board.routes, board.route_points) == (0, (), {})
    assert board.tickets[0].cards == {"red": 1, "blue": 6}
    assert board.big_cities == {"north": 8}


@pytest.mark.parametrize("content", [MAP, CARDS])
def test_content_and_file_say_the_same(content: Content) -> None:
    board = parse_board(json.dumps(content), "my.json")
    assert board_content(board) == content
    assert parse_board(format_board(board), "my.json") == board
    assert parse_board(format_board(board, ascii_only=True), "my.json") == board


def test_the_digest_does_not_depend_on_formatting() -> None:
    digest = parse_board(json.dumps(MAP), "my.json").digest
    backwards = dict(reversed(MAP.items()))
    said_twice = edited(
        MAP,
        both(
            put("routes", 0, "parallel", value=1),
            put("tickets", 0, "doubtful", value=False),
            put("tickets", 0, "long", value=False),
            put("cities", 0, "x", value=10.0),
        ),
    )
    for same in (
        json.dumps(MAP, indent=3),
        json.dumps(backwards),
        json.dumps(said_twice),
        "\r\n" + json.dumps(MAP),
    ):
        assert parse_board(same, "other.json").digest == digest


@pytest.mark.parametrize("id", SHIPPED)
def test_the_digest_is_the_hash_of_the_canonical_content(id: str) -> None:
    content = json.loads((FOLDER / f"{id}.json").read_bytes())
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert shipped_board(id).digest == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    "edit",
    [
        put("title", value="An island"),
        put("cities", 0, "x", value=10.01),
        put("routes", 0, "color", value="blue"),
        put("tickets", 0, "points", value=4),
        reverse("tickets"),
        reverse("city_groups", "coast"),
    ],
)
def test_the_digest_depends_on_every_fact(edit: Edit) -> None:
    changed = parse_board(json.dumps(edited(MAP, edit)), "my.json")
    assert changed.digest != parse_board(json.dumps(MAP), "my.json").digest


def test_a_board_survives_pickling_and_copying() -> None:
    board = shipped_board("card_game")
    assert pickle.loads(pickle.dumps(board)) == copy.deepcopy(board) == board
    assert hash(pickle.loads(pickle.dumps(board))) == hash(board)


# Faults of single records

FAULTS: list[tuple[Edit, str, str]] = [
    (put("extra", value=1), "extra", 'unknown field "extra"'),
    (put("title", value=None), "title", "found null"),
    (put("title", value=" The island"), "title", 'found " The island", 11 characters'),
    (put("title", value="The\nisland"), "title", 'found "The\\nisland"'),
    (put("title", value="The \u202eisland"), "title", "none of them a control character"),
    (put("title", value="x" * 41), "title", "41 characters"),
    (put("title", value=""), "title", "expected 1 to 40 characters"),
    (put("title", value=["x"]), "title", "found a list"),
    (put("id", value="Island"), "id", 'found "Island"'),
    (put("id", value="an island"), "id", 'found "an island"'),
    (put("id", value="island\n"), "id", 'found "island\\n"'),
    (put("provenance", value="x" * 401), "provenance", "401 characters"),
    (remove("trains"), "", 'missing field "trains"'),
    (remove("routes"), "", 'missing field "routes"'),
    (remove("tickets"), "", 'missing field "tickets"'),
    (put("trains", value=True), "trains", "expected a whole number from 1 to 100, found true"),
    (put("trains", value=12.0), "trains", "expected a whole number from 1 to 100, found 12.0"),
    (put("trains", value="12"), "trains", 'found "12"'),
    (put("trains", value=0), "trains", "found 0"),
    (put("cards_each_color", value=0), "cards_each_color", "expected a whole number from 1 to 60, found 0"),
    (put("route_points", value=[1]), "route_points", "expected an object, found a list"),
    (put("route_points", value={}), "route_points", "expected at least one entry"),
    (put("route_points", "0", value=1), "route_points.0", 'from "1" to "12", found "0"'),
    (put("route_points", "01", value=1), "route_points.01", 'found "01"'),
    (put("route_points", "²", value=1), 'route_points["²"]', 'found "²"'),
    (put("route_points", "2", value=201), "route_points.2", "found 201"),
    (remove("route_points", "3"), "routes[3].length", '"route_points" has no entry for length 3'),
    (put("cities", value={}), "cities", "expected a list, found an object"),
    (put("cities", 0, value=7), "cities[0]", "expected an object, found 7"),
    (put("cities", 0, "name", value="N\x7f"), "cities[0].name", "control character"),
    (put("cities", 0, "x", value=-0.01), "cities[0].x", "from 0 to 1000"),
    (put("cities", 0, "x", value=1000.01), "cities[0].x", "from 0 to 1000"),
    (put("cities", 0, "x", value=0.125), "cities[0].x", "at most two decimals, found 0.125"),
    (put("cities", 0, "x", value=True), "cities[0].x", "found true"),
    (remove("cities", 0, "x"), "cities[0]", "expected x and y"),
    (
        both(
            *(remove("cities", city, name) for city in range(4) for name in "xy"),
            put("cities", 0, "x", value=1),
        ),
        "cities[0]",
        "expected x and y",
    ),
    (put("cities", 0, "junction", value=1), "cities[0].junction", "expected true or false, found 1"),
    (put("cities", 0, "region", value="The Hills"), "cities[0].region", 'found "The Hills"'),
    (put("cities", 1, "id", value="north"), "cities[1].id", 'duplicate id "north", first on line'),
    (put("city_groups", value={}), "city_groups", "expected at least one entry"),
    (put("city_groups", "coast", value=[]), "city_groups.coast", "expected at least 1 entry, found 0"),
    (put("city_groups", "coast", 0, value="nroth"), "city_groups.coast[0]", 'did you mean "north"?'),
    (put("city_groups", "coast", 0, value="south"), "city_groups.coast[1]", "in the group already"),
    (put("city_groups", "coast", 0, value="fork"), "tickets[1].b", '"fork" is a junction'),
    (put("city_groups", "east", value=["north"]), "city_groups.east", "cannot have the id of a city"),
    (put("city_groups", "The West", value=["north"]), 'city_groups["The West"]', "expected as the name"),
    (put("routes", 0, "a", value="nroth"), "routes[0].a", 'unknown city "nroth"; did you mean "north"?'),
    (put("routes", 0, "a", value="xxxxxx"), "routes[0].a", 'unknown city "xxxxxx"'),
    (put("routes", 0, "a", value="coast"), "routes[0].a", 'unknown city "coast"'),
    (put("routes", 0, "a", value=0), "routes[0].a", "expected the id of a city, found 0"),
    (put("routes", 0, "b", value="north"), "routes[0].b", 'a route from "north" to itself'),
    (
        put("routes", 0, "length", value=13),
        "routes[0].length",
        "expected a whole number from 1 to 12, found 13",
    ),
    (put("routes", 0, "color", value="grey"), "routes[0].color", 'found "grey"; did you mean "gray"?'),
    (put("routes", 0, "color", value="locomotive"), "routes[0].color", "expected gray, purple, blue,"),
    (
        put("routes", 0, "locomotives", value=3),
        "routes[0].locomotives",
        "3 locomotives on a route of length 2",
    ),
    (put("routes", 0, "tunnel", value=11), "routes[0].tunnel", "expected a whole number from 0 to 10"),
    (put("routes", 0, "parallel", value=4), "routes[0].parallel", "expected a whole number from 1 to 3"),
    (put("routes", 0, "always_open", value=True), "routes[0].always_open", "only a double or triple route"),
    (put("routes", 0, "id", value="North-East"), "routes[0].id", "expected up to 72 of a-z"),
    (put("routes", 1, "id", value="north-east"), "routes[1].id", 'duplicate id "north-east"'),
    (remove("routes", 0, "color"), "routes[0]", 'missing field "color"'),
    (put("routes", 0, "lenght", value=2), "routes[0].lenght", 'unknown field "lenght"'),
    (put("routes", value=[]), "routes", "expected at least 1 entry, found 0"),
    (put("tickets", 0, "a", value="nirvana"), "tickets[0].a", 'unknown city or group "nirvana"'),
    (put("tickets", 0, "b", value="coats"), "tickets[0].b", 'did you mean "coast"?'),
    (put("tickets", 0, "b", value="fork"), "tickets[0].b", '"fork" is a junction, and a ticket names cities'),
    (put("tickets", 0, "b", value="north"), "tickets[0].b", 'a ticket from "north" to itself'),
    (put("tickets", 0, "b", value="coast"), "tickets[0].b", 'a ticket from "north" to itself'),
    (put("tickets", 0, "points", value=0), "tickets[0].points", "expected a whole number from 1 to 200"),
    (put("tickets", 2, "long", value=1), "tickets[2].long", "expected true or false, found 1"),
    (put("tickets", 0, "cards", value={"red": 1}), "tickets[0].cards", "belongs to a board without routes"),
    (put("tickets", 1, "id", value="north-south"), "tickets[1].id", 'duplicate id "north-south"'),
    (put("tickets", value=[]), "tickets", "expected at least 1 entry, found 0"),
    (put("big_cities", value={"north": 1}), "big_cities", "belongs to a board without routes"),
]

CARD_FAULTS: list[tuple[Edit, str, str]] = [
    (put("trains", value=3), "", 'missing field "route_points"'),
    (put("city_groups", value={"a": ["north"]}), "city_groups", "belongs to a board with routes"),
    (remove("tickets", 0, "cards"), "tickets[0]", 'missing field "cards"'),
    (put("tickets", 0, "cards", value={}), "tickets[0].cards", "expected at least one entry, found none"),
    (put("tickets", 0, "cards", "red", value=7), "tickets[0].cards.red", "7 red cards, but the deck has 6"),
    (put("tickets", 0, "cards", "red", value=0), "tickets[0].cards.red", "expected a whole number from 1"),
    (put("tickets", 0, "cards", "rde", value=1), "tickets[0].cards.rde", 'did you mean "red"?'),
    (put("tickets", 0, "cards", "locomotive", value=1), "tickets[0].cards.locomotive", "unknown color"),
    (put("big_cities", "nroth", value=8), "big_cities.nroth", 'did you mean "north"?'),
    (put("big_cities", "north", value=0), "big_cities.north", "expected a whole number from 1 to 200"),
    (put("tickets", 0, "b", value="north"), "tickets[0].b", "to itself"),
]

# Faults of the map as a whole

MAP_FAULTS: list[tuple[Edit, str, str]] = [
    (remove("routes", 0), "cities[0]", '"north" has no route'),
    (add_islands, "cities[4]", 'no route leads from "far" and "near" to the other cities'),
    (remove("routes", 2), "routes[1].parallel", "found 2, but 1 track marked as parallel"),
    (put("routes", 1, "parallel", value=3), "routes[1].parallel", "found 3, but 2 tracks marked as parallel"),
    (
        both(put("routes", 1, "parallel", value=3), put("routes", 2, "parallel", value=3)),
        "routes[1].parallel",
        "found 3, but 2 tracks",
    ),
    (
        put("routes", 2, "length", value=2),
        "routes[2].length",
        'expected 1 as on the parallel track "east-south-1"',
    ),
    (put("routes", 1, "always_open", value=True), "routes[2].always_open", "expected the same"),
    (
        both(
            add_islands,
            put("tickets", 0, "a", value="far"),
            move_cities_to_the_end,
        ),
        "tickets[0]",
        'no routes connect "far" and "south"',
    ),
]


@pytest.mark.parametrize(
    ("content", "edit", "field", "message"),
    [
        *((MAP, *fault) for fault in FAULTS + MAP_FAULTS),
        *((CARDS, *fault) for fault in CARD_FAULTS),
    ],
)
def test_a_fault_is_told_with_its_field(content: Content, edit: Edit, field: str, message: str) -> None:
    error = refused(json.dumps(edited(content, edit), indent=1))
    assert error.field == field
    assert message in error.message


def test_two_routes_that_do_not_say_parallel_may_differ_in_length() -> None:
    """UK-33: fork-south and fork-south-tunnel."""
    routes = parse_board(json.dumps(MAP), "my.json").routes
    assert {(route.length, route.parallel) for route in routes if route.a == "fork"} == {(3, 1), (2, 1)}


def test_a_ticket_to_a_group_that_has_its_other_city_is_refused() -> None:
    edit = put("city_groups", "coast", value=["south", "east"])
    assert refused(json.dumps(edited(MAP, edit))).message == 'a ticket from "east" to itself'


def test_the_smaller_part_of_a_map_is_the_one_that_is_cut_off() -> None:
    edit = both(add_islands, reverse("cities"))
    error = refused(json.dumps(edited(MAP, edit)))
    assert (error.field, error.message) == (
        "cities[0]",
        'no route leads from "near" and "far" to the other cities',
    )


def test_of_many_cut_off_cities_five_are_named() -> None:
    usa = json.loads((FOLDER / "usa.json").read_bytes())
    for number in range(7):
        usa["cities"].append({"id": f"far_{number}", "name": "Far", "x": 1, "y": 1})
        if number:
            ends = {"a": f"far_{number}", "b": "far_0"}
            usa["routes"].append({"id": f"far-{number}", **ends, "length": 1, "color": "red"})
    named = '"far_0", "far_1", "far_2", "far_3", "far_4" and 2 more'
    assert refused(json.dumps(usa)).message == f"no route leads from {named} to the other cities"


@pytest.mark.parametrize(
    ("bound", "path"),
    [
        ("trains", ("trains",)),
        ("cards of each color", ("cards_each_color",)),
        ("locomotives of the deck", ("locomotives",)),
        ("points", ("route_points", "3")),
        ("points", ("tickets", 0, "points")),
        ("coordinate", ("cities", 1, "y")),
        ("length of a route", ("routes", 3, "length")),
        ("locomotives of a route", ("routes", 4, "locomotives")),
        ("tunnel", ("routes", 4, "tunnel")),
    ],
)
def test_a_number_may_be_just_within_its_bounds(bound: str, path: tuple[str | int, ...]) -> None:
    roomy = both(
        put("routes", 4, "length", value=12),
        put("route_points", value={str(length): 1 for length in range(1, 13)}),
        put("routes", 3, "locomotives", value=0),
    )
    low, high = BOUNDS[bound].low, BOUNDS[bound].high
    for value in (low, high):
        content = edited(MAP, both(roomy, put(*path, value=value)))
        parse_board(json.dumps(content), "my.json")
        assert keeps_to_schema(content)
    for value in (low - 1, high + 1):
        content = edited(MAP, both(roomy, put(*path, value=value)))
        error = refused(json.dumps(content))
        assert not keeps_to_schema(content)
        assert f"from {low} to {high}" in error.message
        assert error.message.endswith(f"found {value}")


@pytest.mark.parametrize(
    ("bound", "path"),
    [
        ("characters of a city id", ("id",)),
        ("characters of a city id", ("cities", 0, "region")),
        ("characters of a name", ("title",)),
        ("characters of a name", ("cities", 0, "name")),
        ("characters of the provenance", ("provenance",)),
        ("characters of a route or ticket id", ("routes", 0, "id")),
        ("characters of a route or ticket id", ("tickets", 0, "id")),
    ],
)
def test_a_text_may_be_just_as_long_as_allowed(bound: str, path: tuple[str | int, ...]) -> None:
    for length in (1, BOUNDS[bound].high):
        content = edited(MAP, put(*path, value="x" * length))
        parse_board(json.dumps(content), "my.json")
        assert keeps_to_schema(content)
    for length in (0, BOUNDS[bound].high + 1):
        content = edited(MAP, put(*path, value="x" * length))
        refused(json.dumps(content))
        assert not keeps_to_schema(content)


def test_a_long_text_is_cut_short_in_a_message() -> None:
    error = refused(json.dumps(edited(MAP, put("id", value="x" * 1000))))
    assert error.message.endswith(f'found "{"x" * 40}..."')
    assert len(refused(json.dumps(edited(MAP, put("x" * 1000, value=1)))).field) < 60


def large_board(cities: int, routes: int, tickets: int) -> Content:
    """Return a board that is a ring of cities, with chords for the routes beyond the ring."""
    ids = [f"c{number}" for number in range(cities)]
    ends = [(ids[number], ids[(number + step) % cities]) for step in (1, 2, 3) for number in range(cities)]
    return {
        **MAP,
        "cities": [{"id": id, "name": id} for id in ids],
        "city_groups": {"coast": ids[:2]},
        "routes": [
            {"id": f"{a}-{b}", "a": a, "b": b, "length": 1, "color": "gray"} for a, b in ends[:routes]
        ],
        "tickets": [
            {"id": f"t{number}", "a": a, "b": b, "points": 1} for number, (a, b) in enumerate(ends[:tickets])
        ],
    }


def test_the_largest_board_loads_and_one_more_of_anything_is_refused() -> None:
    board = parse_board(json.dumps(large_board(128, 256, 128)), "my.json")
    assert keeps_to_schema(large_board(128, 256, 128))
    assert (len(board.cities), len(board.routes), len(board.tickets)) == (128, 256, 128)
    for counts, field in (
        ((129, 256, 128), "cities[128]"),
        ((128, 257, 128), "routes[256]"),
        ((128, 256, 129), "tickets[128]"),
    ):
        error = refused(json.dumps(large_board(*counts)))
        assert error.field == field
        assert not keeps_to_schema(large_board(*counts))
        assert "expected at most" in error.message


def test_a_content_that_would_not_fit_into_one_message_is_refused() -> None:
    content = large_board(128, 256, 128)
    for number, route in enumerate(content["routes"]):
        route["id"] = f"{number}-".ljust(72, "x")
    for number, city in enumerate(content["cities"]):
        city["name"] = f"{number}".ljust(40, "\N{LATIN SMALL LETTER E WITH ACUTE}")
    error = refused(json.dumps(content))
    assert error.field == ""
    assert re.fullmatch(r"the content takes \d+ bytes, expected at most 48000", error.message)


# The schema

FAULTS_OF_FORM: list[tuple[Content, Edit]] = [
    (MAP, put("format", value="stellwerk-board/2")),
    (MAP, put("extra", value=1)),
    (MAP, put("title", value=None)),
    (MAP, put("id", value="an island")),
    (MAP, put("id", value="island\n")),
    (MAP, put("trains", value="12")),
    (MAP, remove("tickets")),
    (MAP, remove("trains")),
    (MAP, remove("route_points")),
    (MAP, both(remove("routes"), remove("route_points"))),
    (MAP, put("route_points", value={})),
    (MAP, put("route_points", "0", value=1)),
    (MAP, put("route_points", "01", value=1)),
    (MAP, put("cities", 0, "junction", value=1)),
    (MAP, put("cities", 0, "region", value="The Hills")),
    (MAP, put("city_groups", "coast", value=[])),
    (MAP, put("city_groups", "The West", value=["north"])),
    (MAP, put("routes", value=[])),
    (MAP, put("routes", 0, "color", value="grey")),
    (MAP, put("routes", 0, "lenght", value=2)),
    (MAP, put("routes", 0, "parallel", value=4)),
    (MAP, remove("routes", 0, "color")),
    (MAP, put("tickets", 0, "points", value=0)),
    (CARDS, put("trains", value=3)),
    (CARDS, put("city_groups", value={"a": ["north"]})),
    (CARDS, put("tickets", 0, "cards", "red", value=0)),
    (CARDS, put("tickets", 0, "cards", "rde", value=1)),
    (CARDS, put("big_cities", "north", value=0)),
]


@pytest.mark.parametrize("content", [MAP, CARDS, json.loads(EXAMPLE)], ids=["map", "cards", "page"])
def test_a_board_keeps_to_the_schema(content: Content) -> None:
    """The tests below hold the schema to the loader: what it takes keeps to the schema too."""
    assert keeps_to_schema(content)


@pytest.mark.parametrize("id", SHIPPED)
def test_a_shipped_board_keeps_to_the_schema_and_to_the_records(id: str) -> None:
    text = (FOLDER / f"{id}.json").read_bytes()
    assert keeps_to_schema(json.loads(text))
    board = msgspec.json.decode(text, type=boards.Board)
    assert json.loads(msgspec.json.encode(board)) == json.loads(text)


@pytest.mark.parametrize(("content", "edit"), FAULTS_OF_FORM)
def test_the_schema_and_the_loader_refuse_a_fault_of_form(content: Content, edit: Edit) -> None:
    assert not keeps_to_schema(edited(content, edit))
    refused(json.dumps(edited(content, edit)))


# The place of a fault


def test_a_fault_is_told_with_its_line() -> None:
    text = (FOLDER / "usa.json").read_text(encoding="utf-8")
    wrong = text.replace('"a": "atlanta", "b": "miami"', '"a": "atlnta", "b": "miami"')
    line = wrong[: wrong.index("atlnta")].count("\n") + 1
    expected = f'my.json:{line}: routes[1].a: unknown city "atlnta"; did you mean "atlanta"?'
    assert str(refused(wrong)) == expected
    assert str(refused(wrong.replace("\n", "\r\n"))) == expected


def test_of_several_faults_the_first_by_line_is_told() -> None:
    edit = both(put("tickets", 0, "points", value=0), put("cities", 2, "x", value=-1), put("title", value=""))
    for first, content in (
        ("title", edited(MAP, edit)),
        ("tickets[0].points", dict(reversed(edited(MAP, edit).items()))),
    ):
        assert refused(json.dumps({"format": MAP["format"], **content}, indent=1)).field == first


def test_of_several_faults_of_the_map_the_first_by_line_is_told() -> None:
    edit = both(put("routes", 2, "length", value=2), add_islands)
    assert refused(json.dumps(edited(MAP, edit), indent=1)).field == "cities[4]"
    routes_first: Content = {"format": MAP["format"], "routes": [], **edited(MAP, edit)}
    assert refused(json.dumps(routes_first, indent=1)).field == "routes[2].length"


def test_a_faulty_city_is_not_also_unknown_to_its_routes() -> None:
    """Otherwise the error would name the routes, which come before the cities in this file."""
    content: Content = {
        "format": MAP["format"],
        "routes": [],
        **edited(MAP, put("cities", 0, "name", value="")),
    }
    assert refused(json.dumps(content, indent=1)).field == "cities[0].name"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected an object, found a list"),
        ("{}", 'missing field "format", expected to be "stellwerk-board/1"'),
        (
            '{"format": "stellwerk-board/2", "id": 1}',
            'expected "stellwerk-board/1", found "stellwerk-board/2"',
        ),
    ],
)
def test_another_format_is_told_before_all_else(text: str, message: str) -> None:
    assert refused(text).message == message


def test_a_later_check_finds_the_line_of_a_field() -> None:
    board = parse_board(json.dumps(MAP, indent=1), "my.json")
    lines = json.dumps(MAP, indent=1).split("\n")
    length = board.error("routes[3].length", "too long")
    assert length.line is not None
    assert '"length": 3' in lines[length.line - 1]
    assert str(length) == f"my.json:{length.line}: routes[3].length: too long"
    left_out = board.error("routes[3].tunnel", "expected a tunnel")
    assert left_out.line == board.document.lines["routes[3]"]
    assert left_out.field == "routes[3].tunnel"
    assert board.error("", "unusable").line == 1
    assert board.error("nowhere", "unusable").line == 1


def test_an_error_is_one_printable_line_and_survives_pickling() -> None:
    error = BoardError("a\nb\udcff", 3, "id", "found \x1b[31m")
    assert str(error) == "a\\nb\\udcff:3: id: found \\x1b[31m"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


# Texts that are no JSON


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "message"),
    [
        ('"x": 10', '"x": NaN', 11, "cities[0].x", 'not JSON: expected a value, found "NaN", at column'),
        ('"x": 10', '"x": -Infinity', 11, "cities[0].x", 'expected a value, found "-Infinity"'),
        ('"trains": 12', '"trains": True', 8, "trains", 'expected a value, found "True"'),
        ('"trains": 12', '"trains": 012', 8, "", 'expected "," or "}", found "1"'),
        ('"trains": 12', '"trains": 12.', 8, "", 'expected "," or "}", found "."'),
        ('"trains": 12', '"trains": +12', 8, "trains", 'expected a value, found "+"'),
        ('"trains": 12', '"trains": 1' + "0" * 5000, 8, "trains", "a number beyond 9007199254740991"),
        ('"trains": 12', '"trains": -9007199254740992', 8, "trains", "a number beyond 9007199254740991"),
        ('"trains": 12', '"trains": 1e999', 8, "trains", "a number beyond 9007199254740991"),
        ('"trains": 12', "trains: 12", 8, "", 'expected a name in double quotes, found "trains"'),
        ('"trains": 12', "'trains': 12", 8, "", "found a single quote, and JSON has double ones"),
        ('"trains": 12', '// x\n"trains": 12', 8, "", "found a comment, and JSON has none"),
        ('"trains": 12', '"trains" 12', 8, "", 'expected ":" after "trains", found "1"'),
        ('"trains": 12', '"trains": 12, "trains": 12', 8, "", 'duplicate name "trains", first on line 8'),
        ('"trains": 12,', '"trains": 12', 9, "", 'expected "," or "}", found "route_points"'),
        ('"The island"', '"The island', 4, "title", "has no closing quote on its line"),
        ('"The island"', '"The\tisland"', 4, "title", "the control character \\t in a string"),
        ('"The island"', '"The \\q"', 4, "title", "unknown escape \\q in a string"),
        ('"The island"', '"The \\u12"', 4, "title", "unknown escape \\u in a string"),
        ('"The island"', '"\\ud83d\\udbff"', 4, "title", "the lone surrogate \\ud83d is not a character"),
        ('"The island"', '"\\ud83d\\ue000"', 4, "title", "the lone surrogate \\ud83d is not a character"),
        ('"The island"', '"\\udbff\\u0000"', 4, "title", "the lone surrogate \\udbff is not a character"),
        ('"The island"', '"\\ud800"', 4, "title", "the lone surrogate \\ud800 is not a character"),
        ('"The island"', '"\\udc00\\ud800"', 4, "title", "the lone surrogate \\udc00 is not a character"),
        ('"The island"', '"\\ud800\\u0041"', 4, "title", "the lone surrogate \\ud800 is not a character"),
        ('"The island"', '"\ud800"', 4, "", "a lone surrogate is not a character"),
        ('"The island"', "[" * 100_000, 4, "title[0][0][0][0][0][0][0]", "nested deeper than 8 levels"),
    ],
)
def test_a_text_that_is_no_json_is_refused_with_the_place(
    old: str, new: str, line: int, field: str, message: str
) -> None:
    text = format_board(parse_board(json.dumps(MAP), "my.json"))
    assert text.count(old) >= 1
    error = refused(text.replace(old, new, 1))
    assert message in error.message
    assert (error.line, error.field) == (line, field)


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"", 1, "the file is empty"),
        (b" \r\n\t", 1, "the file is empty"),
        (b"\xef\xbb\xbf{}", 1, "begins with a byte order mark; save the file as UTF-8 without one"),
        ("{}".encode("utf-16"), 1, "not UTF-8 but UTF-16; save the file as UTF-8"),
        (b'{\n"id": "\xff"}', 2, "not UTF-8: byte 9 is 0xff"),
        (b'{\n"id": "\xed\xa0\x80"}', 2, "not UTF-8: byte 9 is 0xed"),
        (b"{\n} x", 2, 'not JSON: expected the end of the file, found "x", at column 3'),
        (b'{"a": [1,\n 2,]}', 2, "not JSON: a comma after the last entry, at column 3"),
        (b'{"a": [1,\n', 2, "not JSON: expected a value, found the end of the file, at column 1"),
        (
            b'{"a": [1\n',
            2,
            'expected "," or "]", found the end of the file (in the bracket opened on line 1)',
        ),
        (b" " * (2**20 + 1), 1, "larger than 1048576 bytes"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_the_place(data: bytes, line: int, message: str) -> None:
    error = refused(data)
    assert error.line == line
    assert message in error.message


def test_escapes_are_read() -> None:
    escaped = json.dumps(edited(MAP, put("title", value='\N{STEAM LOCOMOTIVE} "A\\/')))
    assert "\\ud83d\\ude82" in escaped
    assert parse_board(escaped, "my.json").title == '\N{STEAM LOCOMOTIVE} "A\\/'


def read(text: bytes | str) -> Document:
    return read_json(text, max_bytes=2**20, max_nesting=50)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-1e15, 1e15)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_every_json_value_is_read(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert read(text).value == value
    assert parsed(text.encode(), 50)[0] == value


@given(
    st.text('[]{},:"\\ \n-+.019eEtrufalsn/')
    | st.lists(
        st.sampled_from(
            ["[", "]", "{", "}", ",", ":", '"a"', '"b"', "1", "-0", "1.5e3", "true", "null", " "]
        ),
        max_size=9,
    ).map("".join)
)
@example('"\\u00e9"')
@example('{"a":1,"a":1}')
def test_what_is_read_is_json_and_what_is_json_is_read(text: str) -> None:
    """Beside what I-JSON forbids: duplicate names and numbers that are too large."""
    try:
        value, _ = parsed(text.encode(), 50)
    except JsonError as error:
        if "duplicate name" in error.message or "a number beyond" in error.message:
            return
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)
    else:
        assert value == json.loads(text)


def as_fast_as_it_can(data: bytes) -> str:
    """Return the value of a text, or how it is refused, if not before then when lines are asked for."""
    try:
        document = read(data)
        return f"{document.value!r}, root on line {document.lines['']}"
    except JsonError as error:
        return str(error)


def by_the_law_alone(data: bytes) -> str:
    try:
        value, lines = parsed(data, 50)
    except JsonError as error:
        return str(error)
    return f"{value!r}, root on line {lines['']}"


WORDS = r"""[ ] { } , : "a" "b" "\u00e9" "é"
"\/" "\ud83d\ude82" "\ud800" "\n" 1 -0 -0.0 1.0 1.50 1e2 0.1 1E400
9007199254740991 9007199254740992 123456789012345678901 NaN true null // ' "\x7f" {"a":1,"a":1}
{"a":1,"\u0061":1}"""
PIECES = st.sampled_from(
    [*WORDS.encode().split(), b" ", b"\n", b"\x0b", b"\xef\xbb\xbf", b'"\t"', b'"\xff"', b'"\xed\xa0\x80"']
)


@given(st.lists(PIECES, max_size=9).map(b"".join) | JSON_VALUES.map(json.dumps).map(str.encode))
@example(b'{"a":1,"a":1}')
@example(b'{"a":{"b":[1.0,-0.0]},"b":"\xc3\xa9"}')
def test_the_fast_reader_takes_nothing_that_the_law_refuses_and_loses_nothing(data: bytes) -> None:
    assert as_fast_as_it_can(data) == by_the_law_alone(data)


def test_a_sound_board_is_read_without_looking_for_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [(FOLDER / f"{id}.json").read_bytes() for id in SHIPPED]

    def refuse(*_: object) -> None:
        raise AssertionError("read by the slow parser")

    monkeypatch.setattr(located_json, "parsed", refuse)
    assert [parse_board(source, "not read before").id for source in sources] == list(SHIPPED)


@given(JSON_VALUES)
def test_a_value_knows_its_line(value: object) -> None:
    text = json.dumps(value, indent=1)
    rows = text.split("\n")
    lines = read(text).lines

    def check(value: Value, field: str) -> None:
        row = rows[lines[field] - 1]
        match value:
            case list(items):
                assert "[" in row
                children = [(item, f"{field}[{index}]") for index, item in enumerate(items)]
            case dict(members):
                assert "{" in row
                children = [(member, member_field(field, name)) for name, member in members.items()]
            case leaf:
                assert row.rstrip(",").endswith(json.dumps(leaf))
                children = []
        for child, place in children:
            check(child, place)
        for (_, one), (_, other) in itertools.pairwise(children):
            assert lines[one] < lines[other]

    check(read(text).value, "")


# Files


def test_a_board_is_loaded_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "my.json"
    path.write_text(EXAMPLE, encoding="utf-8")
    assert load_board(path) == load_board(str(path))
    assert load_board(path).file == str(path)


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "pipe", "device", "unreadable", "secret", "loop", "impossible"]
)
def test_what_is_no_readable_file_is_refused(tmp_path: Path, kind: str) -> None:
    """A pipe that nobody writes into would block, /dev/zero would never end."""
    path = str(tmp_path / kind)
    match kind:
        case "folder":
            os.mkdir(path)
        case "pipe":
            os.mkfifo(path)
        case "device":
            path = "/dev/zero"
        case "unreadable":
            path = "/proc/self/mem"  # regular and open to its owner, but not at its beginning
        case "loop":
            os.symlink(path, path)
        case "secret":
            demand("ordinary user")
            Path(path).write_text(EXAMPLE, encoding="utf-8")
            os.chmod(path, 0)
        case "impossible":
            path += "\0"
        case _:
            pass
    with pytest.raises(BoardError, match="cannot be read: ") as raised:
        load_board(path)
    assert raised.value.line is None
    assert "\n" not in str(raised.value)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.json"
    path.write_bytes(EXAMPLE.encode() + b" " * 2**20)
    with pytest.raises(BoardError, match="larger than 1048576 bytes"):
        load_board(path)


# Whatever the file says, it is a board or a BoardError


def outcome(text: bytes | str) -> BoardFile | BoardError:
    try:
        return parse_board(text, "my.json")
    except BoardError as error:
        return error


def loads_or_is_refused(text: bytes | str) -> None:
    match outcome(text):
        case BoardFile() as board:
            assert parse_board(format_board(board), "my.json").digest == board.digest
            assert keeps_to_schema(json.loads(text))
        case error:
            assert re.fullmatch(r"my\.json:\d+: .+", str(error))


SOURCES = st.sampled_from(
    [EXAMPLE.encode(), json.dumps(CARDS).encode(), *((FOLDER / f"{id}.json").read_bytes() for id in SHIPPED)]
)


@settings(deadline=None)  # a busy machine is no fault of the board
@given(SOURCES, st.data())
def test_a_file_with_any_bytes_changed_loads_or_is_refused(source: bytes, data: st.DataObject) -> None:
    text = bytearray(source)
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(text)))
        end = min(len(text), begin + data.draw(st.integers(0, 12)))
        other = data.draw(st.integers(0, len(text)))
        text[begin:end] = data.draw(
            st.binary(max_size=6)
            | st.sampled_from(b'{ } [ ] , : " \\ 0 - true null "a" "london"'.split())
            | st.just(bytes(text[other : other + 40]))
        )
    loads_or_is_refused(bytes(text))


def paths(value: Value, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """List the place of every value in a document, but not that of the whole."""
    children: list[tuple[str | int, Value]] = []
    match value:
        case dict(members):
            children = list(members.items())
        case list(items):
            children = list(enumerate(items))
        case _:
            pass
    here = [path] if path else []
    return [*here, *(deeper for step, child in children for deeper in paths(child, (*path, step)))]


@settings(deadline=None)  # a busy machine is no fault of the board
@given(st.sampled_from([MAP, CARDS, json.loads(EXAMPLE)]), st.data())
def test_a_board_with_any_value_changed_loads_or_is_refused(source: Content, data: st.DataObject) -> None:
    content = copy.deepcopy(source)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(paths(content)))
        if data.draw(st.booleans()):
            remove(*path)(content)
        else:
            words: list[object] = ["north", "fork", "coast", "red", {}, []]
            value: object = data.draw(JSON_VALUES | st.integers(-1, 300) | st.sampled_from(words))
            put(*path, value=value)(content)
    loads_or_is_refused(json.dumps(content))


# The page for organizers


def test_the_example_of_the_page_is_a_board_of_ten_lines() -> None:
    board = parse_board(EXAMPLE, "my.json")
    assert board.id == "island"
    assert len(EXAMPLE.splitlines()) == 10


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        (5, "},", "}"),
        (6, '"south"', '"suoth"'),
        (5, "length", "lenght"),
        (8, '"length": 3', '"length": 4'),
        (7, ', "parallel": 2', ""),
        (10, "3", '"3"'),
    ],
)
def test_the_errors_of_the_page_are_real(line: int, old: str, new: str) -> None:
    lines = EXAMPLE.splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    assert f"\n{refused(chr(10).join(lines))}\n" in PAGE


def test_the_page_has_every_bound_with_its_reason() -> None:
    rows = re.findall(r"^\| (.+) \| (\d+) \| (\d+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [(name, str(each.low), str(each.high), each.reason) for name, each in BOUNDS.items()]


def test_the_page_has_every_field() -> None:
    of_boards = PAGE[PAGE.index("## The board\n") : PAGE.index("## Bounds")]
    fields = set(re.findall(r"^\| (`.+?`) \|", of_boards, re.MULTILINE))
    named = {name for cell in fields for name in re.findall(r"`(\w+)`", cell)}
    used: set[str] = set()
    shipped = [json.loads((FOLDER / f"{id}.json").read_bytes()) for id in SHIPPED]
    for content in (*shipped, MAP):
        used |= set(content)
        for section in ("cities", "routes", "tickets"):
            used |= {name for record in content.get(section, ()) for name in record}
    assert named == used
