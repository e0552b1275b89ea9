"""Tickets: offered, kept, put back, shared (USA-03, USA-13, CARD-03, CARD-11, ASIA-09 to ASIA-11, GEN-04)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from stellwerk_engine.boards.board import Board, TicketId, bits, mask_of
from stellwerk_engine.core.choices import ask_all, choose
from stellwerk_engine.core.decision import Events, Move, Seat
from stellwerk_engine.core.turn import end_turn
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import TicketName

if TYPE_CHECKING:
    from stellwerk_engine.core.state import State

Then = Callable[["State", Seat, "Events | None"], None]
PAIRS_LISTED_UP_TO: Final = 12  # secret tickets: of more, pairs would make the list of moves too long


def names_of(board: Board, tickets: Iterable[TicketId]) -> tuple[TicketName, ...]:
    return tuple([board.tickets[ticket].name for ticket in tickets])


def check_tickets(board: Board, names: tuple[str, ...], among: Iterable[TicketId]) -> tuple[TicketId, ...]:
    """The tickets named, each once and each among these."""
    ids = tuple(board.ticket_ids.get(name, -1) for name in names)
    if -1 in ids:
        raise IllegalMoveError(
            "game.unknown_name", f"/tickets/{ids.index(-1)}", "the id of a ticket of this board"
        )
    allowed = set(among)
    for place, ticket in enumerate(ids):
        if ticket not in allowed:
            raise IllegalMoveError(
                "game.wrong_tickets", f"/tickets/{place}", "a ticket that can be chosen here"
            )
        if ticket in ids[:place]:
            raise IllegalMoveError("game.wrong_tickets", f"/tickets/{place}", "every ticket once")
    return ids


# -- draw and keep -----------------------------------------------------------------------------------


class DrawTicketsMove(Move):
    __slots__ = ()

    def to_wire(self) -> wire_moves.DrawTickets:
        return wire_moves.DrawTickets()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        rules = state.game.rules
        offer(state, seat, rules.tickets_drawn, events)
        ask_to_keep(state, (seat,), rules.tickets_drawn, rules.tickets_kept, after_draw, events)


DRAW_TICKETS: Final = DrawTicketsMove()


def after_draw(state: State, seat: Seat, events: Events | None) -> None:
    """With holders one of the new tickets goes there (ASIA-10); then the turn is over."""
    if state.game.rules.holders and state.offered[seat]:
        ask_to_share(state, (seat,), end_turn, events)
    else:
        end_turn(state, seat, events)


@dataclass(frozen=True, slots=True)
class DrawTickets:
    """The action of a turn."""

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        if state.ticket_pile:
            moves.append(DRAW_TICKETS)

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return True

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        if not isinstance(wire, wire_moves.DrawTickets):
            return None
        if not state.ticket_pile:
            raise IllegalMoveError(
                "game.not_available", "/type", "another action, for the ticket pile is empty"
            )
        return DRAW_TICKETS

    def fallback(self, state: State, seat: Seat) -> Move | None:
        return DRAW_TICKETS if state.ticket_pile else None


def offer(state: State, seat: Seat, number: int, events: Events | None) -> None:
    """The top tickets, or as many as there are, to choose from."""
    offered = tuple(state.ticket_pile.pop() for _ in range(min(number, len(state.ticket_pile))))
    state.offered[seat] = offered
    state.returned_masks[seat] &= ~mask_of(offered)
    if events is not None:
        events.append(ev.TicketsOffered(seat, len(offered), names_of(state.game.board, offered)))


def ask_to_keep(
    state: State, seats: tuple[Seat, ...], number: int, keep: int, then: Then, events: Events | None
) -> None:
    offered_count = min(number, max(len(state.offered[seat]) for seat in seats))
    ask_all(state, KeepTickets(seats, offered_count, min(keep, offered_count), then))
    _announce(state, events)


def _announce(state: State, events: Events | None) -> None:
    if events is not None and state.pending is not None:
        events.append(ev.Asked(state.pending.to_wire(state, 0, sees_all=True)))


class Keep(Move):
    __slots__ = ("board", "decision", "tickets")

    def __init__(self, board: Board, decision: KeepTickets, tickets: tuple[TicketId, ...]) -> None:
        self.board = board
        self.decision = decision
        self.tickets = tickets

    def to_wire(self) -> wire_moves.KeepTickets:
        return wire_moves.KeepTickets(names_of(self.board, self.tickets))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        choices = choose(state, self.decision, seat, self)
        if choices is not None:
            self.decision.settle(state, choices, events)


class KeepTickets:
    """Which of the tickets offered to keep; the others go under the pile, or are shuffled into it at the
    start."""

    __slots__ = ("keep", "offered_count", "seats", "then")

    def __init__(self, seats: tuple[Seat, ...], offered_count: int, keep: int, then: Then) -> None:
        self.seats = seats
        self.offered_count = offered_count
        self.keep = keep
        self.then = then

    def legal(self, state: State, seat: Seat) -> list[Move]:
        """Every set that is large enough, the smallest first."""
        offered = state.offered[seat]
        return [
            Keep(state.game.board, self, kept)
            for number in range(self.keep, len(offered) + 1)
            for kept in combinations(offered, number)
        ]

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return True

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        if not isinstance(wire, wire_moves.KeepTickets):
            raise IllegalMoveError("game.wrong_move", "/type", "keep_tickets, for the tickets offered")
        kept = check_tickets(state.game.board, wire.tickets, state.offered[seat])
        if len(kept) < self.keep:
            raise IllegalMoveError("game.wrong_tickets", "/tickets", f"at least {self.keep} tickets")
        return Keep(state.game.board, self, tuple(ticket for ticket in state.offered[seat] if ticket in kept))

    def fallback(self, state: State, seat: Seat) -> Move:
        """As few as allowed: those with fewest points, of equal ones those offered first."""
        tickets = state.game.board.tickets
        cheapest = sorted(state.offered[seat], key=lambda ticket: tickets[ticket].points)[: self.keep]
        return Keep(state.game.board, self, tuple(t for t in state.offered[seat] if t in cheapest))

    def settle(self, state: State, choices: tuple[Move, ...], events: Events | None) -> None:
        """All have chosen: in seat order what they keep is theirs and the rest goes back."""
        for seat, choice in zip(self.seats, choices, strict=True):
            assert isinstance(choice, Keep)
            self._settle_seat(state, seat, choice.tickets, events)
        if state.turn == 0 and state.game.rules.shuffle_returned_tickets:
            shuffle_tickets(state, events)
        self.then(state, self.seats[0], events)

    def _settle_seat(
        self, state: State, seat: Seat, kept: tuple[TicketId, ...], events: Events | None
    ) -> None:
        game = state.game
        back = [ticket for ticket in state.offered[seat] if ticket not in kept]
        state.ticket_masks[seat] |= mask_of(kept)
        state.returned_masks[seat] |= mask_of(back)
        state.ticket_pile[:0] = reversed(back)  # the last one lies lowest (GEN-04)
        state.offered[seat] = ()
        if kept:
            state.progress_turn = state.turn
        if events is not None:
            events.append(
                ev.TicketsKept(
                    seat, len(kept), len(back), names_of(game.board, kept), names_of(game.board, back)
                )
            )
        if game.rules.holders:
            state.offered[seat] = kept
            if events is not None:
                events.append(ev.TicketsToShare(seat, len(kept), names_of(game.board, kept)))

    def after_claim(self, state: State, seat: Seat, events: Events | None) -> None:
        raise AssertionError("no claim answers an offer of tickets")

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return wire_decisions.KeepTickets(self.seats, self.offered_count, self.keep)


def shuffle_tickets(state: State, events: Events | None) -> None:
    label = f"tickets/{state.ticket_shuffles}"
    state.ticket_shuffles += 1
    state.ticket_pile = state.dice.shuffled(label, sorted(state.ticket_pile))
    if events is not None:
        events.append(ev.TicketPileShuffled(len(state.ticket_pile)))


# -- share -------------------------------------------------------------------------------------------


class Share(Move):
    """ASIA-11, the action of a turn: one or two secret tickets go on the team's holder."""

    __slots__ = ("board", "tickets")

    def __init__(self, board: Board, tickets: tuple[TicketId, ...]) -> None:
        self.board = board
        self.tickets = tickets

    def to_wire(self) -> wire_moves.ShareTickets:
        return wire_moves.ShareTickets(names_of(self.board, self.tickets))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        _put_on_holder(state, seat, self.tickets, events)
        end_turn(state, seat, events)


