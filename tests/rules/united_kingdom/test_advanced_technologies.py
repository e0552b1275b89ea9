"""Thermocompressor, Water Tenders, and what leaves the game at the first shuffle (UK-22, UK-23, UK-26)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.core.cards import total
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from stellwerk_protocol.cards import Cards
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
    set_discards,
    set_hand,
    set_market,
    set_pile,
    set_pile_top,
    set_turn,
    started,
    wire,
)

NEW_YORK = "new_york-southampton"
OPTION = ("advanced_technologies",)
WITHDRAWN = ("risky_contracts", "equalising_beam")


def at_table(hand: str, *technologies: str, seats: int = 2) -> State:
    """Start seat 0's turn with this hand and these technologies; the others have no cards."""
    state = started("united_kingdom", seats, OPTION)
    set_market(state, "red, blue, green, white, black")
    for seat in range(seats):
        set_hand(state, seat, "")
    set_hand(state, 0, hand)
    give_technology(state, 0, *technologies)
    return state


def supply(state: State) -> set[str]:
    seen = view(state, PUBLIC).supply
    assert isinstance(seen, dict)
    return set(seen)


# -- Thermocompressor --------------------------------------------------------------------------------

BUY_TWO_CLAIMS = buy("thermocompressor", "locomotive")


def test_two_routes_are_claimed_in_one_turn_and_the_card_goes_back() -> None:
    """UK-22."""
    state = at_table("locomotive, 2 green")
    events = play(state, 0, BUY_TWO_CLAIMS)
    assert "thermocompressor" not in supply(state)
    events = play(state, 0, claim("london-reading", "green"))
    assert not [event for event in events if isinstance(event, ev.TechnologyReturned)]
    assert engine.owing(state) == (0,)
    events = play(state, 0, claim("ipswich-norwich", "green"))
    assert [type(event) for event in events] == [ev.RouteClaimed, ev.TechnologyReturned, ev.TurnStarted]
    assert state.owned_masks[0].bit_count() == 2
    assert state.points[0] == 2
    assert state.technologies[0] == 0
    assert "thermocompressor" in supply(state)
    assert engine.owing(state) == (1,)


def test_there_is_no_third_claim() -> None:
    """UK-22."""
    state = at_table("locomotive, 3 green, 3 red")
    play(state, 0, BUY_TWO_CLAIMS)
    play(state, 0, claim("london-reading", "green"))
    play(state, 0, claim("ipswich-norwich", "green"))
    assert engine.owing(state) == (1,)


def test_the_claims_are_the_action_of_the_turn() -> None:
    """UK-22."""
    state = at_table("locomotive, 2 green")
    play(state, 0, BUY_TWO_CLAIMS)
    for other in (moves.DrawCard(), moves.TakeCard("red"), moves.DrawTickets(), moves.Pass()):
        assert refused(state, 0, other) == "game.wrong_move"
    play(state, 0, claim("london-reading", "green"))
    for other in (moves.DrawCard(), moves.TakeCard("red"), moves.DrawTickets(), moves.Pass()):
        assert refused(state, 0, other) == "game.wrong_move"


def test_the_first_claim_must_be_made_and_the_second_may_be_left() -> None:
    """UK-22."""
    state = at_table("locomotive, 2 green")
    play(state, 0, BUY_TWO_CLAIMS)
    assert refused(state, 0, moves.Stop()) == "game.wrong_move"
    assert moves.Stop() not in listed(state, 0)
    play(state, 0, claim("london-reading", "green"))
    assert moves.Stop() in listed(state, 0)
    events = play(state, 0, moves.Stop())
    assert [type(event) for event in events] == [ev.Stopped, ev.TechnologyReturned, ev.TurnStarted]
    assert state.owned_masks[0].bit_count() == 1
    assert state.technologies[0] == 0
    assert engine.owing(state) == (1,)


def test_with_no_legal_second_claim_the_turn_ends() -> None:
    """UK-22."""
    state = at_table("locomotive, 1 green")
    play(state, 0, BUY_TWO_CLAIMS)
    events = play(state, 0, claim("london-reading", "green"))
    assert [type(event) for event in events] == [ev.RouteClaimed, ev.TechnologyReturned, ev.TurnStarted]
    assert state.technologies[0] == 0
    assert engine.owing(state) == (1,)


