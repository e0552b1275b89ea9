"""Boards as files: the cities, routes, tickets and cards of a game, read from JSON.

The law: what `parse_board` returns can be played on. Every city, route and ticket in it is whole, within the
bounds below and joined to the rest; anything else is a `BoardError` that names file, line and field and says
what was expected. Of several faults it reports the first by line: first the faults of single records, then,
once these are sound, those of the map as a whole.

`protocol/BOARDS.md` describes the format. Facts of boards get corrected, and organizers bring their own:
nothing else in the engine knows a city, a length or a ticket.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from dataclasses import fields as fields_of
from functools import cache, lru_cache
from importlib import resources
from typing import TypeGuard

from stellwerk_base.texts import printable, quoted, suggestion
from stellwerk_engine.boards.checked_fields import (
    Bounds,
    Fields,
    IdForm,
    Node,
    Problems,
    entries,
    ids_of,
    reference,
    refuse_duplicate_ids,
    whole_number,
)
from stellwerk_engine.boards.located_json import Document, JsonError, found, read_json
from stellwerk_protocol.names import COLORS as CARD_COLORS

FORMAT = "stellwerk-board/1"
_FOLDER = resources.files("stellwerk_engine").joinpath("boards")
SHIPPED: tuple[str, ...] = tuple(
    sorted(file.name.removesuffix(".json") for file in _FOLDER.iterdir() if file.name.endswith(".json"))
)
COLORS: tuple[str, ...] = tuple(color for color in CARD_COLORS if color != "locomotive")
GRAY = "gray"
BOARDS_KEPT = 8  # of the last texts: to read one takes longer than to play a short match


BOUNDS: Mapping[str, Bounds] = {
    "bytes of the file": Bounds(1, 2**20, "fifty times the largest shipped board; a file is read whole"),
    "bytes of the content": Bounds(
        1, 48_000, "a board goes to every bot in one line, which stays below 60,000 bytes"
    ),
    "levels of brackets": Bounds(1, 8, "the format needs 4"),
    "cities": Bounds(2, 128, "more than twice the shipped boards; a city is a bit of a mask"),
    "city groups": Bounds(1, 32, "a quarter of the cities"),
    "cities of a group": Bounds(1, 32, "a quarter of the cities"),
    "routes": Bounds(1, 256, "twice the largest shipped board; each adds to every list of legal moves"),
    "tickets": Bounds(1, 128, "twice the largest shipped board; one player may hold them all"),
    "characters of a city id": Bounds(1, 32, "two of them fit into the id of a route"),
    "characters of a route or ticket id": Bounds(1, 72, "two city ids, the longest color, two dashes"),
    "characters of a name": Bounds(1, 40, "half a terminal line"),
    "characters of the provenance": Bounds(1, 400, "a sentence or two, sent with the board"),
    "trains": Bounds(1, 100, "twice the 45 of the base game, and room"),
    "cards of each color": Bounds(1, 60, "five times the usual 12"),
    "locomotives of the deck": Bounds(0, 60, "three times the most that a shipped board has"),
    "length of a route": Bounds(1, 12, "the longest printed route has 10 spaces"),
    "locomotives of a route": Bounds(0, 12, "as many as the longest route has spaces"),
    "tunnel": Bounds(0, 10, "the printed ones reveal 3 to 6 cards"),
    "parallel": Bounds(1, 3, "the rules know double and triple routes"),
    "points": Bounds(1, 200, "five times the 40 of the most valuable printed route"),
    "coordinate": Bounds(0, 1000, "thousandths of the longer side of the board"),
}
"""What a board may hold at most. `protocol/BOARDS.md` has every entry, too."""


@dataclass(frozen=True, slots=True)
class City:
    id: str
    name: str
    x: float | None = None
    y: float | None = None
    region: str | None = None
    junction: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """One track. `color` is "gray" or one of `COLORS`."""

    id: str
    a: str
    b: str
    length: int
    color: str
    locomotives: int = 0  # symbols of a ferry
    tunnel: int = 0  # cards that are revealed
    parallel: int = 1  # tracks of this double or triple route
    always_open: bool = False  # every track may be claimed, whatever the number of players
    doubtful: bool = False  # the length is not certain


@dataclass(frozen=True, slots=True)
class Ticket:
    """Two places, each a city or a group of cities. `cards` is what it asks for where there are no routes."""

    id: str
    a: str
    b: str
    points: int
    cards: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    long: bool = False  # dealt apart from the others, in games that know long tickets
    doubtful: bool = False  # reconstructed: the real ticket is not known


@dataclass(frozen=True, slots=True)
class BoardFile:
    """A checked board. Without routes (a card game) `trains` is 0 and `route_points` is empty."""

    file: str
    id: str
    title: str
    provenance: str
    digest: str  # SHA-256 over the canonical JSON of the content: the same however the file is formatted
    trains: int
    cards_each_color: int
    locomotives: int
    route_points: Mapping[int, int] = field(hash=False)
    cities: tuple[City, ...]
    city_groups: Mapping[str, tuple[str, ...]] = field(hash=False)
    routes: tuple[Route, ...]
    tickets: tuple[Ticket, ...]
    big_cities: Mapping[str, int] = field(hash=False)
    document: Document = field(compare=False, repr=False)

    def error(self, field: str, message: str) -> "BoardError":
        """Return a fault of this board at a field such as `routes[3].length`, for checks that come after
        loading.

        A field that the file leaves out is found at the record that lacks it.
        """
        lines = self.document.lines
        place = field
        while place and place not in lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return BoardError(self.file, lines[place], field, message)


class BoardError(Exception):
    """A board that cannot be used. `line` is None where there is no text to point at."""

    def __init__(self, file: str, line: int | None, field: str, message: str) -> None:
        super().__init__(file, line, field, message)
        self.file = file
        self.line = line
        self.field = field
        self.message = message

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return printable(": ".join(part for part in (place, self.field, self.message) if part))


def load_board(path: str | os.PathLike[str]) -> BoardFile:
    """Read a board from a regular file, or raise `BoardError`."""
    file = os.fspath(path)
    try:
        data = _read_file(file)
    except OSError as error:
        raise BoardError(file, None, "", f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise BoardError(file, None, "", f"cannot be read: {error}") from None
    return parse_board(data, file)


@cache
def shipped_board(id: str) -> BoardFile:
    """Return one of the boards that come with Stellwerk, by its id."""
    if id not in SHIPPED:
        message = f"no such board; the shipped ones are {', '.join(SHIPPED)}"
        raise BoardError(id, None, "", message + suggestion(id, SHIPPED))
    file = f"{id}.json"
    return parse_board(_FOLDER.joinpath(file).read_bytes(), file)


@lru_cache(maxsize=BOARDS_KEPT)
def parse_board(text: bytes | str, file: str) -> BoardFile:
    """Read a board from the text of `file`, or raise `BoardError`."""
    try:
        document = read_json(
            text,
            max_bytes=BOUNDS["bytes of the file"].high,
            max_nesting=BOUNDS["levels of brackets"].high,
        )
        problems = Problems()
        board = _read_board(document, file, problems) if _has_format(document, problems) else None
        first = problems.first(document)
    except JsonError as error:
        raise BoardError(file, error.line, error.field, error.message) from None
    if board is None or first is not None:
        assert first is not None
        lines = document.lines
        raise BoardError(file, lines[first.field], first.field, first.explained(lines))
    canonical = canonical_text(board)
    board = replace(board, digest=hashlib.sha256(canonical.encode()).hexdigest())
    errors = [*_size_errors(board, len(canonical.encode())), *_map_errors(board)]
    if errors:
        raise min(errors, key=lambda error: error.line or 0)
    return board


def board_content(board: BoardFile) -> dict[str, object]:
    """Return what a board says, as JSON values in the order of the format, with nothing that is a default."""
    content: dict[str, object] = {
        "format": FORMAT,
        "id": board.id,
        "title": board.title,
        "provenance": board.provenance,
        "cards_each_color": board.cards_each_color,
        "locomotives": board.locomotives,
    }
    if board.routes:
        content["trains"] = board.trains
        content["route_points"] = {str(length): points for length, points in board.route_points.items()}
    content["cities"] = [_record_content(city) for city in board.cities]
    if board.city_groups:
        content["city_groups"] = {name: list(cities) for name, cities in board.city_groups.items()}
    if board.routes:
        content["routes"] = [_record_content(route) for route in board.routes]
    content["tickets"] = [_record_content(ticket) for ticket in board.tickets]
    if board.big_cities:
        content["big_cities"] = dict(board.big_cities)
    return content


def canonical_text(board: BoardFile) -> str:
    """Return the content of a board in the form that its digest is made of, as messages and replays have
    it."""
    return json.dumps(board_content(board), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def format_board(board: BoardFile, *, ascii_only: bool = False) -> str:
    """Return the text of a board's file as the shipped ones are written: one record a line."""

    def text(value: object) -> str:
        return json.dumps(value, ensure_ascii=ascii_only)

    sections: list[str] = []
    for name, value in board_content(board).items():
        if _is_list(value):
            records = ",\n".join(f"    {text(record)}" for record in value)
            sections.append(f'  "{name}": [\n{records}\n  ]')
        else:
            sections.append(f'  "{name}": {text(value)}')
    return "{\n" + ",\n".join(sections) + "\n}\n"


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _record_content(record: City | Route | Ticket) -> dict[str, object]:
    content: dict[str, object] = {}
    for name, default in _DEFAULTS[type(record)]:
        value = getattr(record, name)
        if value != default:
            content[name] = _shortest_number(value) if isinstance(value, float) else value
    return content


