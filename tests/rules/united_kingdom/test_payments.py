"""What pays for claims and technologies (UK-04, UK-07, UK-17, UK-27, UK-30).

The oracle below divides cards by trying it out, as UK-30 is worded, and shares nothing with the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.state import State
from stellwerk_engine.games.united_kingdom import ADVANCED_TECHNOLOGIES, TECHNOLOGIES
from stellwerk_protocol import moves
from tests.support import (
    buy,
    claim,
    give_technology,
    listed_as,
    own,
    play,
    refusal,
    refused,
    set_hand,
    set_market,
    started,
    wire,
)

BOARD = shipped_board("united_kingdom")
ROUTES = {route.id: route for route in BOARD.routes}
NEW_YORK = "new_york-southampton"
FOR_ROUTES = (
    "wales_concession",
    "ireland_france_concession",
    "scotland_concession",
    "mechanical_stoker",
    "superheated_steam_boiler",
    "propellers",
)
COST = {technology.id: technology.cost for technology in (*TECHNOLOGIES, *ADVANCED_TECHNOLOGIES)}

# -- the oracle --------------------------------------------------------------------------------------

Hand = tuple[tuple[str, int], ...]  # colors and how many of each, none 0
LOCOMOTIVE = "locomotive"


@dataclass(frozen=True)
class Price:
    """`units` are the lengths that may be paid; `color` is None for any one color, "" for locomotives."""

    units: tuple[int, ...]
    color: str | None
    symbols: int
    substitute: int


@dataclass(frozen=True, order=True)
class Reading:
    """One way to read some cards as a payment: how many groups count as a locomotive, and the color laid."""

    substitutes: int
    locomotives: int  # in the whole payment
    color: str  # "" if no card of a color counts as itself


def named(text: str) -> Hand:
    cards: Counter[str] = Counter()
    for part in filter(None, (part.strip() for part in text.split(","))):
        number, _, color = part.rpartition(" ")
        cards[color] += int(number or 1)
    return as_hand(cards)


def as_hand(cards: Counter[str]) -> Hand:
    return tuple((color, count) for color, count in sorted(cards.items()) if count)


def text_of(hand: Hand) -> str:
    return ", ".join(f"{count} {color}" for color, count in hand)


def parts(hand: Hand) -> Iterator[Hand]:
    """Yield every set of cards out of the hand, the empty one too."""
    colors = [color for color, _ in hand]
    for counts in product(*(range(count + 1) for _, count in hand)):
        yield tuple((color, count) for color, count in zip(colors, counts, strict=True) if count)


def size(hand: Hand) -> int:
    return sum(count for _, count in hand)


@cache
def readings(cards: Hand, price: Price) -> frozenset[Reading]:
    """Return all ways to read the cards by UK-30: k groups of s cards count as a locomotive each, the rest as
    themselves."""
    ways: set[Reading] = set()
    for units in price.units:
        for substitutes in range(units + 1):
            if size(cards) != units + substitutes * (price.substitute - 1):
                continue
            for rest in parts(cards):
                if size(rest) == units - substitutes and stands_for_itself(rest, substitutes, price):
                    colors = [color for color, _ in rest if color != LOCOMOTIVE]
                    locomotives = dict(cards).get(LOCOMOTIVE, 0)
                    ways.add(Reading(substitutes, locomotives, colors[0] if colors else ""))
    return frozenset(ways)


def stands_for_itself(rest: Hand, substitutes: int, price: Price) -> bool:
    colors = {color for color, _ in rest} - {LOCOMOTIVE}
    fitting = len(colors) <= 1 if price.color is None else colors <= {price.color}
    return fitting and dict(rest).get(LOCOMOTIVE, 0) + substitutes >= price.symbols


@cache
def route_price(name: str, substitute: int, diesel: bool) -> Price:
    route = ROUTES[name]
    units = (route.length, route.length - 1) if diesel and route.length > 1 else (route.length,)
    return Price(units, None if route.color == "gray" else route.color, route.locomotives, substitute)


def cost_price(technology: str, substitute: int) -> Price:
    return Price((COST[technology],), "", 0, substitute)


# -- the engine --------------------------------------------------------------------------------------


def holding(hand: str, *technologies: str, routes: Iterable[str] | None = None) -> State:
    """Start seat 0's turn with this hand. With `routes` only these routes are open."""
    state = started("united_kingdom", 2, ("advanced_technologies",))
    set_market(state, "")
    set_hand(state, 1, "")
    set_hand(state, 0, hand)
    give_technology(state, 0, *technologies)
    if routes is not None:
        ids = state.game.board.route_ids
        state.open_mask = sum(1 << ids[name] for name in routes)
    return state


