"""Tunnels: cards are laid, others revealed, and the claim may cost more (ASIA-14 to ASIA-17, ASIA-24).

The cards laid stay in hand and holder until the attempt ends; the decision to pay remembers them.
"""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk_engine.core.board import Route
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    ONE,
    ONE_LOCOMOTIVE,
    PLAIN_COLORS,
    SHIFT,
    CardColor,
    CardSet,
    at_least,
    counts,
    covers,
    describe,
    from_wire,
    to_wire,
    total,
)
from stellwerk_engine.core.piles import discard, reveal
from stellwerk_engine.core.state import Decision, Events, HiddenCards, Move, Seat, State
from stellwerk_engine.parts.claiming.claim_table import split_payment
from stellwerk_engine.parts.claiming.place_claim import after_claim, place_claim
from stellwerk_engine.parts.holders import holder_of
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError


def try_tunnel(
    state: State, seat: Seat, route: Route, laid: CardSet, holder_laid: CardSet, events: Events | None
) -> None:
    """Reveal cards; then the claim succeeds, fails, or waits for the player to pay or not (ASIA-17)."""
    decision = state.pending
    assert decision is not None
    color = color_laid(laid + holder_laid)
    revealed = reveal(state, route.tunnel, events)
    extra = _matching(revealed, color)
    if events is not None:
        events.append(
            ev.TunnelTried(
                seat,
                route.name,
                extra,
                cards=to_wire(laid),
                holder_cards=to_wire(holder_laid),
                revealed=to_wire(revealed),
            )
        )
    bill = PayTunnel(seat, route, color, laid, holder_laid, revealed, extra, decision)
    if extra == 0:
        bill.complete(state, seat, 0, 0, events)
    elif bill.cards_left(state, seat) < extra:
        bill.abandon(state, seat, events)
    else:
        state.pending = bill
        if events is not None:
            events.append(ev.Asked(bill.to_wire(state, seat, sees_all=True)))


def color_laid(cards: CardSet) -> CardColor:
    """Return the one plain color among the cards, or the locomotive where there is none."""
    return next((color for color in PLAIN_COLORS if counts(cards)[color]), LOCOMOTIVE)


def _matching(revealed: CardSet, color: CardColor) -> int:
    """Return how many of the cards have the color laid or are locomotives (ASIA-14, ASIA-15)."""
    by_count = counts(revealed)
    return by_count[LOCOMOTIVE] + (by_count[color] if color != LOCOMOTIVE else 0)


class PayMore(Move):
    __slots__ = ("bill", "holder_pay", "pay")

    def __init__(self, bill: PayTunnel, pay: CardSet, holder_pay: CardSet) -> None:
        self.bill = bill
        self.pay = pay
        self.holder_pay = holder_pay

    def to_wire(self) -> wire_moves.PayTunnel:
        return wire_moves.PayTunnel(to_wire(self.pay), to_wire(self.holder_pay))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        self.bill.complete(state, seat, self.pay, self.holder_pay, events)


class Abandon(Move):
    __slots__ = ("bill",)

    def __init__(self, bill: PayTunnel) -> None:
        self.bill = bill

    def to_wire(self) -> wire_moves.AbandonTunnel:
        return wire_moves.AbandonTunnel()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        self.bill.abandon(state, seat, events)


