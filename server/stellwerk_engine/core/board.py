"""A board as the engine reads it: everything fixed, computed once.

Routes get ids of their own: eight routes of one color share a byte of every route mask, in the order of their
lengths, so that the claims that a hand can pay are looked up a byte of open routes at a time
(`claim_table.py`). No route has an id in between, and no mask has its bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.boards.board_file import Route as RouteRecord
from stellwerk_engine.core.cards import COLOR_IDS, LOCOMOTIVE, ONE, PLAIN_COLORS, CardSet
from stellwerk_protocol.names import TicketNames
from stellwerk_protocol.results import TicketScore

RouteId = int
CityId = int
TicketId = int

GRAY: Final = 9
TRACKS_IN_A_BYTE: Final = 8
MOST_TICKET_SETS_KEPT: Final = 4096  # a megabyte


@dataclass(frozen=True, slots=True)
class Route:
    id: RouteId
    name: str
    a: CityId
    b: CityId
    length: int
    color: int  # 0 to 7, or GRAY
    symbols: int  # locomotives that a ferry asks for
    tunnel: int  # cards that are revealed
    points: int
    bit: int
    ends_mask: int
    group_mask: int  # the tracks between the same two cities, its own bit too; 0: a single track
    always_open: bool
    needs_mask: int  # technologies

    def accepts(self, color: int) -> bool:
        return self.color in (GRAY, color)


@dataclass(frozen=True, slots=True)
class Ticket:
    id: TicketId
    name: str
    a_mask: int  # the city, or all places of a group
    b_mask: int
    points: int
    needs: tuple[int, ...]  # cards of each plain color, in the card game
    completed: TicketScore
    failed: TicketScore


class TicketNamesTable(dict[int, TicketNames]):
    """A set of tickets -> their names, in the order of the board file. A table, because every view names the
    same few sets over and over; emptied when it has grown large."""

    def __init__(self, tickets: tuple[Ticket, ...]) -> None:
        super().__init__()
        self._tickets = tickets

    def __missing__(self, tickets_mask: int) -> TicketNames:
        if len(self) >= MOST_TICKET_SETS_KEPT:
            self.clear()
        names = tuple(self._tickets[ticket].name for ticket in bits(tickets_mask))
        self[tickets_mask] = names
        return names


@dataclass(frozen=True, slots=True)
class BigCity:
    name: str
    points: int
    tickets_mask: int


@dataclass(frozen=True, slots=True)
class Kind:
    """Routes that cost the same."""

    color: int
    length: int
    symbols: int
    mask: int


@dataclass(frozen=True, slots=True)
class Board:
    file: BoardFile
    deck: CardSet
    trains: int
    city_ids: dict[str, CityId]
    routes: tuple[Route, ...]  # by id; NO_ROUTE at the ids in between
    route_ids: dict[str, RouteId]
    routes_mask: int
    kinds: tuple[tuple[Kind, ...], ...]  # of each plain color and of GRAY, the shortest first
    routes_by_byte: tuple[tuple[Route, ...], ...]
    mask_bytes: int
    longest_route: int
    at_most_masks: tuple[int, ...]  # routes up to each length
    tickets: tuple[Ticket, ...]
    ticket_ids: dict[str, TicketId]
    ticket_names: TicketNamesTable
    big_cities: tuple[BigCity, ...]


NO_ROUTE: Final = Route(-1, "", 0, 0, 0, GRAY, 0, 0, 0, 0, 0, 0, False, 0)


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_of(ids: Iterable[int]) -> int:
    mask = 0
    for number in ids:
        mask |= 1 << number
    return mask


def compile_board(file: BoardFile, needs: Callable[[RouteRecord], int]) -> Board:
    """Compute everything fixed; `needs` gives the technologies that a route asks for, as a mask."""
    city_ids = {city.id: number for number, city in enumerate(file.cities)}
    rows = _rows(file)
    route_ids = {
        record.id: TRACKS_IN_A_BYTE * row + column
        for row, records in enumerate(rows)
        for column, record in enumerate(records)
    }
    routes = [NO_ROUTE] * (TRACKS_IN_A_BYTE * len(rows))
    for record in file.routes:
        route = _route(record, route_ids, city_ids, file, needs)
        routes[route.id] = route
    longest = max((record.length for record in file.routes), default=0)
    tickets = _tickets(file, city_ids)
    return Board(
        file=file,
        deck=sum(ONE[color] for color in PLAIN_COLORS) * file.cards_each_color
        + ONE[LOCOMOTIVE] * file.locomotives,
        trains=file.trains,
        city_ids=city_ids,
        routes=tuple(routes),
        route_ids=route_ids,
        routes_mask=mask_of(route_ids.values()),
        kinds=_kinds(routes),
        routes_by_byte=tuple(tuple(routes[route_ids[record.id]] for record in row) for row in rows),
        mask_bytes=len(rows),
        longest_route=longest,
        at_most_masks=tuple(
            mask_of(route.id for route in routes if route is not NO_ROUTE and route.length <= length)
            for length in range(longest + 1)
        ),
        tickets=tickets,
        ticket_ids={ticket.name: ticket.id for ticket in tickets},
        ticket_names=TicketNamesTable(tickets),
        big_cities=tuple(
            BigCity(
                city.id,
                file.big_cities[city.id],
                mask_of(n for n, t in enumerate(file.tickets) if city.id in (t.a, t.b)),
            )
            for city in file.cities  # whose order, unlike that of names in an object, is part of the board
            if city.id in file.big_cities
        ),
    )


def _rows(file: BoardFile) -> list[list[RouteRecord]]:
    """Return the routes, eight of one color and of like length in a row."""
    rows: list[list[RouteRecord]] = []
    for color in ("gray", *COLOR_IDS):
        same = sorted((r for r in file.routes if r.color == color), key=lambda record: record.length)
        rows += [same[start : start + TRACKS_IN_A_BYTE] for start in range(0, len(same), TRACKS_IN_A_BYTE)]
    return rows


def _route(
    record: RouteRecord,
    route_ids: dict[str, RouteId],
    city_ids: dict[str, CityId],
    file: BoardFile,
    needs: Callable[[RouteRecord], int],
) -> Route:
    number = route_ids[record.id]
    a, b = city_ids[record.a], city_ids[record.b]
    ends = {record.a, record.b}
    group = [r.id for r in file.routes if record.parallel > 1 and r.parallel > 1 and {r.a, r.b} == ends]
    return Route(
        id=number,
        name=record.id,
        a=a,
        b=b,
        length=record.length,
        color=GRAY if record.color == "gray" else COLOR_IDS[record.color],
        symbols=record.locomotives,
        tunnel=record.tunnel,
        points=file.route_points[record.length],
        bit=1 << number,
        ends_mask=1 << a | 1 << b,
        group_mask=mask_of(route_ids[name] for name in group),
        always_open=record.always_open,
        needs_mask=needs(record),
    )


def _kinds(routes: list[Route]) -> tuple[tuple[Kind, ...], ...]:
    masks: dict[tuple[int, int, int], int] = {}
    for route in routes:
        if route is not NO_ROUTE:
            price = (route.color, route.length, route.symbols)
            masks[price] = masks.get(price, 0) | route.bit
    return tuple(
        tuple(
            Kind(color, length, symbols, mask)
            for (of, length, symbols), mask in sorted(masks.items())
            if of == color
        )
        for color in range(GRAY + 1)
    )


def _tickets(file: BoardFile, city_ids: dict[str, CityId]) -> tuple[Ticket, ...]:
    def places(name: str) -> int:
        return mask_of(city_ids[city] for city in file.city_groups.get(name, (name,)))

    return tuple(
        Ticket(
            id=number,
            name=record.id,
            a_mask=places(record.a),
            b_mask=places(record.b),
            points=record.points,
            needs=tuple(record.cards.get(color, 0) for color in tuple(COLOR_IDS)[:LOCOMOTIVE]),
            completed=TicketScore(record.id, completed=True, points=record.points),
            failed=TicketScore(record.id, completed=False, points=-record.points),
        )
        for number, record in enumerate(file.tickets)
    )
