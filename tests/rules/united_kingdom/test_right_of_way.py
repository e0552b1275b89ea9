"""Claiming a route that another player has claimed (UK-21, UK-32)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import (
    buy,
    cards,
    claim,
    final_result,
    give_technology,
    listed,
    listed_as,
    own,
    play,
    refused,
    set_hand,
    set_market,
    set_tickets,
    set_turn,
    started,
)

NEW_YORK = "new_york-southampton"
BUY = buy("right_of_way", "4 locomotive")


def at_table(hand: str, seats: int = 2, others: tuple[str, ...] = (), advanced: bool = False) -> State:
    """Seat 0 has this hand; seat 1 has claimed the others."""
    state = started("united_kingdom", seats, ("advanced_technologies",) if advanced else ())
    set_market(state, "red, blue, green, white, black")
    for seat in range(seats):
        set_hand(state, seat, "")
    set_hand(state, 0, hand)
    own(state, 1, *others)
    return state


def is_sold(state: State) -> bool:
    return "right_of_way" in {move.technology for move in listed_as(state, 0, moves.BuyTechnology)}


def test_a_route_of_another_is_claimed_at_once_and_the_card_goes_back() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue", others=("dover-london",))
    play(state, 0, BUY)
    assert view(state, PUBLIC).players[0].technologies == ("right_of_way",)
    assert engine.owing(state) == (0,)
    assert listed(state, 0) == [claim("dover-london", "2 blue")]
    for other in (moves.DrawCard(), moves.TakeCard("red"), moves.DrawTickets(), moves.Pass(), moves.Stop()):
        assert refused(state, 0, other) == "game.wrong_move"
    events = play(state, 0, claim("dover-london", "2 blue"))
    assert [type(event) for event in events] == [ev.RouteClaimed, ev.TechnologyReturned, ev.TurnStarted]
    seen = view(state, PUBLIC)
    assert seen.players[0].technologies == ()
    assert isinstance(seen.supply, dict)
    assert seen.supply["right_of_way"] == 1
    assert seen.players[0].routes == seen.players[1].routes == ("dover-london",)


def test_the_claim_is_the_action_of_the_turn() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue, 1 green", others=("dover-london",))
    play(state, 0, BUY)
    play(state, 0, claim("dover-london", "2 blue"))
    assert engine.owing(state) == (1,)


def test_open_routes_cannot_be_claimed_with_the_right_of_way() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue, 1 green", others=("dover-london",))
    play(state, 0, BUY)
    assert refused(state, 0, claim("london-reading", "green")) == "game.route_taken"


def test_without_it_a_route_of_another_is_not_to_be_had() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue", others=("dover-london",))
    assert refused(state, 0, claim("dover-london", "2 blue")) == "game.route_taken"
    assert "dover-london" not in {move.route for move in listed_as(state, 0, moves.ClaimRoute)}


def test_the_route_is_paid_and_its_trains_are_placed() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue, 1 red", others=("dover-london",))
    play(state, 0, BUY)
    assert refused(state, 0, claim("dover-london", "blue")) == "game.wrong_payment"
    assert refused(state, 0, claim("dover-london", "blue, red")) == "game.wrong_payment"
    play(state, 0, claim("dover-london", "2 blue"))
    assert state.trains == [33, 33]
    assert state.points == [2, 2]
    assert state.hands[0] == cards("red")


def test_a_player_without_enough_trains_cannot_use_it() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue", others=("dover-london",))
    state.trains[0] = 1
    assert not is_sold(state)
    assert refused(state, 0, BUY) == "game.not_available"


def test_it_is_sold_only_if_the_claim_is_possible_after_paying() -> None:
    """UK-21."""
    assert is_sold(at_table("4 locomotive, 2 blue", others=("dover-london",)))
    for hand, others in (
        ("4 locomotive, 2 blue", ()),  # nothing is claimed
        ("4 locomotive, 1 blue", ("dover-london",)),  # too few cards are left
        ("4 locomotive, 3 yellow", ("bristol-plymouth",)),  # no Stoker
        ("5 locomotive", ("dover-london",)),
    ):
        state = at_table(hand, others=others)
        assert not is_sold(state)
        assert refused(state, 0, BUY) == "game.not_available"


def test_the_payment_must_leave_the_cards_for_the_claim() -> None:
    """UK-21."""
    state = at_table("3 locomotive, 4 blue, 1 red", others=("barrow-carlisle",))  # a red route of length 1
    assert refused(state, 0, buy("right_of_way", "3 locomotive, 3 blue, 1 red")) == "game.not_available"
    play(state, 0, buy("right_of_way", "3 locomotive, 4 blue"))
    assert {move.route for move in listed_as(state, 0, moves.ClaimRoute)} == {"barrow-carlisle"}


def test_locomotives_are_spared_where_only_substitutes_leave_a_claim() -> None:
    """UK-21."""
    state = at_table(
        "4 locomotive, 4 blue, 1 white", others=("dover-france_east",)
    )  # a ferry: 2 spaces, 1 symbol
    give_technology(state, 0, "ireland_france_concession", "propellers")
    (purchase,) = [m for m in listed_as(state, 0, moves.BuyTechnology) if m.technology == "right_of_way"]
    play(state, 0, purchase)
    assert listed_as(state, 0, moves.ClaimRoute)


@pytest.mark.parametrize(
    ("route", "hand", "needed"),
    [
        ("bristol-plymouth", "3 yellow", ("mechanical_stoker",)),
        ("hull-norwich", "4 blue", ("superheated_steam_boiler",)),
        ("aberystwyth-carmarthen", "yellow", ("wales_concession",)),
        ("barrow-liverpool", "locomotive", ("propellers",)),
        (
            "belfast-stranraer",
            "locomotive",
            ("ireland_france_concession", "scotland_concession", "propellers"),
        ),
    ],
)
def test_it_replaces_no_technology_that_the_route_needs(
    route: str, hand: str, needed: tuple[str, ...]
) -> None:
    """UK-21, UK-32."""
    for missing in needed:
        state = at_table(f"4 locomotive, {hand}", others=(route,))
        give_technology(state, 0, *(name for name in needed if name != missing))
        assert not is_sold(state)
        assert refused(state, 0, BUY) == "game.not_available"
    state = at_table(f"4 locomotive, {hand}", others=(route, "london-reading"))
    give_technology(state, 0, *needed[:-1])
    set_hand(state, 0, f"6 locomotive, {hand}")
    play(state, 0, BUY)
    assert refused(state, 0, claim(route, hand)) == "game.missing_technology"
    state = at_table(f"4 locomotive, {hand}", others=(route,))
    give_technology(state, 0, *needed)
    play(state, 0, BUY)
    play(state, 0, claim(route, hand))


def test_it_works_for_new_york_without_technologies() -> None:
    """UK-08, UK-21, UK-32."""
    state = at_table("7 locomotive, 7 red", others=(NEW_YORK,))
    play(state, 0, BUY)
    play(state, 0, claim(NEW_YORK, "3 locomotive, 7 red"))
    assert state.points == [40, 40]


def test_diesel_power_saves_a_card_of_it_too() -> None:
    """UK-27, UK-21."""
    state = at_table("4 locomotive, blue", others=("dover-london",), advanced=True)
    assert not is_sold(state)
    give_technology(state, 0, "diesel_power")
    play(state, 0, BUY)
    play(state, 0, claim("dover-london", "blue"))
    assert (state.points[0], state.trains[0]) == (2, 33)


def test_the_route_counts_for_both() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue", others=("dover-london",))
    own(state, 0, "london-northampton-blue")
    own(state, 1, "london-northampton-purple")
    set_tickets(state, 0, "northampton-dover")
    set_tickets(state, 1)
    give_technology(state, 0, "boiler_lagging")
    play(state, 0, BUY)
    play(state, 0, claim("dover-london", "2 blue"))
    first, second = final_result(state).teams
    assert [ticket.completed for ticket in first.tickets] == [True]
    assert first.longest_path == second.longest_path == 3
    assert (first.route_points, second.route_points) == (1 + 2 + 1, 1 + 2)


def test_any_number_of_players_may_share_a_route() -> None:
    """UK-21, UK-32."""
    state = at_table("", seats=4, others=("dover-london",))
    for seat in (2, 3, 0):
        set_hand(state, seat, "4 locomotive, 2 blue")
        set_turn(state, seat)
        play(state, seat, BUY)
        play(state, seat, claim("dover-london", "2 blue"))
        set_hand(state, seat, "")
    assert [player.routes for player in view(state, PUBLIC).players] == [("dover-london",)] * 4
    assert state.trains == [33] * 4


def test_it_cannot_be_used_on_an_own_route() -> None:
    """UK-32."""
    state = at_table("6 locomotive, 2 blue")
    own(state, 0, "dover-london")
    assert not is_sold(state)
    assert refused(state, 0, BUY) == "game.not_available"
    own(state, 1, "brighton-london")
    play(state, 0, BUY)
    assert refused(state, 0, claim("dover-london", "2 blue")) == "game.route_taken"


def test_a_route_shared_with_it_cannot_be_shared_again() -> None:
    """UK-32."""
    state = at_table("8 locomotive, 4 blue", others=("dover-london",))
    play(state, 0, BUY)
    play(state, 0, claim("dover-london", "2 blue"))
    for seat in (0, 1):
        set_turn(state, seat)
        set_hand(state, seat, "6 locomotive")
        assert "right_of_way" not in {m.technology for m in listed_as(state, seat, moves.BuyTechnology)}
        assert refused(state, seat, BUY) == "game.not_available"
        set_hand(state, seat, "")


def test_it_does_not_open_the_closed_half_of_a_double_route() -> None:
    """UK-32."""
    state = at_table("6 locomotive, 2 red", others=("london-southampton-black",))
    play(state, 0, BUY)
    assert refused(state, 0, claim("london-southampton-red", "2 red")) == "game.route_taken"
    assert {move.route for move in listed_as(state, 0, moves.ClaimRoute)} == {"london-southampton-black"}


@pytest.mark.parametrize("seats", [3, 4])
def test_who_holds_one_half_of_a_double_route_does_not_get_the_other(seats: int) -> None:
    """UK-32."""
    state = at_table("6 locomotive, 2 red", seats, others=("london-southampton-red",))
    own(state, 0, "london-southampton-black")
    assert not is_sold(state)
    assert refused(state, 0, BUY) == "game.not_available"


def test_a_shared_half_of_a_double_route_bars_the_other_half_from_then_on() -> None:
    """UK-32, UK-03."""
    state = at_table("8 locomotive, 4 red", 3, others=("london-southampton-red",))
    play(state, 0, BUY)
    play(state, 0, claim("london-southampton-red", "2 red"))
    set_turn(state, 0)
    assert refused(state, 0, claim("london-southampton-black", "2 locomotive")) == "game.route_taken"
    set_hand(state, 0, "")
    set_hand(state, 2, "2 locomotive")
    set_turn(state, 2)
    play(state, 2, claim("london-southampton-black", "2 locomotive"))


def test_with_both_halves_claimed_either_may_be_shared_but_not_both() -> None:
    """UK-32."""
    for name in ("london-southampton-red", "london-southampton-black"):
        state = at_table("12 locomotive", 3, others=("london-southampton-red",))
        own(state, 2, "london-southampton-black")
        play(state, 0, BUY)
        play(state, 0, claim(name, "2 locomotive"))
        set_turn(state, 0)
        assert refused(state, 0, BUY) == "game.not_available"


def test_a_route_claimed_with_it_counts_as_claimed() -> None:
    """UK-32."""
    state = at_table("4 locomotive, 2 blue", 3, others=("dover-london",))
    play(state, 0, BUY)
    play(state, 0, claim("dover-london", "2 blue"))
    set_hand(state, 2, "2 blue")
    set_turn(state, 2)
    assert refused(state, 2, claim("dover-london", "2 blue")) == "game.route_taken"


def test_it_can_be_bought_again_and_by_everybody() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue", others=("dover-london", "brighton-london"))
    play(state, 0, BUY)
    play(state, 0, claim("dover-london", "2 blue"))
    set_hand(state, 0, "5 locomotive")
    set_turn(state, 0)
    play(state, 0, BUY)
    play(state, 0, claim("brighton-london", "locomotive"))
    own(state, 0, "london-reading")
    set_hand(state, 1, "5 locomotive")
    set_turn(state, 1)
    play(state, 1, BUY)
    play(state, 1, claim("london-reading", "locomotive"))


def test_its_claim_may_trigger_the_last_round() -> None:
    """UK-21."""
    state = at_table("4 locomotive, 2 blue", others=("dover-london",))
    state.trains[0] = 4
    play(state, 0, BUY)
    events = play(state, 0, claim("dover-london", "2 blue"))
    assert ev.LastRound(2) in events
