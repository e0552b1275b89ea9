"""Draw train cards: two, open or blind (USA-04 to USA-08, ASIA-06, ASIA-07, CARD-07, UK-23)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from stellwerk_engine.core.cards import (
    COLOR_IDS,
    COLOR_NAMES,
    LOCOMOTIVE,
    ONE,
    PLAIN_CARDS_MASK,
    PLAIN_COLORS,
    CardColor,
    CardSet,
    colors_present,
    counts,
)
from stellwerk_engine.core.folding import into_hand, minus, one_card
from stellwerk_engine.core.piles import draw_blind, pile_ran_out, replace_open_card, take_open
from stellwerk_engine.core.state import Action, CardGap, Events, Game, Gaps, Move, Seat, State, ViewerId
from stellwerk_engine.core.turn import end_turn
from stellwerk_engine.core.viewers import sees_seat, sees_team
from stellwerk_engine.core.words import Words
from stellwerk_engine.parts.holders import into_holder_view, put_on_holder
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import MAX_SEATS, Color, Place
from stellwerk_protocol.views import View


class DrawFirst(Move):
    __slots__ = ("action",)

    def __init__(self, action: DrawCards) -> None:
        self.action = action

    def to_wire(self) -> wire_moves.DrawCard:
        return wire_moves.DrawCard()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        action = self.action
        card = draw_blind(state)
        state.progress_turn = state.turn
        if action.to_holder:
            if events is not None:
                events.append(ev.CardDrawn(seat, card=COLOR_NAMES[card]))
            if not state.pile:
                pile_ran_out(state, events)
            _ask_place(state, seat, card, events, is_open=False)
            return
        state.hands[seat] += ONE[card]
        if events is not None:
            events.append(ev.CardDrawn(seat, "hand", COLOR_NAMES[card]))
        if not state.pile:
            pile_ran_out(state, events)
        _ask_second_card(state, seat, action.seconds[seat], events)


class TakeFirst(Move):
    __slots__ = ("action", "card")

    def __init__(self, action: DrawCards, card: CardColor) -> None:
        self.action = action
        self.card = card

    def to_wire(self) -> wire_moves.TakeCard:
        return wire_moves.TakeCard(COLOR_NAMES[self.card])

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        action, card = self.action, self.card
        take_open(state, card)
        state.progress_turn = state.turn
        if action.to_holder and card != LOCOMOTIVE:
            if events is not None:
                events.append(ev.CardTaken(seat, COLOR_NAMES[card]))
            replace_open_card(state, events)
            _ask_place(state, seat, card, events, is_open=True)
            return
        _keep_open_card(state, seat, card, "holder" if action.to_holder else "hand", events)
        replace_open_card(state, events)
        if card == LOCOMOTIVE:
            end_turn(state, seat, events)
        else:
            _ask_second_card(state, seat, action.seconds[seat], events)


class DrawThree(Move):
    """UK-23: three cards blind, or as many as there are."""

    __slots__ = ()

    def to_wire(self) -> wire_moves.DrawThree:
        return wire_moves.DrawThree()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        state.progress_turn = state.turn
        for _ in range(3):
            if state.pile:
                _draw_into(state, seat, "hand", events)
        end_turn(state, seat, events)


class DrawSecond(Move):
    __slots__ = ("place",)

    def __init__(self, place: Place) -> None:
        self.place: Place = place

    def to_wire(self) -> wire_moves.DrawCard:
        return wire_moves.DrawCard()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        _draw_into(state, seat, self.place, events)
        end_turn(state, seat, events)


class TakeSecond(Move):
    __slots__ = ("card", "place")

    def __init__(self, card: CardColor, place: Place) -> None:
        self.card = card
        self.place: Place = place

    def to_wire(self) -> wire_moves.TakeCard:
        return wire_moves.TakeCard(COLOR_NAMES[self.card])

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        card = self.card
        take_open(state, card)
        _keep_open_card(state, seat, card, self.place, events)
        replace_open_card(state, events)
        end_turn(state, seat, events)


class StopDrawing(Move):
    """CARD-07: one card may be enough."""

    __slots__ = ()

    def to_wire(self) -> wire_moves.Stop:
        return wire_moves.Stop()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        if events is not None:
            events.append(ev.Stopped(seat))
        end_turn(state, seat, events)


class PutFirst(Move):
    """ASIA-06: where the first card goes; the second goes to the other place."""

    __slots__ = ("card", "is_open", "place")

    def __init__(self, card: CardColor, place: Place, is_open: bool) -> None:
        self.card = card
        self.place: Place = place
        self.is_open = is_open

    def to_wire(self) -> wire_moves.PlaceCard:
        return wire_moves.PlaceCard(self.place)

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        place = self.place
        _put(state, seat, self.card, place, self.is_open)
        if events is not None:
            events.append(ev.CardPlaced(seat, place, self.is_open, COLOR_NAMES[self.card]))
        other_place: Place = "holder" if place == "hand" else "hand"
        _ask_second_card(state, seat, SECOND_CARD[other_place][seat], events)


DRAW_THREE: Final = DrawThree()
STOP_DRAWING: Final = StopDrawing()
DRAW_SECOND: Final[dict[Place, DrawSecond]] = {"hand": DrawSecond("hand"), "holder": DrawSecond("holder")}
TAKE_SECOND: Final[dict[Place, tuple[TakeSecond, ...]]] = {
    "hand": tuple(TakeSecond(card, "hand") for card in range(9)),
    "holder": tuple(TakeSecond(card, "holder") for card in range(9)),
}


class FirstDraws(dict[int, tuple[Move, ...]]):
    """Colors open, and whether there is a pile (bit 0) -> the ways to draw a first card."""

    def __init__(self, draw: DrawFirst, take: tuple[TakeFirst, ...]) -> None:
        super().__init__()
        self._draw = draw
        self._take = take

    def __missing__(self, key: int) -> tuple[Move, ...]:
        moves: list[Move] = [self._draw] if key & 1 else []
        moves += [self._take[card] for card in range(9) if key & ONE[card] << 7]
        self[key] = tuple(moves)
        return self[key]


class DrawCards(Action):
    """The action of a turn: two cards, open or blind.

    `second_optional`: one card may be enough (CARD-07). `to_holder`: of two cards one goes into the hand and
    the other one onto the team's holder, and so does an open locomotive (ASIA-06, ASIA-07).
    """

    __slots__ = ("draw", "firsts", "second_optional", "seconds", "take", "to_holder")

    def __init__(self, second_optional: bool = False, to_holder: bool = False) -> None:
        self.second_optional = second_optional
        self.to_holder = to_holder
        self.draw = DrawFirst(self)
        self.take = tuple(TakeFirst(self, card) for card in range(9))
        self.firsts = FirstDraws(self.draw, self.take)
        self.seconds = (SECOND_CARD_OR_STOP if second_optional else SECOND_CARD)["hand"]

    @property
    def events(self) -> tuple[type[object], ...]:
        return (ev.CardTaken, ev.CardDrawn, ev.CardPlaced)

    @property
    def decisions(self) -> tuple[type[object], ...]:
        if self.to_holder:
            return (wire_decisions.SecondCard, wire_decisions.PlaceCard)
        return (wire_decisions.SecondCard,)

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        moves += self.firsts[colors_present(state.market) | (1 if state.pile else 0)]
        if state.pile and state.game.perks[state.technologies[seat]].draws_three:
            moves.append(DRAW_THREE)

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return True

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        match wire:
            case wire_moves.DrawCard():
                return _check_pile(state, self.draw)
            case wire_moves.TakeCard(card=name):
                return self.take[_check_open(state, name)]
            case wire_moves.DrawThree():
                if not state.game.perks[state.technologies[seat]].draws_three:
                    raise IllegalMoveError(
                        "game.missing_technology", "/type", "a technology that lets three cards be drawn"
                    )
                return _check_pile(state, DRAW_THREE)
            case _:
                return None

    def fallback(self, state: State, seat: Seat) -> Move | None:
        """Draw blind; without a pile take the first open color, a locomotive last."""
        if state.pile:
            return self.draw
        return next((self.take[card] for card in range(9) if counts(state.market)[card]), None)

    def redact(self, game: Game, event: ev.Event, viewer: ViewerId) -> ev.Event:
        match event:
            case ev.CardTaken():
                return event
            case ev.CardDrawn(seat, place):
                return event if _sees_place(game, viewer, seat, place) else ev.CardDrawn(seat, place)
            case ev.CardPlaced(seat, place, is_open):
                known = is_open or _sees_place(game, viewer, seat, place)
                return event if known else ev.CardPlaced(seat, place, is_open)
            case _:
                raise NotImplementedError(event)

    def redact_decision(self, decision: wire_decisions.Decision, viewer: ViewerId) -> wire_decisions.Decision:
        match decision:
            case wire_decisions.PlaceCard(seats, is_open):
                known = is_open or viewer in seats
                return decision if known else wire_decisions.PlaceCard(seats, is_open)
            case _:
                return decision

    def fold(self, game: Game, view: View, event: ev.Event) -> View:
        match event:
            case ev.CardTaken(seat, card, place):
                view = replace(view, market=minus(view.market, one_card(card)), progress_turn=view.turn)
                return view if place is UNSET else _into_place(game, view, seat, place, card, is_open=True)
            case ev.CardDrawn(seat, place, card):
                view = replace(view, pile=view.pile - 1, progress_turn=view.turn)
                return view if place is UNSET else _into_place(game, view, seat, place, card, is_open=False)
            case ev.CardPlaced(seat, place, is_open, card):
                return _into_place(game, view, seat, place, card, is_open)
            case _:
                raise NotImplementedError(event)

    def cards_lying(self, state: State) -> CardSet:
        """Return the card drawn that waits for its place."""
        return ONE[state.pending.card] if isinstance(state.pending, PlaceCard) else 0

    def add_gaps_of_choice(self, state: State, pending: wire_decisions.Decision, gaps: Gaps) -> None:
        if isinstance(pending, wire_decisions.PlaceCard) and pending.card is UNSET:
            gaps.cards.append(CardGap(pending.seats[0], 1, _draw_hidden))

    def rule(self, game: Game) -> str:
        text = (
            "draw_card (blind) or take_card (open): two cards, one after the other. An open card is replaced "
            "at once. An open locomotive can only be the first card, and is then the only one."
        )
        if self.second_optional:
            text += " One card may be enough."
        if self.to_holder:
            text += (
                " One of the two goes to your hand and one to the holder: place_card says where the first "
                "one goes. An open locomotive goes to the holder."
            )
        return text

    def sentence(self, event: ev.Event, words: Words) -> str:
        match event:
            case ev.CardTaken(_, card, place):
                return f"takes {words.card(card)}{self._destination(place)}"
            case ev.CardDrawn(_, place, card):
                return f"draws {words.known_card(card)}{self._destination(place)}"
            case ev.CardPlaced(_, place, _, card):
                return f"puts {words.known_card(card)}{self._destination(place)}"
            case _:
                raise NotImplementedError(event)

    def question(self, decision: wire_decisions.Decision, words: Words) -> str:
        match decision:
            case wire_decisions.SecondCard():
                return "which second card?"
            case wire_decisions.PlaceCard(_, _, card):
                return f"where to put {words.known_card(card)}?"
            case _:
                raise NotImplementedError(decision)

    def _destination(self, place: Place | UnsetType) -> str:
        return destination(place) if self.to_holder and place is not UNSET else ""

    def see_pending(self, state: State, pending: wire_decisions.Decision) -> None:
        """Make the decision. A card drawn that the viewer does not see is still missing."""
        match pending:
            case wire_decisions.SecondCard(seats, place, may_stop):
                state.pending = (SECOND_CARD_OR_STOP if may_stop else SECOND_CARD)[place][seats[0]]
            case wire_decisions.PlaceCard(seats, is_open, card):
                if card is not UNSET:
                    state.pending = PlaceCard(seats[0], COLOR_IDS[card], is_open)
            case _:
                raise NotImplementedError(pending)


def _draw_hidden(state: State, seat: Seat, cards: Sequence[CardColor]) -> None:
    state.pending = PlaceCard(seat, cards[0], is_open=False)


def destination(place: Place) -> str:
    """Describe where a card goes, in games with more than one place."""
    return " into the hand" if place == "hand" else " onto the holder"


def _sees_place(game: Game, viewer: ViewerId, seat: Seat, place: Place | UnsetType) -> bool:
    """Return whether the viewer sees the card. Partners see what lies on their holder; a card without a place
    is still its player's (ASIA-06)."""
    if place == "holder":
        return sees_team(game, viewer, game.team_of[seat])
    return sees_seat(viewer, seat)


