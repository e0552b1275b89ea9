"""Action C: drawing tickets (CARD-11)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.support import listed, listed_as, play, refused, set_ticket_pile_top, set_tickets, started

TOP = ("seattle-miami", "chicago-dallas", "dallas-raleigh", "miami-boston")
NEXT = "new_york-portland"


def at_the_tickets() -> State:
    """Seat 0 is to move; no player holds a ticket, and these lie on top of the ticket pile."""
    state = started("card_game", 2)
    set_tickets(state, 0)
    set_tickets(state, 1)
    set_ticket_pile_top(state, *TOP, NEXT)
    return state


def with_tickets_left(*names: str) -> State:
    """Seat 0 is to move; these are the ticket pile, and seat 1 holds all other tickets."""
    state = at_the_tickets()
    set_tickets(state, 1, *(ticket.name for ticket in state.game.board.tickets if ticket.name not in names))
    set_ticket_pile_top(state, *names)
    return state


def ticket_pile(state: State) -> list[str]:
    """Return the pile of tickets from the top."""
    return [state.game.board.tickets[ticket].name for ticket in reversed(state.ticket_pile)]


def test_four_tickets_are_drawn() -> None:
    """CARD-11."""
    state = at_the_tickets()
    events = play(state, 0, moves.DrawTickets())
    assert events == [
        ev.TicketsOffered(0, 4, TOP),
        ev.Asked(decisions.KeepTickets((0,), 4, 0)),
    ]
    assert view(state, 0).players[0].offered == TOP
    assert view(state, 1).ticket_pile == 42
    assert engine.owing(state) == (0,)


def test_the_tickets_drawn_are_secret() -> None:
    """CARD-11."""
    state = at_the_tickets()
    play(state, 0, moves.DrawTickets())
    assert not view(state, 1).players[0].offered
    assert not view(state, PUBLIC).players[0].offered
    play(state, 0, moves.KeepTickets(TOP[:3]))
    assert not view(state, 1).players[0].tickets
    assert view(state, 1).players[0].ticket_count == 3


@pytest.mark.parametrize(
    "kept", [(), TOP[2:3], TOP[1:3], (TOP[0], TOP[2], TOP[3]), TOP], ids=["0", "1", "2", "3", "4"]
)
def test_any_number_of_them_is_kept(kept: tuple[str, ...]) -> None:
    """CARD-11."""
    state = at_the_tickets()
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets(kept))
    me = view(state, 0).players[0]
    assert isinstance(me.tickets, tuple)
    assert set(me.tickets) == set(kept)
    assert me.ticket_count == len(kept)
    assert view(state, 0).ticket_pile == 46 - len(kept)
    assert engine.owing(state) == (1,)


def test_every_choice_is_listed() -> None:
    """CARD-11."""
    state = at_the_tickets()
    play(state, 0, moves.DrawTickets())
    chosen = {frozenset(move.tickets) for move in listed_as(state, 0, moves.KeepTickets)}
    assert len(chosen) == 2**4
    assert frozenset[str]() in chosen


def test_only_tickets_drawn_are_kept_each_once() -> None:
    """CARD-11."""
    state = at_the_tickets()
    play(state, 0, moves.DrawTickets())
    assert refused(state, 0, moves.KeepTickets((NEXT,))) == "game.wrong_tickets"
    assert refused(state, 0, moves.KeepTickets((TOP[0], TOP[0]))) == "game.wrong_tickets"
    assert refused(state, 0, moves.KeepTickets(("paris-brest",))) == "game.unknown_name"


def test_kept_tickets_are_added_to_those_held() -> None:
    """CARD-11."""
    state = at_the_tickets()
    set_tickets(state, 0, "seattle-toronto")
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets((TOP[0],)))
    held = view(state, 0).players[0].tickets
    assert isinstance(held, tuple)
    assert set(held) == {"seattle-toronto", TOP[0]}


def test_the_others_go_under_the_pile_and_it_is_not_shuffled() -> None:
    """CARD-11, GEN-04: the last one dealt lies lowest."""
    state = at_the_tickets()
    below = ticket_pile(state)[4:]
    play(state, 0, moves.DrawTickets())
    events = play(state, 0, moves.KeepTickets((TOP[1],)))
    assert ticket_pile(state) == [*below, TOP[0], TOP[2], TOP[3]]
    assert not any(isinstance(event, ev.TicketPileShuffled) for event in events)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_when_fewer_are_left_all_of_them_are_drawn(left: int) -> None:
    """CARD-11."""
    state = with_tickets_left(*TOP[:left])
    assert moves.DrawTickets() in listed(state, 0)
    play(state, 0, moves.DrawTickets())
    assert view(state, 0).players[0].offered == TOP[:left]
    assert view(state, 0).pending == decisions.KeepTickets((0,), left, 0)
    assert frozenset[str]() in {frozenset(move.tickets) for move in listed_as(state, 0, moves.KeepTickets)}
    play(state, 0, moves.KeepTickets(()))
    assert ticket_pile(state) == list(TOP[:left])


def test_without_a_ticket_pile_none_are_drawn() -> None:
    """CARD-11."""
    state = with_tickets_left()
    assert view(state, 0).ticket_pile == 0
    assert moves.DrawTickets() not in listed(state, 0)
    assert refused(state, 0, moves.DrawTickets()) == "game.not_available"
