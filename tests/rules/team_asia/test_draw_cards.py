"""Train cards: what is dealt, and where drawn cards go (ASIA-05 to ASIA-07)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import Place
from tests.support import (
    cards,
    dealt,
    listed,
    play,
    refused,
    set_discards,
    set_hand,
    set_market,
    set_pile,
    set_pile_top,
    set_turn,
    started,
    wire,
)

both_places = pytest.mark.parametrize(("first", "second"), [("hand", "holder"), ("holder", "hand")])


def about_to_draw(market: str = "red, blue, green, white, black") -> State:
    """Seat 0 has no cards, neither has the team's holder."""
    state = started("team_asia", 4)
    for seat in range(4):
        set_hand(state, seat, "")
    set_market(state, market)
    return state


def lying(state: State) -> dict[Place, Cards]:
    """Return the cards in seat 0's hand and on its holder."""
    seen = view(state, 0)
    assert isinstance(seen.teams, tuple)
    hand, holder = seen.players[0].hand, seen.teams[0].holder
    assert isinstance(hand, Cards)
    assert isinstance(holder, Cards)
    return {"hand": hand, "holder": holder}


def kinds(events: Events) -> list[type[ev.Event]]:
    return [type(event) for event in events]


# -- set-up ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [4, 6])
def test_everybody_starts_with_four_cards_in_hand_and_nothing_on_the_holder(seats: int) -> None:
    """ASIA-05."""
    events: Events = []
    seen = view(dealt("team_asia", seats, events=events), 0)
    assert [player.hand_count for player in seen.players] == [4] * seats
    assert isinstance(seen.teams, tuple)
    assert [team.holder_count for team in seen.teams] == [0] * (seats // 2)
    assert [event.count for event in events if isinstance(event, ev.CardsDealt)] == [4] * seats
    assert seen.pile == 110 - 4 * seats - 5


# -- two cards ---------------------------------------------------------------------------------------


@both_places
def test_of_two_cards_drawn_blind_one_goes_to_the_hand_and_one_to_the_holder(
    first: Place, second: Place
) -> None:
    """ASIA-06."""
    state = about_to_draw()
    set_pile_top(state, "red", "blue")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.PlaceCard(first))
    assert engine.owing(state) == (0,)
    events = play(state, 0, moves.DrawCard())
    assert events[0] == ev.CardDrawn(0, second, "blue")
    assert lying(state) == {first: wire("red"), second: wire("blue")}
    assert engine.owing(state) == (1,)


@both_places
def test_of_two_open_cards_one_goes_to_the_hand_and_one_to_the_holder(first: Place, second: Place) -> None:
    """ASIA-06."""
    state = about_to_draw()
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.PlaceCard(first))
    events = play(state, 0, moves.TakeCard("blue"))
    assert events[0] == ev.CardTaken(0, "blue", second)
    assert lying(state) == {first: wire("red"), second: wire("blue")}
    seen = view(state, PUBLIC)
    assert isinstance(seen.teams, tuple)
    known = {"hand": seen.players[0].known_cards, "holder": seen.teams[0].known_holder}
    assert known == {first: wire("red"), second: wire("blue")}
    assert engine.owing(state) == (1,)


def test_the_player_sees_the_first_card_and_says_where_it_goes_before_drawing_the_second() -> None:
    """ASIA-06."""
    state = about_to_draw()
    set_pile_top(state, "red", "blue")
    events = play(state, 0, moves.DrawCard())
    asked = decisions.PlaceCard((0,), open=False, card="red")
    assert events == [ev.CardDrawn(0, card="red"), ev.Asked(asked)]
    assert view(state, 0).pending == asked
    assert listed(state, 0) == [moves.PlaceCard("hand"), moves.PlaceCard("holder")]
    for other in (moves.DrawCard(), moves.TakeCard("red"), moves.Stop(), moves.Pass(), moves.DrawTickets()):
        assert refused(state, 0, other) == "game.wrong_move"
    assert lying(state) == {"hand": NO_CARDS, "holder": NO_CARDS}


@both_places
def test_nobody_decides_where_the_second_card_goes(first: Place, second: Place) -> None:
    """ASIA-06."""
    state = about_to_draw()
    play(state, 0, moves.TakeCard("red"))
    events = play(state, 0, moves.PlaceCard(first))
    assert events == [
        ev.CardPlaced(0, first, open=True, card="red"),
        ev.Asked(decisions.SecondCard((0,), second, may_stop=False)),
    ]
    for other in (moves.PlaceCard("hand"), moves.PlaceCard("holder"), moves.Stop(), moves.Pass()):
        assert refused(state, 0, other) == "game.wrong_move"


def test_the_market_is_replaced_before_the_player_decides() -> None:
    """ASIA-06."""
    state = about_to_draw()
    set_pile_top(state, "yellow")
    events = play(state, 0, moves.TakeCard("red"))
    assert events == [
        ev.CardTaken(0, "red"),
        ev.CardsLaidOpen(wire("yellow")),
        ev.Asked(decisions.PlaceCard((0,), open=True, card="red")),
    ]
    assert view(state, 0).market == wire("blue, green, white, black, yellow")
    assert lying(state) == {"hand": NO_CARDS, "holder": NO_CARDS}