def accepts(state: State, move: moves.Move) -> bool:
    code = refusal(state, 0, move)
    assert code in (None, "game.wrong_payment")
    return code is None


# -- substitutes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("four", ["4 red", "red, blue, green, white", "3 blue, locomotive", "4 locomotive"])
def test_any_four_cards_may_be_played_as_a_locomotive_for_a_route(four: str) -> None:
    """UK-04."""
    state = holding(four)
    play(state, 0, claim("london-reading", four))  # a green route of length 1
    assert state.hands[0] == 0
    assert state.points[0] == 1


@pytest.mark.parametrize("cards", ["red", "2 red", "3 red", "5 red", "red, blue, white", "4 red, locomotive"])
def test_other_numbers_of_cards_do_not_stand_for_a_locomotive(cards: str) -> None:
    """UK-04."""
    assert refused(holding(cards), 0, claim("london-reading", cards)) == "game.wrong_payment"


def test_four_cards_may_be_played_as_a_locomotive_for_a_ferry() -> None:
    """UK-04, UK-07."""
    state = holding("6 red, 4 blue", *FOR_ROUTES)
    ferry = "dover-france_east"  # 2 spaces, 1 symbol
    assert accepts(state, claim(ferry, "1 red, 4 blue"))
    assert accepts(state, claim(ferry, "5 red"))
    assert accepts(state, claim(ferry, "4 red, 4 blue"))
    assert not accepts(state, claim(ferry, "2 red"))
    assert not accepts(state, claim(ferry, "1 red, 3 blue"))


def test_four_cards_may_be_played_as_a_locomotive_for_a_technology() -> None:
    """UK-04."""
    state = holding("4 red, 4 blue, 2 locomotive")
    for pay in ("2 locomotive", "locomotive, 4 red", "locomotive, red, 3 blue", "4 red, 4 blue"):
        assert accepts(state, buy("propellers", pay))
    for pay in ("4 red", "locomotive", "locomotive, 3 red", "2 red", "2 locomotive, 4 red"):
        assert not accepts(state, buy("propellers", pay))


def test_locomotives_too_may_be_among_the_four() -> None:
    """UK-04, UK-30."""
    state = holding("3 red, 6 locomotive")
    assert accepts(state, buy("wales_concession", "3 red, locomotive"))
    assert accepts(state, buy("wales_concession", "4 locomotive"))
    assert accepts(state, buy("propellers", "5 locomotive"))
    assert not accepts(state, buy("propellers", "3 locomotive"))


# -- ferries -----------------------------------------------------------------------------------------


def test_a_ferry_needs_a_locomotive_for_each_symbol() -> None:
    """UK-07."""
    state = holding("5 red, 3 blue, 5 locomotive", *FOR_ROUTES)
    ferry = "stornoway-wick"  # 5 spaces, 2 symbols
    for enough in ("3 red, 2 locomotive", "2 red, 3 locomotive", "5 locomotive", "3 blue, 2 locomotive"):
        assert accepts(state, claim(ferry, enough))
    for wrong in ("5 red", "4 red, locomotive", "2 red, blue, 2 locomotive", "3 red, 3 locomotive"):
        assert not accepts(state, claim(ferry, wrong))


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.locomotives])
def test_every_ferry_takes_its_symbols_in_locomotives_and_not_one_less(name: str) -> None:
    """UK-07."""
    route = ROUTES[name]
    state = holding("10 red, 3 locomotive", *FOR_ROUTES)
    colored = route.length - route.locomotives
    assert accepts(state, claim(name, f"{colored} red, {route.locomotives} locomotive"))
    assert not accepts(state, claim(name, f"{colored + 1} red, {route.locomotives - 1} locomotive"))


# -- Booster and Diesel Power ------------------------------------------------------------------------


def test_with_the_booster_three_cards_count_as_a_locomotive_and_four_do_not() -> None:
    """UK-17."""
    state = holding("6 red, 2 locomotive", "booster", *FOR_ROUTES)
    assert accepts(state, claim("london-reading", "3 red"))
    assert not accepts(state, claim("london-reading", "4 red"))
    assert accepts(state, claim("dover-france_east", "4 red"))
    assert accepts(state, buy("boiler_lagging", "6 red"))
    assert accepts(state, buy("boiler_lagging", "3 red, locomotive"))
    assert not accepts(state, buy("boiler_lagging", "4 red, locomotive"))


