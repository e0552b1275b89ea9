"""Tunnels: what is laid, revealed and added, and what becomes of the cards (ASIA-14 to ASIA-17, ASIA-24)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.cards import from_wire, total
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import NO_CARDS
from tests.support import (
    cards,
    listed,
    listed_as,
    play,
    refused,
    set_discards,
    set_hand,
    set_holder,
    set_market,
    set_pile,
    set_pile_top,
    set_turn,
    started,
    wire,
)

BOARD = shipped_board("team_asia")
TUNNELS = {route.id: route for route in BOARD.routes if route.tunnel}
SHORT = "kabul-rawalpindi"  # white, 1 space, 4 revealed
TUNNEL = "kabul-sukkur"  # orange, 2 spaces, 4 revealed
LONG = "kabul-kashgar"  # yellow, 3 spaces, 4 revealed
GRAY = "junction_south-lhasa"  # gray, 1 space, 6 revealed
HARMLESS = ("red", "red", "blue", "blue")


def at_tunnel(hand: str, holder: str = "", revealed: tuple[str, ...] = HARMLESS) -> State:
    """Start seat 0's turn with these cards, on top of the pile the revealed ones; nobody else has cards."""
    state = started("team_asia", 4)
    for seat in range(4):
        set_hand(state, seat, "")
    set_market(state, "purple, purple, black, black, black")
    set_hand(state, 0, hand)
    set_holder(state, 0, holder)
    set_pile_top(state, *revealed)
    return state


def lay(hand: str, holder: str = "", route: str = TUNNEL) -> moves.ClaimRoute:
    return moves.ClaimRoute(route, wire(hand), wire(holder))


def add(hand: str = "", holder: str = "") -> moves.PayTunnel:
    return moves.PayTunnel(wire(hand), wire(holder))


def bill_of(state: State) -> int:
    """Return how many cards must be added."""
    pending = view(state, PUBLIC).pending
    assert isinstance(pending, decisions.PayTunnel)
    return pending.extra


def kinds(events: Events) -> list[type[ev.Event]]:
    return [type(event) for event in events]


def routes_of(state: State, seat: int = 0) -> object:
    return view(state, PUBLIC).players[seat].routes


def failed(state: State) -> bool:
    """Return whether nothing was claimed, no train placed, no point scored, and the turn is over."""
    player = view(state, PUBLIC).players[0]
    return (player.routes, player.trains, player.points) == ((), 27, 0) and engine.owing(state) == (1,)


def with_pile(hand: str, holder: str, pile: tuple[str, ...], discards: str = "") -> State:
    """Make these the whole pile and all discards; the last seat's hand gets the remaining cards."""
    state = at_tunnel(hand, holder, ())
    set_discards(state, discards)
    set_pile(state, *pile)
    return state


# -- revealing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", TUNNELS)
def test_as_many_cards_are_revealed_as_the_tunnel_says(route: str) -> None:
    """ASIA-14."""
    tunnel = TUNNELS[route]
    state = at_tunnel(
        f"{tunnel.length} locomotive", revealed=("red", "blue", "green", "red", "blue", "green", "red")
    )
    left = len(state.pile)
    events = play(state, 0, lay(f"{tunnel.length} locomotive", route=route))
    assert 4 <= tunnel.tunnel <= 6
    top = ("red", "blue", "green", "red", "blue", "green")[: tunnel.tunnel]
    assert events[0] == ev.CardsRevealed(wire(", ".join(top)))
    assert len(state.pile) == left - tunnel.tunnel


def test_an_ordinary_tunnel_of_another_board_reveals_three() -> None:
    """ASIA-14."""
    routes = tuple(replace(route, tunnel=3) if route.tunnel else route for route in BOARD.routes)
    game = make_game(RULE_SETS["team_asia"], replace(BOARD, routes=routes), 4)
    state = engine.new_game(game, Dice(seed_from_text("three")))
    while state.turn == 0:
        for seat in engine.owing(state):
            engine.apply(state, seat, engine.fallback(state, seat))
    set_market(state, "purple, purple, black, black, black")
    set_hand(state, 0, "2 orange")
    set_pile_top(state, "red", "red", "blue", "orange")
    play(state, 0, lay("2 orange"))
    assert routes_of(state) == (TUNNEL,)