_DEFAULTS: Mapping[type, list[tuple[str, object]]] = {
    kind: [
        (each.name, each.default if each.default_factory is MISSING else each.default_factory())
        for each in fields_of(kind)
    ]
    for kind in (City, Route, Ticket)
}


def _shortest_number(value: float) -> int | float:
    """Return 113 instead of 113.0, as every language writes this number."""
    return int(value) if value.is_integer() else value


def _read_file(file: str) -> bytes:
    """Return the bytes of a regular file. A pipe or a device is refused before it can block or never end."""
    unblocked = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(file, os.O_RDONLY | unblocked)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file")
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(BOUNDS["bytes of the file"].high + 1)
    finally:
        os.close(descriptor)


_CITY_ID = IdForm(
    re.compile(rf"[a-z0-9][a-z0-9_]{{0,{BOUNDS['characters of a city id'].high - 1}}}"),
    f"up to {BOUNDS['characters of a city id'].high} of a-z, 0-9 and _, beginning with a letter or digit",
)
_RECORD_ID = IdForm(
    re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{BOUNDS['characters of a route or ticket id'].high - 1}}}"),
    f"up to {BOUNDS['characters of a route or ticket id'].high} of a-z, 0-9, _ and -, "
    "beginning with a letter or digit",
)

_EVERY_BOARD = (
    "format",
    "id",
    "title",
    "provenance",
    "cards_each_color",
    "locomotives",
    "cities",
    "tickets",
)
_WITH_ROUTES = ("trains", "route_points", "routes")