def test_the_booster_does_not_help_to_buy_itself() -> None:
    """UK-17, UK-09."""
    state = holding("9 red")
    assert refused(state, 0, buy("booster", "6 red")) == "game.wrong_payment"
    assert refused(state, 0, claim("london-reading", "3 red")) == "game.wrong_payment"
    assert refused(holding("6 red, 2 blue"), 0, claim("london-reading", "3 red")) == "game.wrong_payment"
    state = holding("8 red, 3 blue")
    play(state, 0, buy("booster", "8 red"))
    play(state, 0, claim("london-reading", "3 blue"))
    assert state.points[0] == 1


def test_the_booster_helps_already_in_the_turn_in_which_it_is_bought() -> None:
    """UK-17."""
    state = holding("3 red, 2 locomotive")
    play(state, 0, buy("booster", "2 locomotive"))
    assert accepts(state, claim("london-reading", "3 red"))


def test_the_booster_helps_its_owner_only() -> None:
    """UK-17."""
    state = holding("4 red")
    give_technology(state, 1, "booster")
    assert not accepts(state, claim("london-reading", "3 red"))
    assert accepts(state, claim("london-reading", "4 red"))


def test_with_diesel_power_a_claim_may_be_paid_with_one_card_less() -> None:
    """UK-27."""
    state = holding("4 white, 4 red", *FOR_ROUTES)
    assert not accepts(state, claim("norwich-nottingham", "3 white"))
    give_technology(state, 0, "diesel_power")
    for pay in ("4 white", "3 white", "2 white, 4 red"):
        assert accepts(state, claim("norwich-nottingham", pay))
    assert not accepts(state, claim("norwich-nottingham", "2 white"))
    play(state, 0, claim("norwich-nottingham", "3 white"))
    assert (state.points[0], state.trains[0]) == (7, 35 - 4)


def test_with_diesel_power_at_least_one_card_is_laid() -> None:
    """UK-27."""
    state = holding("green, 2 blue", "diesel_power")
    assert refused(state, 0, claim("london-reading", "")) == "game.wrong_payment"
    assert accepts(state, claim("london-reading", "green"))
    assert accepts(state, claim("reading-southampton", "")) is False
    assert accepts(state, claim("birmingham-reading", "blue"))


def test_diesel_power_does_not_replace_the_locomotives_of_a_ferry() -> None:
    """UK-27."""
    state = holding("5 red, 4 locomotive", "diesel_power", *FOR_ROUTES)
    assert accepts(state, claim("stornoway-wick", "2 red, 2 locomotive"))
    assert not accepts(state, claim("stornoway-wick", "3 red, locomotive"))
    assert not accepts(state, claim("dover-france_east", "red"))
    assert accepts(state, claim("dover-france_east", "locomotive"))
    assert not accepts(state, claim("barrow-liverpool", ""))


def test_diesel_power_works_for_new_york() -> None:
    """UK-27."""
    state = holding("8 red, 3 locomotive", "diesel_power")
    for pay in ("7 red, 3 locomotive", "6 red, 3 locomotive"):
        assert accepts(state, claim(NEW_YORK, pay))
    for pay in ("5 red, 3 locomotive", "7 red, 2 locomotive", "8 red, 2 locomotive"):
        assert not accepts(state, claim(NEW_YORK, pay))
    play(state, 0, claim(NEW_YORK, "6 red, 3 locomotive"))
    assert (state.points[0], state.trains[0]) == (40, 25)


def test_diesel_power_makes_no_technology_cheaper() -> None:
    """UK-27."""
    state = holding("3 locomotive", "diesel_power")
    assert accepts(state, buy("booster", "2 locomotive"))
    assert not accepts(state, buy("booster", "locomotive"))


def test_diesel_power_needs_as_many_trains_as_ever() -> None:
    """UK-27."""
    state = holding("4 white", "diesel_power", *FOR_ROUTES)
    state.trains[0] = 3
    assert refused(state, 0, claim("norwich-nottingham", "3 white")) == "game.not_enough_trains"