def test_other_routes_reveal_nothing() -> None:
    """ASIA-14."""
    state = at_tunnel("3 red", revealed=("red", "red", "red", "red"))
    assert kinds(play(state, 0, lay("3 red", route="junction_west-kashgar"))) == [
        ev.RouteClaimed,
        ev.TurnStarted,
    ]


@pytest.mark.parametrize(
    ("laid", "revealed", "extra"),
    [
        ("2 orange", ("orange", "red", "blue", "red"), 1),
        ("2 orange", ("red", "locomotive", "blue", "red"), 1),
        ("2 orange", ("orange", "orange", "blue", "locomotive"), 3),
        ("2 orange", ("orange", "orange", "locomotive", "locomotive"), 4),
        ("orange, locomotive", ("orange", "locomotive", "red", "red"), 2),
        ("orange, locomotive", ("red", "red", "red", "orange"), 1),
    ],
)
def test_each_revealed_card_of_the_color_laid_and_each_locomotive_asks_for_one_more(
    laid: str, revealed: tuple[str, ...], extra: int
) -> None:
    """ASIA-14."""
    state = at_tunnel(f"{laid}, 5 orange", revealed=revealed)
    events = play(state, 0, lay(laid))
    shown = wire(", ".join(revealed))
    asked = decisions.PayTunnel((0,), TUNNEL, wire(laid), NO_CARDS, shown, extra)
    assert events == [
        ev.CardsRevealed(shown),
        ev.TunnelTried(0, TUNNEL, extra, cards=wire(laid), revealed=shown),
        ev.Asked(asked),
    ]
    for viewer in (0, 1, 2, PUBLIC):
        assert view(state, viewer).pending == asked


def test_the_color_laid_for_a_gray_tunnel_is_what_counts() -> None:
    """ASIA-14."""
    state = at_tunnel("3 green", revealed=("green", "white", "white", "red", "red", "blue"))
    play(state, 0, lay("green", route=GRAY))
    assert bill_of(state) == 1


def test_the_color_laid_from_the_holder_counts_too() -> None:
    """ASIA-14."""
    state = at_tunnel("locomotive, 2 orange", "orange", ("orange", "red", "red", "blue"))
    play(state, 0, lay("locomotive", "orange"))
    assert bill_of(state) == 1


@pytest.mark.parametrize("laid", ["orange", "3 orange", "orange, red", "2 red", ""])
def test_for_a_tunnel_the_price_of_the_route_is_laid(laid: str) -> None:
    """ASIA-14."""
    assert refused(at_tunnel("3 orange, 2 red"), 0, lay(laid)) == "game.wrong_payment"


# -- paying ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "holder"),
    [
        ("2 orange", ""),
        ("orange", "orange"),
        ("", "2 orange"),
        ("orange, locomotive", ""),
        ("2 locomotive", ""),
        ("locomotive", "locomotive"),
        ("orange", "locomotive"),
        ("locomotive", "orange"),
        ("", "orange, locomotive"),
    ],
)
def test_the_cards_added_are_of_the_color_or_locomotives_from_hand_or_holder(hand: str, holder: str) -> None:
    """ASIA-14."""
    state = at_tunnel(
        "3 orange, 2 locomotive", "3 orange, locomotive", ("orange", "red", "red", "locomotive")
    )
    play(state, 0, lay("orange", "orange"))
    events = play(state, 0, add(hand, holder))
    paid = wire(f"{hand}, orange"), wire(f"{holder}, orange")
    revealed = wire("orange, 2 red, locomotive")
    assert events[0] == ev.RouteClaimed(
        0, TUNNEL, trains=2, points=2, cards=paid[0], holder_cards=paid[1], revealed=revealed
    )
    assert state.hands[0] == cards("2 orange, 2 locomotive") - cards(hand)
    assert state.holders[0] == cards("2 orange, locomotive") - cards(holder)
    assert routes_of(state) == (TUNNEL,)
    assert view(state, PUBLIC).players[0].trains == 25
    assert engine.owing(state) == (1,)


