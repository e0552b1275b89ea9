"""The actions that other games have too: cards, routes, ferries, tunnels, tickets (EUR-04 to EUR-09)."""

from __future__ import annotations

from itertools import product

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.cards import total
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.rules.europe.tables import BOARD, LONG, ROUTES, at_turn, build, offered, seen
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
    set_market,
    set_pile,
    set_pile_top,
    set_turn,
    wire,
)

FERRIES = {name: route for name, route in ROUTES.items() if route.locomotives}
TUNNELS = {name: route for name, route in ROUTES.items() if route.tunnel}
TUNNEL = "angora-smyrna"  # orange, 3 spaces
GRAY_TUNNEL = "sarajevo-sofia"  # gray, 2 spaces
HARMLESS = ("red", "red", "blue")


# -- train cards -------------------------------------------------------------------------------------


def test_two_train_cards_are_drawn_and_an_open_locomotive_is_the_only_one() -> None:
    """EUR-04."""
    state = at_turn()
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.TakeCard("purple"))
    assert seen(state).hand_count == 2
    assert engine.owing(state) == (1,)
    set_market(state, "4 black, locomotive")
    play(state, 1, moves.TakeCard("locomotive"))
    assert engine.owing(state) == (0,)


def test_three_open_locomotives_are_exchanged() -> None:
    """EUR-04."""
    state = at_turn()
    set_market(state, "2 locomotive, 3 black")
    set_pile_top(state, "locomotive")
    events = play(state, 0, moves.TakeCard("black"))
    assert ev.MarketExchanged(wire("3 locomotive, 2 black")) in events


def test_when_the_pile_runs_out_the_discards_become_the_pile() -> None:
    """EUR-04."""
    state = at_turn(3)
    set_discards(state, "4 green")
    set_pile(state, "red")
    assert ev.PileShuffled(4, wire("4 green")) in play(state, 0, moves.DrawCard())


# -- routes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "points"),
    [
        ("amsterdam-bruxelles", "black", 1),
        ("amsterdam-frankfurt", "white, locomotive", 2),
        ("amsterdam-essen", "3 yellow", 4),
        ("athina-sarajevo", "4 green", 7),
        ("palermo-smyrna", "4 blue, 2 locomotive", 15),
        ("petrograd-stockholm", "8 red", 21),
    ],
)
def test_a_route_brings_points_by_its_length_and_length_8_brings_21(
    name: str, text: str, points: int
) -> None:
    """EUR-05."""
    state = at_turn(hand=text)
    set_pile_top(state, "green", "green", "green")
    play(state, 0, claim(name, text))
    player = seen(state)
    assert (player.points, player.trains, player.routes) == (points, 45 - ROUTES[name].length, (name,))
    assert player.hand_count == 0


def test_the_board_has_routes_of_length_1_to_4_6_and_8() -> None:
    """EUR-05."""
    assert {route.length for route in BOARD.routes} == set(BOARD.route_points) == {1, 2, 3, 4, 6, 8}


def test_a_gray_route_takes_any_one_color_and_another_route_its_own() -> None:
    """EUR-05."""
    state = at_turn(hand="2 red, 2 blue, locomotive")
    assert refusal(state, 0, claim("danzig-warszawa", "2 red")) is None
    assert refusal(state, 0, claim("danzig-warszawa", "blue, locomotive")) is None
    assert refused(state, 0, claim("danzig-warszawa", "red, blue")) == "game.wrong_payment"
    assert refused(state, 0, claim("amsterdam-frankfurt", "2 red")) == "game.wrong_payment"


@pytest.mark.parametrize("seats", [2, 3])
def test_with_two_or_three_players_one_track_of_a_double_route_closes_the_other(seats: int) -> None:
    """EUR-06."""
    state = at_turn(seats, "3 locomotive")
    own(state, 1, "frankfurt-paris-white")
    assert refused(state, 0, claim("frankfurt-paris-orange", "3 locomotive")) == "game.route_taken"


@pytest.mark.parametrize("seats", [4, 5])
def test_with_more_players_two_may_have_a_track_each_but_nobody_both(seats: int) -> None:
    """EUR-06."""
    state = at_turn(seats, "3 locomotive")
    own(state, 1, "frankfurt-paris-white")
    play(state, 0, claim("frankfurt-paris-orange", "3 locomotive"))
    state = at_turn(seats, "3 locomotive")
    own(state, 0, "frankfurt-paris-white")
    assert refused(state, 0, claim("frankfurt-paris-orange", "3 locomotive")) == "game.route_taken"