def test_the_market_is_exchanged_before_the_player_decides() -> None:
    """ASIA-06."""
    state = about_to_draw("red, blue, green, 2 locomotive")
    set_pile_top(state, "locomotive", "yellow", "yellow", "orange", "orange", "purple")
    events = play(state, 0, moves.TakeCard("red"))
    assert kinds(events) == [ev.CardTaken, ev.CardsLaidOpen, ev.MarketExchanged, ev.CardsLaidOpen, ev.Asked]
    assert view(state, 0).market == wire("2 yellow, 2 orange, purple")
    assert view(state, 0).discards == wire("blue, green, 3 locomotive")  # the card taken is not among them
    assert listed(state, 0) == [moves.PlaceCard("hand"), moves.PlaceCard("holder")]


def test_the_discards_are_the_pile_again_before_the_player_decides() -> None:
    """ASIA-06."""
    state = about_to_draw()
    set_discards(state, "3 green")
    set_pile(state, "red")
    events = play(state, 0, moves.DrawCard())
    assert kinds(events) == [ev.CardDrawn, ev.PileShuffled, ev.Asked]
    play(state, 0, moves.PlaceCard("holder"))
    play(state, 0, moves.DrawCard())
    assert lying(state) == {"hand": wire("green"), "holder": wire("red")}


@pytest.mark.parametrize("left_open", ["", "locomotive", "2 locomotive"])
@pytest.mark.parametrize("place", ["hand", "holder"])
def test_if_no_second_card_follows_the_decision_about_the_first_stands(place: Place, left_open: str) -> None:
    """ASIA-06."""
    state = about_to_draw("")
    set_market(state, f"red, {left_open}")
    set_pile(state)
    play(state, 0, moves.TakeCard("red"))
    assert listed(state, 0) == [moves.PlaceCard("hand"), moves.PlaceCard("holder")]
    events = play(state, 0, moves.PlaceCard(place))
    assert kinds(events) == [ev.CardPlaced, ev.TurnStarted]
    assert lying(state) == {"hand": NO_CARDS, "holder": NO_CARDS} | {place: wire("red")}
    assert engine.owing(state) == (1,)


# -- locomotives -------------------------------------------------------------------------------------


def test_a_single_open_locomotive_goes_on_the_holder_and_ends_the_turn() -> None:
    """ASIA-07."""
    state = about_to_draw("red, blue, green, white, locomotive")
    set_pile_top(state, "yellow")
    events = play(state, 0, moves.TakeCard("locomotive"))
    assert events[:2] == [ev.CardTaken(0, "locomotive", "holder"), ev.CardsLaidOpen(wire("yellow"))]
    assert kinds(events[2:]) == [ev.TurnStarted]
    assert lying(state) == {"hand": NO_CARDS, "holder": wire("locomotive")}
    assert engine.owing(state) == (1,)


def test_everybody_knows_the_open_locomotive_on_the_holder() -> None:
    """ASIA-03, ASIA-07."""
    state = about_to_draw("red, blue, green, white, locomotive")
    play(state, 0, moves.TakeCard("locomotive"))
    teams = view(state, PUBLIC).teams
    assert isinstance(teams, tuple)
    assert [(team.holder_count, team.known_holder) for team in teams] == [
        (1, wire("locomotive")),
        (0, NO_CARDS),
    ]


def test_an_open_locomotive_is_not_taken_as_the_second_card() -> None:
    """ASIA-07."""
    state = about_to_draw("red, blue, green, white, locomotive")
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.PlaceCard("hand"))
    assert refused(state, 0, moves.TakeCard("locomotive")) == "game.not_available"


@both_places
def test_a_locomotive_drawn_blind_is_a_first_card_like_any_other(first: Place, second: Place) -> None:
    """ASIA-06, ASIA-07."""
    state = about_to_draw()
    set_pile_top(state, "locomotive", "blue")
    play(state, 0, moves.DrawCard())
    assert listed(state, 0) == [moves.PlaceCard("hand"), moves.PlaceCard("holder")]
    play(state, 0, moves.PlaceCard(first))
    play(state, 0, moves.DrawCard())
    assert lying(state) == {first: wire("locomotive"), second: wire("blue")}


@both_places
def test_a_locomotive_drawn_blind_as_the_second_card_goes_to_the_other_place(
    first: Place, second: Place
) -> None:
    """ASIA-06, ASIA-07."""
    state = about_to_draw()
    set_pile_top(state, "red", "locomotive")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.PlaceCard(first))
    play(state, 0, moves.DrawCard())
    assert lying(state) == {first: wire("red"), second: wire("locomotive")}


def test_each_team_has_its_own_holder() -> None:
    """ASIA-03, ASIA-07."""
    state = about_to_draw("red, blue, green, white, locomotive")
    set_pile_top(state, "locomotive")
    play(state, 0, moves.TakeCard("locomotive"))
    set_turn(state, 2)
    play(state, 2, moves.TakeCard("locomotive"))
    assert state.holders == [cards("locomotive"), cards("locomotive")]
