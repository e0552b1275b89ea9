"""Tickets: offered, kept, put back (USA-03, USA-13, CARD-03, CARD-11, GEN-04)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from msgspec import UNSET
from msgspec.structs import replace

from stellwerk_base.texts import counted
from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.core.board import Board, TicketId, mask_of
from stellwerk_engine.core.choices import ask_all, choose
from stellwerk_engine.core.folding import present, tickets_with, tickets_without, with_player, with_progress
from stellwerk_engine.core.state import (
    Action,
    Events,
    Game,
    Gaps,
    Move,
    Part,
    RuleSet,
    Seat,
    State,
    TicketGap,
    ViewerId,
)
from stellwerk_engine.core.turn import end_turn, start_first_turn
from stellwerk_engine.core.viewers import sees_seat
from stellwerk_engine.core.words import Words
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import TicketName
from stellwerk_protocol.views import View

Then = Callable[[State, Seat, Events | None], None]
Share = Callable[[State, tuple[Seat, ...], Then, Events | None], None]
"""Asks the seats which of the tickets just kept their teams share, and continues."""
Reject = Callable[[State, Seat, list[TicketId]], None]
"""Takes the tickets that a seat does not keep out of the game."""


def names_of(board: Board, tickets: Iterable[TicketId]) -> tuple[TicketName, ...]:
    return tuple([board.tickets[ticket].name for ticket in tickets])


def check_tickets(board: Board, names: tuple[str, ...], among: Iterable[TicketId]) -> tuple[TicketId, ...]:
    """Return the tickets named, each once and each among these."""
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


# -- offers ------------------------------------------------------------------------------------------


class Offer(Protocol):
    """An offer of tickets, at the start or in a turn, and its continuation when some have been kept."""

    @property
    def keep(self) -> int: ...

    @property
    def share(self) -> Share | None: ...

    def put_back(self, state: State, seat: Seat, tickets: list[TicketId]) -> list[TicketId]:
        """Put the tickets that the seat does not keep where they belong, and return those that stay in the
        game."""
        ...

    def go_on(self, state: State, seats: tuple[Seat, ...], events: Events | None) -> None:
        """Go on when all have chosen."""
        ...


@dataclass(frozen=True, slots=True)
class FirstTickets(Part):
    """The tickets dealt before the first turn. All choose at once. With `share` each puts one on a holder."""

    number: int
    keep: int
    share: Share | None = None
    reject: Reject | None = None  # EUR-03; else they go under the pile
    shuffle_returned: bool = False  # CARD-03; else they go under the pile (GEN-04)

    @property
    def events(self) -> tuple[type[object], ...]:
        return (ev.TicketsOffered, ev.TicketsKept)

    @property
    def decisions(self) -> tuple[type[object], ...]:
        return (wire_decisions.KeepTickets,)

    def check_board(self, file: BoardFile, rules: RuleSet) -> None:
        seats = max(rules.seat_counts)
        count = sum(not ticket.long for ticket in file.tickets)
        if count < seats * self.number:
            raise file.error(
                "tickets", f"{count} tickets; {rules.id} deals {self.number} to each of {seats} players"
            )
        has_map = "map" in rules.board_features
        for number, ticket in enumerate(file.tickets):
            if has_map and ticket.cards:
                raise file.error(
                    f"tickets[{number}].cards", f"in the game {rules.id} tickets ask for no cards"
                )
            if not has_map and not ticket.cards:
                raise file.error(
                    f"tickets[{number}].cards", f"in the game {rules.id} a ticket asks for cards"
                )

    def deal(self, state: State, events: Events | None) -> None:
        tickets = state.game.board.file.tickets
        state.ticket_pile = [number for number, ticket in enumerate(tickets) if not ticket.long]
        shuffle_tickets(state, events)
        seats = tuple(range(state.game.seat_count))
        for seat in seats:
            offer(state, seat, self.number, events)
        ask_to_keep(state, seats, self, events)

    def put_back(self, state: State, seat: Seat, tickets: list[TicketId]) -> list[TicketId]:
        if self.reject is not None:
            self.reject(state, seat, tickets)
            return []
        put_under_pile(state, tickets)
        return tickets

    def go_on(self, state: State, seats: tuple[Seat, ...], events: Events | None) -> None:
        if self.shuffle_returned:
            shuffle_tickets(state, events)
        if self.share is not None:
            self.share(state, seats, start_first_turn, events)
        else:
            start_first_turn(state, 0, events)

    def redact(self, game: Game, event: ev.Event, viewer: ViewerId) -> ev.Event:
        match event:
            case ev.TicketsOffered(seat, count):
                return event if sees_seat(viewer, seat) else ev.TicketsOffered(seat, count)
            case ev.TicketsKept(seat, count, returned_count):
                return event if sees_seat(viewer, seat) else ev.TicketsKept(seat, count, returned_count)
            case _:
                raise NotImplementedError(event)

    def redact_decision(self, decision: wire_decisions.Decision, viewer: ViewerId) -> wire_decisions.Decision:
        return decision  # everybody may know all of it

    def fold(self, game: Game, view: View, event: ev.Event) -> View:
        match event:
            case ev.TicketsOffered(seat, count, tickets):
                view = replace(view, ticket_pile=view.ticket_pile - count)
                if tickets is UNSET:
                    return view
                player = view.players[seat]
                player = replace(player, returned=tickets_without(present(player.returned), tickets))
                offered = tickets if player.offered is UNSET else (*player.offered, *tickets)
                return with_player(view, replace(player, offered=offered or UNSET))
            case ev.TicketsKept(seat, count, returned_count, tickets, returned):
                view = replace(view, ticket_pile=view.ticket_pile + returned_count)
                player = view.players[seat]
                player = replace(player, ticket_count=player.ticket_count + count)
                if tickets is not UNSET and returned is not UNSET:
                    player = replace(
                        player,
                        tickets=tickets_with(game, present(player.tickets), tickets),
                        returned=tickets_with(game, present(player.returned), returned),
                        offered=UNSET,
                    )
                view = with_player(view, player)
                return with_progress(view) if count else view
            case _:
                raise NotImplementedError(event)

    def add_gaps_of_choice(self, state: State, pending: wire_decisions.Decision, gaps: Gaps) -> None:
        assert isinstance(pending, wire_decisions.KeepTickets)
        for seat in pending.seats:
            if not state.offered[seat]:
                gaps.tickets.append(TicketGap("offered", seat, pending.offered_count, _add_to_offer))

    def rule(self, game: Game) -> str:
        text = f"Before the first turn you choose from {counted(self.number, 'ticket')}"
        text += f" and keep at least {self.keep}."
        text += " One of those goes to your team's holder." if self.share is not None else ""
        return text + (" The others leave the game." if self.reject is not None else "")

    def sentence(self, event: ev.Event, words: Words) -> str:
        match event:
            case ev.TicketsOffered(_, count, tickets):
                return f"is offered {words.known_tickets(count, tickets)}"
            case ev.TicketsKept(_, count, returned_count, tickets, returned):
                kept = f"keeps {words.known_tickets(count, tickets)}"
                if not returned_count:
                    return kept
                return f"{kept}, puts back {words.known_tickets(returned_count, returned)}"
            case _:
                raise NotImplementedError(event)

    def question(self, decision: wire_decisions.Decision, words: Words) -> str:
        assert isinstance(decision, wire_decisions.KeepTickets)
        at_least = f", at least {decision.keep}" if decision.keep else ""
        return f"which of {counted(decision.offered_count, 'ticket')} to keep{at_least}?"

    def see_pending(self, state: State, pending: wire_decisions.Decision) -> None:
        assert isinstance(pending, wire_decisions.KeepTickets)
        action = self if state.turn == 0 else state.game.part(DrawTickets)
        assert action is not None
        ask_all(state, KeepTickets(pending.seats, pending.offered_count, pending.keep, action))


def _add_to_offer(state: State, seat: Seat, tickets: Sequence[TicketId]) -> None:
    state.offered[seat] += tuple(tickets)


class DrawTickets(Action):
    """The action of a turn: draw so many tickets and keep some. With `share` one of them goes to the team
    (ASIA-10)."""

    __slots__ = ("draw", "keep", "number", "share")

    def __init__(self, number: int, keep: int, share: Share | None = None) -> None:
        self.number = number
        self.keep = keep
        self.share = share
        self.draw = DrawTicketsMove(self)

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        if state.ticket_pile:
            moves.append(self.draw)

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return True

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        if not isinstance(wire, wire_moves.DrawTickets):
            return None
        if not state.ticket_pile:
            raise IllegalMoveError(
                "game.not_available", "/type", "another action, because the ticket pile is empty"
            )
        return self.draw

    def rule(self, game: Game) -> str:
        keep = f"keep at least {self.keep}" if self.keep else "keep any number of them, or none"
        shared = "; one of those goes to your team's holder" if self.share is not None else ""
        return f"draw_tickets: draw {counted(self.number, 'ticket')} and {keep}{shared}."

    def fallback(self, state: State, seat: Seat) -> Move | None:
        return self.draw if state.ticket_pile else None

    def put_back(self, state: State, seat: Seat, tickets: list[TicketId]) -> list[TicketId]:
        put_under_pile(state, tickets)
        return tickets

    def go_on(self, state: State, seats: tuple[Seat, ...], events: Events | None) -> None:
        if self.share is not None and state.offered[seats[0]]:
            self.share(state, seats, end_turn, events)
        else:
            end_turn(state, seats[0], events)


class DrawTicketsMove(Move):
    __slots__ = ("action",)

    def __init__(self, action: DrawTickets) -> None:
        self.action = action

    def to_wire(self) -> wire_moves.DrawTickets:
        return wire_moves.DrawTickets()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        offer(state, seat, self.action.number, events)
        ask_to_keep(state, (seat,), self.action, events)


def put_under_pile(state: State, tickets: list[TicketId]) -> None:
    state.ticket_pile[:0] = reversed(tickets)  # the last one lies lowest (GEN-04)


def offer(state: State, seat: Seat, number: int, events: Events | None) -> None:
    """Offer the top tickets, or as many as there are, beside those that the seat chooses from already."""
    offered = tuple(state.ticket_pile.pop() for _ in range(min(number, len(state.ticket_pile))))
    state.offered[seat] += offered
    state.returned_masks[seat] &= ~mask_of(offered)
    if events is not None:
        events.append(ev.TicketsOffered(seat, len(offered), names_of(state.game.board, offered)))


def ask_to_keep(state: State, seats: tuple[Seat, ...], action: Offer, events: Events | None) -> None:
    offered_count = max(len(state.offered[seat]) for seat in seats)
    ask_all(state, KeepTickets(seats, offered_count, min(action.keep, offered_count), action))
    announce(state, events)


def announce(state: State, events: Events | None) -> None:
    if events is not None and state.pending is not None:
        events.append(ev.Asked(state.pending.to_wire(state, 0, sees_all=True)))


# -- keep --------------------------------------------------------------------------------------------


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
    """Which of the tickets offered to keep. The part that offered them takes the others."""

    __slots__ = ("action", "keep", "offered_count", "seats")

    def __init__(self, seats: tuple[Seat, ...], offered_count: int, keep: int, action: Offer) -> None:
        self.seats = seats
        self.offered_count = offered_count
        self.keep = keep
        self.action = action

    def legal(self, state: State, seat: Seat) -> list[Move]:
        """Return every set that is large enough, the smallest first."""
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
        """Keep as few as allowed: those with fewest points, of equal ones those offered first."""
        tickets = state.game.board.tickets
        cheapest = sorted(state.offered[seat], key=lambda ticket: tickets[ticket].points)[: self.keep]
        return Keep(state.game.board, self, tuple(t for t in state.offered[seat] if t in cheapest))

    def settle(self, state: State, choices: tuple[Move, ...], events: Events | None) -> None:
        """Give to each in seat order what it keeps, now that all have chosen; the rest goes back."""
        for seat, choice in zip(self.seats, choices, strict=True):
            assert isinstance(choice, Keep)
            self._settle_seat(state, seat, choice.tickets, events)
        self.action.go_on(state, self.seats, events)

    def _settle_seat(
        self, state: State, seat: Seat, kept: tuple[TicketId, ...], events: Events | None
    ) -> None:
        game = state.game
        rejected = [ticket for ticket in state.offered[seat] if ticket not in kept]
        back = self.action.put_back(state, seat, rejected)
        state.ticket_masks[seat] |= mask_of(kept)
        state.returned_masks[seat] |= mask_of(back)
        state.offered[seat] = ()
        if kept:
            state.progress_turn = state.turn
        if events is not None:
            events.append(
                ev.TicketsKept(
                    seat, len(kept), len(back), names_of(game.board, kept), names_of(game.board, back)
                )
            )
            if len(back) < len(rejected):
                events.append(ev.TicketsRemoved(len(rejected), seat, names_of(game.board, rejected)))
        if self.action.share is not None:
            state.offered[seat] = kept
            if events is not None:
                events.append(ev.TicketsToShare(seat, len(kept), names_of(game.board, kept)))

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return wire_decisions.KeepTickets(self.seats, self.offered_count, self.keep)


def shuffle_tickets(state: State, events: Events | None) -> None:
    label = f"tickets/{state.ticket_shuffles}"
    state.ticket_shuffles += 1
    state.ticket_pile = state.dice.shuffled(label, sorted(state.ticket_pile))
    if events is not None:
        events.append(ev.TicketPileShuffled(len(state.ticket_pile)))
