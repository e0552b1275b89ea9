"""What a viewer may know, built up from nothing: a field that is not put in is not seen (GEN-09).

Viewers are seats, the public, and the organiser's spectator who sees all hands.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from stellwerk_engine.core.cards import COLOR_NAMES, PLAIN_COLORS, counts, to_wire, total
from stellwerk_engine.core.state import NOT_LAST_ROUND, Game, Seat, State
from stellwerk_engine.parts.rail_yards.rail_yards import has_open_stacks
from stellwerk_engine.parts.technologies.buy_technology import technology_ids
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import RouteName, TechnologyName, TicketNames, Viewer
from stellwerk_protocol.views import PlayerView, TeamView, View, YardStack

ViewerId = int  # a seat, or one of the two below
PUBLIC: Final[ViewerId] = -1
ALL_HANDS: Final[ViewerId] = -2


def view(state: State, viewer: ViewerId) -> View:
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
        teams=_teams(state, viewer) if state.holders else UNSET,
        supply=_supply(state) if state.supply else UNSET,
        half=state.half if state.yards else UNSET,
        turns_left=state.turns_left if state.turns_left != NOT_LAST_ROUND else UNSET,
        pending=state.pending.to_wire(state, viewer, viewer == ALL_HANDS)
        if state.pending is not None
        else UNSET,
        result=state.result if state.result is not None else UNSET,
    )


def viewer_kind(viewer: ViewerId) -> Viewer:
    return "seat" if viewer >= 0 else "public" if viewer == PUBLIC else "all_hands"


def sees_seat(viewer: ViewerId, seat: Seat) -> bool:
    """Whether the viewer may know what is private to the seat."""
    return viewer in (seat, ALL_HANDS)


def sees_team(game: Game, viewer: ViewerId, team: int) -> bool:
    """Whether the viewer may know what is private to the team."""
    return viewer == ALL_HANDS or (viewer >= 0 and game.team_of[viewer] == team)


def _player(state: State, seat: Seat, viewer: ViewerId) -> PlayerView:
    """Public facts in the order of PlayerView's fields, then, for who may see them, the private ones."""
    game = state.game
    tickets_mask = state.ticket_masks[seat]
    trains: int | UnsetType = UNSET
    routes: tuple[RouteName, ...] | UnsetType = UNSET
    technologies: tuple[TechnologyName, ...] | UnsetType = UNSET
    yard: tuple[YardStack, ...] | UnsetType = UNSET
    stack_count: int | UnsetType = UNSET
    completed: TicketNames | UnsetType = UNSET
    if game.board.longest_route:
        trains = state.trains[seat]
        routes = state.route_names[seat]
    if state.supply:
        technologies = game.perks[state.technologies[seat]].names
    if state.yards:
        yard = _yard(state, seat)
        stack_count = total(state.stacks[seat])
        completed = game.board.ticket_names[state.completed_masks[seat]]
    public = (
        seat,
        game.team_of[seat],
        state.points[seat],
        total(state.hands[seat]),
        to_wire(state.known[seat]),
        tickets_mask.bit_count(),
        trains,
        routes,
        technologies,
        yard,
        stack_count,
        completed,
    )
    if not sees_seat(viewer, seat):
        return PlayerView(*public)
    offered = state.offered[seat]
    return PlayerView(
        *public,
        hand=to_wire(state.hands[seat]),
        tickets=game.board.ticket_names[tickets_mask],
        offered=tuple([game.board.tickets[ticket].name for ticket in offered]) if offered else UNSET,
        returned=game.board.ticket_names[state.returned_masks[seat]],
        stack=_stack(state, seat, viewer) if state.yards else UNSET,
    )


def _stack(state: State, seat: Seat, viewer: ViewerId) -> Cards | UnsetType:
    """CARD-05: nobody looks into a stack before the scoring; with open stacks its owner does."""
    if sees_seat(viewer, seat) and (state.stacks_seen or has_open_stacks(state.game)):
        return to_wire(state.stacks[seat])
    return UNSET


def _teams(state: State, viewer: ViewerId) -> tuple[TeamView, ...]:
    game = state.game
    return tuple(
        [
            TeamView(
                team=team,
                holder_count=total(state.holders[team]),
                known_holder=to_wire(state.known_holders[team]),
                shared_count=state.shared_masks[team].bit_count(),
                holder=to_wire(state.holders[team]) if sees_team(game, viewer, team) else UNSET,
                shared_tickets=game.board.ticket_names[state.shared_masks[team]]
                if sees_team(game, viewer, team)
                else UNSET,
            )
            for team in range(len(game.seats_of_team))
        ]
    )


def _supply(state: State) -> dict[TechnologyName, int]:
    names = technology_ids(state.game)
    return {name: left for name, left in zip(names, state.supply, strict=True) if left}


def _yard(state: State, seat: Seat) -> tuple[YardStack, ...]:
    if not state.yards[seat]:
        return ()
    cards, locomotives = counts(state.yards[seat]), counts(state.yard_locomotives[seat])
    return tuple(
        YardStack(COLOR_NAMES[color], cards[color], locomotives[color])
        for color in PLAIN_COLORS
        if cards[color]
    )