def test_it_is_sold_only_if_one_claim_is_possible_after_paying() -> None:
    """UK-22."""
    state = at_table("locomotive")
    assert refused(state, 0, BUY_TWO_CLAIMS) == "game.not_available"
    assert "thermocompressor" not in {move.technology for move in listed_as(state, 0, moves.BuyTechnology)}
    state = at_table("locomotive, purple, 3 yellow")  # the one needs Ireland, the other the Stoker
    state.open_mask = sum(
        1 << state.game.board.route_ids[name] for name in ("cork-limerick", "bristol-plymouth")
    )
    assert refused(state, 0, BUY_TWO_CLAIMS) == "game.not_available"
    give_technology(state, 0, "mechanical_stoker")
    play(state, 0, BUY_TWO_CLAIMS)


def test_routes_of_others_are_no_claim_for_it() -> None:
    """UK-22."""
    state = at_table("2 locomotive")
    state.open_mask = 0
    own(state, 1, "london-reading")
    assert refused(state, 0, BUY_TWO_CLAIMS) == "game.not_available"


def test_each_of_the_two_claims_is_made_by_all_rules() -> None:
    """UK-22, UK-03."""
    state = at_table("locomotive, 4 black, 4 red", seats=3)
    play(state, 0, BUY_TWO_CLAIMS)
    assert refused(state, 0, claim("leeds-liverpool", "1 black")) == "game.wrong_payment"
    assert refused(state, 0, claim("birmingham-llandrindod_wells", "2 red")) == "game.missing_technology"
    play(state, 0, claim("london-southampton-black", "2 black"))
    assert refused(state, 0, claim("london-southampton-red", "2 red")) == "game.route_taken"
    state.trains[0] = 1
    assert refused(state, 0, claim("leeds-liverpool", "2 black")) == "game.not_enough_trains"
    play(state, 0, claim("northampton-reading", "red"))
    assert state.trains[0] == 0


def test_the_cards_of_the_first_claim_do_not_pay_for_the_second() -> None:
    """UK-22."""
    state = at_table("locomotive, 2 green")
    play(state, 0, BUY_TWO_CLAIMS)
    play(state, 0, claim("london-reading", "green"))
    assert refused(state, 0, claim("ipswich-norwich", "2 green")) == "game.not_enough_cards"


def test_trains_that_run_out_in_the_first_claim_trigger_the_last_round_after_the_second() -> None:
    """UK-22."""
    state = at_table("locomotive, 2 green")
    state.trains[0] = 3
    play(state, 0, BUY_TWO_CLAIMS)
    events = play(state, 0, claim("london-reading", "green"))
    assert not [event for event in events if isinstance(event, ev.LastRound)]
    events = play(state, 0, claim("ipswich-norwich", "green"))
    assert ev.LastRound(2) in events


def test_the_thermocompressor_can_be_bought_again_and_by_everybody() -> None:
    """UK-22."""
    state = at_table("2 locomotive, 2 green")
    play(state, 0, BUY_TWO_CLAIMS)
    play(state, 0, claim("london-reading", "green"))
    play(state, 0, moves.Stop())
    set_hand(state, 1, "locomotive, orange")
    play(state, 1, BUY_TWO_CLAIMS)
    play(state, 1, claim("reading-southampton", "orange"))
    play(state, 0, BUY_TWO_CLAIMS)
    play(state, 0, claim("ipswich-norwich", "green"))


def test_diesel_power_saves_a_card_of_both_claims() -> None:
    """UK-27, UK-22."""
    state = at_table("locomotive, green, purple", "diesel_power")
    play(state, 0, BUY_TWO_CLAIMS)
    play(state, 0, claim("bristol-southampton", "green"))
    play(state, 0, claim("brighton-dover", "purple"))
    assert (state.points[0], state.trains[0]) == (4, 31)


def test_new_york_may_be_one_of_the_claims() -> None:
    """UK-22, UK-08."""
    state = at_table("4 locomotive, 7 red")
    play(state, 0, BUY_TWO_CLAIMS)
    play(state, 0, claim(NEW_YORK, "3 locomotive, 7 red"))
    assert state.points[0] == 40


# -- Water Tenders -----------------------------------------------------------------------------------


