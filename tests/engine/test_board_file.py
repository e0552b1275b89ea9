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

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stellwerk_engine.board_file import (
    BOUNDS,
    COLORS,
    SHIPPED,
    BoardError,
    City,
    Route,
    Ticket,
    board_content,
    format_board,
    load_board,
    parse_board,
    shipped_board,
)
from stellwerk_engine.located_json import JsonError, Node, Value, read_json

REPOSITORY = Path(__file__).resolve().parents[2]
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


def put(*path: str | int, value: object) -> Edit:
    """An edit that puts a value at a path."""

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
    assert {file.stem for file in FOLDER.iterdir()} == set(SHIPPED)
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
    ],
)
def test_a_shipped_board_has_its_totals(
    id: str, cities: int, tracks: int, spaces: int, tickets: int, points: int, deck: int, trains: int
) -> None:
    """USA-01, CARD-01, ASIA-02, ASIA-09, UK-01, UK-06."""
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
    for id in ("usa", "card_game", "united_kingdom"):
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
    with pytest.raises(BoardError, match='usb: no such board; .*; did you mean "usa"?'):
        shipped_board("usb")


# What a file says


def test_a_board_is_what_its_file_says() -> None:
    board = parse_board(json.dumps(MAP), "my.json")
    assert (board.file, board.id, board.title, board.provenance) == ("my.json", "island", "The island", "Made up.")
    assert (board.trains, board.cards_each_color, board.locomotives) == (12, 6, 4)
    assert board.route_points == {1: 1, 2: 2, 3: 4}
    assert board.city_groups == {"coast": ("north", "south")}
    assert board.cities[0] == City("north", "North", 10.0, 0.5, "hills", junction=False)
    assert board.cities[3] == City("fork", "Fork", 5.0, 5.0, None, junction=True)
    assert board.routes[1] == Route("east-south-1", "east", "south", 1, "gray", parallel=2)
    assert board.routes[3] == Route("fork-south", "fork", "south", 3, "blue", locomotives=1)
    assert board.routes[4] == Route("fork-south-tunnel", "fork", "south", 2, "gray", tunnel=3)
    assert board.tickets[1] == Ticket("east-coast", "east", "coast", 2, doubtful=True)


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
        both(put("routes", 0, "parallel", value=1), put("tickets", 0, "doubtful", value=False), put("cities", 0, "x", value=10.0)),
    )
    for same in (json.dumps(MAP, indent=3), json.dumps(backwards), json.dumps(said_twice), "\r\n" + json.dumps(MAP)):
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
        lambda content: content["tickets"].reverse(),
        lambda content: content["city_groups"]["coast"].reverse(),
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
    (put("routes", 0, "length", value=13), "routes[0].length", "expected a whole number from 1 to 12, found 13"),
    (put("routes", 0, "color", value="grey"), "routes[0].color", 'found "grey"; did you mean "gray"?'),
    (put("routes", 0, "color", value="locomotive"), "routes[0].color", "expected gray, purple, blue,"),
    (put("routes", 0, "locomotives", value=3), "routes[0].locomotives", "3 locomotives on a route of length 2"),
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
    (put("routes", 2, "length", value=2), "routes[2].length", 'expected 1 as on the parallel track "east-south-1"'),
    (put("routes", 1, "always_open", value=True), "routes[2].always_open", "expected the same"),
    (
        both(add_islands, put("tickets", 0, "a", value="far"), lambda content: content.update(cities=content.pop("cities"))),
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
    error = refused(json.dumps(edited(content, edit)))
    assert error.field == field
    assert message in error.message


def test_two_routes_that_do_not_say_parallel_may_differ_in_length() -> None:
    """UK-33: fork-south and fork-south-tunnel."""
    routes = parse_board(json.dumps(MAP), "my.json").routes
    assert {(route.length, route.parallel) for route in routes if route.a == "fork"} == {(3, 1), (2, 1)}


def test_a_group_connects_a_ticket_by_any_of_its_cities() -> None:
    def edit(content: Content) -> None:
        content["city_groups"]["coast"].append("east")
        content["tickets"][1]["a"] = "south"

    assert refused(json.dumps(edited(MAP, edit))).message == 'a ticket from "south" to itself'


def test_many_cut_off_cities_are_counted() -> None:
    def edit(content: Content) -> None:
        for number in range(7):
            content["cities"].insert(0, {"id": f"far_{number}", "name": "Far", "x": 1, "y": 1})
            if number:
                ends = {"a": f"far_{number}", "b": "far_0"}
                content["routes"].append({"id": f"far-{number}", **ends, "length": 1, "color": "red"})

    names = ", ".join(f'"far_{number}"' for number in (6, 5, 4, 3, 2))
    error = refused(json.dumps(edited(MAP, edit)))
    assert error.field == "cities[4]"  # the smaller part is cut off: the map of 4, not the 7 new ones
    assert names not in error.message


def test_the_smaller_part_of_a_map_is_the_one_that_is_cut_off() -> None:
    def edit(content: Content) -> None:
        add_islands(content)
        content["cities"].reverse()

    assert refused(json.dumps(edited(MAP, edit))).field == "cities[0]"
