"""When the pile is used up (USA-07, USA-08)."""

from __future__ import annotations

from stellwerk_engine import engine
from stellwerk_engine.core.cards import as_list
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.view import view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import (
    cards,
    listed,
    listed_as,
    play,
    refused,
    set_discards,
    set_hand,
    set_market,
    set_pile,
    started,
    wire,
)


def with_few_cards(hand: str, open_cards: str, *pile: str, discards: str = "") -> State:
    """Seat 0 is to move with this hand; pile and discards are only these, and seat 1 has all the rest."""
    state = started("usa", 2)
    set_hand(state, 0, hand)
    set_market(state, open_cards)
    set_discards(state, discards)
    set_pile(state, *pile)
    return state


def market_and_pile(events: Events) -> Events:
    """Return the events of the market and the pile, in order."""
    kinds = (ev.CardsLaidOpen, ev.MarketExchanged, ev.PileShuffled)
    return [event for event in events if isinstance(event, kinds)]


def the_pile(state: State) -> list[int]:
    return sorted(state.pile)


# -- the discards become the pile --------------------------------------------------------------------


def test_when_the_last_card_is_drawn_the_discards_become_the_pile_at_once() -> None:
    """USA-07: before the second card is drawn."""
    state = with_few_cards("", "5 red", "blue", discards="3 green, 2 white")
    events = play(state, 0, moves.DrawCard())
    assert market_and_pile(events) == [ev.PileShuffled(5, wire("3 green, 2 white"))]
    assert view(state, 0).pile == 5
    assert view(state, 0).discards == wire("")
    assert the_pile(state) == as_list(cards("3 green, 2 white"))
    play(state, 0, moves.DrawCard())
    assert view(state, 1).pile == 4


def test_when_the_last_card_is_the_second_one_drawn_the_discards_become_the_pile() -> None:
    """USA-07."""
    state = with_few_cards("", "5 red", "blue", "blue", discards="3 green")
    assert not market_and_pile(play(state, 0, moves.DrawCard()))
    assert market_and_pile(play(state, 0, moves.DrawCard())) == [ev.PileShuffled(3, wire("3 green"))]


def test_when_the_last_card_is_laid_open_the_discards_become_the_pile_at_once() -> None:
    """USA-07."""
    state = with_few_cards("", "4 red, white", "blue", discards="3 green")
    events = play(state, 0, moves.TakeCard("red"))
    assert market_and_pile(events) == [ev.CardsLaidOpen(wire("blue")), ev.PileShuffled(3, wire("3 green"))]


def test_the_pile_is_not_shuffled_as_long_as_a_card_is_left() -> None:
    """USA-07."""
    state = with_few_cards("", "5 red", "blue", "blue", discards="3 green")
    play(state, 0, moves.DrawCard())
    assert view(state, 0).pile == 1
    assert view(state, 0).discards == wire("3 green")


def test_the_new_pile_is_shuffled() -> None:
    """USA-07: as the next shuffle of the train cards lays it."""
    discards = "4 purple, 4 green, 4 white, 4 black"
    state = with_few_cards("", "5 red", "blue", discards=discards)
    play(state, 0, moves.DrawCard())
    assert state.pile == Dice(seed_from_text("test")).shuffled("train_cards/1", as_list(cards(discards)))
    assert state.pile != as_list(cards(discards))


def test_the_discards_are_shuffled_before_the_locomotives_are_counted() -> None:
    """USA-07: the exchanged cards do not get into the pile that the last replacement brings."""
    state = with_few_cards(
        "", "red, white, black, 2 locomotive", "locomotive", discards="3 green, 3 yellow, purple"
    )
    shuffled, exchanged, laid = market_and_pile(play(state, 0, moves.TakeCard("red")))[1:]
    assert shuffled == ev.PileShuffled(7, wire("3 green, 3 yellow, purple"))
    assert exchanged == ev.MarketExchanged(wire("white, black, 3 locomotive"))
    assert isinstance(laid, ev.CardsLaidOpen)
    assert view(state, 0).pile == 2
    assert view(state, 0).discards == wire("white, black, 3 locomotive")


def test_an_exchange_fills_the_market_out_of_the_shuffled_discards_where_the_pile_is_too_short() -> None:
    """USA-07: the exchanged cards are among them."""
    state = with_few_cards(
        "", "red, white, black, 2 locomotive", "locomotive", "green", "green", discards="4 yellow"
    )
    events = market_and_pile(play(state, 0, moves.TakeCard("red")))
    assert events[:4] == [
        ev.CardsLaidOpen(wire("locomotive")),
        ev.MarketExchanged(wire("white, black, 3 locomotive")),
        ev.CardsLaidOpen(wire("2 green")),
        ev.PileShuffled(9, wire("4 yellow, white, black, 3 locomotive")),
    ]
    assert isinstance(events[4], ev.CardsLaidOpen)
    assert sum(1 for _ in as_list(state.market)) == 5