def test_with_water_tenders_three_cards_are_drawn_blind() -> None:
    """UK-23."""
    state = at_table("", "water_tenders")
    set_pile_top(state, "red", "locomotive", "blue", "white")
    market = state.market
    assert moves.DrawThree() in listed(state, 0)
    events = play(state, 0, moves.DrawThree())
    assert state.hands[0] == cards("red, locomotive, blue")
    assert [event.card for event in events if isinstance(event, ev.CardDrawn)] == [
        "red",
        "locomotive",
        "blue",
    ]
    assert state.market == market
    assert engine.owing(state) == (1,)


def test_nobody_sees_the_three_cards() -> None:
    """UK-23."""
    state = at_table("", "water_tenders")
    play(state, 0, moves.DrawThree())
    seen = view(state, 1).players[0]
    assert seen.hand_count == 3
    assert seen.known_cards == Cards()
    assert seen.hand is UNSET


def test_without_water_tenders_three_cards_cannot_be_drawn() -> None:
    """UK-23."""
    state = at_table("")
    give_technology(state, 1, "water_tenders")
    assert moves.DrawThree() not in listed(state, 0)
    assert refused(state, 0, moves.DrawThree()) == "game.missing_technology"
    assert refused(started("united_kingdom", 2), 0, moves.DrawThree()) == "game.missing_technology"


def test_the_owner_of_water_tenders_may_draw_two_as_ever() -> None:
    """UK-23."""
    state = at_table("", "water_tenders")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.TakeCard("red"))
    assert total(state.hands[0]) == 2
    assert engine.owing(state) == (1,)


@pytest.mark.parametrize("first", [moves.DrawCard(), moves.TakeCard("red")])
def test_three_cards_are_announced_before_the_first(first: moves.Move) -> None:
    """UK-23."""
    state = at_table("", "water_tenders")
    play(state, 0, first)
    assert moves.DrawThree() not in listed(state, 0)
    assert refused(state, 0, moves.DrawThree()) == "game.wrong_move"


def test_water_tenders_work_in_the_turn_of_their_purchase() -> None:
    """UK-23."""
    state = at_table("2 locomotive")
    play(state, 0, buy("water_tenders", "2 locomotive"))
    play(state, 0, moves.DrawThree())
    assert total(state.hands[0]) == 3


@pytest.mark.parametrize("left", [1, 2])
def test_of_a_short_pile_as_many_cards_are_drawn_as_there_are(left: int) -> None:
    """UK-23."""
    state = at_table("", "water_tenders")
    set_discards(state, "")
    set_pile(state, *["red", "white"][:left])
    play(state, 0, moves.DrawThree())
    assert state.hands[0] == cards("red, white" if left == 2 else "red")
    assert state.pile == []
    assert engine.owing(state) == (1,)


@pytest.mark.parametrize("left", [1, 2])
def test_the_discards_are_shuffled_in_between(left: int) -> None:
    """UK-23."""
    state = at_table("", "water_tenders")
    set_discards(state, "3 blue")
    set_pile(state, *["red", "white"][:left])
    events = play(state, 0, moves.DrawThree())
    kinds = [type(event) for event in events if isinstance(event, ev.CardDrawn | ev.PileShuffled)]
    assert kinds.index(ev.PileShuffled) == left
    assert kinds.count(ev.CardDrawn) == 3
    drawn = {1: "red, 2 blue", 2: "red, white, blue"}[left]
    assert state.hands[0] == cards(drawn)
    assert len(state.pile) == left


def test_few_discards_are_all_drawn() -> None:
    """UK-23."""
    state = at_table("", "water_tenders")
    set_discards(state, "blue")
    set_pile(state, "red")
    play(state, 0, moves.DrawThree())
    assert state.hands[0] == cards("red, blue")
    assert state.pile == []


def test_three_cards_cannot_be_drawn_without_a_pile() -> None:
    """UK-23."""
    state = at_table("", "water_tenders")
    set_discards(state, "")
    set_pile(state)
    assert moves.DrawThree() not in listed(state, 0)
    assert moves.TakeCard("red") in listed(state, 0)
    assert refused(state, 0, moves.DrawThree()) == "game.not_available"


# -- the first shuffle -------------------------------------------------------------------------------


def low_pile(hand: str, *pile: str, discards: str = "3 green") -> State:
    state = at_table(hand)
    set_discards(state, discards)
    set_pile(state, *pile)
    return state


