"""The continuation of an imagined state if all players follow the planner's rules of thumb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stellwerk_bots.planner.map_worth import best_listed
from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine
from stellwerk_engine.core.board import TicketId, bits
from stellwerk_engine.core.cards import LOCOMOTIVE, counts
from stellwerk_engine.parts.rail_yards.complete_tickets import Complete, CompleteTickets

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Move, Seat, State

VICTORY: Final = 10  # bonus points for a victory: a match is won, however narrowly


def play_on(state: State) -> None:
    """Play to the end of the game. The state is changed."""
    choose = _at_a_yard if state.yards else best_listed
    while state.pending is not None:
        for seat in engine.owing(state):
            engine.apply(state, seat, choose(state, seat))


def success(state: State, team: int) -> int:
    """Return the success in a game that is over: points ahead of the best other team, plus a bonus for a
    victory."""
    assert state.result is not None
    teams = state.result.teams
    lead = teams[team].points - max(other.points for other in teams if other.team != team)
    return lead + VICTORY if lead > 0 else lead - VICTORY if lead < 0 else 0


def _at_a_yard(state: State, seat: Seat) -> Move:
    decision = state.pending
    assert decision is not None
    if isinstance(decision, CompleteTickets):
        return Complete(state.game.board, decision, packed_tickets(state, seat))
    return planner(state, seat, decision.legal(state, seat))


def packed_tickets(state: State, seat: Seat) -> tuple[TicketId, ...]:
    """Return tickets that the on-track stack completes, those with most points first: not always the best
    choice, but at a hundredth of its price."""
    tickets = [state.game.board.tickets[ticket] for ticket in bits(state.ticket_masks[seat])]
    stack = list(counts(state.stacks[seat]))
    packed: list[TicketId] = []
    for ticket in sorted(tickets, key=lambda ticket: -ticket.points):
        left = [there - needed for there, needed in zip(stack, ticket.needs, strict=False)]
        locomotives = stack[LOCOMOTIVE] + sum(missing for missing in left if missing < 0)
        if locomotives >= 0:
            stack = [*(max(0, there) for there in left), locomotives]
            packed.append(ticket.id)
    return tuple(packed)
