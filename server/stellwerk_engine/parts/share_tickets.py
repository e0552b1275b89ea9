"""Share tickets with the partners: they go on the team's holder (ASIA-09 to ASIA-11)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, Self

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from stellwerk_engine.core.board import Board, TicketId, bits, mask_of
from stellwerk_engine.core.choices import ask_all, choose
from stellwerk_engine.core.folding import (
    present,
    tickets_with,
    tickets_without,
    with_player,
    with_progress,
    with_team,
)
from stellwerk_engine.core.state import Action, Events, Game, Gaps, Move, Seat, State, TicketGap, ViewerId
from stellwerk_engine.core.turn import end_turn, start_first_turn
from stellwerk_engine.core.viewers import sees_seat, sees_team
from stellwerk_engine.core.words import Words
from stellwerk_engine.parts.tickets import Then, announce, check_tickets, names_of
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import TicketNames
from stellwerk_protocol.views import View

PAIRS_LISTED_UP_TO: Final = 12  # secret tickets: of more, pairs would make the list of moves too long


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


class Shares(dict[tuple[TicketId, TicketId], Move]):
    """Two tickets, or one named twice -> the move that shares them."""

    def __init__(self, board: Board) -> None:
        super().__init__()
        self._board = board

    def __missing__(self, pair: tuple[TicketId, TicketId]) -> Move:
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
class ShareTickets(Action):
    """The action of a turn."""

    shares: Mapping[tuple[TicketId, TicketId], Move] = field(
        default_factory=dict[tuple[TicketId, TicketId], Move], repr=False, compare=False
    )

    @property
    def events(self) -> tuple[type[object], ...]:
        return (ev.TicketsToShare, ev.TicketsShared)

    @property
    def decisions(self) -> tuple[type[object], ...]:
        return (wire_decisions.ShareTicket,)

    def on_board(self, board: Board) -> Self:
        return dataclasses.replace(self, shares=Shares(board))

    def redact(self, game: Game, event: ev.Event, viewer: ViewerId) -> ev.Event:
        match event:
            case ev.TicketsToShare(seat, count):
                return event if sees_seat(viewer, seat) else ev.TicketsToShare(seat, count)
            case ev.TicketsShared(seat, count):
                known = sees_team(game, viewer, game.team_of[seat])
                return event if known else ev.TicketsShared(seat, count)
            case _:
                raise NotImplementedError(event)

    def redact_decision(self, decision: wire_decisions.Decision, viewer: ViewerId) -> wire_decisions.Decision:
        return decision  # everybody may know all of it

    def fold(self, game: Game, view: View, event: ev.Event) -> View:
        match event:
            case ev.TicketsToShare(seat, _, tickets):
                return with_player(view, replace(view.players[seat], offered=tickets or UNSET))
            case ev.TicketsShared(seat, count, tickets):
                return with_progress(_share_in_view(game, view, seat, count, tickets))
            case _:
                raise NotImplementedError(event)

    def add_gaps_of_choice(self, state: State, pending: wire_decisions.Decision, gaps: Gaps) -> None:
        assert isinstance(pending, wire_decisions.ShareTicket)
        for seat, count in zip(pending.seats, pending.offered_counts, strict=True):
            if not state.offered[seat]:
                gaps.tickets.append(TicketGap("to share", seat, count, _keep_to_share, is_kept=True))

    def moves_bytes(self, game: Game) -> tuple[int, int]:
        """Count all tickets by themselves, or so many of the longest names with all their pairs."""
        head = len('{"type":"share_tickets","tickets":[]},')
        names = sorted((len(ticket.name) + 3 for ticket in game.board.tickets), reverse=True)
        pairs = PAIRS_LISTED_UP_TO * (PAIRS_LISTED_UP_TO - 1) // 2
        named = sum(names[:PAIRS_LISTED_UP_TO])
        some = pairs * head + (PAIRS_LISTED_UP_TO - 1) * named + PAIRS_LISTED_UP_TO * head + named
        every = len(names) * head + sum(names)
        return max(some, every), max(pairs + PAIRS_LISTED_UP_TO, len(names))

    def rule(self, game: Game) -> str:
        return "share_tickets: put one or two of your secret tickets on your team's holder."

    def sentence(self, event: ev.Event, words: Words) -> str:
        match event:
            case ev.TicketsToShare(_, count, tickets):
                return f"is to share one of {words.known_tickets(count, tickets)}"
            case ev.TicketsShared(_, count, tickets):
                return f"puts {words.known_tickets(count, tickets)} on the holder"
            case _:
                raise NotImplementedError(event)

    def question(self, decision: wire_decisions.Decision, words: Words) -> str:
        return "which ticket to put on the holder?"

    def see_pending(self, state: State, pending: wire_decisions.Decision) -> None:
        ask_all(state, ShareTicket(pending.seats, end_turn if state.turn else start_first_turn))

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        secret = list(bits(state.ticket_masks[seat]))
        shares = self.shares
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
        return self.shares[chosen[0], chosen[-1]]

    def fallback(self, state: State, seat: Seat) -> Move | None:
        secret = next(bits(state.ticket_masks[seat]), None)
        return None if secret is None else self.shares[secret, secret]


def _keep_to_share(state: State, seat: Seat, tickets: Sequence[TicketId]) -> None:
    state.ticket_masks[seat] |= mask_of(tickets)
    state.offered[seat] = tuple(tickets)


def _share_in_view(game: Game, view: View, seat: Seat, count: int, tickets: TicketNames | UnsetType) -> View:
    player = view.players[seat]
    player = replace(player, ticket_count=player.ticket_count - count)
    team = present(view.teams)[player.team]
    team = replace(team, shared_count=team.shared_count + count)
    if tickets is not UNSET and player.tickets is not UNSET:
        player = replace(player, tickets=tickets_without(player.tickets, tickets), offered=UNSET)
    if tickets is not UNSET and team.shared_tickets is not UNSET:
        team = replace(team, shared_tickets=tickets_with(game, team.shared_tickets, tickets))
    return with_team(with_player(view, player), team)


def ask_to_share(state: State, seats: tuple[Seat, ...], then: Then, events: Events | None) -> None:
    ask_all(state, ShareTicket(seats, then))
    announce(state, events)


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
        """Return the one with fewest points, of equal ones the one offered first."""
        tickets = state.game.board.tickets
        cheapest = min(state.offered[seat], key=lambda ticket: tickets[ticket].points)
        return ShareOne(state.game.board, self, cheapest)

    def settle(self, state: State, choices: tuple[Move, ...], events: Events | None) -> None:
        for seat, choice in zip(self.seats, choices, strict=True):
            assert isinstance(choice, ShareOne)
            state.offered[seat] = ()
            _put_on_holder(state, seat, (choice.ticket,), events)
        self.then(state, self.seats[0], events)

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return wire_decisions.ShareTicket(self.seats, tuple(len(state.offered[seat]) for seat in self.seats))