def _read_board(document: Document, file: str, problems: Problems) -> BoardFile:
    """Read the records one by one. The result is sound only if no problem was noted."""
    names: Collection[str] = document.value if isinstance(document.value, dict) else ()
    has_routes = any(name in names for name in _WITH_ROUTES)
    fields = Fields(
        Node(document.value),
        problems,
        required=_EVERY_BOARD + _WITH_ROUTES if has_routes else _EVERY_BOARD,
        optional=("city_groups", "big_cities"),
    )
    if has_routes and "big_cities" in fields:
        fields.note("big_cities", "belongs to a board without routes")
    if not has_routes and "city_groups" in fields:
        fields.note("city_groups", "belongs to a board with routes")

    city_records = fields.entries("cities", BOUNDS["cities"])
    known_cities = ids_of(city_records)  # so that a faulty city is not unknown to its routes as well
    cities = _read_cities(city_records, problems)
    city_groups = _read_city_groups(fields, known_cities, problems)
    route_points = _read_route_points(fields, problems)
    cards_each_color = fields.whole_number("cards_each_color", BOUNDS["cards of each color"])
    places = _Places(
        cities={city: frozenset((city,)) for city in known_cities}
        | {name: frozenset(group) for name, group in city_groups.items()},
        junctions=frozenset(city.id for city in cities if city.junction),
    )
    return BoardFile(
        file=file,
        id=fields.id("id", _CITY_ID),
        title=fields.text("title", BOUNDS["characters of a name"]),
        provenance=fields.text("provenance", BOUNDS["characters of the provenance"]),
        digest="",
        trains=fields.whole_number("trains", BOUNDS["trains"]) if has_routes else 0,
        cards_each_color=cards_each_color,
        locomotives=fields.whole_number("locomotives", BOUNDS["locomotives of the deck"]),
        route_points=route_points or {},
        cities=cities,
        city_groups=city_groups,
        routes=_read_routes(fields, known_cities, route_points, problems),
        tickets=_read_tickets(fields, places, None if has_routes else cards_each_color, problems),
        big_cities=_read_big_cities(fields, known_cities, problems),
        document=document,
    )


