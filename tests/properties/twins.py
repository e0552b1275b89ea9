"""Twins of a state: what a viewer sees is the same, what it does not see differs.

A twin is imagined from the viewer's view. Before another player's move is made in it, hidden cards and
tickets trade places until the move shows the viewer the same as in the real state: the cards that it lays are
in that player's hand, and those cards of the pile that the viewer gets to see lie in the same order. What the
move does not show goes on being different.
"""

from __future__ import annotations

from msgspec import UNSET

from stellwerk_engine.core import cards as card_sets
from stellwerk_engine.core.board import bits
from stellwerk_engine.core.cards import COLOR_IDS, ONE, CardColor, CardSet, as_list, at_least, counts, without
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Events, Seat, State
from stellwerk_engine.knowledge.imagine import imagine
from stellwerk_engine.knowledge.view import ViewerId, view
from stellwerk_engine.parts.claiming.tunnels import PayTunnel
from stellwerk_engine.parts.draw_cards import PlaceCard
from stellwerk_engine.parts.rail_yards.rail_yards import has_open_stacks
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves

Pop = tuple[CardColor, bool]
"""A card that left the pile, and whether the viewer saw it."""


def twin_of(state: State, viewer: ViewerId, dice: Dice) -> State:
    """Return another state that looks the same to the viewer. Later shuffles are those of the real state."""
    twin = imagine(state.game, view(state, viewer), dice)
    twin.dice = state.dice
    twin.train_shuffles = state.train_shuffles
    twin.ticket_shuffles = state.ticket_shuffles
    return twin


def align(
    twin: State, state: State, viewer: ViewerId, wires: dict[Seat, moves.Move], events: Events
) -> dict[Seat, moves.Move]:
    """Make the twin ready for these seats' moves, which had the events `events` in the real state, and give
    the moves that show the viewer the same. (A partner comes first: its move may trade others' tickets.)"""
    seats = sorted(wires, key=lambda seat: not are_partners(state, viewer, seat))
    return {seat: _align(twin, state, viewer, seat, wires[seat], events) for seat in seats}


def _align(
    twin: State, state: State, viewer: ViewerId, seat: Seat, move: moves.Move, events: Events
) -> moves.Move:
    trade = _Trade(twin, viewer, seat)
    match move:
        case moves.ClaimRoute(_, cards, holder_cards) | moves.PayTunnel(cards, holder_cards):
            trade.need(card_sets.from_wire(cards), card_sets.from_wire(holder_cards))
        case moves.LayCards(cards) | moves.BuyTechnology(_, cards) | moves.BuildStation(_, cards):
            trade.need(card_sets.from_wire(cards), 0)
        case moves.KeepTickets(names):
            move = moves.KeepTickets(_same_places(twin, state, seat, names))
        case moves.ShareTickets(names):
            if trade.is_partner:
                _trade_tickets(twin, state, viewer, seat, names)
            elif state.offered[seat]:
                move = moves.ShareTickets(_same_places(twin, state, seat, names))
            else:
                held = list(bits(twin.ticket_masks[seat]))[: len(names)]
                move = moves.ShareTickets(tuple(twin.game.board.tickets[ticket].name for ticket in held))
        case moves.PlaceCard("holder"):
            if trade.is_partner and isinstance(state.pending, PlaceCard):
                trade.draw_again(state.pending)
        case _:
            pass
    trade.stack_pile(pops(events, twin, viewer))
    return move


def pops(events: Events, state: State, viewer: ViewerId) -> list[Pop]:
    """Return the cards that left the pile before it was shuffled anew, and whether the viewer sees each.

    It repeats the rule for a viewer who is not the player, and does not ask the code under test.
    """
    left: list[Pop] = []
    for event in events:
        match event:
            case ev.CardsLaidOpen(cards) | ev.CardsRevealed(cards):
                left += [(color, True) for color in as_list(card_sets.from_wire(cards))]
            case ev.CardDrawn(seat, place, card):
                assert card is not UNSET
                left.append((COLOR_IDS[card], place == "holder" and are_partners(state, viewer, seat)))
            case ev.PileShuffled():
                return left
            case _:
                pass
    return left


def are_partners(state: State, viewer: ViewerId, seat: Seat) -> bool:
    return viewer >= 0 and state.game.team_of[viewer] == state.game.team_of[seat]


def shape(events: Events) -> list[tuple[str, str]]:
    """Return the kinds of events, and of the decisions asked for."""
    return [
        (type(event).__name__, type(event.decision).__name__ if isinstance(event, ev.Asked) else "")
        for event in events
    ]


# -- tickets -----------------------------------------------------------------------------------------


