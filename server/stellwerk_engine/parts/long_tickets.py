"""Long tickets: one for each player, and what becomes of the tickets that nobody keeps (EUR-03, EUR-17).

They are dealt before the other first tickets, and a player chooses among all of them together. Tickets that
are not dealt or not kept leave the game. Their number is public. Only the player who was dealt them, if
anybody was, knows which they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from stellwerk_base.texts import counted
from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.core.board import TicketId, mask_of
from stellwerk_engine.core.folding import present, tickets_with, with_player
from stellwerk_engine.core.state import (
    Events,
    Game,
    Gaps,
    Part,
    RuleSet,
    Seat,
    State,
    TicketGap,
    ViewerId,
)
from stellwerk_engine.core.viewers import sees_seat
from stellwerk_engine.core.words import Words
from stellwerk_engine.parts.tickets import FirstTickets, names_of, offer, shuffle_tickets
from stellwerk_protocol import events as ev
from stellwerk_protocol.views import View

NOBODY: Final = -1


class LongTicketFields:
    """Long tickets."""

    removed_masks: tuple[
        int, ...
    ]  # tickets out of the game, a seat, and at the end those that nobody was dealt


@dataclass(frozen=True, slots=True)
class LongTickets(Part):
    """Long tickets, so many for each player."""

    number: int

    @property
    def events(self) -> tuple[type[object], ...]:
        return (ev.TicketsRemoved,)

    def check_board(self, file: BoardFile, rules: RuleSet) -> None:
        needed = max(rules.seat_counts) * self.number
        long = sum(ticket.long for ticket in file.tickets)
        if long < needed:
            raise file.error("tickets", f"{long} long tickets; {rules.id} needs {needed}")

    def begin(self, state: State) -> None:
        state.removed_masks = (0,) * (state.game.seat_count + 1)

    def deal(self, state: State, events: Events | None) -> None:
        game = state.game
        state.ticket_pile = long_tickets(game)
        shuffle_tickets(state, events)
        for seat in range(game.seat_count):
            offer(state, seat, self.number, events)
        undealt = state.ticket_pile[::-1]
        state.ticket_pile = []
        remove_tickets(state, NOBODY, undealt)
        if undealt and events is not None:
            events.append(ev.TicketsRemoved(len(undealt), tickets=names_of(game.board, undealt)))

    def redact(self, game: Game, event: ev.Event, viewer: ViewerId) -> ev.Event:
        assert isinstance(event, ev.TicketsRemoved)
        is_known = event.seat is not UNSET and sees_seat(viewer, event.seat)
        return event if is_known else ev.TicketsRemoved(event.count, event.seat)

    def fold(self, game: Game, view: View, event: ev.Event) -> View:
        assert isinstance(event, ev.TicketsRemoved)
        view = replace(view, removed_tickets=present(view.removed_tickets) + event.count)
        if event.seat is UNSET:
            return replace(view, ticket_pile=view.ticket_pile - event.count)
        player = view.players[event.seat]
        player = replace(player, removed_count=present(player.removed_count) + event.count)
        if event.tickets is not UNSET:
            player = replace(player, removed=tickets_with(game, present(player.removed), event.tickets))
        return with_player(view, player)

    def tickets_lying(self, state: State) -> int:
        lying = 0
        for mask in state.removed_masks:
            lying |= mask
        return lying

    def add_gaps(self, state: State, view: View, gaps: Gaps) -> None:
        undealt = present(view.removed_tickets)
        for player in view.players:
            removed_count = present(player.removed_count)
            undealt -= removed_count
            if player.removed is UNSET:
                gaps.tickets.append(TicketGap("removed", player.seat, removed_count, remove_tickets))
        gaps.tickets.append(TicketGap("removed", NOBODY, undealt, remove_tickets))

    def apart_mask(self, game: Game) -> int:
        return mask_of(long_tickets(game))

    def deal_apart(
        self, state: State, tickets: Sequence[TicketId], gaps: Sequence[TicketGap]
    ) -> list[tuple[TicketGap, TicketId]]:
        """Deal one to every seat, kept or not: it is as likely as another of its first tickets to be among
        those removed. The rest was dealt to nobody (EUR-03)."""
        first = state.game.part(FirstTickets)
        assert first is not None
        dealt_first = self.number + first.number
        long = state.dice.shuffled("imagine/long_tickets", tickets)
        source = state.dice.stream("imagine/long_ticket_kept")
        chosen: list[TicketGap] = []
        for seat in range(state.game.seat_count):
            places = {gap.place: gap for gap in gaps if gap.owner == seat}
            removed = places.get("removed")
            if removed is not None and source.below(dealt_first) < removed.count:
                chosen.append(removed)
            elif places:
                chosen.append(places["offered" if state.turn == 0 else "secret"])
        chosen += [gap for gap in gaps if gap.owner == NOBODY for _ in range(gap.count)]
        if len(chosen) != len(long):
            raise ValueError("no state of this game has so many long tickets")
        return list(zip(chosen, reversed(long), strict=True))

    def rule(self, game: Game) -> str:
        return f"{counted(self.number, 'long ticket')} of high value for each player, to keep or not."

    def sentence(self, event: ev.Event, words: Words) -> str:
        assert isinstance(event, ev.TicketsRemoved)
        removed = words.known_tickets(event.count, event.tickets)
        return f"out of the game: {removed}" if event.seat is UNSET else f"takes {removed} out of the game"

    def see(self, state: State, view: View) -> None:
        ids = state.game.board.ticket_ids
        for player in view.players:
            if player.removed is not UNSET:
                remove_tickets(state, player.seat, [ids[name] for name in player.removed])


def long_tickets(game: Game) -> list[TicketId]:
    return [number for number, ticket in enumerate(game.board.file.tickets) if ticket.long]


def remove_tickets(state: State, owner: Seat, tickets: Iterable[TicketId]) -> None:
    """Take tickets of a seat, or of `NOBODY`, out of the game."""
    masks = list(state.removed_masks)
    masks[owner] |= mask_of(tickets)
    state.removed_masks = tuple(masks)


def removed_count_of(state: State) -> int:
    """Return how many tickets left the game, of all players and of nobody."""
    return sum([mask.bit_count() for mask in state.removed_masks])