def _has_format(document: Document, problems: Problems) -> bool:
    """Check the format before all else: in another format, nothing else in the file has a known meaning."""
    root = document.value
    if not isinstance(root, dict):
        problems.note(Node(root), f"expected an object, found {found(root)}")
    elif "format" not in root:
        problems.note(Node(root), f'missing field "format", expected to be "{FORMAT}"')
    elif root["format"] != FORMAT:
        format = Node(root["format"], Node(root), "format")
        problems.note(format, f'expected "{FORMAT}", found {found(format.value)}')
    return problems.count() == 0


def _read_cities(records: Sequence[Node], problems: Problems) -> tuple[City, ...]:
    cities: list[City] = []
    for record in records:
        fields = Fields(record, problems, required=("id", "name"), optional=("x", "y", "region", "junction"))
        cities.append(
            City(
                id=fields.id("id", _CITY_ID),
                name=fields.text("name", BOUNDS["characters of a name"]),
                x=_coordinate(fields, "x"),
                y=_coordinate(fields, "y"),
                region=fields.id("region", _CITY_ID) if "region" in fields else None,
                junction=fields.flag("junction"),
            )
        )
    refuse_duplicate_ids(records, problems)
    is_drawn = any(city.x is not None or city.y is not None for city in cities)
    for record, city in zip(records, cities, strict=True):
        if is_drawn and (city.x is None or city.y is None):
            problems.note(record, "expected x and y: either all cities have them or none")
    return tuple(cities)


def _coordinate(fields: Fields, name: str) -> float | None:
    """Return a number with at most two decimals. Every language writes such a number alike, so the digest is
    the same."""
    if name not in fields:
        return None
    bounds = BOUNDS["coordinate"]
    value = fields[name].value
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and bounds.low <= value <= bounds.high
        and round(value, 2) == value
    ):
        return abs(float(value))  # a zero without a minus
    fields.note(
        name,
        f"expected a number from {bounds.low} to {bounds.high} with at most two decimals, "
        f"found {found(value)}",
    )
    return 0.0


def _read_city_groups(
    fields: Fields, known_cities: Collection[str], problems: Problems
) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for name, group in fields.members("city_groups", BOUNDS["city groups"].high):
        if not _CITY_ID.pattern.fullmatch(name):
            problems.note(group, f"expected as the name of a group {_CITY_ID.words}, found {quoted(name)}")
        if name in known_cities:
            problems.note(group, "a group cannot have the id of a city")
        members: list[str] = []
        for entry in entries(group, BOUNDS["cities of a group"], problems):
            city = reference(entry, "city", known_cities, problems)
            if city in members:
                problems.note(entry, f"{quoted(city)} is in the group already")
            members.append(city)
        groups[name] = tuple(members)
    return groups


def _read_route_points(fields: Fields, problems: Problems) -> dict[int, int] | None:
    """Return the points for each length; None if there are none or not all of them can be read."""
    problems_before = problems.count()
    lengths = BOUNDS["length of a route"]
    points: dict[int, int] = {}
    for name, node in fields.members("route_points", lengths.high):
        if name in map(str, range(lengths.low, lengths.high + 1)):
            points[int(name)] = whole_number(node, BOUNDS["points"], problems)
        else:
            message = f'expected as the name a length from "{lengths.low}" to "{lengths.high}"'
            problems.note(node, f"{message}, found {quoted(name)}")
    return points if points and problems.count() == problems_before else None


