"""Where tickets go that are not kept (GEN-04)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import view
from stellwerk_protocol import moves
from tests.support import dealt, play, started


def offered(state: State, seat: int) -> tuple[str, ...]:
    names = view(state, seat).players[seat].offered
    assert isinstance(names, tuple)
    return names


def from_the_bottom(state: State, number: int) -> list[str]:
    """Return the lowest tickets of the pile, the lowest one first."""
    return [state.game.board.tickets[ticket].name for ticket in state.ticket_pile[:number]]


@pytest.mark.parametrize("answers", [(0, 1, 2), (2, 0, 1), (2, 1, 0)])
def test_in_the_set_up_tickets_go_under_the_pile_in_the_order_of_the_seats(answers: tuple[int, ...]) -> None:
    """GEN-04: the last seat's tickets are lowest, no matter who answers first."""
    state = dealt("usa", 3)
    dealt_tickets = [offered(state, seat) for seat in range(3)]
    middle = {seat: dealt_tickets[seat][seat] for seat in range(3)}
    for seat in answers:
        kept = tuple(name for name in dealt_tickets[seat] if name != middle[seat])
        play(state, seat, moves.KeepTickets(kept))
    assert from_the_bottom(state, 3) == [middle[2], middle[1], middle[0]]


@pytest.mark.parametrize(("game", "seats"), [("united_kingdom", 3), ("team_asia", 4)])
def test_of_one_seat_s_tickets_the_last_one_dealt_lies_lowest(game: str, seats: int) -> None:
    """GEN-04: however the bot names those that it keeps."""
    state = dealt(game, seats)
    back: list[str] = []
    for seat in range(seats):
        tickets = offered(state, seat)
        back += [tickets[1], tickets[3]]
        play(state, seat, moves.KeepTickets((tickets[4], tickets[0], tickets[2])))
    assert from_the_bottom(state, len(back)) == back[::-1]


@pytest.mark.parametrize(
    ("game", "seats", "kept"),
    [("usa", 2, (1,)), ("card_game", 2, ()), ("team_asia", 4, (2,)), ("usa", 2, (0, 1, 2))],
)
def test_in_a_turn_the_last_ticket_drawn_lies_lowest(game: str, seats: int, kept: tuple[int, ...]) -> None:
    """GEN-04."""
    state = started(game, seats)
    above = from_the_bottom(state, len(state.ticket_pile))
    play(state, 0, moves.DrawTickets())
    drawn = offered(state, 0)
    assert drawn == tuple(reversed(above))[: len(drawn)]
    play(state, 0, moves.KeepTickets(tuple(drawn[number] for number in kept)))
    back = [name for number, name in enumerate(drawn) if number not in kept]
    whole = from_the_bottom(state, len(state.ticket_pile))
    assert whole == back[::-1] + above[: len(above) - len(drawn)]


def test_tickets_come_up_again_in_the_order_in_which_they_were_dealt() -> None:
    """GEN-04."""
    state = started("usa", 2)
    state.ticket_pile = state.ticket_pile[-3:]
    play(state, 0, moves.DrawTickets())
    first, second, third = offered(state, 0)
    play(state, 0, moves.KeepTickets((second,)))
    play(state, 1, moves.DrawTickets())
    assert offered(state, 1) == (first, third)
    assert engine.owing(state) == (1,)