class Shares(dict[tuple[TicketId, TicketId], Share]):
    """Two tickets, or one named twice -> the move that shares them."""

    def __init__(self, board: Board) -> None:
        super().__init__()
        self._board = board

    def __missing__(self, pair: tuple[TicketId, TicketId]) -> Share:
        self[pair] = share = Share(self._board, tuple(sorted(set(pair))))
        return share


class ShareOne(Move):
    """The answer to ShareTicket."""

    __slots__ = ("board", "decision", "ticket")

    def __init__(self, board: Board, decision: ShareTicket, ticket: TicketId) -> None:
        self.board = board
        self.decision = decision
        self.ticket = ticket

    def to_wire(self) -> wire_moves.ShareTickets:
        return wire_moves.ShareTickets(names_of(self.board, (self.ticket,)))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        choices = choose(state, self.decision, seat, self)
        if choices is not None:
            self.decision.settle(state, choices, events)


def _put_on_holder(state: State, seat: Seat, tickets: tuple[TicketId, ...], events: Events | None) -> None:
    shared = mask_of(tickets)
    state.ticket_masks[seat] &= ~shared
    state.shared_masks[state.game.team_of[seat]] |= shared
    state.progress_turn = state.turn
    if events is not None:
        events.append(ev.TicketsShared(seat, len(tickets), names_of(state.game.board, tickets)))


