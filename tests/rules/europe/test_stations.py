"""Building stations (EUR-10)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.turn import IDLE_ROUNDS
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.rules.europe.tables import BOARD, at_turn, build, seen, stand, stations
from tests.support import (
    cards,
    claim,
    listed,
    listed_as,
    own,
    play,
    refusal,
    refused,
    set_discards,
    set_hand,
    set_pile,
    set_turn,
    wire,
)

HAND = "4 red, 3 blue, 3 locomotive"


# -- where -------------------------------------------------------------------------------------------


def test_a_station_stands_in_any_city_whether_or_not_anybody_has_a_route_there() -> None:
    """EUR-10."""
    state = at_turn(hand="red")
    own(state, 0, "berlin-wien")
    own(state, 1, "lisboa-madrid")
    assert {move.city for move in listed_as(state, 0, moves.BuildStation)} == {
        city.id for city in BOARD.cities
    }
    for city in ("berlin", "lisboa", "moskva"):
        after = state.copy()
        play(after, 0, build(city, "red"))
        assert stations(after) == (city,)


@pytest.mark.parametrize("owner", [0, 1])
def test_in_a_city_stands_one_station_only(owner: int) -> None:
    """EUR-10."""
    state = at_turn(hand=HAND)
    stand(state, owner, "wien")
    assert refused(state, 0, build("wien", "red" if owner else "2 red")) == "game.not_available"
    assert "wien" not in {move.city for move in listed_as(state, 0, moves.BuildStation)}


def test_a_station_stands_in_a_city_of_the_board() -> None:
    """EUR-10."""
    assert refused(at_turn(hand="red"), 0, build("atlantis", "red")) == "game.unknown_name"


def test_a_station_stays_where_it_is_and_closes_no_route() -> None:
    """EUR-10."""
    state = at_turn(2, "3 red")
    open_mask = state.open_mask
    play(state, 0, build("berlin", "red"))
    assert state.open_mask == open_mask
    set_hand(state, 1, "3 green")
    play(state, 1, claim("berlin-wien", "3 green"))
    assert (stations(state), seen(state, 1).routes) == (("berlin",), ("berlin-wien",))


# -- what it costs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_station_costs_as_many_cards_of_one_color_as_it_is_the_players_first_second_or_third(
    number: int,
) -> None:
    """EUR-10: exactly as many, and locomotives replace any of them."""
    state = at_turn(hand=HAND)
    stand(state, 0, *("riga", "roma")[: number - 1])
    stand(state, 1, "paris", "essen")
    for of_color in range(5):
        for locomotives in range(4):
            text = f"{of_color} red, {locomotives} locomotive"
            legal = of_color + locomotives == number
            assert (refusal(state, 0, build("wien", text)) is None) == legal, text


def test_cards_of_two_colors_build_no_station() -> None:
    """EUR-10."""
    state = at_turn(hand=HAND)
    stand(state, 0, "riga")
    assert refused(state, 0, build("wien", "red, blue")) == "game.wrong_payment"
    stand(state, 0, "roma")
    assert refused(state, 0, build("wien", "red, blue, locomotive")) == "game.wrong_payment"


def test_a_player_who_cannot_pay_for_the_next_station_cannot_build_it() -> None:
    """EUR-10."""
    state = at_turn(hand="red, blue, green")
    stand(state, 0, "riga")
    assert refused(state, 0, build("wien", "red")) == "game.wrong_payment"
    assert refused(state, 0, build("wien", "2 red")) == "game.not_enough_cards"
    assert listed_as(state, 0, moves.BuildStation) == []


def test_there_is_no_fourth_station() -> None:
    """EUR-10, EUR-01."""
    state = at_turn(hand="4 red, 4 locomotive")
    stand(state, 0, "riga", "roma", "paris")
    assert seen(state).stations_left == 0
    assert listed_as(state, 0, moves.BuildStation) == []
    for text in ("4 red", "3 red", "red", ""):
        assert refused(state, 0, build("wien", text)) == "game.not_available"


def test_the_cards_are_discarded_and_no_trains_placed_and_no_points_counted() -> None:
    """EUR-10."""
    state = at_turn(hand="2 red, locomotive, blue")
    stand(state, 0, "riga")
    set_discards(state, "white")
    events = play(state, 0, build("wien", "red, locomotive"))
    assert events[0] == ev.StationBuilt(0, "wien", wire("red, locomotive"))
    assert state.discards == cards("white, red, locomotive")
    player = seen(state)
    assert (player.stations, player.stations_left) == (("riga", "wien"), 1)
    assert (player.trains, player.points, player.hand_count, player.routes) == (45, 0, 2, ())
    assert engine.owing(state) == (1,)


def test_the_cards_of_a_station_are_discarded_as_one_lot() -> None:
    """EUR-10: without a pile they are the next one (USA-07)."""
    state = at_turn(3, "2 red")
    stand(state, 0, "riga")
    set_discards(state, "")
    set_pile(state)
    events = play(state, 0, build("wien", "2 red"))
    assert [type(event) for event in events] == [ev.StationBuilt, ev.PileShuffled, ev.TurnStarted]
    assert events[1] == ev.PileShuffled(2, wire("2 red"))


def test_played_cards_are_known_no_more() -> None:
    """EUR-10."""
    state = at_turn(hand="2 red")
    state.known[0] = cards("red")
    play(state, 0, build("wien", "red"))
    assert seen(state).known_cards == wire("")


# -- what is listed ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("built", "hand", "payment"),
    [
        (0, "2 red, blue, locomotive", "blue"),
        (0, "2 red, 2 blue, locomotive", "blue"),
        (0, "locomotive", "locomotive"),
        (1, "3 red, 2 blue, white, 2 locomotive", "2 blue"),
        (1, "red, white, 2 locomotive", "white, locomotive"),
        (2, "2 red, blue, locomotive", "2 red, locomotive"),
        (2, "red, white, 3 locomotive", "white, 2 locomotive"),
        (2, "4 locomotive", "3 locomotive"),
    ],
)
def test_one_payment_is_listed_for_each_city(built: int, hand: str, payment: str) -> None:
    """EUR-10: with fewest locomotives, then of the color with fewest cards in the hand."""
    state = at_turn(hand=hand)
    stand(state, 0, *("riga", "roma")[:built])
    free = [city.id for city in BOARD.cities if city.id not in ("riga", "roma")[:built]]
    assert listed_as(state, 0, moves.BuildStation) == [build(city, payment) for city in free]


@pytest.mark.parametrize(
    ("built", "hand", "complete"),
    [
        (0, "3 red", True),
        (0, "red, locomotive", False),
        (1, "2 red, blue", True),
        (1, "2 red, 2 blue", False),
    ],
)
def test_the_list_is_complete_only_if_there_is_no_other_payment(
    built: int, hand: str, complete: bool
) -> None:
    """EUR-10."""
    state = at_turn(hand=hand)
    stand(state, 0, *("riga", "roma")[:built])
    state.trains[0] = 0  # no claims, whose payments would count as well
    assert engine.legal_complete(state, 0) == complete


# -- passing and progress ----------------------------------------------------------------------------


def test_who_can_build_may_not_pass() -> None:
    """EUR-10, GEN-05."""
    for hand, may_pass in (("red", False), ("", True)):
        state = at_turn(3, hand)
        set_discards(state, "")
        state.hands[2] += state.market
        state.market = 0
        set_pile(state)
        state.ticket_pile = []
        state.trains[0] = 0
        assert (moves.Pass() in listed(state, 0)) == may_pass
        assert (refusal(state, 0, moves.Pass()) is None) == may_pass


def test_a_station_built_is_progress() -> None:
    """EUR-10, GEN-06."""
    state = at_turn(hand="red")
    state.turn = IDLE_ROUNDS * 2 + state.progress_turn
    play(state, 0, build("wien", "red"))
    assert not view(state, PUBLIC).result
    assert state.progress_turn == state.turn - 1
    assert engine.owing(state) == (1,)


def test_the_fallback_builds_only_where_nothing_else_is_possible() -> None:
    """EUR-10, GEN-05."""
    state = at_turn(3, "red, blue")
    assert engine.fallback(state, 0).wire == moves.DrawCard()
    set_discards(state, "")
    state.hands[2] += state.market
    state.market = 0
    set_pile(state)
    state.ticket_pile = []
    state.trains[0] = 0
    assert engine.fallback(state, 0).wire == build(BOARD.cities[0].id, "blue")


def test_stations_are_for_the_seat_whose_turn_it_is() -> None:
    """EUR-10."""
    state = at_turn(hand="red")
    set_hand(state, 1, "red")
    assert refused(state, 1, build("wien", "red")) == "game.not_asked"
    set_turn(state, 1)
    play(state, 1, build("wien", "red"))
    assert stations(state, 1) == ("wien",)