# -- no discards either ------------------------------------------------------------------------------


def test_without_discards_the_next_payment_becomes_the_pile_as_one_lot() -> None:
    """USA-07."""
    state = with_few_cards("2 green, locomotive", "5 red")
    events = play(state, 0, moves.ClaimRoute("calgary-vancouver", wire("2 green, locomotive")))
    assert market_and_pile(events) == [ev.PileShuffled(3, wire("2 green, locomotive"))]
    assert view(state, 1).pile == 3
    assert view(state, 1).discards == wire("")


def test_the_payment_fills_the_market_and_the_rest_of_it_is_the_pile() -> None:
    """USA-07: the order is shuffle, fill."""
    state = with_few_cards("6 green", "red, white")
    events = play(state, 0, moves.ClaimRoute("el_paso-houston", wire("6 green")))
    assert market_and_pile(events) == [ev.PileShuffled(6, wire("6 green")), ev.CardsLaidOpen(wire("3 green"))]
    assert view(state, 1).market == wire("red, white, 3 green")
    assert view(state, 1).pile == 3


def test_the_payment_fills_the_market_as_far_as_it_goes() -> None:
    """USA-07."""
    state = with_few_cards("2 green", "red, white")
    play(state, 0, moves.ClaimRoute("dallas-oklahoma_city-1", wire("2 green")))
    assert view(state, 1).market == wire("red, white, 2 green")
    assert view(state, 1).pile == 0
    assert view(state, 1).discards == wire("")


def test_a_payment_on_a_pile_stays_with_the_discards() -> None:
    """USA-07."""
    state = with_few_cards("2 green", "5 red", "blue", discards="white")
    assert not market_and_pile(play(state, 0, moves.ClaimRoute("dallas-oklahoma_city-1", wire("2 green"))))
    assert view(state, 1).discards == wire("white, 2 green")


# -- only open cards, or none ------------------------------------------------------------------------


def test_open_cards_are_taken_without_pile_and_discards_and_are_not_replaced() -> None:
    """USA-08."""
    state = with_few_cards("", "3 red, white, black")
    assert {move.card for move in listed_as(state, 0, moves.TakeCard)} == {"red", "white", "black"}
    assert moves.DrawCard() not in listed(state, 0)
    assert refused(state, 0, moves.DrawCard()) == "game.not_available"
    play(state, 0, moves.TakeCard("red"))
    assert view(state, 0).market == wire("2 red, white, black")
    assert refused(state, 0, moves.DrawCard()) == "game.not_available"
    play(state, 0, moves.TakeCard("white"))
    assert view(state, 0).players[0].hand == wire("red, white")
    assert view(state, 1).market == wire("2 red, black")


def test_an_open_locomotive_can_be_the_only_card_to_take() -> None:
    """USA-08."""
    state = with_few_cards("", "2 locomotive")
    assert listed_as(state, 0, moves.TakeCard) == [moves.TakeCard("locomotive")]
    play(state, 0, moves.TakeCard("locomotive"))
    assert view(state, 1).market == wire("locomotive")


def test_with_no_card_to_take_drawing_is_not_available() -> None:
    """USA-08."""
    state = with_few_cards("2 red", "")
    assert {type(move) for move in listed(state, 0)} == {moves.ClaimRoute, moves.DrawTickets}
    assert refused(state, 0, moves.DrawCard()) == "game.not_available"
    assert refused(state, 0, moves.TakeCard("red")) == "game.not_available"


def test_the_action_ends_with_one_card_where_no_card_is_left() -> None:
    """USA-08."""
    state = with_few_cards("", "red")
    play(state, 0, moves.TakeCard("red"))
    assert view(state, 0).players[0].hand == wire("red")
    assert engine.owing(state) == (1,)


def test_the_action_ends_with_one_card_where_only_locomotives_lie_open() -> None:
    """USA-08."""
    state = with_few_cards("", "red, 2 locomotive")
    play(state, 0, moves.TakeCard("red"))
    assert view(state, 0).players[0].hand == wire("red")
    assert engine.owing(state) == (1,)


def test_the_action_ends_with_one_card_that_was_drawn_blind() -> None:
    """USA-08: the last card of the pile, beside a market of locomotives."""
    state = with_few_cards("", "5 locomotive", "blue")
    play(state, 0, moves.DrawCard())
    assert view(state, 0).players[0].hand == wire("blue")
    assert engine.owing(state) == (1,)


def test_beside_open_locomotives_the_second_card_is_drawn_blind() -> None:
    """USA-08: one may legally be taken, so it is."""
    state = with_few_cards("", "5 locomotive", "blue", "green")
    play(state, 0, moves.DrawCard())
    assert listed(state, 0) == [moves.DrawCard()]
    play(state, 0, moves.DrawCard())
    assert view(state, 0).players[0].hand == wire("blue, green")
