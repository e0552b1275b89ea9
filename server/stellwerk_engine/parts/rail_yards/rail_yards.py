"""Rail yards, on-track stacks, and the tickets that they complete (CARD-04, CARD-05, CARD-13 to CARD-15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from stellwerk_base.texts import counted
from stellwerk_engine.core.board import mask_of
from stellwerk_engine.core.cards import (
    COLOR_IDS,
    COLOR_NAMES,
    ONE_LOCOMOTIVE,
    PLAIN_COLORS,
    SHIFT,
    CardColor,
    CardSet,
    counts,
    from_wire,
    of,
    to_wire,
    total,
)
from stellwerk_engine.core.choices import ask_all
from stellwerk_engine.core.folding import (
    number_of,
    onto_discards,
    out_of_hand,
    plus,
    present,
    tickets_with,
    tickets_without,
    with_player,
    with_progress,
)
from stellwerk_engine.core.state import CardGap, Events, Game, Gaps, Part, Seat, State, ViewerId
from stellwerk_engine.core.viewers import sees_seat
from stellwerk_engine.core.words import Words
from stellwerk_engine.parts.rail_yards.complete_tickets import CompleteTickets, ask_to_complete
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import COLORS, EndReason
from stellwerk_protocol.views import PlayerView, View, YardStack


class RailYardFields:
    """Rail yards."""

    yards: list[CardSet]  # plain cards, a seat
    yard_locomotives: list[CardSet]  # locomotives, by the color they lie on
    stacks: list[CardSet]  # on-track stacks
    stacks_seen: bool  # each player has taken up their own one
    half: int


@dataclass(frozen=True, slots=True)
class RailYards(Part):
    """A rail yard and an on-track stack for each player.

    `halves`: for a number of players, how many halves a game has; one, where it has nothing. With
    `open_stacks` players may look at their own on-track stack.
    """

    halves: Mapping[int, int] = field(default_factory=dict[int, int])
    open_stacks: bool = False

    @property
    def events(self) -> tuple[type[object], ...]:
        return (
            ev.CardsSent,
            ev.CardsLaid,
            ev.Raided,
            ev.StackTakenUp,
            ev.TicketsCompleted,
            ev.HalfStarted,
        )

    @property
    def decisions(self) -> tuple[type[object], ...]:
        return (wire_decisions.CompleteTickets,)

    def begin(self, state: State) -> None:
        seats = state.game.seat_count
        state.yards = [0] * seats
        state.yard_locomotives = [0] * seats
        state.stacks = [0] * seats
        state.half = 1

    def redact(self, game: Game, event: ev.Event, viewer: ViewerId) -> ev.Event:
        match event:
            case ev.StackTakenUp(seat, count):
                return event if sees_seat(viewer, seat) else ev.StackTakenUp(seat, count)
            case ev.CardsSent() | ev.CardsLaid() | ev.Raided() | ev.TicketsCompleted() | ev.HalfStarted():
                return event
            case _:
                raise NotImplementedError(event)

    def redact_decision(self, decision: wire_decisions.Decision, viewer: ViewerId) -> wire_decisions.Decision:
        return decision  # everybody may know all of it

    def fold(self, game: Game, view: View, event: ev.Event) -> View:
        match event:
            case ev.CardsSent(seat, cards):
                player = view.players[seat]
                player = replace(
                    player,
                    yard=_yard_after_sending(present(player.yard)),
                    stack_count=present(player.stack_count) + number_of(cards),
                    stack=UNSET if player.stack is UNSET else plus(player.stack, cards),
                )
                return with_progress(with_player(view, player))
            case ev.CardsLaid(seat, cards):
                view = out_of_hand(view, seat, cards)
                player = view.players[seat]
                player = replace(player, yard=_yard_with(present(player.yard), cards))
                return with_progress(with_player(view, player))
            case ev.Raided(seat, color, cards):
                player = view.players[seat]
                yard = tuple([stack for stack in present(player.yard) if stack.color != color])
                return with_player(onto_discards(view, cards), replace(player, yard=yard))
            case ev.StackTakenUp(seat, _, cards):
                return with_player(view, replace(view.players[seat], stack=cards))
            case ev.TicketsCompleted(seat, tickets, points):
                player = view.players[seat]
                player = replace(
                    player,
                    points=player.points + points,
                    ticket_count=player.ticket_count - len(tickets),
                    tickets=UNSET if player.tickets is UNSET else tickets_without(player.tickets, tickets),
                    completed=tickets_with(game, present(player.completed), tickets),
                )
                return with_player(view, player)
            case ev.HalfStarted(half):
                players = tuple([_with_empty_yard(game, player) for player in view.players])
                return replace(view, half=half, turns_left=UNSET, discards=NO_CARDS, players=players)
            case _:
                raise NotImplementedError(event)

    def cards_lying(self, state: State) -> CardSet:
        locomotives = sum(total(lying) for lying in state.yard_locomotives)
        return sum(state.yards) + locomotives * ONE_LOCOMOTIVE + sum(state.stacks)

    def add_gaps(self, state: State, view: View, gaps: Gaps) -> None:
        for player in view.players:
            missing = present(player.stack_count) - total(state.stacks[player.seat])
            gaps.cards.append(CardGap(player.seat, missing, _onto_stack))

    def rule(self, game: Game) -> str:
        seen = (
            "You may look at yours" if self.open_stacks else "Nobody may look at a stack before the scoring"
        )
        text = (
            "When a turn begins, one card of each color in the player's yard moves face down to their "
            f"on-track stack, locomotives first. {seen}. Only cards of the stack complete tickets: each "
            "ticket takes exactly the cards that it shows, locomotives replace any, and a card serves one "
            "ticket."
        )
        halves = self.halves.get(game.seat_count, 1)
        return text + (f" The game has {halves} halves." if halves > 1 else "")

    def sentence(self, event: ev.Event, words: Words) -> str:
        match event:
            case ev.CardsSent(_, cards):
                return f"sends {words.cards(cards)} to the stack"
            case ev.CardsLaid(_, cards):
                return f"lays {words.cards(cards)} in the yard"
            case ev.Raided(_, _, cards):
                return f"is raided and loses {words.cards(cards)}"
            case ev.StackTakenUp(_, count, cards):
                return f"takes up a stack of {words.known_cards(count, cards)}"
            case ev.TicketsCompleted(_, tickets, points):
                completed = words.tickets(tickets) or "no ticket"
                return f"completes {completed}: {counted(points, 'point')}"
            case ev.HalfStarted(half):
                return f"half {half} begins"
            case _:
                raise NotImplementedError(event)

    def question(self, decision: wire_decisions.Decision, words: Words) -> str:
        return "which tickets to complete?"

    def see(self, state: State, view: View) -> None:
        state.half = present(view.half)
        state.stacks_seen = view.result is not UNSET
        for player in view.players:
            seat = player.seat
            for stack in present(player.yard):
                shift = SHIFT[COLOR_IDS[stack.color]]
                state.yards[seat] += stack.cards << shift
                state.yard_locomotives[seat] += stack.locomotives << shift
            if player.stack is not UNSET:
                state.stacks[seat] = from_wire(player.stack)
            ids = state.game.board.ticket_ids
            state.completed_masks[seat] = mask_of([ids[name] for name in present(player.completed)])

    def see_pending(self, state: State, pending: wire_decisions.Decision) -> None:
        assert isinstance(pending, wire_decisions.CompleteTickets)
        state.end_reason = pending.reason
        state.stacks_seen = True
        ask_all(state, CompleteTickets(pending.seats, pending.reason, self._halves(state)))

    def asks_before_scoring(self, state: State, reason: EndReason, events: Events | None) -> bool:
        ask_to_complete(state, reason, self._halves(state), events)
        return True

    def _halves(self, state: State) -> int:
        return self.halves.get(state.game.seat_count, 1)

    def completes(self, state: State, team: int) -> int:
        """Return the tickets completed with cards."""
        completed_mask = 0
        for seat in state.game.seats_of_team[team]:
            completed_mask |= state.completed_masks[seat]
        return completed_mask


def _onto_stack(state: State, seat: Seat, cards: Sequence[CardColor]) -> None:
    state.stacks[seat] += of(cards)


def has_open_stacks(game: Game) -> bool:
    part = game.part(RailYards)
    return part is not None and part.open_stacks


# -- in views ----------------------------------------------------------------------------------------


def yard_view(state: State, seat: Seat) -> tuple[YardStack, ...]:
    if not state.yards[seat]:
        return ()
    cards, locomotives = counts(state.yards[seat]), counts(state.yard_locomotives[seat])
    return tuple(
        [
            YardStack(COLOR_NAMES[color], cards[color], locomotives[color])
            for color in PLAIN_COLORS
            if cards[color]
        ]
    )


def stack_view(state: State, seat: Seat, viewer: ViewerId) -> Cards | UnsetType:
    """Return the seat's stack if the viewer may see it. Nobody looks into a stack before the scoring; with
    open stacks, its owner does (CARD-05)."""
    if sees_seat(viewer, seat) and (state.stacks_seen or has_open_stacks(state.game)):
        return to_wire(state.stacks[seat])
    return UNSET


def _yard_after_sending(yard: tuple[YardStack, ...]) -> tuple[YardStack, ...]:
    """Take one card of each color away, locomotives first (CARD-04)."""
    sent = [
        replace(stack, locomotives=stack.locomotives - 1)
        if stack.locomotives
        else replace(stack, cards=stack.cards - 1)
        for stack in yard
    ]
    return tuple([stack for stack in sent if stack.cards])


def _yard_with(yard: tuple[YardStack, ...], cards: Cards) -> tuple[YardStack, ...]:
    """Add cards laid: locomotives lie on the one color laid with them, and colors are in their order."""
    laid = counts(from_wire(cards))
    new = [YardStack(COLORS[color], laid[color], cards.locomotive) for color in PLAIN_COLORS if laid[color]]
    return tuple(sorted((*yard, *new), key=lambda stack: COLOR_IDS[stack.color]))


def _with_empty_yard(game: Game, player: PlayerView) -> PlayerView:
    """Clear the yard for a new half. Nobody looks into a stack now, but its owner where stacks are open."""
    sees_stack = has_open_stacks(game) and player.hand is not UNSET
    return replace(player, yard=(), stack_count=0, stack=NO_CARDS if sees_stack else UNSET)