@pytest.mark.parametrize(
    ("hand", "holder", "code"),
    [
        ("", "", "game.wrong_payment"),
        ("orange", "", "game.wrong_payment"),
        ("3 orange", "", "game.wrong_payment"),
        ("orange", "2 orange", "game.wrong_payment"),
        ("orange, red", "", "game.wrong_payment"),
        ("2 red", "", "game.wrong_payment"),
        ("4 orange", "", "game.not_enough_cards"),  # one of them is laid
        ("", "3 orange", "game.not_enough_cards"),  # one of them is laid
        ("2 locomotive", "", "game.not_enough_cards"),
        ("", "locomotive", "game.not_enough_cards"),  # in the hand
        ("orange", "red", "game.not_enough_cards"),  # in the hand
    ],
)
def test_neither_other_cards_nor_fewer_nor_more_nor_those_laid_already_pay(
    hand: str, holder: str, code: str
) -> None:
    """ASIA-14."""
    state = at_tunnel("4 orange, 2 red, locomotive", "3 orange", ("orange", "orange", "red", "red"))
    play(state, 0, lay("orange", "orange"))
    assert bill_of(state) == 2
    assert refused(state, 0, add(hand, holder)) == code


def test_the_partners_hand_adds_nothing() -> None:
    """ASIA-14."""
    state = at_tunnel("2 orange", revealed=("orange", "red", "red", "blue"))
    set_hand(state, 1, "3 orange")
    assert kinds(play(state, 0, lay("2 orange")))[1:3] == [ev.TunnelTried, ev.TunnelAbandoned]
    assert failed(state)


def test_the_player_pays_or_abandons_the_tunnel_and_nothing_else() -> None:
    """ASIA-14."""
    state = at_tunnel("3 orange, locomotive", "orange", ("orange", "red", "red", "blue"))
    play(state, 0, lay("2 orange"))
    assert listed(state, 0) == [add("", "orange"), add("orange"), moves.AbandonTunnel()]
    for other in (moves.DrawCard(), moves.Pass(), moves.Stop(), moves.DrawTickets(), lay("2 orange")):
        assert refused(state, 0, other) == "game.wrong_move"
    assert refused(state, 1, moves.AbandonTunnel()) == "game.not_asked"


# -- failing -----------------------------------------------------------------------------------------


def test_who_does_not_want_to_add_claims_nothing_and_takes_the_cards_back() -> None:
    """ASIA-14."""
    state = at_tunnel("3 orange, blue", "2 orange, red", ("orange", "green", "red", "locomotive"))
    play(state, 0, lay("orange", "orange"))
    events = play(state, 0, moves.AbandonTunnel())
    revealed = wire("orange, green, red, locomotive")
    assert events[0] == ev.TunnelAbandoned(
        0, TUNNEL, cards=wire("orange"), holder_cards=wire("orange"), revealed=revealed
    )
    assert failed(state)
    assert state.hands[0] == cards("3 orange, blue")
    assert state.holders[0] == cards("2 orange, red")


@pytest.mark.parametrize(("hand", "holder"), [("2 orange", ""), ("orange", "orange"), ("", "2 orange")])
def test_each_card_laid_goes_back_where_it_came_from(hand: str, holder: str) -> None:
    """ASIA-14."""
    state = at_tunnel(hand, holder, ("orange", "red", "red", "blue"))
    play(state, 0, lay(hand, holder))
    assert failed(state)
    assert (state.hands[0], state.holders[0]) == (cards(hand), cards(holder))


def test_the_cards_laid_in_vain_are_known_to_all() -> None:
    """ASIA-14, ASIA-03."""
    state = at_tunnel("orange, locomotive, blue", "2 orange, red", ("orange", "red", "red", "blue"))
    play(state, 0, lay("orange", "orange"))
    play(state, 0, moves.AbandonTunnel())
    for viewer in (1, 2, PUBLIC):
        seen = view(state, viewer)
        assert isinstance(seen.teams, tuple)
        assert seen.players[0].known_cards == wire("orange")
        assert seen.teams[0].known_holder == wire("orange")