def _into_place(
    game: Game, view: View, seat: Seat, place: Place, card: Color | UnsetType, is_open: bool
) -> View:
    """Put one card into the hand or onto the holder."""
    cards = UNSET if card is UNSET else one_card(card)
    if place == "hand":
        return into_hand(view, seat, 1, cards, is_open)
    return into_holder_view(game, view, seat, cards, is_open)


class SecondCard:
    """Which second card, for which place; no open locomotive (USA-05)."""

    __slots__ = ("may_stop", "place", "seats", "wire")

    def __init__(self, seat: Seat, place: Place, may_stop: bool) -> None:
        self.seats = (seat,)
        self.place: Place = place
        self.may_stop = may_stop
        self.wire = wire_decisions.SecondCard(self.seats, place, may_stop)

    def legal(self, state: State, seat: Seat) -> list[Move]:
        open_cards = counts(state.market)
        take = TAKE_SECOND[self.place]
        moves: list[Move] = [take[card] for card in PLAIN_COLORS if open_cards[card]]
        if state.pile:
            moves.insert(0, DRAW_SECOND[self.place])
        if self.may_stop:
            moves.append(STOP_DRAWING)
        return moves

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return True

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        match wire:
            case wire_moves.DrawCard():
                return _check_pile(state, DRAW_SECOND[self.place])
            case wire_moves.TakeCard(card=name):
                card = _check_open(state, name)
                if card == LOCOMOTIVE:
                    raise IllegalMoveError(
                        "game.not_available",
                        "/card",
                        "no locomotive: an open one is only taken as the first card",
                    )
                return TAKE_SECOND[self.place][card]
            case wire_moves.Stop() if self.may_stop:
                return STOP_DRAWING
            case _:
                raise IllegalMoveError(
                    "game.wrong_move", "/type", "draw_card or take_card, for the second card"
                )

    def fallback(self, state: State, seat: Seat) -> Move:
        """Stop, where one may; else blind; else the first open color."""
        return STOP_DRAWING if self.may_stop else self.legal(state, seat)[0]

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return self.wire