# -- ferries -----------------------------------------------------------------------------------------


def test_ferries_are_gray_and_no_tunnels() -> None:
    """EUR-07."""
    assert len(FERRIES) == 13
    assert {(route.color, route.tunnel) for route in FERRIES.values()} == {("gray", 0)}


@pytest.mark.parametrize("name", FERRIES)
def test_a_ferry_takes_a_locomotive_for_each_symbol_and_one_color_for_the_rest(name: str) -> None:
    """EUR-07."""
    ferry = FERRIES[name]
    state = at_turn(hand="6 red, 6 blue, 6 locomotive")
    for of_color, locomotives in product(range(7), repeat=2):
        text = f"{of_color} red, {locomotives} locomotive"
        legal = of_color + locomotives == ferry.length and locomotives >= ferry.locomotives
        assert (refusal(state, 0, claim(name, text)) is None) == legal, text


def test_cards_of_two_colors_do_not_pay_a_ferry() -> None:
    """EUR-07."""
    state = at_turn(hand="3 red, 3 blue, 2 locomotive")
    mixed = claim("palermo-smyrna", "2 red, 2 blue, 2 locomotive")
    assert refused(state, 0, mixed) == "game.wrong_payment"


def test_no_number_of_other_cards_stands_for_a_locomotive() -> None:
    """EUR-07."""
    state = at_turn(hand="12 red")
    for number in range(1, 13):
        assert refusal(state, 0, claim("athina-smyrna", f"{number} red")) == "game.wrong_payment"
    assert not {move.route for move in listed_as(state, 0, moves.ClaimRoute)} & set(FERRIES)


def test_a_ferry_is_listed_with_as_few_locomotives_as_it_takes() -> None:
    """EUR-07."""
    state = at_turn(hand="5 red, 4 locomotive")
    payments = [move for move in listed_as(state, 0, moves.ClaimRoute) if move.route == "palermo-smyrna"]
    assert payments == [claim("palermo-smyrna", "4 red, 2 locomotive")]


# -- tunnels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TUNNELS)
def test_three_cards_are_revealed_for_a_tunnel(name: str) -> None:
    """EUR-08."""
    length = TUNNELS[name].length
    state = at_turn(hand=f"{length} locomotive")
    set_pile_top(state, *HARMLESS, "locomotive")
    events = play(state, 0, claim(name, f"{length} locomotive"))
    assert events[0] == ev.CardsRevealed(wire("2 red, blue"))
    assert seen(state).routes == (name,)


@pytest.mark.parametrize(
    ("laid", "revealed", "extra"),
    [
        ("3 orange", ("orange", "red", "blue"), 1),
        ("3 orange", ("orange", "locomotive", "orange"), 3),
        ("2 orange, locomotive", ("red", "locomotive", "orange"), 2),
        ("3 locomotive", ("orange", "locomotive", "orange"), 1),
    ],
)
def test_each_revealed_card_of_the_color_laid_and_each_locomotive_asks_for_one_more(
    laid: str, revealed: tuple[str, ...], extra: int
) -> None:
    """EUR-08: of locomotives alone only locomotives."""
    state = at_turn(hand=f"{laid}, 4 orange, 4 locomotive")
    set_pile_top(state, *revealed)
    play(state, 0, claim(TUNNEL, laid))
    bill = view(state, PUBLIC).pending
    assert isinstance(bill, decisions.PayTunnel)
    assert bill.extra == extra


def test_exactly_the_missing_cards_are_added_of_the_color_or_locomotives() -> None:
    """EUR-08."""
    state = at_turn(hand="5 orange, 2 locomotive, 2 red")
    set_pile_top(state, "orange", "orange", "red")
    play(state, 0, claim(TUNNEL, "3 orange"))
    for text in ("", "orange", "2 orange, locomotive", "2 red", "orange, red"):
        assert refused(state, 0, moves.PayTunnel(wire(text))) == "game.wrong_payment"
    events = play(state, 0, moves.PayTunnel(wire("orange, locomotive")))
    assert seen(state).routes == (TUNNEL,)
    assert isinstance(events[0], ev.RouteClaimed)
    assert events[0].cards == wire("4 orange, locomotive")
    assert state.discards == cards("4 orange, locomotive, 2 orange, red")


def test_the_added_cards_place_no_trains() -> None:
    """EUR-08."""
    state = at_turn(hand="4 orange")
    set_pile_top(state, "orange", "red", "red")
    play(state, 0, claim(TUNNEL, "3 orange"))
    play(state, 0, moves.PayTunnel(wire("orange")))
    assert (seen(state).trains, seen(state).points) == (42, 4)