@dataclass(frozen=True, slots=True)
class ShareTickets:
    """The action of a turn."""

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        secret = list(bits(state.ticket_masks[seat]))
        shares = state.game.shares
        moves += [shares[ticket, ticket] for ticket in secret]
        if len(secret) <= PAIRS_LISTED_UP_TO:
            moves += [shares[pair] for pair in combinations(secret, 2)]

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return state.ticket_masks[seat].bit_count() <= PAIRS_LISTED_UP_TO

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        if not isinstance(wire, wire_moves.ShareTickets):
            return None
        secret = tuple(bits(state.ticket_masks[seat]))
        if not secret:
            raise IllegalMoveError("game.not_available", "/type", "another action, without a secret ticket")
        chosen = check_tickets(state.game.board, wire.tickets, secret)
        if len(chosen) not in (1, 2):
            raise IllegalMoveError("game.wrong_tickets", "/tickets", "one or two tickets")
        return state.game.shares[chosen[0], chosen[-1]]

    def fallback(self, state: State, seat: Seat) -> Move | None:
        secret = next(bits(state.ticket_masks[seat]), None)
        return None if secret is None else state.game.shares[secret, secret]


def ask_to_share(state: State, seats: tuple[Seat, ...], then: Then, events: Events | None) -> None:
    ask_all(state, ShareTicket(seats, then))
    _announce(state, events)


class ShareTicket:
    """Which of the tickets just kept goes on the team's holder (ASIA-09, ASIA-10)."""

    __slots__ = ("seats", "then")

    def __init__(self, seats: tuple[Seat, ...], then: Then) -> None:
        self.seats = seats
        self.then = then

    def legal(self, state: State, seat: Seat) -> list[Move]:
        return [ShareOne(state.game.board, self, ticket) for ticket in state.offered[seat]]

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return True

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        if not isinstance(wire, wire_moves.ShareTickets):
            raise IllegalMoveError(
                "game.wrong_move", "/type", "share_tickets, with one of the tickets just kept"
            )
        tickets = check_tickets(state.game.board, wire.tickets, state.offered[seat])
        if len(tickets) != 1:
            raise IllegalMoveError("game.wrong_tickets", "/tickets", "one ticket")
        return ShareOne(state.game.board, self, tickets[0])

    def fallback(self, state: State, seat: Seat) -> Move:
        """The one with fewest points, of equal ones the one offered first."""
        tickets = state.game.board.tickets
        cheapest = min(state.offered[seat], key=lambda ticket: tickets[ticket].points)
        return ShareOne(state.game.board, self, cheapest)

    def settle(self, state: State, choices: tuple[Move, ...], events: Events | None) -> None:
        for seat, choice in zip(self.seats, choices, strict=True):
            assert isinstance(choice, ShareOne)
            state.offered[seat] = ()
            _put_on_holder(state, seat, (choice.ticket,), events)
        self.then(state, self.seats[0], events)

    def after_claim(self, state: State, seat: Seat, events: Events | None) -> None:
        raise AssertionError("no claim answers the question which ticket to share")

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return wire_decisions.ShareTicket(self.seats, tuple(len(state.offered[seat]) for seat in self.seats))