def _read_routes(
    fields: Fields,
    known_cities: Collection[str],
    route_points: Mapping[int, int] | None,
    problems: Problems,
) -> tuple[Route, ...]:
    records = fields.entries("routes", BOUNDS["routes"])
    routes: list[Route] = []
    for record in records:
        track = Fields(
            record,
            problems,
            required=("id", "a", "b", "length", "color"),
            optional=("locomotives", "tunnel", "parallel", "always_open", "doubtful"),
        )
        route = Route(
            id=track.id("id", _RECORD_ID),
            a=track.reference("a", "city", known_cities),
            b=track.reference("b", "city", known_cities),
            length=track.whole_number("length", BOUNDS["length of a route"]),
            color=track.choice("color", (GRAY, *COLORS)),
            locomotives=track.whole_number("locomotives", BOUNDS["locomotives of a route"], default=0),
            tunnel=track.whole_number("tunnel", BOUNDS["tunnel"], default=0),
            parallel=track.whole_number("parallel", BOUNDS["parallel"], default=1),
            always_open=track.flag("always_open"),
            doubtful=track.flag("doubtful"),
        )
        _refuse_impossible_route(route, track, route_points)
        routes.append(route)
    refuse_duplicate_ids(records, problems)
    return tuple(routes)


def _refuse_impossible_route(route: Route, track: Fields, route_points: Mapping[int, int] | None) -> None:
    if route.a == route.b != "":
        track.note("b", f"a route from {quoted(route.a)} to itself")
    if route_points is not None and "length" in track and route.length not in route_points:
        track.note("length", f'"route_points" has no entry for length {route.length}')
    if route.locomotives > route.length:
        track.note("locomotives", f"{route.locomotives} locomotives on a route of length {route.length}")
    if route.always_open and route.parallel == 1:
        track.note("always_open", "only a double or triple route can be closed")


@dataclass(frozen=True, slots=True)
class _Places:
    """The places that a ticket may name."""

    cities: Mapping[str, frozenset[str]]  # of each group, and of each city itself
    junctions: frozenset[str]


def _read_tickets(
    fields: Fields, places: _Places, cards_each_color: int | None, problems: Problems
) -> tuple[Ticket, ...]:
    """Read the tickets. `cards_each_color` is None on boards with routes; otherwise tickets ask for cards."""
    records = fields.entries("tickets", BOUNDS["tickets"])
    required = ["id", "a", "b", "points"] + ([] if cards_each_color is None else ["cards"])
    tickets: list[Ticket] = []
    for record in records:
        card = Fields(record, problems, required=required, optional=("cards", "long", "doubtful"))
        if cards_each_color is None and "cards" in card:
            card.note("cards", "belongs to a board without routes")
        ticket = Ticket(
            id=card.id("id", _RECORD_ID),
            a=card.reference("a", "city or group", places.cities),
            b=card.reference("b", "city or group", places.cities),
            points=card.whole_number("points", BOUNDS["points"]),
            cards={} if cards_each_color is None else _read_cards(card, cards_each_color, problems),
            long=card.flag("long"),
            doubtful=card.flag("doubtful"),
        )
        _refuse_impossible_ticket(ticket, card, places)
        tickets.append(ticket)
    refuse_duplicate_ids(records, problems)
    return tuple(tickets)


def _refuse_impossible_ticket(ticket: Ticket, card: Fields, places: _Places) -> None:
    at_a = places.cities.get(ticket.a, frozenset())
    at_b = places.cities.get(ticket.b, frozenset())
    for name, cities in (("a", at_a), ("b", at_b)):
        if cities & places.junctions:
            junction = quoted(min(cities & places.junctions))
            card.note(name, f"{junction} is a junction, and a ticket names cities")
    if at_a & at_b:
        card.note("b", f"a ticket from {quoted(min(at_a & at_b))} to itself")


def _read_cards(card: Fields, cards_each_color: int, problems: Problems) -> dict[str, int]:
    cards: dict[str, int] = {}
    for color, node in card.members("cards", len(COLORS)):
        if color not in COLORS:
            problems.note(node, f"unknown color {quoted(color)}", typo=color, known=COLORS)
            continue
        count = whole_number(node, BOUNDS["cards of each color"], problems)
        if count > cards_each_color:
            problems.note(node, f"{count} {color} cards, but the deck has {cards_each_color}")
        cards[color] = count
    return cards


