"""Three locomotives among the open cards (USA-06)."""

from __future__ import annotations

from itertools import count

from stellwerk_engine.core.cards import LOCOMOTIVE, as_list, counts
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import (
    dealt,
    play,
    set_discards,
    set_hand,
    set_market,
    set_pile,
    set_pile_top,
    started,
    wire,
)


def exchanges(events: Events) -> list[ev.MarketExchanged]:
    return [event for event in events if isinstance(event, ev.MarketExchanged)]


def market_events(events: Events) -> Events:
    """Return the events of the market and the pile, in order."""
    kinds = (ev.CardsLaidOpen, ev.MarketExchanged, ev.PileShuffled)
    return [event for event in events if isinstance(event, kinds)]


def open_locomotives(state: State) -> int:
    return view(state, PUBLIC).market.locomotive


def at_the_market(open_cards: str, *pile: str) -> State:
    """Seat 0 is to draw; these cards are open, these come next, and nothing is discarded."""
    state = started("usa", 2)
    set_discards(state, "")
    set_market(state, open_cards)
    set_pile_top(state, *pile)
    return state


def with_few_cards(hand: str, open_cards: str, *pile: str) -> State:
    """Seat 0 is to move with this hand; this is the whole pile, nothing is discarded, seat 1 has the rest."""
    state = started("usa", 2)
    set_hand(state, 0, hand)
    set_discards(state, "")
    set_market(state, open_cards)
    set_pile(state, *pile)
    return state


def opens_with_three_locomotives(seed: str) -> bool:
    """Return whether the first five cards after the two hands include three locomotives, by the shuffle
    alone."""
    deck = as_list(dealt("usa", 2).game.board.deck)
    shuffled = Dice(seed_from_text(seed)).shuffled("train_cards/0", deck)
    return shuffled[-13:-8].count(LOCOMOTIVE) >= 3


def test_three_open_locomotives_are_exchanged_in_the_set_up() -> None:
    """USA-06."""
    seed = next(seed for seed in map(str, count()) if opens_with_three_locomotives(seed))
    events: Events = []
    state = dealt("usa", 2, seed=seed, events=events)
    shuffled, first, exchanged, second = market_events(events)
    assert isinstance(shuffled, ev.PileShuffled)
    assert isinstance(first, ev.CardsLaidOpen)
    assert isinstance(second, ev.CardsLaidOpen)
    assert first.cards.locomotive >= 3
    assert exchanged == ev.MarketExchanged(first.cards)
    assert view(state, PUBLIC).discards == first.cards
    assert view(state, PUBLIC).market == second.cards
    assert sum(counts(state.market)) == 5


def test_a_replacement_that_makes_three_locomotives_exchanges_all_open_cards() -> None:
    """USA-06."""
    state = at_the_market(
        "red, blue, green, 2 locomotive", "locomotive", "white", "white", "black", "black", "yellow", "purple"
    )
    events = play(state, 0, moves.TakeCard("red"))
    assert market_events(events) == [
        ev.CardsLaidOpen(wire("locomotive")),
        ev.MarketExchanged(wire("blue, green, 3 locomotive")),
        ev.CardsLaidOpen(wire("2 white, 2 black, yellow")),
    ]
    assert view(state, 0).market == wire("2 white, 2 black, yellow")
    assert view(state, 0).discards == wire("blue, green, 3 locomotive")
    play(state, 0, moves.TakeCard("yellow"))
    assert view(state, 1).market == wire("2 white, 2 black, purple")


def test_the_market_is_exchanged_after_an_open_locomotive_was_taken() -> None:
    """USA-06."""
    state = at_the_market(
        "red, blue, 3 locomotive", "locomotive", "white", "white", "black", "black", "yellow", "purple"
    )
    events = play(state, 0, moves.TakeCard("locomotive"))
    assert len(exchanges(events)) == 1
    assert open_locomotives(state) == 0


def test_two_open_locomotives_stay() -> None:
    """USA-06."""
    state = at_the_market("2 red, blue, green, locomotive", "locomotive", "white")
    events = play(state, 0, moves.TakeCard("red"))
    assert not exchanges(events)
    assert view(state, 0).market == wire("red, blue, green, 2 locomotive")


