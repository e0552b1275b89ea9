"""Claiming routes: payment, trains, double routes, points (USA-10 to USA-12)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import claim, listed_as, own, play, refused, set_hand, set_market, set_turn, started, wire


def with_hand(hand: str, seats: int = 2) -> State:
    state = started("usa", seats)
    set_market(state, "purple, blue, orange, white, green")
    set_hand(state, 0, hand)
    return state


def listed_payments(state: State, route: str) -> list[moves.ClaimRoute]:
    return [move for move in listed_as(state, 0, moves.ClaimRoute) if move.route == route]


# -- the price ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "payment"),
    [
        ("chicago-duluth", "3 red"),
        ("chicago-duluth", "2 red, locomotive"),
        ("chicago-duluth", "red, 2 locomotive"),
        ("chicago-duluth", "3 locomotive"),
        ("calgary-vancouver", "3 red"),
        ("calgary-vancouver", "3 white"),
        ("calgary-vancouver", "2 white, locomotive"),
        ("calgary-vancouver", "3 locomotive"),
        ("atlanta-nashville", "black"),
        ("atlanta-nashville", "locomotive"),
        ("duluth-helena", "6 orange"),
        ("sault_st_marie-winnipeg", "5 orange, locomotive"),
    ],
)
def test_a_route_costs_its_length_in_its_color_or_of_any_one_color_and_locomotives_stand_for_any_card(
    route: str, payment: str
) -> None:
    """USA-10."""
    state = with_hand(payment)
    events = play(state, 0, claim(route, payment))
    assert isinstance(events[0], ev.RouteClaimed)
    assert view(state, 1).players[0].routes == (route,)
    assert view(state, 0).players[0].hand == wire("")


@pytest.mark.parametrize(
    ("route", "payment"),
    [
        ("chicago-duluth", "3 blue"),  # not its color
        ("chicago-duluth", "2 red, blue"),
        ("chicago-duluth", "red, blue, locomotive"),
        ("chicago-duluth", "2 red"),  # too few
        ("chicago-duluth", "4 red"),  # too many
        ("chicago-duluth", "3 red, locomotive"),
        ("chicago-duluth", "4 locomotive"),
        ("chicago-duluth", ""),
        ("calgary-vancouver", "2 red, blue"),  # two colors for a gray route
        ("calgary-vancouver", "red, blue, locomotive"),
        ("calgary-vancouver", "2 white"),
        ("calgary-vancouver", "4 white"),
        ("calgary-vancouver", ""),
    ],
)
def test_no_other_cards_pay(route: str, payment: str) -> None:
    """USA-10."""
    state = with_hand("4 red, 3 blue, 4 white, 4 locomotive")
    assert refused(state, 0, claim(route, payment)) == "game.wrong_payment"


def test_only_cards_in_the_hand_pay() -> None:
    """USA-10."""
    state = with_hand("2 red, locomotive")
    assert refused(state, 0, claim("chicago-duluth", "3 red")) == "game.not_enough_cards"
    assert refused(state, 0, claim("chicago-duluth", "red, 2 locomotive")) == "game.not_enough_cards"
    from_a_holder = moves.ClaimRoute("chicago-duluth", wire("2 red"), wire("red"))
    assert refused(state, 0, from_a_holder) == "game.not_enough_cards"


def test_every_color_that_pays_for_a_gray_route_is_listed() -> None:
    """USA-10."""
    state = with_hand("3 red, 2 white, 3 black, blue, locomotive")
    assert listed_payments(state, "calgary-vancouver") == [
        claim("calgary-vancouver", payment) for payment in ("2 white, locomotive", "3 black", "3 red")
    ]


def test_locomotives_alone_pay_though_other_cards_would() -> None:
    """USA-10: a payment that is not listed, for another one is."""
    state = with_hand("3 red, 3 locomotive")
    assert claim("chicago-duluth", "3 locomotive") not in listed_payments(state, "chicago-duluth")
    assert not engine.legal_complete(state, 0)
    play(state, 0, claim("chicago-duluth", "3 locomotive"))
    assert view(state, 0).players[0].hand == wire("3 red")


def test_what_cannot_be_paid_is_not_listed() -> None:
    """USA-10."""
    state = with_hand("2 red, 2 blue")
    lengths = {
        state.game.board.routes[state.game.board.route_ids[move.route]].length
        for move in listed_as(state, 0, moves.ClaimRoute)
    }
    assert lengths == {1, 2}
    assert not listed_payments(state, "chicago-duluth")
    assert not listed_payments(state, "new_york-washington-orange")
    assert listed_payments(state, "boston-new_york-red") == [claim("boston-new_york-red", "2 red")]


# -- what a claim changes ----------------------------------------------------------------------------


def test_the_cards_are_discarded_and_a_train_is_placed_on_each_space() -> None:
    """USA-10."""
    state = with_hand("2 red, 2 locomotive, blue")
    discards = view(state, 0).discards
    assert discards == wire("")
    play(state, 0, claim("chicago-duluth", "2 red, locomotive"))
    seen = view(state, PUBLIC)
    assert seen.discards == wire("2 red, locomotive")
    assert [player.trains for player in seen.players] == [42, 45]
    assert view(state, 0).players[0].hand == wire("blue, locomotive")


def test_a_player_needs_as_many_trains_as_the_route_has_spaces() -> None:
    """USA-10."""
    state = with_hand("6 red")
    state.trains[0] = 4
    assert refused(state, 0, claim("helena-omaha", "5 red")) == "game.not_enough_trains"
    assert not listed_payments(state, "helena-omaha")
    assert listed_payments(state, "dallas-el_paso")
    play(state, 0, claim("dallas-el_paso", "4 red"))
    assert view(state, PUBLIC).players[0].trains == 0


def test_a_route_need_not_touch_another_of_the_player() -> None:
    """USA-10."""
    state = with_hand("3 red")
    own(state, 0, "charleston-miami")
    play(state, 0, claim("chicago-duluth", "3 red"))
    assert view(state, PUBLIC).players[0].routes == ("charleston-miami", "chicago-duluth")


def test_only_one_route_is_claimed_in_a_turn() -> None:
    """USA-10."""
    state = with_hand("2 red, black")
    play(state, 0, claim("dallas-houston-1", "black"))
    assert engine.owing(state) == (1,)
    assert refused(state, 0, claim("boston-new_york-red", "2 red")) == "game.not_asked"


@pytest.mark.parametrize("owner", [0, 1])
def test_a_claimed_route_is_not_claimed_again(owner: int) -> None:
    """USA-10."""
    state = with_hand("3 red")
    own(state, owner, "chicago-duluth")
    assert refused(state, 0, claim("chicago-duluth", "3 red")) == "game.route_taken"
    assert not listed_payments(state, "chicago-duluth")


def test_a_route_that_the_board_does_not_have_is_refused() -> None:
    """USA-10."""
    assert refused(with_hand("3 red"), 0, claim("chicago-vienna", "3 red")) == "game.unknown_name"


# -- double routes -----------------------------------------------------------------------------------

DOUBLES = [("boston-new_york-yellow", "boston-new_york-red"), ("dallas-houston-1", "dallas-houston-2")]


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize(("one", "other"), DOUBLES)
def test_nobody_claims_both_tracks_of_a_double_route(seats: int, one: str, other: str) -> None:
    """USA-11."""
    state = with_hand("4 red", seats)
    own(state, 0, one)
    payment = "red" if one.startswith("dallas") else "2 red"
    assert refused(state, 0, claim(other, payment)) == "game.route_taken"
    assert not listed_payments(state, other)


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize(("one", "other"), DOUBLES)
def test_with_two_or_three_players_the_other_track_is_closed_to_all(seats: int, one: str, other: str) -> None:
    """USA-11."""
    state = with_hand("4 red", seats)
    own(state, 1, one)
    payment = "red" if one.startswith("dallas") else "2 red"
    assert refused(state, 0, claim(other, payment)) == "game.route_taken"
    assert not listed_payments(state, other)


@pytest.mark.parametrize("seats", [4, 5])
@pytest.mark.parametrize(("one", "other"), DOUBLES)
def test_with_four_or_five_players_another_one_may_claim_the_other_track(
    seats: int, one: str, other: str
) -> None:
    """USA-11."""
    state = with_hand("4 red", seats)
    own(state, 1, one)
    payment = "red" if one.startswith("dallas") else "2 red"
    play(state, 0, claim(other, payment))
    assert view(state, PUBLIC).players[0].routes == (other,)
    assert view(state, PUBLIC).players[1].routes == (one,)


def test_of_a_closed_track_only_the_double_route_itself_is_closed() -> None:
    """USA-11: other routes to the same cities stay open."""
    state = with_hand("2 white, red", 2)
    own(state, 1, "boston-new_york-yellow", "dallas-houston-1")
    assert listed_payments(state, "new_york-pittsburgh-white")
    assert listed_payments(state, "dallas-oklahoma_city-1")
    assert listed_payments(state, "dallas-oklahoma_city-2")
    assert listed_payments(state, "houston-new_orleans")


def test_a_claim_closes_the_other_track_at_once() -> None:
    """USA-11."""
    state = with_hand("2 red")
    set_hand(state, 1, "2 yellow")
    play(state, 0, claim("boston-new_york-red", "2 red"))
    assert refused(state, 1, claim("boston-new_york-yellow", "2 yellow")) == "game.route_taken"
    set_turn(state, 0)
    set_hand(state, 0, "2 yellow")
    assert refused(state, 0, claim("boston-new_york-yellow", "2 yellow")) == "game.route_taken"


# -- points ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "length", "points"),
    [
        ("atlanta-nashville", 1, 1),
        ("boston-new_york-red", 2, 2),
        ("chicago-duluth", 3, 4),
        ("dallas-el_paso", 4, 7),
        ("helena-omaha", 5, 10),
        ("miami-new_orleans", 6, 15),
    ],
)
def test_a_claimed_route_brings_points_at_once(route: str, length: int, points: int) -> None:
    """USA-12."""
    state = with_hand("6 red")
    own(state, 0, "charleston-miami")
    claimed = play(state, 0, claim(route, f"{length} red"))[0]
    assert isinstance(claimed, ev.RouteClaimed)
    assert claimed.points == points
    assert [player.points for player in view(state, PUBLIC).players] == [7 + points, 0]