def test_diesel_power_goes_together_with_the_booster() -> None:
    """UK-27, UK-30."""
    state = holding("3 red, 3 blue, 2 white", "diesel_power", "booster", *FOR_ROUTES)
    assert accepts(state, claim("norwich-nottingham", "2 white, 3 red"))
    assert accepts(state, claim("norwich-nottingham", "1 white, 3 red, 3 blue"))
    assert accepts(state, claim("norwich-nottingham", "2 white, 3 red, 3 blue"))
    assert not accepts(state, claim("norwich-nottingham", "2 white, 2 red"))


# -- the law, against the oracle ---------------------------------------------------------------------

BIG_HAND = "7 red, 6 blue, 2 white, 6 locomotive"
PRICED = (
    "barrow-carlisle",  # red, 1
    "glasgow-stranraer",  # red, 2
    "edinburgh-stranraer",  # white, 3
    "birmingham-nottingham",  # gray, 1
    "birmingham-reading",  # gray, 2
    "hull-norwich",  # gray, 4
    "barrow-liverpool",  # 1 space, 1 symbol
    "dover-france_east",  # 2 spaces, 1 symbol
    "stornoway-wick",  # 5 spaces, 2 symbols
    NEW_YORK,  # 10 spaces, 3 symbols
)


@pytest.mark.parametrize("name", PRICED)
@pytest.mark.parametrize(
    "perks", [(), ("booster",), ("diesel_power",), ("booster", "diesel_power")], ids="-".join
)
def test_a_claim_is_paid_by_exactly_the_cards_that_can_be_divided(name: str, perks: tuple[str, ...]) -> None:
    """UK-30, UK-04, UK-07."""
    state = holding(BIG_HAND, *perks, *FOR_ROUTES)
    price = route_price(name, 3 if "booster" in perks else 4, "diesel_power" in perks)
    legal = 0
    for cards in parts(named(BIG_HAND)):
        expected = bool(readings(cards, price))
        assert accepts(state, claim(name, text_of(cards))) == expected, text_of(cards)
        legal += expected
    assert legal > 1


@pytest.mark.parametrize("technology", ["wales_concession", "booster", "diesel_power", "double_heading"])
@pytest.mark.parametrize("perks", [(), ("booster",)], ids=["plain", "with booster"])
def test_a_technology_is_paid_by_exactly_the_cards_that_can_be_divided(
    technology: str, perks: tuple[str, ...]
) -> None:
    """UK-30, UK-04, UK-09."""
    if technology in perks:
        perks = ("boiler_lagging",)
    state = holding(BIG_HAND, *perks)
    price = cost_price(technology, 3 if "booster" in perks else 4)
    legal = 0
    for cards in parts(named(BIG_HAND)):
        expected = bool(readings(cards, price))
        assert accepts(state, buy(technology, text_of(cards))) == expected, text_of(cards)
        legal += expected
    assert legal > 1


def test_cards_that_are_not_in_the_hand_pay_nothing() -> None:
    """UK-30."""
    state = holding("3 red, 1 locomotive")
    assert refused(state, 0, claim("barrow-carlisle", "4 red")) == "game.not_enough_cards"
    assert refused(state, 0, buy("booster", "2 locomotive")) == "game.not_enough_cards"
    shared = moves.ClaimRoute("barrow-carlisle", holder_cards=wire("1 red"))  # there are no holders here
    assert refused(state, 0, shared) == "game.not_enough_cards"


def test_a_payment_takes_exactly_the_cards_named() -> None:
    """UK-30."""
    state = holding("3 red, 2 blue, 2 locomotive")
    play(state, 0, claim("barrow-carlisle", "2 red, 1 blue, 1 locomotive"))
    left = holding("1 red, 1 blue, 1 locomotive")
    assert state.hands[0] == left.hands[0]


# -- what is listed, against the oracle --------------------------------------------------------------

COLORS = ("red", "blue", "white", "green")


def hand_of_counts(colors: list[int], locomotives: int) -> Hand:
    counts = (*colors, locomotives)
    return as_hand(Counter(dict(zip((*COLORS, LOCOMOTIVE), counts, strict=True))))