def test_the_revealed_cards_are_discarded_when_the_tunnel_is_claimed() -> None:
    """ASIA-14."""
    state = at_tunnel("3 orange", revealed=("orange", "green", "red", "blue"))
    before = state.discards
    play(state, 0, lay("2 orange"))
    play(state, 0, add("orange"))
    assert state.discards == before + cards("orange, green, red, blue") + cards("3 orange")


def test_the_revealed_cards_alone_are_discarded_when_it_is_not() -> None:
    """ASIA-14."""
    state = at_tunnel("3 orange", revealed=("orange", "green", "red", "blue"))
    before = state.discards
    play(state, 0, lay("2 orange"))
    play(state, 0, moves.AbandonTunnel())
    assert state.discards == before + cards("orange, green, red, blue")


def test_a_tunnel_tried_in_vain_stays_open_and_may_be_tried_again() -> None:
    """ASIA-14."""
    state = at_tunnel("2 orange", revealed=("orange", "red", "red", "blue", *HARMLESS))
    play(state, 0, lay("2 orange"))
    assert failed(state)
    set_turn(state, 0)
    play(state, 0, lay("2 orange"))
    assert routes_of(state) == (TUNNEL,)


# -- locomotives only --------------------------------------------------------------------------------


def test_of_only_locomotives_the_colors_revealed_do_not_count() -> None:
    """ASIA-15."""
    state = at_tunnel("2 locomotive, 3 orange", revealed=("orange", "orange", "red", "orange"))
    play(state, 0, lay("2 locomotive"))
    assert routes_of(state) == (TUNNEL,)
    assert state.hands[0] == cards("3 orange")


@pytest.mark.parametrize(
    ("revealed", "extra"),
    [(("locomotive", "orange", "red", "orange"), 1), (("locomotive", "orange", "locomotive", "red"), 2)],
)
def test_of_only_locomotives_the_locomotives_revealed_count(revealed: tuple[str, ...], extra: int) -> None:
    """ASIA-15."""
    state = at_tunnel("4 locomotive, 3 orange", revealed=revealed)
    play(state, 0, lay("2 locomotive"))
    assert bill_of(state) == extra


def test_after_only_locomotives_only_locomotives_are_added() -> None:
    """ASIA-15."""
    state = at_tunnel("3 locomotive, 3 orange", "locomotive", ("locomotive", "orange", "red", "orange"))
    play(state, 0, lay("2 locomotive"))
    assert listed(state, 0) == [add("", "locomotive"), add("locomotive"), moves.AbandonTunnel()]
    assert refused(state, 0, add("orange")) == "game.wrong_payment"
    play(state, 0, add("locomotive"))
    assert state.hands[0] == cards("3 orange")
    assert routes_of(state) == (TUNNEL,)


def test_without_another_locomotive_colors_do_not_help() -> None:
    """ASIA-15."""
    state = at_tunnel("2 locomotive, 5 orange", "3 orange", ("locomotive", "red", "red", "red"))
    play(state, 0, lay("2 locomotive"))
    assert failed(state)
    assert state.hands[0] == cards("2 locomotive, 5 orange")


def test_locomotives_from_hand_and_holder_are_only_locomotives() -> None:
    """ASIA-15."""
    state = at_tunnel("locomotive, 2 orange", "locomotive", ("orange", "orange", "red", "blue"))
    play(state, 0, lay("locomotive", "locomotive"))
    assert routes_of(state) == (TUNNEL,)


def test_to_lay_only_locomotives_is_listed_beside_the_color() -> None:
    """ASIA-15."""
    state = at_tunnel("2 orange, 2 locomotive")
    claims = [move for move in listed_as(state, 0, moves.ClaimRoute) if move.route == TUNNEL]
    assert claims == [lay("2 orange"), lay("2 locomotive")]


