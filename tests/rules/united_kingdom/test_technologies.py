"""Buying technologies (UK-09, UK-10): what there is, what it costs, and when (UK-11 to UK-27)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.cards import from_wire
from stellwerk_engine.core.state import State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_engine.parts.technologies.buy_technology import technology_ids
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
    play,
    refused,
    set_discards,
    set_hand,
    set_market,
    set_pile,
    set_turn,
    started,
    table,
    wire,
)

BASIC = {  # supply, cost in locomotives
    "wales_concession": (4, 1),
    "ireland_france_concession": (4, 1),
    "scotland_concession": (4, 1),
    "mechanical_stoker": (4, 1),
    "superheated_steam_boiler": (4, 2),
    "propellers": (4, 2),
    "booster": (4, 2),
    "boiler_lagging": (4, 2),
    "steam_turbines": (4, 2),
    "double_heading": (4, 4),
    "right_of_way": (1, 4),
}
ADVANCED = {
    "thermocompressor": (1, 1),
    "water_tenders": (2, 2),
    "risky_contracts": (1, 2),
    "equalising_beam": (1, 2),
    "diesel_power": (1, 3),
}
FOR_CLAIMS = ("right_of_way", "thermocompressor")
KEPT = [name for name in (*BASIC, *ADVANCED) if name not in FOR_CLAIMS]


def buying(hand: str, seats: int = 2) -> State:
    """Seat 0 is at the start of a turn with this hand, all technologies are in the supply."""
    state = started("united_kingdom", seats, ("advanced_technologies",))
    set_market(state, "red, blue, green, white, black")
    for seat in range(seats):
        set_hand(state, seat, "")
    set_hand(state, 0, hand)
    return state


# -- the supply and the prices -----------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_supply_holds_eleven_technologies(seats: int) -> None:
    """UK-10, UK-11, UK-12, UK-13, UK-14, UK-15, UK-16, UK-17, UK-18, UK-19, UK-20, UK-21."""
    supply = view(started("united_kingdom", seats), PUBLIC).supply
    assert supply == {name: number for name, (number, _) in BASIC.items()}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_option_adds_five_technologies(seats: int) -> None:
    """UK-10, UK-22, UK-23, UK-24, UK-25, UK-26, UK-27."""
    supply = view(started("united_kingdom", seats, ("advanced_technologies",)), PUBLIC).supply
    assert supply == {name: number for name, (number, _) in (BASIC | ADVANCED).items()}


@pytest.mark.parametrize("name", ADVANCED)
def test_without_the_option_the_advanced_technologies_are_not_there(name: str) -> None:
    """UK-22, UK-23, UK-24, UK-25, UK-26, UK-27."""
    state = started("united_kingdom", 2)
    set_hand(state, 0, "8 locomotive")
    assert refused(state, 0, buy(name, f"{ADVANCED[name][1]} locomotive")) == "game.unknown_name"
    assert name not in {move.technology for move in listed_as(state, 0, moves.BuyTechnology)}
    assert [option.id for option in RULE_SETS["united_kingdom"].options] == ["advanced_technologies"]
    assert name not in technology_ids(table("united_kingdom", 2))


@pytest.mark.parametrize(("name", "cost"), [(name, cost) for name, (_, cost) in (BASIC | ADVANCED).items()])
def test_a_technology_costs_its_number_of_locomotives(name: str, cost: int) -> None:
    """UK-09, UK-11, UK-12, UK-13, UK-14, UK-15, UK-16, UK-17, UK-18, UK-19, UK-20, UK-21, UK-22, UK-23,
    UK-24, UK-25, UK-27."""
    state = buying("8 locomotive")
    own_route(state, 1, "london-reading")
    assert refused(state, 0, buy(name, f"{cost + 1} locomotive")) == "game.wrong_payment"
    if cost > 1:
        assert refused(state, 0, buy(name, f"{cost - 1} locomotive")) == "game.wrong_payment"
    assert buy(name, f"{cost} locomotive") in listed_as(state, 0, moves.BuyTechnology)
    events = play(state, 0, buy(name, f"{cost} locomotive"))
    assert events[0] == ev.TechnologyBought(0, name, wire(f"{cost} locomotive"))
    assert state.hands[0] == cards(f"{8 - cost} locomotive")


def own_route(state: State, seat: int, route: str) -> None:
    """Claim a route of length 1 for the seat with a locomotive, as in a turn of its own."""
    kept = state.hands[seat]
    set_hand(state, seat, "1 locomotive")
    set_turn(state, seat)
    play(state, seat, claim(route, "1 locomotive"))
    state.hands[seat] = kept
    set_turn(state, 0)


def test_a_technology_costs_something() -> None:
    """UK-09."""
    state = buying("8 locomotive")
    assert refused(state, 0, buy("wales_concession", "")) == "game.wrong_payment"


# -- buying ------------------------------------------------------------------------------------------


def test_a_technology_goes_from_the_supply_to_its_buyer_and_the_cards_are_discarded() -> None:
    """UK-09."""
    state = buying("2 locomotive, 4 red")
    discards = state.discards
    play(state, 0, buy("propellers", "locomotive, 4 red"))
    seen = view(state, PUBLIC)
    assert [player.technologies for player in seen.players] == [("propellers",), ()]
    assert isinstance(seen.supply, dict)
    assert seen.supply["propellers"] == 3
    assert state.discards == discards + from_wire(wire("locomotive, 4 red"))
    assert state.hands[0] == from_wire(wire("locomotive"))


def test_the_action_follows_the_purchase() -> None:
    """UK-09."""
    for action in (
        moves.DrawCard(),
        moves.TakeCard("red"),
        moves.DrawTickets(),
        claim("london-reading", "green"),
    ):
        state = buying("1 locomotive, 1 green")
        play(state, 0, buy("mechanical_stoker", "locomotive"))
        assert engine.owing(state) == (0,)
        assert refused(state, 0, moves.Pass()) == "game.not_available"
        assert action in listed(state, 0)
        play(state, 0, action)


def test_what_was_bought_works_in_the_same_turn() -> None:
    """UK-09."""
    state = buying("locomotive, 3 yellow")
    assert refused(state, 0, claim("bristol-plymouth", "3 yellow")) == "game.missing_technology"
    play(state, 0, buy("mechanical_stoker", "locomotive"))
    play(state, 0, claim("bristol-plymouth", "3 yellow"))
    assert engine.owing(state) == (1,)


def test_only_one_technology_is_bought_in_a_turn() -> None:
    """UK-09."""
    state = buying("8 locomotive")
    play(state, 0, buy("mechanical_stoker", "locomotive"))
    assert refused(state, 0, buy("propellers", "2 locomotive")) == "game.wrong_move"
    assert not listed_as(state, 0, moves.BuyTechnology)
    play(state, 0, moves.TakeCard("red"))
    assert refused(state, 0, buy("propellers", "2 locomotive")) == "game.wrong_move"
    play(state, 0, moves.TakeCard("blue"))
    play(state, 1, moves.TakeCard("green"))
    play(state, 1, moves.TakeCard("white"))
    play(state, 0, buy("propellers", "2 locomotive"))


def test_nothing_is_bought_after_the_first_card() -> None:
    """UK-09."""
    state = buying("8 locomotive")
    play(state, 0, moves.DrawCard())
    assert refused(state, 0, buy("mechanical_stoker", "locomotive")) == "game.wrong_move"
    assert not listed_as(state, 0, moves.BuyTechnology)


def test_nothing_is_bought_in_the_turn_of_another() -> None:
    """UK-09."""
    state = buying("8 locomotive")
    set_turn(state, 1)
    assert refused(state, 0, buy("mechanical_stoker", "locomotive")) == "game.not_asked"


def test_nobody_is_forced_to_buy() -> None:
    """UK-09."""
    state = buying("8 locomotive")
    assert listed_as(state, 0, moves.BuyTechnology)
    assert not isinstance(engine.fallback(state, 0).wire, moves.BuyTechnology)
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.TakeCard("blue"))
    assert state.technologies == [0, 0]
    assert engine.owing(state) == (1,)


def test_a_technology_is_held_once_at_most() -> None:
    """UK-10."""
    state = buying("8 locomotive")
    give_technology(state, 0, "propellers")
    assert refused(state, 0, buy("propellers", "2 locomotive")) == "game.not_available"
    assert "propellers" not in {move.technology for move in listed_as(state, 0, moves.BuyTechnology)}


def test_what_is_not_in_the_supply_cannot_be_bought() -> None:
    """UK-10."""
    state = buying("8 locomotive", seats=4)
    give_technology(state, 1, "diesel_power", "water_tenders")
    assert refused(state, 0, buy("diesel_power", "3 locomotive")) == "game.not_available"
    assert "diesel_power" not in {move.technology for move in listed_as(state, 0, moves.BuyTechnology)}
    give_technology(state, 2, "water_tenders")
    assert refused(state, 0, buy("water_tenders", "2 locomotive")) == "game.not_available"
    assert view(state, 0).supply == {
        name: number
        for name, (number, _) in (BASIC | ADVANCED).items()
        if name not in ("diesel_power", "water_tenders")
    }


@pytest.mark.parametrize("name", [name for name, (number, _) in BASIC.items() if number == 4])
def test_four_players_can_each_have_a_basic_technology(name: str) -> None:
    """UK-10, UK-11, UK-12, UK-13, UK-14, UK-15, UK-16, UK-17, UK-18, UK-19, UK-20."""
    state = buying("", seats=4)
    cost = BASIC[name][1]
    for seat in range(4):
        set_hand(state, seat, f"{cost} locomotive")
        set_turn(state, seat)
        play(state, seat, buy(name, f"{cost} locomotive"))
    assert [player.technologies for player in view(state, PUBLIC).players] == [(name,)] * 4
    supply = view(state, PUBLIC).supply
    assert isinstance(supply, dict)
    assert name not in supply


@pytest.mark.parametrize("name", KEPT)
def test_a_technology_is_kept_to_the_end(name: str) -> None:
    """UK-10."""
    state = buying("4 locomotive")
    play(state, 0, buy(name, f"{(BASIC | ADVANCED)[name][1]} locomotive"))
    final_result(state)
    assert view(state, PUBLIC).players[0].technologies == (name,)


def test_there_is_no_technology_of_another_name() -> None:
    """UK-10."""
    state = buying("8 locomotive")
    assert refused(state, 0, buy("perpetual_motion", "locomotive")) == "game.unknown_name"


# -- who has no legal action -------------------------------------------------------------------------


def stuck(hand: str) -> State:
    """Seat 0 has no action: no cards to draw, no tickets, and no route that the hand pays for."""
    state = buying(hand)
    set_discards(state, "")
    set_pile(state)
    state.hands[1] += state.market
    state.market = 0
    state.ticket_masks[1] |= sum(1 << ticket for ticket in state.ticket_pile)
    state.ticket_pile = []
    state.open_mask = 0
    return state


def test_who_has_no_legal_action_may_pass_or_buy() -> None:
    """UK-09."""
    state = stuck("2 red, 2 blue, locomotive")
    assert listed(state, 0)[0] == moves.Pass()
    bought = {move.technology for move in listed_as(state, 0, moves.BuyTechnology)}
    assert bought == {name for name, (_, cost) in (BASIC | ADVANCED).items() if cost <= 2} - set(FOR_CLAIMS)
    play(state, 0, moves.Pass())
    assert engine.owing(state) == (1,)
    assert state.passes == 1


def test_who_has_no_legal_action_and_buys_acts_if_an_action_has_become_legal() -> None:
    """UK-09."""
    state = stuck("2 red, 2 blue, locomotive")
    play(state, 0, buy("wales_concession", "2 red, 2 blue"))
    assert state.market == cards("2 red, 2 blue")  # the payment is the pile at once, and lies open (USA-07)
    assert refused(state, 0, moves.Pass()) == "game.not_available"
    assert set(listed(state, 0)) == {moves.TakeCard("red"), moves.TakeCard("blue")}


def test_a_purchase_may_make_a_claim_legal() -> None:
    """UK-09."""
    state = stuck("locomotive, yellow")
    state.open_mask = 1 << state.game.board.route_ids["aberystwyth-carmarthen"]
    assert listed(state, 0)[0] == moves.Pass()
    play(state, 0, buy("wales_concession", "locomotive"))
    assert claim("aberystwyth-carmarthen", "yellow") in listed(state, 0)
    assert refused(state, 0, moves.Pass()) == "game.not_available"


def test_a_purchase_alone_is_no_reason_to_refuse_a_pass() -> None:
    """UK-09."""
    state = stuck("8 locomotive")
    assert listed_as(state, 0, moves.BuyTechnology)
    play(state, 0, moves.Pass())
    assert state.technologies[0] == 0