def _read_big_cities(fields: Fields, known_cities: Collection[str], problems: Problems) -> dict[str, int]:
    bonuses: dict[str, int] = {}
    for name, node in fields.members("big_cities", BOUNDS["cities"].high):
        if name not in known_cities:
            problems.note(node, f"unknown city {quoted(name)}", typo=name, known=known_cities)
        bonuses[name] = whole_number(node, BOUNDS["points"], problems)
    return bonuses


def _size_errors(board: BoardFile, content_bytes: int) -> Iterator[BoardError]:
    most = BOUNDS["bytes of the content"].high
    if content_bytes > most:
        yield board.error("", f"the content takes {content_bytes} bytes, expected at most {most}")


def _map_errors(board: BoardFile) -> Iterator[BoardError]:
    """Yield what is wrong with the routes taken together."""
    if board.routes:
        yield from _parallel_errors(board)
        yield from _connection_errors(board)


def _parallel_errors(board: BoardFile) -> Iterator[BoardError]:
    """Yield the errors of parallel tracks. Tracks that are not marked `parallel` are separate routes."""
    tracks: dict[frozenset[str], list[int]] = {}
    for index, route in enumerate(board.routes):
        if route.parallel > 1:
            tracks.setdefault(frozenset((route.a, route.b)), []).append(index)
    for indices in tracks.values():
        first = board.routes[indices[0]]
        for index in indices:
            route = board.routes[index]
            if route.parallel != len(indices):
                tracks_found = f"{len(indices)} {'tracks' if len(indices) > 1 else 'track'}"
                yield board.error(
                    f"routes[{index}].parallel",
                    f"found {route.parallel}, but {tracks_found} marked as parallel "
                    f"between {quoted(route.a)} and {quoted(route.b)}",
                )
            if route.length != first.length:
                yield board.error(
                    f"routes[{index}].length",
                    f"expected {first.length} as on the parallel track {quoted(first.id)}, "
                    f"found {route.length}",
                )
            if route.always_open != first.always_open:
                yield board.error(
                    f"routes[{index}].always_open",
                    f"expected the same as on the parallel track {quoted(first.id)}",
                )


def _connection_errors(board: BoardFile) -> Iterator[BoardError]:
    parts = _connected_parts(board)
    part_of = {city: number for number, part in enumerate(parts) for city in part}
    mainland = max(parts, key=len)
    position = {city.id: index for index, city in enumerate(board.cities)}
    for part in parts:
        first = f"cities[{position[part[0]]}]"
        if len(part) == 1:
            yield board.error(first, f"{quoted(part[0])} has no route")
        elif part is not mainland:
            yield board.error(first, f"no route leads from {_some(part)} to the other cities")
    for index, ticket in enumerate(board.tickets):
        parts_of_a, parts_of_b = (
            {part_of[city] for city in board.city_groups.get(place, (place,))}
            for place in (ticket.a, ticket.b)
        )
        if not parts_of_a & parts_of_b:
            between = f"{quoted(ticket.a)} and {quoted(ticket.b)}"
            yield board.error(f"tickets[{index}]", f"no routes connect {between}")


def _connected_parts(board: BoardFile) -> list[list[str]]:
    """Return the cities, split into those that routes connect, each part in the order of the file."""
    neighbors: dict[str, list[str]] = {city.id: [] for city in board.cities}
    for route in board.routes:
        neighbors[route.a].append(route.b)
        neighbors[route.b].append(route.a)
    parts: list[list[str]] = []
    seen: set[str] = set()
    for city in board.cities:
        if city.id in seen:
            continue
        reached = {city.id}
        waiting = [city.id]
        while waiting:
            for neighbor in neighbors[waiting.pop()]:
                if neighbor not in reached:
                    reached.add(neighbor)
                    waiting.append(neighbor)
        seen |= reached
        parts.append([other.id for other in board.cities if other.id in reached])
    return parts


def _some(ids: Sequence[str]) -> str:
    """Return the first few ids and how many more there are."""
    named = [quoted(id) for id in ids[:5]]
    if len(ids) > len(named):
        return f"{', '.join(named)} and {len(ids) - len(named)} more"
    return f"{', '.join(named[:-1])} and {named[-1]}"