# -- few cards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pile", "discards"),
    [
        (("red", "orange", "blue"), ""),
        (("red", "orange"), "blue"),
        (("red",), "orange, blue"),
    ],
)
def test_of_fewer_cards_in_pile_and_discards_all_are_revealed(pile: tuple[str, ...], discards: str) -> None:
    """ASIA-16."""
    state = with_pile("3 orange", "", pile, discards)
    play(state, 0, lay("2 orange"))
    pending = view(state, PUBLIC).pending
    assert isinstance(pending, decisions.PayTunnel)
    assert pending.revealed == wire("red, orange, blue")
    assert pending.extra == 1
    assert (len(state.pile), state.discards) == (0, 0)


def test_from_the_pile_the_rest_comes_from_the_discards() -> None:
    """ASIA-16."""
    state = with_pile("3 orange", "", ("red", "blue"), "6 green")
    events = play(state, 0, lay("2 orange"))
    assert events[:4] == [
        ev.CardsRevealed(wire("red, blue")),
        ev.PileShuffled(6, wire("6 green")),
        ev.CardsRevealed(wire("2 green")),
        ev.TunnelTried(0, TUNNEL, 0, cards=wire("2 orange"), revealed=wire("red, blue, 2 green")),
    ]


def test_with_no_card_to_reveal_the_tunnel_is_without_risk() -> None:
    """ASIA-16."""
    state = with_pile("2 orange", "", ())
    events = play(state, 0, lay("2 orange"))
    assert kinds(events) == [ev.TunnelTried, ev.RouteClaimed, ev.PileShuffled, ev.TurnStarted]
    assert routes_of(state) == (TUNNEL,)
    assert len(state.pile) == 2


# -- whether the player is asked ---------------------------------------------------------------------


def test_a_tunnel_may_be_tried_with_no_card_to_add() -> None:
    """ASIA-17."""
    state = at_tunnel("2 orange", revealed=HARMLESS)
    assert [move for move in listed_as(state, 0, moves.ClaimRoute) if move.route == TUNNEL] == [
        lay("2 orange")
    ]
    play(state, 0, lay("2 orange"))
    assert routes_of(state) == (TUNNEL,)


def test_with_nothing_to_add_the_tunnel_is_claimed_unasked() -> None:
    """ASIA-17."""
    state = at_tunnel("5 orange, 2 locomotive", revealed=HARMLESS)
    events = play(state, 0, lay("2 orange"))
    assert kinds(events) == [ev.CardsRevealed, ev.TunnelTried, ev.RouteClaimed, ev.TurnStarted]
    assert state.hands[0] == cards("3 orange, 2 locomotive")
    assert view(state, PUBLIC).players[0].trains == 25


@pytest.mark.parametrize(
    ("hand", "holder", "revealed"),
    [
        ("2 orange", "", ("orange", "red", "red", "blue")),
        ("2 orange, 4 red", "2 blue", ("orange", "red", "red", "blue")),
        ("3 orange", "", ("orange", "orange", "red", "blue")),
        ("2 orange", "orange, locomotive", ("orange", "orange", "locomotive", "blue")),
    ],
)
def test_what_cannot_be_paid_fails_unasked(hand: str, holder: str, revealed: tuple[str, ...]) -> None:
    """ASIA-17."""
    state = at_tunnel(hand, holder, revealed)
    events = play(state, 0, lay("2 orange"))
    assert kinds(events) == [ev.CardsRevealed, ev.TunnelTried, ev.TunnelAbandoned, ev.TurnStarted]
    assert failed(state)


@pytest.mark.parametrize(
    ("hand", "holder"), [("3 orange, locomotive", ""), ("3 orange", "orange"), ("2 orange", "2 locomotive")]
)
def test_what_can_just_be_paid_is_asked(hand: str, holder: str) -> None:
    """ASIA-17."""
    state = at_tunnel(hand, holder, ("orange", "orange", "red", "blue"))
    play(state, 0, lay("2 orange"))
    assert bill_of(state) == 2
    assert engine.owing(state) == (0,)


