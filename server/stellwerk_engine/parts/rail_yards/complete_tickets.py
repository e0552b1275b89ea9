"""The card game's scoring, and its second half (CARD-13 to CARD-15)."""

from __future__ import annotations

from stellwerk_engine.core.board import Board, TicketId, bits, mask_of
from stellwerk_engine.core.cards import counts, to_wire, total
from stellwerk_engine.core.choices import ask_all, choose
from stellwerk_engine.core.piles import refill_market, shuffle_into_pile
from stellwerk_engine.core.scoring import score_game
from stellwerk_engine.core.state import NOT_LAST_ROUND, Events, Move, Seat, State
from stellwerk_engine.core.turn import begin_last_round, start_turn
from stellwerk_engine.parts.rail_yards.completions import (
    TicketNeed,
    best_completion,
    feasible,
    maximal_completions,
)
from stellwerk_engine.parts.tickets import check_tickets, names_of
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import EndReason

CARDS_DEALT_AT_HALF = 4  # CARD-15


def ask_to_complete(state: State, reason: EndReason, halves: int, events: Events | None) -> None:
    """Let everybody take up their own stack and choose, all at once."""
    state.stacks_seen = True
    if events is not None:
        for seat, stack in enumerate(state.stacks):
            events.append(ev.StackTakenUp(seat, total(stack), to_wire(stack)))
    decision = CompleteTickets(tuple(range(state.game.seat_count)), reason, halves)
    ask_all(state, decision)
    if events is not None:
        events.append(ev.Asked(decision.to_wire(state, 0, sees_all=True)))


class Complete(Move):
    __slots__ = ("board", "decision", "tickets")

    def __init__(self, board: Board, decision: CompleteTickets, tickets: tuple[TicketId, ...]) -> None:
        self.board = board
        self.decision = decision
        self.tickets = tickets

    def to_wire(self) -> wire_moves.CompleteTickets:
        return wire_moves.CompleteTickets(names_of(self.board, self.tickets))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        choices = choose(state, self.decision, seat, self)
        if choices is not None:
            self.decision.settle(state, choices, events)


class CompleteTickets:
    """Which of their own tickets players complete with the on-track stack; none is a choice too."""

    __slots__ = ("halves", "reason", "seats")

    def __init__(self, seats: tuple[Seat, ...], reason: EndReason, halves: int) -> None:
        self.seats = seats
        self.reason: EndReason = reason
        self.halves = halves

    def legal(self, state: State, seat: Seat) -> list[Move]:
        """List at most 64 sets to which no ticket can be added, best first."""
        held, needs = _tickets_and_needs(state, seat)
        chosen_sets, _ = maximal_completions(needs, counts(state.stacks[seat]))
        return [Complete(state.game.board, self, tuple(held[n] for n in chosen)) for chosen in chosen_sets]

    def legal_complete(self, state: State, seat: Seat) -> bool:
        _, needs = _tickets_and_needs(state, seat)
        _, complete = maximal_completions(needs, counts(state.stacks[seat]), limit=1)
        return complete

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        if not isinstance(wire, wire_moves.CompleteTickets):
            raise IllegalMoveError("game.wrong_move", "/type", "complete_tickets")
        held, needs = _tickets_and_needs(state, seat)
        chosen = check_tickets(state.game.board, wire.tickets, held)
        if not feasible(needs, [held.index(ticket) for ticket in chosen], counts(state.stacks[seat])):
            raise IllegalMoveError(
                "game.wrong_tickets", "/tickets", "tickets whose cards are together in the on-track stack"
            )
        return Complete(state.game.board, self, tuple(ticket for ticket in held if ticket in chosen))

    def fallback(self, state: State, seat: Seat) -> Move:
        """Choose the greatest value, then most tickets, then the ids that come first (CARD-13)."""
        held, needs = _tickets_and_needs(state, seat)
        best = best_completion(needs, counts(state.stacks[seat]))
        return Complete(state.game.board, self, tuple(held[number] for number in best))

    def settle(self, state: State, choices: tuple[Move, ...], events: Events | None) -> None:
        for seat, choice in zip(self.seats, choices, strict=True):
            assert isinstance(choice, Complete)
            self._settle_seat(state, seat, choice.tickets, events)
        if self.reason == "pile" and state.half < self.halves:
            _start_half(state, events)
        else:
            score_game(state, self.reason, events)

    def _settle_seat(
        self, state: State, seat: Seat, tickets: tuple[TicketId, ...], events: Events | None
    ) -> None:
        completed = mask_of(tickets)
        points = sum(state.game.board.tickets[ticket].points for ticket in tickets)
        state.ticket_masks[seat] &= ~completed
        state.completed_masks[seat] |= completed
        state.points[seat] += points
        if events is not None:
            events.append(ev.TicketsCompleted(seat, names_of(state.game.board, tickets), points))

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return wire_decisions.CompleteTickets(self.seats, self.reason)


def _tickets_and_needs(state: State, seat: Seat) -> tuple[list[TicketId], list[TicketNeed]]:
    """Return the seat's open tickets in the order of their names, and what each asks for."""
    tickets = state.game.board.tickets
    held = sorted(bits(state.ticket_masks[seat]), key=lambda ticket: tickets[ticket].name)
    return held, [TicketNeed(tickets[ticket].points, tickets[ticket].needs) for ticket in held]


def _start_half(state: State, events: Events | None) -> None:
    """Start the next half (CARD-15). Turns continue in order, after the seat that moved last."""
    game = state.game
    seats = range(game.seat_count)
    state.half += 1
    state.stacks_seen = False
    state.turns_left = NOT_LAST_ROUND
    state.end_reason = None
    state.discards = 0
    for seat in seats:
        state.stacks[seat] = state.yards[seat] = state.yard_locomotives[seat] = 0
    if events is not None:
        events.append(ev.HalfStarted(state.half))
    rest = game.board.deck - state.market
    shuffle_into_pile(state, rest - sum(state.hands), rest - sum(state.known), events)
    beginner = state.turn % game.seat_count
    _deal_in_turns(state, beginner, events)
    refill_market(state, events)
    if not state.pile:
        begin_last_round(state, events)
    start_turn(state, beginner, events)


def _deal_in_turns(state: State, beginner: Seat, events: Events | None) -> None:
    """Deal four cards to each, one at a time, as far as they go."""
    game = state.game
    dealt = [0] * game.seat_count
    for number in range(CARDS_DEALT_AT_HALF * game.seat_count):
        if state.pile:
            dealt[(beginner + number) % game.seat_count] += 1 << 8 * state.pile.pop()
    for seat, cards in enumerate(dealt):
        state.hands[seat] += cards
        if events is not None:
            events.append(ev.CardsDealt(seat, total(cards), to_wire(cards)))