class PayTunnel:
    """The bill: so many more cards of the color laid, or locomotives."""

    __slots__ = ("answers", "color", "extra", "holder_laid", "laid", "revealed", "route", "seats")

    def __init__(
        self,
        seat: Seat,
        route: Route,
        color: CardColor,
        laid: CardSet,
        holder_laid: CardSet,
        revealed: CardSet,
        extra: int,
        answers: Decision,
    ) -> None:
        self.seats = (seat,)
        self.route = route
        self.color = color
        self.laid = laid
        self.holder_laid = holder_laid
        self.revealed = revealed
        self.extra = extra
        self.answers = answers  # the decision that the claim answers

    def complete(
        self, state: State, seat: Seat, pay: CardSet, holder_pay: CardSet, events: Events | None
    ) -> None:
        place_claim(
            state, seat, self.route, self.laid + pay, self.holder_laid + holder_pay, self.revealed, events
        )
        after_claim(state, seat, self.answers, events)

    def abandon(self, state: State, seat: Seat, events: Events | None) -> None:
        """Take the cards back, which everybody saw."""
        state.known[seat] = at_least(state.known[seat], self.laid)
        if self.holder_laid:
            team = state.game.team_of[seat]
            state.known_holders[team] = at_least(state.known_holders[team], self.holder_laid)
        if events is not None:
            events.append(
                ev.TunnelAbandoned(
                    seat,
                    self.route.name,
                    cards=to_wire(self.laid),
                    holder_cards=to_wire(self.holder_laid),
                    revealed=to_wire(self.revealed),
                )
            )
        discard(state, self.revealed, events)
        after_claim(state, seat, self.answers, events)

    def cards_left(self, state: State, seat: Seat) -> int:
        """Return how many cards the player could add."""
        purse = self._hand_left(state, seat) + self._holder_left(state, seat)
        by_count = counts(purse)
        return by_count[LOCOMOTIVE] + (by_count[self.color] if self.color != LOCOMOTIVE else 0)

    def legal(self, state: State, seat: Seat) -> list[Move]:
        """List the payment with fewest locomotives, from the holder first, and from the hand first if that
        differs; then giving up."""
        hand, holder = counts(self._hand_left(state, seat)), counts(self._holder_left(state, seat))
        mine, shared = (0, 0) if self.color == LOCOMOTIVE else (hand[self.color], holder[self.color])
        of_color = min(self.extra, mine + shared)
        payment = (of_color, self.extra - of_color)
        moves: list[Move] = []
        listed: set[tuple[CardSet, CardSet]] = set()
        for holder_first in (True, False):
            split = split_payment(
                self.color, payment, (mine, hand[LOCOMOTIVE]), (shared, holder[LOCOMOTIVE]), holder_first
            )
            if split not in listed:
                listed.add(split)
                moves.append(PayMore(self, *split))
        moves.append(Abandon(self))
        return moves

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return self._number_of_payments(state, seat) == len(self.legal(state, seat)) - 1

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        match wire:
            case wire_moves.AbandonTunnel():
                return Abandon(self)
            case wire_moves.PayTunnel():
                pay, holder_pay = from_wire(wire.cards), from_wire(wire.holder_cards)
                hand, holder = self._hand_left(state, seat), self._holder_left(state, seat)
                if not covers(hand, pay):
                    raise IllegalMoveError(
                        "game.not_enough_cards", "/cards", f"cards out of {describe(hand)}"
                    )
                if not covers(holder, holder_pay):
                    raise IllegalMoveError(
                        "game.not_enough_cards", "/holder_cards", f"cards out of {describe(holder)}"
                    )
                paid = counts(pay + holder_pay)
                of_color = paid[self.color] if self.color != LOCOMOTIVE else 0
                if not total(pay + holder_pay) == of_color + paid[LOCOMOTIVE] == self.extra:
                    raise IllegalMoveError("game.wrong_payment", "/cards", self._price())
                return PayMore(self, pay, holder_pay)
            case _:
                raise IllegalMoveError(
                    "game.wrong_move", "/type", "pay_tunnel or abandon_tunnel, for the tunnel's bill"
                )

    def fallback(self, state: State, seat: Seat) -> Move:
        return Abandon(self)

    def demands(self, state: State, hidden: HiddenCards) -> Iterator[CardSet]:
        """Yield hidden cards that pay: who could not pay was not asked (ASIA-17)."""
        seat = self.seats[0]
        missing = max(0, self.extra - self.cards_left(state, seat))
        for locomotives in range(missing + 1):
            of_color = missing - locomotives
            demanded = of_color * ONE[self.color] + locomotives * ONE_LOCOMOTIVE
            if (of_color == 0 or self.color != LOCOMOTIVE) and hidden.fit(demanded, seat):
                yield demanded

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return wire_decisions.PayTunnel(
            self.seats,
            self.route.name,
            to_wire(self.laid),
            to_wire(self.holder_laid),
            to_wire(self.revealed),
            self.extra,
        )

    def _hand_left(self, state: State, seat: Seat) -> CardSet:
        return state.hands[seat] - self.laid

    def _holder_left(self, state: State, seat: Seat) -> CardSet:
        return holder_of(state, seat) - self.holder_laid

    def _number_of_payments(self, state: State, seat: Seat) -> int:
        hand, holder = counts(self._hand_left(state, seat)), counts(self._holder_left(state, seat))
        mine, shared = (0, 0) if self.color == LOCOMOTIVE else (hand[self.color], holder[self.color])
        return sum(
            ways_to_split(of_color, mine, shared)
            * ways_to_split(self.extra - of_color, hand[LOCOMOTIVE], holder[LOCOMOTIVE])
            for of_color in range(self.extra + 1)
        )

    def _price(self) -> str:
        if self.color == LOCOMOTIVE:
            return f"{self.extra} locomotives"
        color = describe(1 << SHIFT[self.color]).removeprefix("1 ")
        return f"{self.extra} cards, each {color} or locomotive"


def see_bill(state: State, seat: Seat, bill: wire_decisions.PayTunnel) -> None:
    """Make the bill pending. Everybody saw the cards laid: hand and holder hold at least these."""
    game = state.game
    laid, holder_laid = from_wire(bill.cards), from_wire(bill.holder_cards)
    state.hands[seat] = at_least(state.hands[seat], laid)
    if holder_laid:
        team = game.team_of[seat]
        state.holders[team] = at_least(state.holders[team], holder_laid)
    state.pending = PayTunnel(
        seat,
        game.board.routes[game.board.route_ids[bill.route]],
        color_laid(laid + holder_laid),
        laid,
        holder_laid,
        from_wire(bill.revealed),
        bill.extra,
        game.take_turn[seat],
    )


def ways_to_split(needed: int, mine: int, shared: int) -> int:
    """Return in how many ways so many cards can come from hand and holder."""
    return max(0, min(needed, mine) - max(0, needed - shared) + 1)
