"""Drawing tickets in a turn (USA-13)."""

from __future__ import annotations

from itertools import combinations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import moves
from stellwerk_protocol.decisions import KeepTickets
from tests.support import listed, play, refused, set_ticket_pile_top, set_tickets, started

TOP = ("boston-miami", "calgary-phoenix", "dallas-new_york")


def with_tickets_on_top(*names: str) -> State:
    """Seat 0 holds none, seat 1 has them all but these, which lie on top of the pile."""
    state = started("usa", 2)
    set_tickets(state, 0)
    set_tickets(state, 1)
    set_ticket_pile_top(state, *names)
    return state


def with_ticket_pile(*names: str) -> State:
    """Seat 0 holds none, these are the whole ticket pile, and seat 1 holds the rest."""
    state = with_tickets_on_top(*names)
    rest = state.ticket_pile[: len(state.ticket_pile) - len(names)]
    state.ticket_masks[1] = sum(1 << ticket for ticket in rest)
    state.ticket_pile = state.ticket_pile[len(rest) :]
    return state


def test_the_top_three_tickets_are_offered_and_one_two_or_three_of_them_kept() -> None:
    """USA-13."""
    state = with_tickets_on_top(*TOP)
    play(state, 0, moves.DrawTickets())
    assert view(state, 0).players[0].offered == TOP
    assert view(state, 0).pending == KeepTickets((0,), 3, 1)
    assert listed(state, 0) == [
        moves.KeepTickets(kept) for number in (1, 2, 3) for kept in combinations(TOP, number)
    ]


@pytest.mark.parametrize("kept", [TOP[1:2], TOP[:2], TOP])
def test_what_is_kept_is_held_and_the_rest_goes_under_the_ticket_pile(kept: tuple[str, ...]) -> None:
    """USA-13."""
    state = with_tickets_on_top(*TOP)
    ids = state.game.board.ticket_ids
    above = state.ticket_pile[:-3]
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets(kept))
    assert set(view(state, 0).players[0].tickets or ()) == set(kept)
    under = len(state.ticket_pile) - len(above)
    assert set(state.ticket_pile[:under]) == {ids[name] for name in TOP} - {ids[name] for name in kept}
    assert state.ticket_pile[under:] == above
    assert engine.owing(state) == (1,)


def test_at_least_one_ticket_is_kept() -> None:
    """USA-13."""
    state = with_tickets_on_top(*TOP)
    play(state, 0, moves.DrawTickets())
    assert refused(state, 0, moves.KeepTickets(())) == "game.wrong_tickets"


@pytest.mark.parametrize("left", [1, 2])
def test_as_many_tickets_as_are_left_are_offered_and_one_of_them_kept(left: int) -> None:
    """USA-13."""
    state = with_ticket_pile(*TOP[:left])
    assert moves.DrawTickets() in listed(state, 0)
    play(state, 0, moves.DrawTickets())
    assert view(state, 0).players[0].offered == TOP[:left]
    assert view(state, PUBLIC).ticket_pile == 0
    assert view(state, PUBLIC).pending == KeepTickets((0,), left, 1)
    assert refused(state, 0, moves.KeepTickets(())) == "game.wrong_tickets"
    play(state, 0, moves.KeepTickets(TOP[:1]))
    assert view(state, 0).players[0].tickets == TOP[:1]
    assert view(state, PUBLIC).ticket_pile == left - 1


def test_without_a_ticket_pile_no_tickets_are_drawn() -> None:
    """USA-13."""
    state = with_ticket_pile()
    assert moves.DrawTickets() not in listed(state, 0)
    assert refused(state, 0, moves.DrawTickets()) == "game.not_available"


def test_tickets_put_back_can_be_drawn_again() -> None:
    """USA-13."""
    state = with_ticket_pile(*TOP)
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets(TOP[:1]))
    play(state, 1, moves.DrawTickets())
    assert view(state, 1).players[1].offered == TOP[1:]


def test_any_number_of_tickets_may_be_held() -> None:
    """USA-13: all thirty of them."""
    state = with_ticket_pile(*TOP)
    state.ticket_masks.reverse()
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets(TOP))
    assert view(state, PUBLIC).players[0].ticket_count == 30


def test_nothing_else_is_done_before_the_tickets_are_chosen() -> None:
    """USA-13."""
    state = with_tickets_on_top(*TOP)
    play(state, 0, moves.DrawTickets())
    assert refused(state, 0, moves.DrawCard()) == "game.wrong_move"
    assert refused(state, 0, moves.DrawTickets()) == "game.wrong_move"
    assert refused(state, 1, moves.DrawCard()) == "game.not_asked"


def test_the_others_see_only_how_many_tickets_were_drawn_and_kept() -> None:
    """USA-13, USA-03."""
    state = with_tickets_on_top(*TOP)
    play(state, 0, moves.DrawTickets())
    for viewer in (PUBLIC, 1):
        assert not view(state, viewer).players[0].offered
        assert view(state, viewer).pending == KeepTickets((0,), 3, 1)
    play(state, 0, moves.KeepTickets(TOP[:2]))
    for viewer in (PUBLIC, 1):
        assert view(state, viewer).players[0].ticket_count == 2
        assert not view(state, viewer).players[0].tickets
        assert not view(state, viewer).players[0].returned