def _second_cards(may_stop: bool) -> dict[Place, tuple[SecondCard, ...]]:
    """Return the decision of each seat for a card to each place, made once."""
    seats = range(MAX_SEATS)
    return {
        "hand": tuple(SecondCard(seat, "hand", may_stop) for seat in seats),
        "holder": tuple(SecondCard(seat, "holder", may_stop) for seat in seats),
    }


SECOND_CARD: Final = _second_cards(may_stop=False)
SECOND_CARD_OR_STOP: Final = _second_cards(may_stop=True)


class PlaceCard:
    """The choice of where the first card goes. It is in neither place yet."""

    __slots__ = ("card", "is_open", "seats")

    def __init__(self, seat: Seat, card: CardColor, is_open: bool) -> None:
        self.seats = (seat,)
        self.card = card
        self.is_open = is_open

    def legal(self, state: State, seat: Seat) -> list[Move]:
        return [PutFirst(self.card, "hand", self.is_open), PutFirst(self.card, "holder", self.is_open)]

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return True

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        match wire:
            case wire_moves.PlaceCard(place=place):
                return PutFirst(self.card, place, self.is_open)
            case _:
                raise IllegalMoveError("game.wrong_move", "/type", "place_card, for the card just drawn")

    def fallback(self, state: State, seat: Seat) -> Move:
        return PutFirst(self.card, "hand", self.is_open)

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        if self.is_open or sees_all or viewer_seat in self.seats:
            return wire_decisions.PlaceCard(self.seats, self.is_open, COLOR_NAMES[self.card])
        return wire_decisions.PlaceCard(self.seats, self.is_open)


