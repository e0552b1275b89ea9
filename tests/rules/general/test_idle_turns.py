"""Games that go nowhere (GEN-06)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.support import (
    buy,
    claim,
    play,
    set_hand,
    set_market,
    set_pile_top,
    set_tickets,
    set_yard,
    started,
    wire,
)

TURN = 100


def before_the_last_idle_turn(game: str, seats: int) -> State:
    """Start a turn that, if idle, is the last one of ten for each player."""
    state = started(game, seats)
    state.turn = TURN
    state.progress_turn = TURN - 10 * seats
    return state


def ended_idle(state: State) -> bool:
    """Return whether idle turns ended the game. In the card game tickets are completed first."""
    return state.end_reason == "idle"


def refuse_tickets(state: State, seat: int) -> Events:
    return play(state, seat, moves.DrawTickets()) + play(state, seat, moves.KeepTickets(()))


# -- idle turns --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3])
def test_after_ten_idle_turns_of_each_player_the_game_ends(seats: int) -> None:
    """GEN-06: tickets drawn and all refused, from the first turn on."""
    state = started("card_game", seats)
    turns = 0
    while isinstance(view(state, PUBLIC).pending, decisions.TakeTurn):
        assert turns < 10 * seats
        refuse_tickets(state, turns % seats)
        turns += 1
    assert turns == 10 * seats
    for seat in range(seats):
        assert engine.owing(state)[0] == seat
        engine.apply(state, seat, engine.fallback(state, seat))
    assert state.result
    assert state.result.reason == "idle"
    assert state.result.turns == 10 * seats


def test_an_idle_game_of_the_card_game_ends_in_its_first_half_too() -> None:
    """GEN-06: no second half follows, but the scoring."""
    state = before_the_last_idle_turn("card_game", 4)
    set_tickets(state, 3, "seattle-miami")
    refuse_tickets(state, 0)
    assert view(state, PUBLIC).half == 1
    assert engine.owing(state) == (0, 1, 2, 3)
    for seat in range(4):
        engine.apply(state, seat, engine.fallback(state, seat))
    assert view(state, PUBLIC).half == 1
    assert state.result
    assert state.result.teams[3].points == -22


def test_a_turn_of_which_nothing_came_is_not_the_last_as_long_as_ten_for_each_are_not_full() -> None:
    """GEN-06."""
    state = before_the_last_idle_turn("card_game", 2)
    state.progress_turn += 1
    refuse_tickets(state, 0)
    assert engine.owing(state) == (1,)
    refuse_tickets(state, 1)
    assert ended_idle(state)


def test_a_tunnel_given_up_is_idle() -> None:
    """GEN-06."""
    state = before_the_last_idle_turn("team_asia", 4)
    set_hand(state, 0, "orange, 2 blue")
    set_pile_top(state, "orange", "white", "white", "white", "white")
    play(state, 0, claim("junction_east-junction_south", "orange"))
    assert ended_idle(state)


def test_a_tunnel_that_is_not_paid_is_idle() -> None:
    """GEN-06."""
    state = before_the_last_idle_turn("team_asia", 4)
    set_hand(state, 0, "2 orange")
    set_pile_top(state, "orange", "white", "white", "white", "white")
    play(state, 0, claim("junction_east-junction_south", "orange"))
    play(state, 0, moves.AbandonTunnel())
    assert ended_idle(state)


def test_a_pass_is_idle() -> None:
    """GEN-06."""
    state = before_the_last_idle_turn("usa", 2)
    with_no_action(state)
    play(state, 0, moves.Pass())
    assert state.result
    assert state.result.reason == "idle"


def with_no_action(state: State) -> None:
    """Empty pile, discards and market, and take all routes and all tickets."""
    state.hands[1] = state.game.board.deck - state.hands[0]
    state.pile, state.market, state.discards = [], 0, 0
    state.open_mask = 0
    state.ticket_pile = []


# -- what is not idle --------------------------------------------------------------------------------


def draw_a_card(state: State) -> None:
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.DrawCard())


def take_an_open_card(state: State) -> None:
    set_market(state, "4 red, locomotive")
    play(state, 0, moves.TakeCard("locomotive"))


def draw_one_card_and_stop(state: State) -> None:
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.Stop())


def claim_a_route(state: State) -> None:
    set_hand(state, 0, "red")
    play(state, 0, claim("atlanta-nashville", "red"))


def claim_a_tunnel(state: State) -> None:
    set_hand(state, 0, "orange")
    set_pile_top(state, *["white"] * 5)
    play(state, 0, claim("junction_east-junction_south", "orange"))


def keep_a_ticket(state: State) -> None:
    play(state, 0, moves.DrawTickets())
    play(state, 0, engine.legal(state, 0)[1].wire)


def share_a_ticket(state: State) -> None:
    tickets = view(state, 0).players[0].tickets
    assert isinstance(tickets, tuple)
    play(state, 0, moves.ShareTickets(tickets[:1]))


def lay_cards(state: State) -> None:
    set_hand(state, 0, "2 red")
    play(state, 0, moves.LayCards(wire("2 red")))


@pytest.mark.parametrize(
    ("game", "seats", "turn"),
    [
        ("usa", 2, draw_a_card),
        ("usa", 2, take_an_open_card),
        ("team_asia", 4, take_an_open_card),
        ("card_game", 2, draw_one_card_and_stop),
        ("usa", 2, claim_a_route),
        ("team_asia", 4, claim_a_tunnel),
        ("usa", 2, keep_a_ticket),
        ("card_game", 2, keep_a_ticket),
        ("team_asia", 4, share_a_ticket),
        ("card_game", 2, lay_cards),
    ],
)
def test_a_turn_in_which_something_is_drawn_claimed_laid_kept_or_shared_is_not_idle(
    game: str, seats: int, turn: Callable[[State], None]
) -> None:
    """GEN-06: the idle turns are counted anew."""
    state = before_the_last_idle_turn(game, seats)
    turn(state)
    assert state.result is None
    assert engine.owing(state) == (1,)
    assert view(state, PUBLIC).progress_turn == TURN


def test_a_turn_in_which_a_card_moves_out_of_the_yard_is_not_idle() -> None:
    """GEN-06: though its player draws tickets and keeps none."""
    state = before_the_last_idle_turn("card_game", 2)
    state.progress_turn += 1
    set_yard(state, 1, "2 red")
    refuse_tickets(state, 0)
    assert view(state, PUBLIC).progress_turn == TURN + 1
    refuse_tickets(state, 1)
    assert not ended_idle(state)
    assert engine.owing(state) == (0,)


def test_a_turn_in_which_a_technology_is_bought_is_not_idle() -> None:
    """GEN-06: though its player passes then."""
    state = before_the_last_idle_turn("united_kingdom", 2)
    set_hand(state, 0, "2 locomotive")
    with_no_action(state)
    play(state, 0, buy("propellers", "2 locomotive"))
    with_no_action(state)
    assert ev.Passed(0) in play(state, 0, moves.Pass())
    assert state.result is None
    assert view(state, PUBLIC).progress_turn == TURN


def test_the_count_goes_on_across_players() -> None:
    """GEN-06: in a row are the turns of all, not those of one."""
    state = before_the_last_idle_turn("card_game", 3)
    state.progress_turn += 2
    refuse_tickets(state, 0)
    refuse_tickets(state, 1)
    assert not ended_idle(state)
    refuse_tickets(state, 2)
    assert ended_idle(state)
