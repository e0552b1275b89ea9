"""A guess of the tickets that others hold, from the routes that they have claimed.

`imagine` deals them without preference. But a player works at the tickets that it holds: a ticket that its
network connects, or nearly, is far more likely than one elsewhere. So this module deals the hidden tickets of
an imagined state once more, with such weights. The number of tickets in each place does not change, nor does
anything that the viewer sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from math import exp
from typing import TYPE_CHECKING, Final, Literal

from stellwerk_bots.planner.network_plan import cheapest_path
from stellwerk_engine.core.board import Ticket, TicketId, bits, mask_of
from stellwerk_engine.core.scoring import connects
from stellwerk_engine.parts.long_tickets import long_tickets

if TYPE_CHECKING:
    from stellwerk_engine.core.dice import Stream
    from stellwerk_engine.core.state import Game, Seat, State

Holding = tuple[Literal["secret", "shared"], int]  # of a seat, or on a team's holder

CERTAINTY: Final = 5.0  # a ticket that is connected is exp(5) times as likely as one not begun
CUT_OFF: Final = -1.0  # for a ticket that can no longer be connected: given up, or never held
UNIT: Final = 1000  # weights are whole numbers
WAYS_KEPT: Final = 4096


def guess_tickets(state: State, viewer: Seat) -> None:
    """Deal the tickets that the viewer does not see once more, with the state's own dice. The state is
    changed."""
    put_back_mask = state.returned_masks[viewer]
    put_back = [ticket for ticket in state.ticket_pile if put_back_mask >> ticket & 1]
    holdings = {holding: _held_mask(state, holding) for holding in _hidden_holdings(state, viewer)}
    removed = {owner: mask for owner, mask in enumerate(state.removed_masks) if owner != viewer}
    hidden_mask = mask_of(state.ticket_pile) & ~put_back_mask
    for mask in (*holdings.values(), *removed.values()):
        hidden_mask |= mask
    source = state.dice.stream("guess/tickets")
    long_mask = mask_of(long_tickets(state.game))
    rest: list[TicketId] = []
    for label, kind_mask in (("guess/long", long_mask), ("guess/pile", ~long_mask)):  # as many as before
        hidden = list(bits(hidden_mask & kind_mask))  # the earlier deal of a ticket has no meaning
        for holding, mask in holdings.items():
            dealt = _deal(state, holding, (mask & kind_mask).bit_count(), hidden, source)
            _hold_instead(state, holding, mask & kind_mask, dealt)
        rest = state.dice.shuffled(label, hidden)
        for owner, mask in removed.items():
            gone = [rest.pop() for _ in range((mask & kind_mask).bit_count())]
            removed[owner] = mask & ~kind_mask | mask_of(gone)
    state.ticket_pile = put_back + rest
    state.removed_masks = tuple([removed.get(owner, mask) for owner, mask in enumerate(state.removed_masks)])


def _hidden_holdings(state: State, viewer: Seat) -> Iterator[Holding]:
    game = state.game
    for seat in range(game.seat_count):
        if seat != viewer:
            yield "secret", seat
    for team in range(len(state.shared_masks)):
        if team != game.team_of[viewer]:
            yield "shared", team


def _held_mask(state: State, holding: Holding) -> int:
    """Return the tickets that a seat holds, without those just drawn, which nobody has worked at yet."""
    place, owner = holding
    if place == "shared":
        return state.shared_masks[owner]
    return state.ticket_masks[owner] & ~mask_of(state.offered[owner])


def _hold_instead(state: State, holding: Holding, old_mask: int, new_mask: int) -> None:
    place, owner = holding
    masks = state.shared_masks if place == "shared" else state.ticket_masks
    masks[owner] = masks[owner] & ~old_mask | new_mask


def _deal(state: State, holding: Holding, count: int, hidden: list[TicketId], source: Stream) -> int:
    """Take this number of hidden tickets off the list, the more likely ones more often."""
    place, owner = holding
    team = owner if place == "shared" else state.game.team_of[owner]
    weights = [_weight(state, team, ticket) for ticket in hidden] if count else []
    dealt_mask = 0
    for _ in range(count):
        sums = list(accumulate(weights))
        point = source.below(sums[-1])
        at = next(at for at, reached in enumerate(sums) if point < reached)
        dealt_mask |= 1 << hidden.pop(at)
        weights.pop(at)
    return dealt_mask


def _weight(state: State, team: int, ticket: TicketId) -> int:
    return int(UNIT * exp(CERTAINTY * _part_done(state, team, state.game.board.tickets[ticket])))


def _part_done(state: State, team: int, ticket: Ticket) -> float:
    """Return the part of the ticket's path that the network saves: 1 for all of it."""
    if connects(state.networks[team], ticket):
        return 1.0
    network_mask = 0
    for seat in state.game.seats_of_team[team]:
        network_mask |= state.owned_masks[seat]
    path = cheapest_path(state.game, ticket, network_mask, state.open_mask, 0)
    if path is None:
        return CUT_OFF
    return max(0.0, 1 - path[0] / _whole_way(state.game, ticket))


@lru_cache(maxsize=WAYS_KEPT)
def _whole_way(game: Game, ticket: Ticket) -> int:
    path = cheapest_path(game, ticket, 0, game.board.routes_mask, 0)
    assert path is not None  # the routes of a board connect all its cities
    return path[0]
