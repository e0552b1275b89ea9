"""The view of a viewer, built up from nothing: a field is seen only if it is put in (GEN-09).

The section of a part is beside the part; this module puts the sections together.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from stellwerk_engine.core.cards import to_wire, total
from stellwerk_engine.core.state import NOT_LAST_ROUND, Seat, State, ViewerId
from stellwerk_engine.core.viewers import ALL_HANDS, PUBLIC, sees_seat, viewer_kind
from stellwerk_engine.parts.holders import team_views
from stellwerk_engine.parts.long_tickets import removed_count_of
from stellwerk_engine.parts.rail_yards.rail_yards import stack_view, yard_view
from stellwerk_engine.parts.stations.build_station import stations_left, stations_view
from stellwerk_engine.parts.technologies.buy_technology import supply_view
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import CityNames, RouteName, TechnologyName, TicketNames
from stellwerk_protocol.views import PlayerView, View, YardStack

__all__ = ["ALL_HANDS", "PUBLIC", "ViewerId", "sees_seat", "view", "viewer_kind"]


def view(state: State, viewer: ViewerId) -> View:
    """Return all that the viewer may know of the state: a seat, `PUBLIC` or `ALL_HANDS`."""
    game = state.game
    return View(
        game=game.rules.id,
        viewer=viewer_kind(viewer),
        turn=state.turn,
        progress_turn=state.progress_turn,
        passes=state.passes,
        market=to_wire(state.market),
        pile=len(state.pile),
        pile_may_hold=to_wire(state.may_hold),
        discards=to_wire(state.discards),
        ticket_pile=len(state.ticket_pile),
        players=tuple([_player(state, seat, viewer) for seat in range(game.seat_count)]),
        seat=viewer if viewer >= 0 else UNSET,
        teams=team_views(state, viewer) if state.holders else UNSET,
        supply=supply_view(state) if state.supply else UNSET,
        half=state.half if state.yards else UNSET,
        removed_tickets=removed_count_of(state) if state.removed_masks else UNSET,
        turns_left=state.turns_left if state.turns_left != NOT_LAST_ROUND else UNSET,
        pending=state.pending.to_wire(state, viewer, viewer == ALL_HANDS)
        if state.pending is not None
        else UNSET,
        result=state.result if state.result is not None else UNSET,
    )


def _player(state: State, seat: Seat, viewer: ViewerId) -> PlayerView:
    """Return public facts, and private ones for those who may see them."""
    game = state.game
    board = game.board
    tickets_mask = state.ticket_masks[seat]
    # on a map
    trains: int | UnsetType = UNSET
    routes: tuple[RouteName, ...] | UnsetType = UNSET
    if board.longest_route:
        trains = state.trains[seat]
        routes = state.route_names[seat]
    # of parts
    technologies: tuple[TechnologyName, ...] | UnsetType = UNSET
    stations: CityNames | UnsetType = UNSET
    left: int | UnsetType = UNSET
    removed_count: int | UnsetType = UNSET
    yard: tuple[YardStack, ...] | UnsetType = UNSET
    stack_count: int | UnsetType = UNSET
    completed: TicketNames | UnsetType = UNSET
    if state.supply:
        technologies = game.perks[state.technologies[seat]].names
    if state.stations:
        stations = stations_view(state, seat)
        left = stations_left(state, seat)
    if state.removed_masks:
        removed_count = state.removed_masks[seat].bit_count()
    if state.yards:
        yard = yard_view(state, seat)
        stack_count = total(state.stacks[seat])
        completed = board.ticket_names[state.completed_masks[seat]]
    # private to the seat
    hand: Cards | UnsetType = UNSET
    tickets: TicketNames | UnsetType = UNSET
    offered: TicketNames | UnsetType = UNSET
    returned: TicketNames | UnsetType = UNSET
    stack: Cards | UnsetType = UNSET
    removed: TicketNames | UnsetType = UNSET
    if sees_seat(viewer, seat):
        hand = to_wire(state.hands[seat])
        tickets = board.ticket_names[tickets_mask]
        if state.offered[seat]:
            offered = tuple([board.tickets[ticket].name for ticket in state.offered[seat]])
        returned = board.ticket_names[state.returned_masks[seat]]
        if state.yards:
            stack = stack_view(state, seat, viewer)
        if state.removed_masks:
            removed = board.ticket_names[state.removed_masks[seat]]
    return PlayerView(  # in the order of its fields, for keywords take longer
        seat,
        game.team_of[seat],
        state.points[seat],
        total(state.hands[seat]),
        to_wire(state.known[seat]),
        tickets_mask.bit_count(),
        trains,
        routes,
        technologies,
        stations,
        left,
        removed_count,
        yard,
        stack_count,
        completed,
        hand,
        tickets,
        offered,
        returned,
        stack,
        removed,
    )