def test_the_five_new_cards_are_looked_at_too() -> None:
    """USA-06: more than three locomotives are exchanged as well."""
    state = at_the_market(
        "red, blue, green, 2 locomotive",
        *("locomotive", "locomotive", "white", "locomotive", "locomotive", "locomotive"),
        *("white", "black", "yellow", "locomotive", "locomotive"),
    )
    events = play(state, 0, moves.TakeCard("red"))
    assert exchanges(events) == [
        ev.MarketExchanged(wire("blue, green, 3 locomotive")),
        ev.MarketExchanged(wire("white, 4 locomotive")),
    ]
    assert view(state, 0).market == wire("white, black, yellow, 2 locomotive")
    assert view(state, 0).discards == wire("blue, green, white, 7 locomotive")


def test_the_market_is_looked_at_only_when_it_is_full() -> None:
    """USA-06: three locomotives among the first cards laid do not keep the other two from being laid."""
    state = with_few_cards("2 red, locomotive", "2 locomotive")
    events = play(state, 0, moves.ClaimRoute("calgary-vancouver", wire("2 red, locomotive")))
    laid, first = market_events(events)[1:3]
    assert laid == ev.CardsLaidOpen(wire("2 red, locomotive"))
    assert first == ev.MarketExchanged(wire("2 red, 3 locomotive"))


def test_a_market_of_fewer_than_five_cards_is_exchanged_too() -> None:
    """USA-06: it is filled as far as the cards go and then looked at."""
    state = with_few_cards("locomotive", "red, 2 locomotive")
    events = play(state, 0, moves.ClaimRoute("dallas-houston-1", wire("locomotive")))
    assert exchanges(events)[0] == ev.MarketExchanged(wire("red, 3 locomotive"))


def stuck_market() -> tuple[State, Events]:
    """Make a market with three locomotives among its five cards, and no others to lay."""
    state = with_few_cards("", "red, blue, green, 2 locomotive", "locomotive")
    return state, play(state, 0, moves.TakeCard("red"))


def test_after_ten_exchanges_in_a_row_the_market_stays_as_it_is() -> None:
    """USA-06."""
    state, events = stuck_market()
    assert exchanges(events) == [ev.MarketExchanged(wire("blue, green, 3 locomotive"))] * 10
    assert view(state, 0).market == wire("blue, green, 3 locomotive")
    assert view(state, 0).pile == 0
    assert view(state, 0).discards == wire("")


def test_the_cards_of_an_exchange_become_the_pile_as_one_lot() -> None:
    """USA-06, USA-07: where there is no other card left."""
    _, events = stuck_market()
    lot = wire("blue, green, 3 locomotive")
    exchange = [ev.MarketExchanged(lot), ev.PileShuffled(5, lot), ev.CardsLaidOpen(lot)]
    assert market_events(events) == [ev.CardsLaidOpen(wire("locomotive")), *exchange * 10]


def test_after_ten_exchanges_the_market_is_left_alone_until_a_card_is_laid_open() -> None:
    """USA-06."""
    state, _ = stuck_market()
    assert not exchanges(play(state, 0, moves.TakeCard("blue")))
    assert view(state, 1).market == wire("green, 3 locomotive")
    events = play(state, 1, moves.ClaimRoute("atlanta-charleston", wire("2 white")))
    assert market_events(events)[:3] == [
        ev.PileShuffled(2, wire("2 white")),
        ev.CardsLaidOpen(wire("white")),
        ev.MarketExchanged(wire("green, white, 3 locomotive")),
    ]


def test_three_locomotives_that_lie_open_are_not_looked_at_without_a_new_card() -> None:
    """USA-06: a blind card lays none open."""
    state = at_the_market("red, blue, 3 locomotive", "white", "black")
    assert not exchanges(play(state, 0, moves.DrawCard()))
    assert not exchanges(play(state, 0, moves.DrawCard()))
    assert view(state, 1).market == wire("red, blue, 3 locomotive")
