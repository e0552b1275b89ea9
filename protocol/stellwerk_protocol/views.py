"""The complete knowledge of one viewer of a game: a bot needs no history.

A view has what a player with a perfect memory would remember of public play (which cards of a hand everybody
saw, what the pile can still hold), and the viewer's own secrets. A field is absent if the viewer may not know
it or the game does not have it; it is never null.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_protocol.cards import Cards
from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.names import (
    MAX_SEATS,
    CityNames,
    Color,
    Count,
    GameName,
    Points,
    RouteNames,
    Seat,
    Team,
    TechnologyName,
    TicketNames,
    Viewer,
)
from stellwerk_protocol.results import Result


class YardStack(Struct, frozen=True, gc=False):
    """One color in a rail yard: `cards` of that color and the `locomotives` lying on them."""

    color: Color
    cards: Count
    locomotives: Count


class PlayerView(Struct, frozen=True, omit_defaults=True, gc=False):
    """One player. `known_cards` is the part of the hand that everybody saw taken and that was not played
    since."""

    seat: Seat
    team: Team
    points: Points
    hand_count: Count
    known_cards: Cards
    ticket_count: Count
    # the map
    trains: Count | UnsetType = UNSET
    routes: RouteNames | UnsetType = UNSET
    technologies: Annotated[tuple[TechnologyName, ...], Meta(max_length=32)] | UnsetType = UNSET
    # stations
    stations: CityNames | UnsetType = UNSET
    stations_left: Count | UnsetType = UNSET
    removed_count: Count | UnsetType = UNSET
    # the card game
    yard: Annotated[tuple[YardStack, ...], Meta(max_length=8)] | UnsetType = UNSET
    stack_count: Count | UnsetType = UNSET
    completed: TicketNames | UnsetType = UNSET
    # private to the seat
    hand: Cards | UnsetType = UNSET
    tickets: TicketNames | UnsetType = UNSET
    offered: TicketNames | UnsetType = UNSET
    returned: TicketNames | UnsetType = UNSET
    stack: Cards | UnsetType = UNSET
    removed: TicketNames | UnsetType = UNSET


class TeamView(Struct, frozen=True, omit_defaults=True, gc=False):
    """A team's holders. `holder` and `shared_tickets` are private to the team."""

    team: Team
    holder_count: Count
    known_holder: Cards
    shared_count: Count
    holder: Cards | UnsetType = UNSET
    shared_tickets: TicketNames | UnsetType = UNSET


class View(Struct, frozen=True, omit_defaults=True, gc=False):
    """A view. The pile has no other cards than `pile_may_hold`; those of it that are not in the pile were
    drawn blind (after the card game's first half some were already in hands). `progress_turn` and `passes`
    count towards an early end (GEN-05, GEN-06)."""

    game: GameName
    viewer: Viewer
    turn: Count
    progress_turn: Count
    passes: Count
    market: Cards
    pile: Count
    pile_may_hold: Cards
    discards: Cards
    ticket_pile: Count
    players: Annotated[tuple[PlayerView, ...], Meta(max_length=MAX_SEATS)]
    seat: Seat | UnsetType = UNSET
    teams: Annotated[tuple[TeamView, ...], Meta(max_length=MAX_SEATS)] | UnsetType = UNSET
    supply: dict[TechnologyName, Count] | UnsetType = UNSET
    half: Count | UnsetType = UNSET
    removed_tickets: Count | UnsetType = UNSET
    turns_left: Count | UnsetType = UNSET
    pending: Decision | UnsetType = UNSET
    result: Result | UnsetType = UNSET
