"""The records of a board file: cities, routes and tickets (`protocol/BOARDS.md`).

They define the form of every field, for the schemas and for programs that read boards. The engine's loader
accepts less: it also checks whether a board is playable, that is, whether every id exists, routes connect all
cities, and each length has its points. The loader refuses everything that these records refuse.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import (
    END,
    MAX_CARDS_OF_A_COLOR,
    CardCount,
    CityName,
    GameName,
    RegionName,
    RouteName,
    TicketName,
)

RouteColor = Literal["gray", "purple", "blue", "orange", "white", "green", "yellow", "black", "red"]
DisplayName = Annotated[str, Meta(title="DisplayName", min_length=1, max_length=40)]
Coordinate = Annotated[float, Meta(title="Coordinate", ge=0, le=1000)]
RouteLength = Annotated[int, Meta(title="RouteLength", ge=1, le=12)]
LengthText = Annotated[str, Meta(title="LengthText", pattern=r"^([1-9]|1[0-2])" + END)]
CityGroup = Annotated[tuple[CityName, ...], Meta(title="CityGroup", min_length=1, max_length=32)]
BoardPoints = Annotated[int, Meta(title="BoardPoints", ge=1, le=200)]


class _Record(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    pass


class City(_Record, frozen=True):
    """A city, or a `junction` where routes meet. `x` and `y` are for drawings."""

    id: CityName
    name: DisplayName
    x: Coordinate | UnsetType = UNSET
    y: Coordinate | UnsetType = UNSET
    region: RegionName | UnsetType = UNSET
    junction: bool = False


class Route(_Record, frozen=True):
    """One track. A double route is two records, each with `parallel` 2."""

    id: RouteName
    a: CityName
    b: CityName
    length: RouteLength
    color: RouteColor
    locomotives: Annotated[int, Meta(ge=0, le=12)] = 0
    tunnel: Annotated[int, Meta(ge=0, le=10)] = 0
    parallel: Annotated[int, Meta(ge=1, le=3)] = 1
    always_open: bool = False
    doubtful: bool = False


class Ticket(_Record, frozen=True):
    """Two cities, or groups of cities, to connect. `cards` is the price if the board has no routes.
    Some games deal the `long` tickets apart from the others."""

    id: TicketName
    a: CityName
    b: CityName
    points: BoardPoints
    cards: Cards | UnsetType = UNSET
    long: bool = False
    doubtful: bool = False


class Board(_Record, frozen=True):
    """A board: with routes, `trains` and `route_points`, or with `cards` on its tickets."""

    format: Literal["stellwerk-board/1"]
    id: GameName
    title: DisplayName
    provenance: Annotated[str, Meta(min_length=1, max_length=400)]
    cards_each_color: CardCount
    locomotives: Annotated[int, Meta(ge=0, le=MAX_CARDS_OF_A_COLOR)]
    cities: Annotated[tuple[City, ...], Meta(min_length=2, max_length=128)]
    tickets: Annotated[tuple[Ticket, ...], Meta(min_length=1, max_length=128)]
    trains: Annotated[int, Meta(ge=1, le=100)] | UnsetType = UNSET
    route_points: Annotated[dict[LengthText, BoardPoints], Meta(min_length=1)] | UnsetType = UNSET
    routes: Annotated[tuple[Route, ...], Meta(min_length=1, max_length=256)] | UnsetType = UNSET
    city_groups: Annotated[dict[CityName, CityGroup], Meta(min_length=1, max_length=32)] | UnsetType = UNSET
    big_cities: Annotated[dict[CityName, BoardPoints], Meta(min_length=1, max_length=128)] | UnsetType = UNSET