def draw_the_last_card(state: State) -> None:
    play(state, 0, moves.DrawCard())


def take_an_open_card(state: State) -> None:
    play(state, 0, moves.TakeCard("red"))


@pytest.mark.parametrize("use_up", [draw_the_last_card, take_an_open_card])
def test_two_technologies_leave_the_game_when_the_discards_become_the_pile(
    use_up: Callable[[State], None],
) -> None:
    """UK-26."""
    state = low_pile("4 locomotive", "white")
    before = supply(state)
    assert before.issuperset(WITHDRAWN)
    use_up(state)
    assert supply(state) == before - set(WITHDRAWN)
    set_turn(state, 0)
    for name in WITHDRAWN:
        assert refused(state, 0, buy(name, "2 locomotive")) == "game.not_available"
        assert name not in {move.technology for move in listed_as(state, 0, moves.BuyTechnology)}


def test_everybody_is_told_what_leaves_the_game() -> None:
    """UK-26."""
    state = low_pile("", "white")
    events = play(state, 0, moves.DrawCard())
    assert [event for event in events if isinstance(event, ev.TechnologiesWithdrawn)] == [
        ev.TechnologiesWithdrawn(WITHDRAWN)
    ]


def test_water_tenders_may_cause_the_first_shuffle() -> None:
    """UK-26, UK-23."""
    state = low_pile("", "white")
    give_technology(state, 0, "water_tenders")
    play(state, 0, moves.DrawThree())
    assert not supply(state) & set(WITHDRAWN)


def test_a_pile_that_is_used_up_without_discards_takes_nothing_away() -> None:
    """UK-26."""
    state = low_pile("4 locomotive, green", "white", discards="")
    play(state, 0, moves.DrawCard())
    assert state.pile == []
    assert supply(state).issuperset(WITHDRAWN)
    set_turn(state, 0)
    play(state, 0, buy("risky_contracts", "2 locomotive"))


def test_a_claim_paid_for_with_an_empty_pile_is_the_first_shuffle() -> None:
    """UK-26."""
    state = low_pile("green", discards="")
    assert supply(state).issuperset(WITHDRAWN)
    events = play(state, 0, claim("london-reading", "green"))
    assert [event for event in events if isinstance(event, ev.PileShuffled)] == [
        ev.PileShuffled(1, wire("green"))
    ]
    assert not supply(state) & set(WITHDRAWN)


def test_a_purchase_may_be_the_first_shuffle() -> None:
    """UK-26."""
    state = low_pile("locomotive", discards="")
    play(state, 0, buy("mechanical_stoker", "locomotive"))
    assert not supply(state) & set(WITHDRAWN)


@pytest.mark.parametrize("bought", WITHDRAWN)
def test_a_purchase_does_not_lose_itself(bought: str) -> None:
    """UK-26."""
    state = low_pile("2 locomotive", discards="")
    events = play(state, 0, buy(bought, "2 locomotive"))
    (other,) = set(WITHDRAWN) - {bought}
    assert ev.TechnologiesWithdrawn((other,)) in events
    assert not supply(state) & set(WITHDRAWN)
    assert view(state, PUBLIC).players[0].technologies == (bought,)


def test_what_was_bought_before_stays_and_scores() -> None:
    """UK-26, UK-24, UK-25."""
    state = low_pile("", "white")
    give_technology(state, 1, *WITHDRAWN)
    events = play(state, 0, moves.DrawCard())
    assert not [event for event in events if isinstance(event, ev.TechnologiesWithdrawn)]
    assert view(state, PUBLIC).players[1].technologies == WITHDRAWN
    bonuses = {bonus.bonus: bonus.points for bonus in final_result(state).teams[1].bonuses}
    assert bonuses == {"risky_contracts": -20, "equalising_beam": -15}


def test_the_other_technologies_stay_in_the_supply() -> None:
    """UK-26."""
    state = low_pile("", "white")
    play(state, 0, moves.DrawCard())
    assert supply(state).issuperset(
        {"thermocompressor", "water_tenders", "diesel_power", "right_of_way", "booster"}
    )


def test_the_shuffle_of_the_set_up_takes_nothing_away() -> None:
    """UK-26."""
    assert supply(started("united_kingdom", 4, OPTION)).issuperset(WITHDRAWN)
