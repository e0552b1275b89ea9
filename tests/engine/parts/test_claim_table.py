"""The claims out of tables, against all payments that there are."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.board import GRAY, Route
from stellwerk_engine.core.cards import LOCOMOTIVE, ONE, CardSet, counts
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Game, Move
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.parts.claiming.claim_route import Claim, ClaimRoute
from stellwerk_engine.parts.claiming.claim_table import CLAIMS_LISTED_BOTH_WAYS
from stellwerk_engine.parts.claiming.payments import pays_route, units_to_pay

GAMES: Final = [rules.id for rules in RULE_SETS.values() if rules.part(ClaimRoute) is not None]


class Listed(NamedTuple):
    route: str
    pay: CardSet
    holder_pay: CardSet


class Means(NamedTuple):
    game: str
    hand: CardSet
    holder: CardSet
    discount: int
    open_mask: int


@cache
def game_of(game_id: str) -> Game:
    rules = RULE_SETS[game_id]
    return make_game(rules, shipped_board(rules.board), max(rules.seat_counts), ())


@st.composite
def means(draw: st.DrawFn, holders: bool = True) -> Means:
    """Draw a game, cards and open routes; a third of the holders are empty, as in most games."""
    game_id = draw(st.sampled_from(GAMES))
    board = game_of(game_id).board
    hand = draw(card_sets)
    holder = draw(st.just(0) | card_sets | card_sets) if holders else 0
    closed = draw(st.integers(0, board.routes_mask) | st.just(0))
    return Means(game_id, hand, holder, draw(st.sampled_from((0, 0, 1, 2))), board.routes_mask & ~closed)


card_sets = st.tuples(*(st.sampled_from((0, 0, 0, 1, 2, 3, 4, 6, 9, 14)) for _ in range(9))).map(
    lambda numbers: sum(count * one for count, one in zip(numbers, ONE, strict=True))
)


def listed(cards: Means) -> list[Listed]:
    moves: list[Move] = []
    game_of(cards.game).claims.add_claims(cards.open_mask, cards.hand, cards.holder, cards.discount, moves)
    claims = [move for move in moves if isinstance(move, Claim)]
    assert len(claims) == len(moves)
    return [Listed(claim.route.name, claim.pay, claim.holder_pay) for claim in claims]


def by_definition(cards: Means, both_ways: bool) -> list[Listed]:
    """List the claims as the first lines of claim_table.py say: color by color, then locomotives alone."""
    routes = [route for route in game_of(cards.game).board.routes if cards.open_mask & route.bit]
    in_hand, on_holder = counts(cards.hand), counts(cards.holder)
    claims: list[Listed] = []
    for color in range(9):
        for route in routes:
            of_color = numbers_of_color(route, color, cards)
            if of_color is None:
                continue
            numbers = (of_color, units_to_pay(route, cards.discount) - of_color)
            ways: list[Listed] = []
            for from_holder in (max, min) if both_ways else (max,):
                pay = holder_pay = 0
                for number, card in zip(numbers, (color, LOCOMOTIVE), strict=True):
                    shares = [
                        share
                        for share in range(number + 1)
                        if share <= on_holder[card] and number - share <= in_hand[card]
                    ]
                    share = from_holder(shares)
                    holder_pay += share * ONE[card]
                    pay += (number - share) * ONE[card]
                ways.append(Listed(route.name, pay, holder_pay))
            claims += dict.fromkeys(ways)
    return claims


def numbers_of_color(route: Route, color: int, cards: Means) -> int | None:
    """Return how many cards of the color are laid with fewest locomotives; None if no payment of the route is
    listed under the color. Under LOCOMOTIVE none are, for locomotives alone."""
    have = counts(cards.hand + cards.holder)
    units = units_to_pay(route, cards.discount)
    payable = [
        number
        for number in range(units + 1)
        if number <= have[color]
        and units - number <= have[LOCOMOTIVE]
        and units - number >= route.symbols
        and (color != LOCOMOTIVE or number == 0)
    ]
    if not payable:
        return None
    most = max(payable)
    if color == LOCOMOTIVE:
        lays_no_color = route.color == GRAY and (not any(have[:LOCOMOTIVE]) or units == route.symbols)
        return 0 if route.tunnel or lays_no_color else None
    if route.color not in (color, GRAY):
        return None
    is_alone = most == 0 and (route.color == GRAY or (route.tunnel and not have[color]))
    return None if is_alone else most


@settings(max_examples=150)
@given(means())
def test_the_claims_listed_are_those_of_the_definition(cards: Means) -> None:
    expected = by_definition(cards, both_ways=True)
    if len(expected) > CLAIMS_LISTED_BOTH_WAYS:
        expected = by_definition(cards, both_ways=False)
    assert listed(cards) == expected


@settings(max_examples=80)
@given(means(holders=False))
def test_a_list_is_complete_if_it_has_every_payment_of_every_route(cards: Means) -> None:
    game = game_of(cards.game)
    have = counts(cards.hand)
    payments = {
        Listed(route.name, paid, 0)
        for route in game.board.routes
        if cards.open_mask & route.bit
        for color in range(8)
        for of_color in range(min(have[color], route.length) + 1)
        for locomotives in range(min(have[LOCOMOTIVE], route.length) + 1)
        if pays_route(paid := of_color * ONE[color] + locomotives * ONE[LOCOMOTIVE], route, 0, cards.discount)
    }
    claims = listed(cards)
    assert payments.issuperset(claims)
    assert game.claims.lists_all(cards.open_mask, cards.hand, cards.discount) == (payments == set(claims))