def _ask_place(state: State, seat: Seat, card: CardColor, events: Events | None, is_open: bool) -> None:
    state.pending = PlaceCard(seat, card, is_open)
    if events is not None:
        events.append(ev.Asked(state.pending.to_wire(state, seat, sees_all=True)))


def _ask_second_card(state: State, seat: Seat, decision: SecondCard, events: Events | None) -> None:
    """Ask for a second card if one may legally be taken; else end the turn (USA-08)."""
    if not state.pile and not state.market & PLAIN_CARDS_MASK:
        end_turn(state, seat, events)
        return
    state.pending = decision
    if events is not None:
        events.append(ev.Asked(state.pending.to_wire(state, seat, sees_all=True)))


def _draw_into(state: State, seat: Seat, place: Place, events: Events | None) -> None:
    card = draw_blind(state)
    _put(state, seat, card, place, is_open=False)
    if events is not None:
        events.append(ev.CardDrawn(seat, place, COLOR_NAMES[card]))
    if not state.pile:
        pile_ran_out(state, events)


def _keep_open_card(state: State, seat: Seat, card: CardColor, place: Place, events: Events | None) -> None:
    _put(state, seat, card, place, is_open=True)
    if events is not None:
        events.append(ev.CardTaken(seat, COLOR_NAMES[card], place))


def _put(state: State, seat: Seat, card: CardColor, place: Place, is_open: bool) -> None:
    """Put a card into the hand or onto the holder; everybody knows of one that was taken openly."""
    if place == "hand":
        state.hands[seat] += ONE[card]
        if is_open:
            state.known[seat] += ONE[card]
    else:
        put_on_holder(state, seat, ONE[card], is_open)


def _check_pile(state: State, move: Move) -> Move:
    if not state.pile:
        raise IllegalMoveError("game.not_available", "/type", "an open card, because the pile is empty")
    return move


def _check_open(state: State, name: str) -> CardColor:
    card = COLOR_IDS[name]
    if not counts(state.market)[card]:
        open_cards = ", ".join(COLOR_NAMES[color] for color in range(9) if counts(state.market)[color])
        raise IllegalMoveError("game.not_available", "/card", f"an open card: {open_cards or 'none'}")
    return card
