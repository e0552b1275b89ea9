"""The effects of a claim: trains, routes, the tracks beside it, networks, points, cards."""

from __future__ import annotations

from stellwerk_engine.core.board import Route
from stellwerk_engine.core.cards import CardSet, to_wire, without
from stellwerk_engine.core.piles import discard
from stellwerk_engine.core.state import Decision, Events, Seat, State
from stellwerk_engine.core.turn import end_turn
from stellwerk_protocol import events as ev


class AnsweredByClaims:
    """A decision, other than a turn, that claims answer."""

    __slots__ = ()

    def after_claim(self, state: State, seat: Seat, events: Events | None) -> None:
        raise NotImplementedError  # every such decision has its own


def after_claim(state: State, seat: Seat, answered: Decision, events: Events | None) -> None:
    """Go on when a claim made in answer to this decision has succeeded or failed."""
    if isinstance(answered, AnsweredByClaims):
        answered.after_claim(state, seat, events)
    else:
        end_turn(state, seat, events)


def place_claim(
    state: State,
    seat: Seat,
    route: Route,
    pay: CardSet,
    holder_pay: CardSet,
    revealed: CardSet,
    events: Events | None,
) -> None:
    """Make the claim. The decision that it answers says how the turn continues."""
    state.progress_turn = state.turn
    spend(state, seat, pay, holder_pay)
    state.trains[seat] -= route.length
    points = _points(state, seat, route)
    state.points[seat] += points
    hand_over(state, seat, route)
    if events is not None:
        events.append(
            ev.RouteClaimed(
                seat,
                route.name,
                trains=route.length,
                points=points,
                cards=to_wire(pay),
                holder_cards=to_wire(holder_pay),
                revealed=to_wire(revealed),
            )
        )
    discard(state, pay + holder_pay + revealed, events)


def hand_over(state: State, seat: Seat, route: Route) -> None:
    """Give the route to the seat, with all that this means for other routes and for the team's network."""
    state.owned_masks[seat] |= route.bit
    state.route_names[seat] = (*state.route_names[seat], route.name)
    _close_tracks(state, seat, route)
    _connect(state, seat, route)


def spend(state: State, seat: Seat, pay: CardSet, holder_pay: CardSet) -> None:
    """Take cards out of hand and holder; of those that everybody knew there, the played ones are gone."""
    state.hands[seat] -= pay
    if state.known[seat]:
        state.known[seat] = without(state.known[seat], pay)
    if holder_pay:
        team = state.game.team_of[seat]
        state.holders[team] -= holder_pay
        state.known_holders[team] = without(state.known_holders[team], holder_pay)


def _points(state: State, seat: Seat, route: Route) -> int:
    perks = state.game.perks[state.technologies[seat]]
    return route.points + perks.route_points + (perks.ferry_points if route.symbols else 0)


def _close_tracks(state: State, seat: Seat, route: Route) -> None:
    """Close the claimed track, and every parallel track that the rules now close (USA-11, ASIA-12, ASIA-13,
    UK-03)."""
    state.claimed_mask |= route.bit
    state.open_mask &= ~route.bit
    if route.group_mask:
        state.barred_masks[seat] |= route.group_mask
        limit = state.game.claims.track_limits.get(route.id)
        if limit is not None and (state.claimed_mask & route.group_mask).bit_count() >= limit:
            state.open_mask &= ~route.group_mask


def _connect(state: State, seat: Seat, route: Route) -> None:
    """Merge the team's networks that the route touches."""
    team = state.game.team_of[seat]
    merged = route.ends_mask
    apart: list[int] = []
    for network in state.networks[team]:
        if network & route.ends_mask:
            merged |= network
        else:
            apart.append(network)
    apart.append(merged)
    state.networks[team] = tuple(apart)