def _same_places(twin: State, state: State, seat: Seat, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the twin's offered tickets that have the places of these."""
    board = state.game.board
    places = [state.offered[seat].index(board.ticket_ids[name]) for name in names]
    return tuple(board.tickets[twin.offered[seat][place]].name for place in places)


def _trade_tickets(twin: State, state: State, viewer: ViewerId, seat: Seat, names: tuple[str, ...]) -> None:
    """Give the twin's seat the tickets that it shares, wherever they are hidden: its partner sees them."""
    wanted = [state.game.board.ticket_ids[name] for name in names]
    held = twin.offered[seat] or tuple(bits(twin.ticket_masks[seat]))
    spare = [ticket for ticket in held if ticket not in wanted]
    for ticket in wanted:
        if ticket not in held:
            _swap_tickets(twin, ticket, spare.pop())


def _swap_tickets(twin: State, one: int, other: int) -> None:
    """Swap two tickets: each lies where the other lay."""
    new = {one: other, other: one}
    both = 1 << one | 1 << other
    for masks in (twin.ticket_masks, twin.shared_masks):
        for number, mask in enumerate(masks):
            if (mask & both).bit_count() == 1:
                masks[number] = mask ^ both
    twin.ticket_pile = [new.get(ticket, ticket) for ticket in twin.ticket_pile]
    twin.offered = [tuple(new.get(ticket, ticket) for ticket in offered) for offered in twin.offered]


# -- cards -------------------------------------------------------------------------------------------


class _Trade:
    """Hidden cards of a twin that trade places. What the move needs stays with its player."""

    def __init__(self, twin: State, viewer: ViewerId, seat: Seat) -> None:
        self.twin = twin
        self.viewer = viewer
        self.seat = seat
        self.team = twin.game.team_of[seat]
        self.is_partner = are_partners(twin, viewer, seat)
        self.needed: CardSet = twin.known[seat]
        self.needed_holder: CardSet = twin.known_holders[self.team] if twin.holders else 0
        self.fixed = 0  # so many cards on top of the pile
        if isinstance(twin.pending, PayTunnel):
            self.needed = at_least(self.needed, twin.pending.laid)
            self.needed_holder = at_least(self.needed_holder, twin.pending.holder_laid)

    def need(self, cards: CardSet, holder_cards: CardSet) -> None:
        """Make sure that the seat has these cards, besides those that it has already laid for a tunnel."""
        if isinstance(self.twin.pending, PayTunnel):
            cards += self.twin.pending.laid
            holder_cards += self.twin.pending.holder_laid
        self.needed = at_least(self.needed, cards)
        self.needed_holder = at_least(self.needed_holder, holder_cards)
        self._get(self.twin.hands, self.seat, self.needed)
        if self.twin.holders and not self.is_partner:
            self._get(self.twin.holders, self.team, self.needed_holder)

    def draw_again(self, real: PlaceCard) -> None:
        """Replace the card that waits for its place by the real one, which the partner sees."""
        pending = self.twin.pending
        assert isinstance(pending, PlaceCard)
        if pending.card != real.card:
            self._swap_out(real.card, pending.card)
            self.twin.pending = PlaceCard(self.seat, real.card, real.is_open)

    def stack_pile(self, popped: list[Pop]) -> None:
        """Stack the pile so that cards the viewer sees come in the same order, and all other cards differ."""
        pile = self.twin.pile
        self.fixed = len(popped)
        for depth, (color, is_seen) in enumerate(popped):
            place = len(pile) - 1 - depth
            if (pile[place] == color) != is_seen:
                self._restack(place, color, is_seen)

    def _restack(self, place: int, color: CardColor, is_seen: bool) -> None:
        """Trade this card of the pile for one of the color, or for one of another color."""
        pile = self.twin.pile
        for lower in range(place):
            if (pile[lower] == color) == is_seen:
                pile[place], pile[lower] = pile[lower], pile[place]
                return
        if is_seen:
            self._swap_out(color, pile[place])
            pile[place] = color

    def _get(self, held: list[CardSet], owner: int, needed: CardSet) -> None:
        for color in as_list(without(needed, held[owner])):
            spare = as_list(without(held[owner], needed))[0]
            self._swap_out(color, spare)
            held[owner] += ONE[color] - ONE[spare]

    def _swap_out(self, wanted: CardColor, given: CardColor) -> None:
        """Put the given card where a card of the wanted color lies hidden."""
        twin = self.twin
        free = twin.pile[: len(twin.pile) - self.fixed]
        if wanted in free:
            twin.pile[free.index(wanted)] = given
            return
        for held, owner, bound in self._hidden():
            if counts(without(held[owner], bound))[wanted]:
                held[owner] += ONE[given] - ONE[wanted]
                return
        raise AssertionError("the card is nowhere hidden from the viewer")

    def _hidden(self) -> list[tuple[list[CardSet], int, CardSet]]:
        """Return the hands, holders and stacks that the viewer does not see, and what has to stay in each."""
        twin = self.twin
        places: list[tuple[list[CardSet], int, CardSet]] = []
        for seat in range(twin.game.seat_count):
            if seat != self.viewer:
                places.append((twin.hands, seat, self.needed if seat == self.seat else twin.known[seat]))
        for team in range(len(twin.holders)):
            if self.viewer not in twin.game.seats_of_team[team]:
                bound = self.needed_holder if team == self.team else twin.known_holders[team]
                places.append((twin.holders, team, bound))
        for seat in range(len(twin.stacks)):
            if not (seat == self.viewer and has_open_stacks(twin.game)):
                places.append((twin.stacks, seat, 0))
        return places
