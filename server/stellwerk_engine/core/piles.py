"""Train cards between pile, market and discards (USA-06 to USA-08, CARD-12).

Law: code that takes the last card of the pile calls `pile_ran_out` before anything else happens, and the
market is short only while the pile is empty.
"""

from __future__ import annotations

from typing import Final

from stellwerk_engine.core.cards import LOCOMOTIVE_SHIFT, ONE, CardColor, CardSet, as_list, to_wire, total
from stellwerk_engine.core.state import Events, State
from stellwerk_protocol import events as ev

MARKET_SIZE: Final = 5
MOST_EXCHANGES: Final = 10  # in a row (USA-06)


def draw_blind(state: State) -> CardColor:
    """Draw the top card. The caller adds the event, then calls `pile_ran_out` if none is left."""
    return state.pile.pop()


def pile_ran_out(state: State, events: Events | None) -> None:
    """Make the discards the pile at once, if there are any (USA-07). In the card game they do not
    (CARD-12)."""
    if state.discards and state.game.rules.train_cards.reshuffled:
        cards = state.discards
        state.discards = 0
        shuffle_into_pile(state, cards, cards, events)
        for part in state.game.parts:
            part.after_reshuffle(state, events)


def shuffle_into_pile(state: State, cards: CardSet, may_hold: CardSet, events: Events | None) -> None:
    """Shuffle these cards into the pile; all that viewers know is that it may hold `may_hold`."""
    label = f"train_cards/{state.train_shuffles}"
    state.train_shuffles += 1
    state.pile = state.dice.shuffled(label, as_list(cards))
    state.may_hold = may_hold
    if events is not None:
        events.append(ev.PileShuffled(len(state.pile), to_wire(may_hold)))


def discard(state: State, cards: CardSet, events: Events | None) -> None:
    """Discard one lot. With an empty pile it becomes the pile at once (USA-07)."""
    state.discards += cards
    if not state.pile:
        pile_ran_out(state, events)
        refill_market(state, events)


def replace_open_card(state: State, events: Events | None) -> None:
    """Lay another card open for the one taken (USA-04). The market was full, unless there is no pile."""
    if not state.pile:
        return
    card = state.pile.pop()
    state.market += ONE[card]
    state.may_hold -= ONE[card]
    if events is not None:
        events.append(ev.CardsLaidOpen(to_wire(ONE[card])))
    if not state.pile:
        pile_ran_out(state, events)
    _exchange_market(state, events)


def refill_market(state: State, events: Events | None) -> None:
    """Lay cards open as far as they go, up to five."""
    if _lay_open(state, events):
        _exchange_market(state, events)


def _exchange_market(state: State, events: Events | None) -> None:
    """Exchange the whole market as long as it must be exchanged (USA-06). Called after cards have been laid
    open."""
    exchange_at = state.game.rules.train_cards.exchange_at
    if not exchange_at:
        return
    for _ in range(MOST_EXCHANGES):
        if state.market >> LOCOMOTIVE_SHIFT < exchange_at:
            return
        lot = state.market
        state.market = 0
        state.discards += lot
        if events is not None:
            events.append(ev.MarketExchanged(to_wire(lot)))
        if not state.pile:
            pile_ran_out(state, events)
        _lay_open(state, events)


def _lay_open(state: State, events: Events | None) -> bool:
    """Fill the market up to five; whether any card was laid. A shuffle in between parts the events."""
    missing = MARKET_SIZE - total(state.market)
    laid_any = False
    while missing and state.pile:
        laid: CardSet = 0
        while missing and state.pile:
            laid += ONE[state.pile.pop()]
            missing -= 1
        state.market += laid
        state.may_hold -= laid
        laid_any = True
        if events is not None:
            events.append(ev.CardsLaidOpen(to_wire(laid)))
        if not state.pile:
            pile_ran_out(state, events)
    return laid_any


def reveal(state: State, number: int, events: Events | None) -> CardSet:
    """Turn cards of the pile up for a tunnel, as many as pile and discards have (ASIA-14, ASIA-16)."""
    revealed: CardSet = 0
    while number and state.pile:
        now: CardSet = 0
        while number and state.pile:
            now += ONE[state.pile.pop()]
            number -= 1
        revealed += now
        state.may_hold -= now
        if events is not None:
            events.append(ev.CardsRevealed(to_wire(now)))
        if not state.pile:
            pile_ran_out(state, events)
    return revealed


def take_open(state: State, color: CardColor) -> None:
    """Take a card out of the market. The caller adds the event, then calls `replace_open_card`."""
    state.market -= ONE[color]