def test_who_gives_a_tunnel_up_takes_the_cards_back_and_the_turn_is_over() -> None:
    """EUR-08: no pass, and no progress."""
    state = at_turn(hand="4 orange")
    set_pile_top(state, "orange", "red", "red")
    progress = state.progress_turn
    state.passes = 1
    play(state, 0, claim(TUNNEL, "3 orange"))
    play(state, 0, moves.AbandonTunnel())
    player = seen(state)
    assert (player.routes, player.trains, player.points, player.hand_count) == ((), 45, 0, 4)
    assert state.discards == cards("orange, 2 red")
    assert (state.passes, state.progress_turn) == (0, progress)
    assert engine.owing(state) == (1,)


def test_who_cannot_add_the_cards_is_not_asked() -> None:
    """EUR-08."""
    state = at_turn(hand="3 orange, 2 red")
    set_pile_top(state, "orange", "red", "red")
    events = play(state, 0, claim(TUNNEL, "3 orange"))
    assert any(isinstance(event, ev.TunnelAbandoned) for event in events)
    assert engine.owing(state) == (1,)


def test_when_the_pile_runs_out_the_revealing_goes_on_with_the_discards() -> None:
    """EUR-08: without the cards laid and revealed."""
    state = at_turn(3, "2 red")
    set_discards(state, "2 green")
    set_pile(state, "blue")
    events = play(state, 0, claim(GRAY_TUNNEL, "2 red"))
    assert events[:3] == [
        ev.CardsRevealed(wire("blue")),
        ev.PileShuffled(2, wire("2 green")),
        ev.CardsRevealed(wire("2 green")),
    ]
    assert seen(state).routes == (GRAY_TUNNEL,)


def test_with_too_few_cards_all_there_are_get_revealed_and_with_none_the_tunnel_is_safe() -> None:
    """EUR-08."""
    for pile in ((), ("red",), ("red", "blue")):
        state = at_turn(3, "2 green")
        set_discards(state, "")
        set_pile(state, *pile)
        events = play(state, 0, claim(GRAY_TUNNEL, "2 green"))
        tried = next(event for event in events if isinstance(event, ev.TunnelTried))
        assert tried.revealed == wire(", ".join(pile))
        assert seen(state).routes == (GRAY_TUNNEL,)


# -- tickets -----------------------------------------------------------------------------------------


def test_three_tickets_are_drawn_and_at_least_one_of_them_kept() -> None:
    """EUR-09."""
    state = at_turn()
    pile = list(state.ticket_pile)
    play(state, 0, moves.DrawTickets())
    first = offered(state, 0)
    assert first == tuple(BOARD.tickets[ticket].id for ticket in pile[:-4:-1])
    assert refused(state, 0, moves.KeepTickets(())) == "game.wrong_tickets"
    events = play(state, 0, moves.KeepTickets(first[1:2]))
    assert events[0] == ev.TicketsKept(0, 1, 2, first[1:2], (first[0], first[2]))
    assert state.ticket_pile == [pile[-3], pile[-1], *pile[:-3]]
    assert view(state, 0).players[0].returned == tuple(
        sorted((first[0], first[2]), key=state.game.board.ticket_ids.__getitem__)
    )


def test_the_ticket_pile_has_regular_tickets_only() -> None:
    """EUR-09."""
    for seats in (2, 3, 4, 5):
        pile = at_turn(seats).ticket_pile
        assert not {BOARD.tickets[ticket].id for ticket in pile} & set(LONG)


# -- one action a turn -------------------------------------------------------------------------------


def test_a_turn_has_one_action() -> None:
    """EUR-04, EUR-05, EUR-09, EUR-10."""
    state = at_turn(hand="2 black")
    kinds = [type(move) for move in listed(state, 0)]
    assert list(dict.fromkeys(kinds)) == [
        moves.DrawCard,
        moves.TakeCard,
        moves.ClaimRoute,
        moves.DrawTickets,
        moves.BuildStation,
    ]
    for move in (claim("amsterdam-bruxelles", "black"), build("wien", "black")):
        after = state.copy()
        play(after, 0, move)
        assert engine.owing(after) == (1,)
    set_turn(state, 1)
    set_hand(state, 1, "black")
    assert total(state.hands[1]) == 1
    assert refused(state, 0, build("wien", "black")) == "game.not_asked"