def test_an_attempt_needs_as_many_trains_as_the_route_is_long() -> None:
    """ASIA-17."""
    state = at_tunnel("3 yellow", revealed=HARMLESS)
    state.trains[0] = 2
    assert refused(state, 0, lay("3 yellow", route=LONG)) == "game.not_enough_trains"
    assert LONG not in {move.route for move in listed_as(state, 0, moves.ClaimRoute)}


def test_cards_added_need_no_trains() -> None:
    """ASIA-17."""
    state = at_tunnel("3 yellow, 2 locomotive", revealed=("yellow", "yellow", "red", "red"))
    state.trains[0] = 3
    play(state, 0, lay("3 yellow", route=LONG))
    play(state, 0, add("2 locomotive"))
    assert routes_of(state) == (LONG,)
    assert view(state, PUBLIC).players[0].trains == 0


# -- the discards meanwhile --------------------------------------------------------------------------


def test_cards_laid_and_revealed_are_no_discards_while_the_attempt_lasts() -> None:
    """ASIA-24."""
    state = at_tunnel("3 orange", "orange", ("orange", "red", "red", "blue"))
    set_discards(state, "3 green")
    play(state, 0, lay("orange", "orange"))
    assert bill_of(state) == 1
    assert view(state, PUBLIC).discards == wire("3 green")


def test_if_the_pile_runs_out_meanwhile_only_the_discards_are_shuffled() -> None:
    """ASIA-24."""
    state = with_pile("3 orange", "", ("orange", "red", "red", "blue"), "6 green")
    events = play(state, 0, lay("2 orange"))
    assert events[:2] == [ev.CardsRevealed(wire("orange, 2 red, blue")), ev.PileShuffled(6, wire("6 green"))]
    assert bill_of(state) == 1
    assert sorted(state.pile) == [4] * 6
    play(state, 0, add("orange"))
    assert sorted(state.pile) == [4] * 6
    assert state.discards == cards("3 orange, orange, 2 red, blue")


def test_revealed_cards_are_not_revealed_again() -> None:
    """ASIA-24."""
    state = with_pile("2 green", "", ("red", "green"), "white")
    events = play(state, 0, lay("green", route=GRAY))  # of six
    tried = next(event for event in events if isinstance(event, ev.TunnelTried))
    assert tried.revealed == wire("red, green, white")


def test_at_the_end_the_revealed_and_the_paid_cards_are_discarded_as_one_lot() -> None:
    """ASIA-24."""
    state = with_pile("3 orange", "orange", ("orange", "red", "red", "blue"))
    play(state, 0, lay("orange", "orange"))
    assert state.pile == []
    events = play(state, 0, add("orange"))
    lot = wire("4 orange, 2 red, blue")
    assert kinds(events) == [ev.RouteClaimed, ev.PileShuffled, ev.TurnStarted]
    assert events[1] == ev.PileShuffled(7, lot)
    assert total(state.discards) == 0


def test_the_revealed_cards_of_a_tunnel_given_up_are_one_lot() -> None:
    """ASIA-24."""
    state = with_pile("3 orange", "", ("orange", "red", "red", "blue"))
    play(state, 0, lay("2 orange"))
    events = play(state, 0, moves.AbandonTunnel())
    assert kinds(events) == [ev.TunnelAbandoned, ev.PileShuffled, ev.TurnStarted]
    assert events[1] == ev.PileShuffled(4, wire("orange, 2 red, blue"))
    assert from_wire(view(state, PUBLIC).discards) == 0


def test_the_lot_fills_the_market_when_it_was_short() -> None:
    """ASIA-24."""
    state = with_pile("2 orange", "", ())
    state.hands[3] += state.market - cards("black")
    state.market = cards("black")
    events = play(state, 0, lay("2 orange"))
    assert kinds(events) == [
        ev.TunnelTried,
        ev.RouteClaimed,
        ev.PileShuffled,
        ev.CardsLaidOpen,
        ev.TurnStarted,
    ]
    assert view(state, PUBLIC).market == wire("black, 2 orange")
