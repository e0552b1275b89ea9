"""Claims: cards from hand and holder, double and triple routes, junctions, points (ASIA-08, ASIA-12, ASIA-13,
ASIA-23, ASIA-25)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from stellwerk_protocol.results import TicketScore
from tests.support import (
    cards,
    claim,
    final_result,
    listed_as,
    own,
    play,
    refusal,
    refused,
    set_hand,
    set_holder,
    set_market,
    set_tickets,
    set_turn,
    started,
    wire,
)

BOARD = shipped_board("team_asia")
TRACKS = [
    [route.id for route in BOARD.routes if frozenset((route.a, route.b)) == ends]
    for ends in sorted({frozenset((route.a, route.b)) for route in BOARD.routes}, key=sorted)
]
HONG_KONG_CANTON = ["canton-hong_kong-red", "canton-hong_kong-white"]
DOUBLES = [tracks for tracks in TRACKS if len(tracks) == 2 and tracks != HONG_KONG_CANTON]
TRIPLES = [tracks for tracks in TRACKS if len(tracks) == 3]

every_double = pytest.mark.parametrize("tracks", DOUBLES, ids=lambda tracks: tracks[0])
every_triple = pytest.mark.parametrize("tracks", TRIPLES, ids=lambda tracks: tracks[0])
both_tables = pytest.mark.parametrize("seats", [4, 6])


def with_cards(hand: str, holder: str = "", seats: int = 4) -> State:
    """Start a game at the turn of seat 0; the others have no cards."""
    state = started("team_asia", seats)
    set_market(state, "")
    for seat in range(seats):
        set_hand(state, seat, "")
    set_hand(state, 0, hand)
    set_holder(state, 0, holder)
    return state


def pay(route: str, hand: str, holder: str) -> moves.ClaimRoute:
    return moves.ClaimRoute(route, wire(hand), wire(holder))


def open_to(state: State, route: str) -> set[int]:
    """Return the seats that may claim the route if they pay for it: only the empty payment is wrong."""
    routes: set[int] = set()
    for seat in range(state.game.seat_count):
        set_turn(state, seat)
        code = refusal(state, seat, claim(route, ""))
        assert code in ("game.wrong_payment", "game.route_taken")
        if code == "game.wrong_payment":
            routes.add(seat)
    return routes


# -- the payment -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "holder"),
    [
        ("3 red", ""),
        ("2 red", "red"),
        ("red", "2 red"),
        ("", "3 red"),
        ("2 red", "locomotive"),
        ("locomotive", "2 red"),
        ("red, locomotive", "red"),
        ("2 locomotive", "locomotive"),
        ("", "3 locomotive"),
    ],
)
def test_a_claim_is_paid_from_hand_and_holder_in_any_combination(hand: str, holder: str) -> None:
    """ASIA-08."""
    state = with_cards(hand, holder)
    events = play(state, 0, pay("junction_west-kashgar", hand, holder))
    assert events[0] == ev.RouteClaimed(
        0, "junction_west-kashgar", trains=3, points=4, cards=wire(hand), holder_cards=wire(holder)
    )
    assert (state.hands[0], state.holders[0]) == (0, 0)
    assert view(state, PUBLIC).players[0].routes == ("junction_west-kashgar",)
    assert engine.owing(state) == (1,)


@pytest.mark.parametrize(
    ("hand", "holder"), [("3 red", ""), ("2 red", "red"), ("red", "2 red"), ("", "3 red")]
)
def test_the_player_says_which_cards_come_from_where(hand: str, holder: str) -> None:
    """ASIA-08."""
    state = with_cards("3 red, blue", "3 red, green")
    play(state, 0, pay("junction_west-kashgar", hand, holder))
    assert state.hands[0] == cards("3 red, blue") - cards(hand)
    assert state.holders[0] == cards("3 red, green") - cards(holder)


def test_the_cards_of_both_places_are_discarded() -> None:
    """ASIA-08."""
    state = with_cards("2 red", "locomotive")
    before = state.discards
    play(state, 0, pay("junction_west-kashgar", "2 red", "locomotive"))
    assert state.discards == before + cards("2 red, locomotive")


@pytest.mark.parametrize(
    ("hand", "holder"),
    [
        ("3 red", ""),  # the third lies on the holder
        ("red", "2 red"),  # the second is in the hand
        ("2 red", "locomotive"),
        ("2 red, locomotive", ""),
    ],
)
def test_cards_are_taken_only_from_where_they_are(hand: str, holder: str) -> None:
    """ASIA-08."""
    state = with_cards("2 red", "red")
    assert refused(state, 0, pay("junction_west-kashgar", hand, holder)) == "game.not_enough_cards"


@pytest.mark.parametrize(
    ("hand", "holder"),
    [
        ("2 blue", "blue"),  # not its color
        ("2 red", "blue"),  # two colors
        ("2 red", ""),
        ("2 red", "2 red"),
        ("", ""),
    ],
)
def test_hand_and_holder_pay_the_price_together(hand: str, holder: str) -> None:
    """ASIA-08."""
    state = with_cards("2 red, 2 blue", "2 red, blue")
    assert refused(state, 0, pay("junction_west-kashgar", hand, holder)) == "game.wrong_payment"


def test_a_gray_route_takes_one_color_from_both_places() -> None:
    """ASIA-08."""
    state = with_cards("2 red, blue", "red, blue")
    assert refused(state, 0, pay("canton-hankow", "2 red", "blue")) == "game.wrong_payment"
    play(state, 0, pay("canton-hankow", "2 red", "red"))
    assert (state.hands[0], state.holders[0]) == (cards("blue"), cards("blue"))


def test_the_partners_hand_pays_nothing() -> None:
    """ASIA-08."""
    state = with_cards("2 red")
    set_hand(state, 1, "5 red")
    assert "junction_west-kashgar" not in {move.route for move in listed_as(state, 0, moves.ClaimRoute)}
    assert refused(state, 0, pay("junction_west-kashgar", "3 red", "")) == "game.not_enough_cards"
    assert refused(state, 0, pay("junction_west-kashgar", "2 red", "red")) == "game.not_enough_cards"


def test_a_claim_is_listed_with_the_holders_cards_first_and_with_the_hands_first() -> None:
    """ASIA-08."""
    state = with_cards("3 red", "2 red")
    claims = [move for move in listed_as(state, 0, moves.ClaimRoute) if move.route == "junction_west-kashgar"]
    assert claims == [
        pay("junction_west-kashgar", "red", "2 red"),
        pay("junction_west-kashgar", "3 red", ""),
    ]
    assert not engine.legal_complete(state, 0)  # `2 red` and `red` is one more


def test_a_card_that_the_partner_put_on_the_holder_pays() -> None:
    """ASIA-08."""
    state = with_cards("")
    set_market(state, "red, blue, green, white, black")
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.PlaceCard("holder"))
    play(state, 0, moves.TakeCard("blue"))
    play(state, 1, pay("delhi-lahore-red", "", "red"))
    assert view(state, PUBLIC).players[1].routes == ("delhi-lahore-red",)
    assert view(state, PUBLIC).players[1].trains == 26


# -- double routes -----------------------------------------------------------------------------------


@every_double
def test_with_four_players_one_track_of_a_double_route_closes_the_other(tracks: list[str]) -> None:
    """ASIA-12."""
    state = with_cards("")
    first, second = tracks
    assert open_to(state, second) == {0, 1, 2, 3}
    own(state, 0, first)
    assert open_to(state, second) == set()


def test_a_closed_track_is_not_claimed() -> None:
    """ASIA-12."""
    state = with_cards("")
    own(state, 2, "delhi-lahore-red")
    for seat in (0, 1, 3):
        set_turn(state, seat)
        set_hand(state, seat, "orange")
        assert refused(state, seat, claim("delhi-lahore-orange", "orange")) == "game.route_taken"
        assert "delhi-lahore-orange" not in {move.route for move in listed_as(state, seat, moves.ClaimRoute)}


@both_tables
def test_of_hong_kong_canton_both_can_be_claimed_but_never_by_one_player(seats: int) -> None:
    """ASIA-12."""
    state = with_cards("red, white", seats=seats)
    first, second = HONG_KONG_CANTON
    play(state, 0, claim(first, "red"))
    assert open_to(state, second) == set(range(1, seats))
    set_turn(state, 0)
    assert refused(state, 0, claim(second, "white")) == "game.route_taken"
    set_hand(state, 1, "white")
    set_turn(state, 1)
    play(state, 1, claim(second, "white"))  # the partner takes the other
    assert [player.routes for player in view(state, PUBLIC).players[:2]] == [(first,), (second,)]
    assert open_to(state, second) == open_to(state, first) == set()


@every_double
def test_with_six_players_both_tracks_can_be_claimed_but_not_by_one_player(tracks: list[str]) -> None:
    """ASIA-12."""
    state = with_cards("", seats=6)
    first, second = tracks
    own(state, 4, second)
    assert open_to(state, first) == {0, 1, 2, 3, 5}
    own(state, 1, first)
    assert open_to(state, first) == open_to(state, second) == set()


def test_with_six_players_partners_may_take_a_track_each() -> None:
    """ASIA-12."""
    state = with_cards("red", seats=6)
    set_hand(state, 1, "orange")
    play(state, 0, claim("delhi-lahore-red", "red"))
    play(state, 1, claim("delhi-lahore-orange", "orange"))
    assert [player.routes for player in view(state, PUBLIC).players[:2]] == [
        ("delhi-lahore-red",),
        ("delhi-lahore-orange",),
    ]


# -- triple routes -----------------------------------------------------------------------------------


@every_triple
def test_with_four_players_two_tracks_of_a_triple_route_can_be_claimed(tracks: list[str]) -> None:
    """ASIA-13."""
    state = with_cards("")
    first, second, third = tracks
    own(state, 0, first)
    assert open_to(state, second) == open_to(state, third) == {1, 2, 3}
    own(state, 2, third)
    assert open_to(state, second) == set()


@every_triple
def test_with_six_players_all_three_tracks_can_be_claimed_by_three_players(tracks: list[str]) -> None:
    """ASIA-13."""
    state = with_cards("", seats=6)
    first, second, third = tracks
    own(state, 0, second)
    assert open_to(state, first) == open_to(state, third) == {1, 2, 3, 4, 5}
    own(state, 1, first)
    assert open_to(state, third) == {2, 3, 4, 5}
    own(state, 5, third)
    assert open_to(state, third) == set()


def test_partners_may_take_a_track_each_and_so_close_the_third() -> None:
    """ASIA-13."""
    state = with_cards("blue")
    set_hand(state, 1, "red")
    set_hand(state, 2, "purple")
    play(state, 0, claim("calcutta-dacca-blue", "blue"))
    play(state, 1, claim("calcutta-dacca-red", "red"))
    assert refused(state, 2, claim("calcutta-dacca-purple", "purple")) == "game.route_taken"


@both_tables
def test_a_player_claims_at_most_one_track_of_a_triple_route(seats: int) -> None:
    """ASIA-13."""
    state = with_cards("blue, red", seats=seats)
    play(state, 0, claim("calcutta-dacca-blue", "blue"))
    set_turn(state, 0)
    assert refused(state, 0, claim("calcutta-dacca-red", "red")) == "game.route_taken"
    assert "calcutta-dacca-red" not in {move.route for move in listed_as(state, 0, moves.ClaimRoute)}


# -- points and junctions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "payment", "points"),
    [
        ("canton-fort_bayard", "yellow", 1),
        ("bombay-nagpur", "2 yellow", 2),
        ("calcutta-cawnpore", "3 white", 4),
        ("dihua-kashgar", "4 orange", 7),
        ("dihua-jiuquan", "5 white", 10),
        ("cawnpore-junction_south", "6 red", 15),
        ("dihua-ulan_bator", "7 green", 18),
        ("dihua-ulan_bator", "7 locomotive", 18),
    ],
)
def test_a_claim_brings_points_by_its_length(route: str, payment: str, points: int) -> None:
    """ASIA-23."""
    state = with_cards(payment)
    (event, *_) = play(state, 0, claim(route, payment))
    assert isinstance(event, ev.RouteClaimed)
    assert event.points == view(state, PUBLIC).players[0].points == points


def test_every_length_up_to_seven_has_its_points() -> None:
    """ASIA-23."""
    routes = started("team_asia", 4).game.board.routes
    assert {(route.length, route.points) for route in routes if route.name} == {
        (1, 1),
        (2, 2),
        (3, 4),
        (4, 7),
        (5, 10),
        (6, 15),
        (7, 18),
    }


def test_routes_and_paths_pass_through_a_junction() -> None:
    """ASIA-25."""
    state = with_cards("")
    for seat in range(4):
        set_tickets(state, seat)
    state.shared_masks = [0, 0]
    set_tickets(state, 0, "rawalpindi-lhasa")
    own(state, 0, "junction_west-rawalpindi", "junction_west-lhasa")
    team = final_result(state).teams[0]
    assert team.tickets == (TicketScore("rawalpindi-lhasa", completed=True, points=7),)
    assert team.longest_path == 7


def test_routes_to_a_junction_and_between_two_are_claimed_like_any_other() -> None:
    """ASIA-25."""
    state = with_cards("3 yellow, orange")
    assert refusal(state, 0, claim("junction_east-junction_south", "orange")) is None
    play(state, 0, claim("junction_east-lhasa", "3 yellow"))
    assert view(state, PUBLIC).players[0].routes == ("junction_east-lhasa",)


def test_no_ticket_names_a_junction() -> None:
    """ASIA-25."""
    junctions = {city.id for city in BOARD.cities if city.junction}
    assert junctions == {"junction_east", "junction_south", "junction_west"}
    assert not junctions & {end for ticket in BOARD.tickets for end in (ticket.a, ticket.b)}