small_hands = st.builds(
    hand_of_counts,
    st.lists(st.integers(0, 3), min_size=len(COLORS), max_size=len(COLORS)),
    st.integers(0, 4),
)
perk_sets = st.sets(st.sampled_from(["booster", "diesel_power"]))
some_routes = st.sets(st.sampled_from(PRICED), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(hand=small_hands, perks=perk_sets, open_routes=some_routes)
def test_of_each_route_and_color_the_payment_with_fewest_substitutes_is_listed(
    hand: Hand, perks: set[str], open_routes: set[str]
) -> None:
    """UK-30, UK-27."""
    state = holding(text_of(hand), *perks, *FOR_ROUTES, routes=open_routes)
    state.supply = (0,) * len(state.supply)
    shown: dict[str, list[Hand]] = {name: [] for name in open_routes}
    for move in listed_as(state, 0, moves.ClaimRoute):
        shown[move.route].append(hand_of(move))
    complete = True
    for name in open_routes:
        price = route_price(name, 3 if "booster" in perks else 4, "diesel_power" in perks)
        cheapest = replace(price, units=(max(1, price.symbols, min(price.units)),))
        check_listing(payments(hand, cheapest), shown[name], one_color=price.color is not None)
        complete = complete and set(payments(hand, price)) == set(shown[name])
    assert engine.legal_complete(state, 0) == complete


@pytest.mark.parametrize(
    ("hand", "perks", "name"),
    [
        ("4 locomotive", (), "birmingham-nottingham"),  # gray, length 1
        ("3 locomotive", ("booster",), "birmingham-nottingham"),
        ("red, blue, locomotive", ("booster",), "barrow-liverpool"),  # 1 space, 1 symbol
    ],
)
def test_a_list_without_the_groups_that_hold_locomotives_is_not_complete(
    hand: str, perks: tuple[str, ...], name: str
) -> None:
    """UK-30: locomotives may be part of a group that counts as one."""
    state = holding(hand, *perks, *FOR_ROUTES, routes=[name])
    state.supply = (0,) * len(state.supply)
    group = claim(name, hand)
    assert accepts(state, group)
    assert group not in listed_as(state, 0, moves.ClaimRoute)
    assert not engine.legal_complete(state, 0)


@pytest.mark.parametrize(
    "perks", [(), ("booster",), ("diesel_power",), ("booster", "diesel_power")], ids="-".join
)
def test_the_list_of_every_small_hand_is_complete_exactly_if_it_says_so(perks: tuple[str, ...]) -> None:
    """UK-30, UK-27: all hands of up to five cards of two colors and locomotives, for each kind of route."""
    state = holding("", *perks, *FOR_ROUTES)
    state.supply = (0,) * len(state.supply)
    answers: Counter[bool] = Counter()
    for red, blue, locomotives in product(range(6), repeat=3):
        if red + blue + locomotives > 5:
            continue
        hand = hand_of_counts([red, blue, 0, 0], locomotives)
        set_hand(state, 0, text_of(hand))
        for name in PRICED:
            state.open_mask = 1 << state.game.board.route_ids[name]
            listed = {hand_of(move) for move in listed_as(state, 0, moves.ClaimRoute)}
            accepted = payments(
                hand, route_price(name, 3 if "booster" in perks else 4, "diesel_power" in perks)
            )
            complete = engine.legal_complete(state, 0)
            assert complete == (listed == set(accepted)), (name, hand)
            answers[complete] += 1
    assert min(answers[True], answers[False]) > 20


def payments(hand: Hand, price: Price) -> dict[Hand, frozenset[Reading]]:
    """Return every payment out of the hand, with the ways to read it."""
    return {cards: ways for cards in parts(hand) if (ways := readings(cards, price))}


def hand_of(move: moves.ClaimRoute | moves.BuyTechnology) -> Hand:
    return as_hand(Counter(msgspec.to_builtins(move.cards)))


def check_listing(accepted: dict[Hand, frozenset[Reading]], shown: list[Hand], one_color: bool) -> None:
    """Check that the list contains the thriftiest payment for each color that can be laid, and no other.

    If no color can be laid, it contains one payment without a color. A route of a color gets one payment.
    Payments with substitutes are listed only if every color needs substitutes.
    """
    every = {reading for ways in accepted.values() for reading in ways}
    colors = {reading.color for reading in every}
    if one_color:
        by_color = [every] if every else []
    else:
        laid = colors - {""} or colors
        by_color = [{reading for reading in every if reading.color == color} for color in laid]
    thriftiest = [thrifty(ways) for ways in by_color]
    plain = [ways for ways in thriftiest if any(reading.substitutes == 0 for reading in ways)]
    wanted = plain or thriftiest
    assert len(shown) == len(set(shown)) <= len(wanted)
    assert all(any(ways & accepted[cards] for cards in shown) for ways in wanted)
    assert all(any(ways & accepted[cards] for ways in wanted) for cards in shown)


def thrifty(ways: set[Reading]) -> set[Reading]:
    """Return the readings with fewest substitutes, then fewest locomotives."""
    fewest = min((reading.substitutes, reading.locomotives) for reading in ways)
    return {reading for reading in ways if (reading.substitutes, reading.locomotives) == fewest}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(hand=small_hands, perks=perk_sets)
def test_of_each_technology_the_payment_with_fewest_substitutes_is_listed(
    hand: Hand, perks: set[str]
) -> None:
    """UK-30, UK-09."""
    state = holding(text_of(hand), *perks, routes=())
    shown = {move.technology: hand_of(move) for move in listed_as(state, 0, moves.BuyTechnology)}
    complete = True
    for technology in COST.keys() - perks - {"right_of_way", "thermocompressor"}:
        accepted = payments(hand, cost_price(technology, 3 if "booster" in perks else 4))
        check_listing(accepted, [shown[technology]] if technology in shown else [], one_color=True)
        complete = complete and len(accepted) == (technology in shown)
    assert engine.legal_complete(state, 0) == complete


# -- technologies that are bought for a claim, against the oracle -------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(hand=small_hands, perks=perk_sets, routes=some_routes, taken=st.booleans())
def test_a_technology_for_a_claim_is_sold_for_what_leaves_the_cards_for_one(
    hand: Hand, perks: set[str], routes: set[str], taken: bool
) -> None:
    """UK-21, UK-22."""
    state = holding(text_of(hand), *perks, *FOR_ROUTES, routes=() if taken else routes)
    technology = "right_of_way" if taken else "thermocompressor"
    if taken:
        own(state, 1, *routes, trains=False)
    substitute = 3 if "booster" in perks else 4
    price = cost_price(technology, substitute)
    claims = {
        cards
        for name in routes
        for cards in payments(hand, route_price(name, substitute, "diesel_power" in perks))
    }
    good = {pay for pay in payments(hand, price) if any(fit_together(pay, cards, hand) for cards in claims)}
    for cards in parts(hand):
        assert (cards in good) == is_sold(state, buy(technology, text_of(cards))), text_of(cards)
    shown = [hand_of(m) for m in listed_as(state, 0, moves.BuyTechnology) if m.technology == technology]
    assert len(shown) == bool(good)
    for pay in shown:
        fewest = min(reading.substitutes for cards in good for reading in readings(cards, price))
        assert pay in good
        assert fewest in {reading.substitutes for reading in readings(pay, price)}


def fit_together(one: Hand, other: Hand, hand: Hand) -> bool:
    return Counter(dict(one)) + Counter(dict(other)) <= Counter(dict(hand))


def is_sold(state: State, move: moves.BuyTechnology) -> bool:
    code = refusal(state, 0, move)
    assert code in (None, "game.wrong_payment", "game.not_available")
    return code is None


def test_of_the_cards_that_pay_those_are_spared_that_the_claim_takes() -> None:
    """UK-22."""
    state = holding("1 red, 4 blue", routes=["northampton-reading"])  # a red route of length 1
    assert buy("thermocompressor", "4 blue") in listed_as(state, 0, moves.BuyTechnology)
    assert refused(state, 0, buy("thermocompressor", "red, 3 blue")) == "game.not_available"


def test_a_large_hand_does_not_hide_the_one_way_to_leave_a_claim() -> None:
    """UK-21."""
    others = "3 blue, 3 orange, 3 white, 3 green, 3 yellow, 3 black"
    state = holding(f"3 purple, {others}", *FOR_ROUTES, routes=())
    own(state, 1, "aberdeen-inverness")  # a purple route of length 3
    (shown,) = [m for m in listed_as(state, 0, moves.BuyTechnology) if m.technology == "right_of_way"]
    assert shown.cards.purple == 0
    play(state, 0, shown)
    play(state, 0, claim("aberdeen-inverness", "3 purple"))


def test_cards_that_pay_under_two_colors_are_listed_once() -> None:
    """UK-30."""
    state = holding("4 green, 1 white", *FOR_ROUTES, routes=["dover-france_east"])
    assert listed_as(state, 0, moves.ClaimRoute) == [claim("dover-france_east", "4 green, 1 white")]
