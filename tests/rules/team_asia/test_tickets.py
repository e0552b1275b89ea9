"""Tickets: the first ones, more of them, and those that partners share (ASIA-09 to ASIA-11)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from stellwerk_protocol.names import TicketNames
from tests.support import (
    dealt,
    listed,
    listed_as,
    play,
    refused,
    set_ticket_pile_top,
    set_tickets,
    set_turn,
    started,
)

TOP = ("kabul-peking", "delhi-peking", "dihua-lhasa", "karachi-hanoi", "canton-madras")
HELD = ("mukden-bombay", "kashgar-harbin", "lahore-xi_an")

both_tables = pytest.mark.parametrize("seats", [4, 6])


def offered_to(state: State, seat: int) -> TicketNames:
    offered = view(state, seat).players[seat].offered
    assert isinstance(offered, tuple)
    return offered


def secret_of(state: State, seat: int) -> set[str]:
    tickets = view(state, seat).players[seat].tickets
    assert isinstance(tickets, tuple)
    return set(tickets)


def shared_by(state: State, team: int) -> set[str]:
    """Return the tickets that the first partner sees on the holder."""
    teams = view(state, 2 * team).teams
    assert isinstance(teams, tuple)
    tickets = teams[team].shared_tickets
    assert isinstance(tickets, tuple)
    return set(tickets)


def holding(*tickets: str, top: tuple[str, ...] = TOP) -> State:
    """Seat 0 has these secret tickets, and nothing is shared."""
    state = started("team_asia", 4)
    board = state.game.board
    state.ticket_pile[:0] = [
        number for number in range(len(board.tickets)) if sum(state.shared_masks) >> number & 1
    ]
    state.shared_masks = [0, 0]
    for seat in range(4):
        set_tickets(state, seat)
    set_tickets(state, 0, *tickets)
    set_ticket_pile_top(state, *top)
    return state


# -- the first tickets -------------------------------------------------------------------------------


def test_there_are_60_tickets() -> None:
    """ASIA-09."""
    state = dealt("team_asia", 4)
    assert len(state.game.board.tickets) == 60
    assert view(state, 0).ticket_pile == 60 - 4 * 5


@both_tables
def test_five_tickets_are_dealt_and_at_least_three_kept(seats: int) -> None:
    """ASIA-09."""
    state = dealt("team_asia", seats)
    for seat in range(seats):
        offered = offered_to(state, seat)
        assert len(offered) == 5
        assert refused(state, seat, moves.KeepTickets(offered[:2])) == "game.wrong_tickets"
        play(state, seat, moves.KeepTickets(offered[: 3 + seat % 3]))
    kept = [3 + seat % 3 for seat in range(seats)]
    assert [player.ticket_count for player in view(state, 0).players] == kept
    assert view(state, 0).ticket_pile == 60 - sum(kept)


@both_tables
def test_all_choose_what_to_keep_and_then_all_are_asked_at_once_which_one_to_share(seats: int) -> None:
    """ASIA-09, GEN-03."""
    state = dealt("team_asia", seats)
    everybody = tuple(range(seats))
    kept = {seat: offered_to(state, seat)[:3] for seat in everybody}
    for seat in everybody:
        assert engine.owing(state) == everybody[seat:]
        assert isinstance(view(state, 0).pending, decisions.KeepTickets)
        play(state, seat, moves.KeepTickets(kept[seat]))
    assert engine.owing(state) == everybody
    assert view(state, 0).pending == decisions.ShareTicket(everybody, (3,) * seats)
    for seat in reversed(everybody):
        assert [len(shared_by(state, team)) for team in range(seats // 2)] == [0] * (seats // 2)
        assert listed(state, seat) == [moves.ShareTickets((ticket,)) for ticket in kept[seat]]
        play(state, seat, moves.ShareTickets(kept[seat][1:2]))
    for team in range(seats // 2):
        assert shared_by(state, team) == {kept[2 * team][1], kept[2 * team + 1][1]}
    for seat in everybody:
        assert secret_of(state, seat) == {kept[seat][0], kept[seat][2]}
    assert engine.owing(state) == (0,)


def test_exactly_one_of_the_first_tickets_kept_is_shared() -> None:
    """ASIA-09."""
    state = dealt("team_asia", 4)
    first = {seat: offered_to(state, seat) for seat in range(4)}
    for seat in range(4):
        play(state, seat, moves.KeepTickets(first[seat][:4]))
    assert refused(state, 0, moves.ShareTickets(first[0][:2])) == "game.wrong_tickets"
    assert refused(state, 0, moves.ShareTickets(first[0][4:])) == "game.wrong_tickets"  # not kept
    assert refused(state, 0, moves.ShareTickets(first[1][:1])) == "game.wrong_tickets"  # the partner's
    assert refused(state, 0, moves.DrawCard()) == "game.wrong_move"
    play(state, 0, moves.ShareTickets(first[0][:1]))
    assert refused(state, 0, moves.ShareTickets(first[0][1:2])) == "game.not_asked"


# -- more tickets ------------------------------------------------------------------------------------


def test_four_tickets_are_drawn_and_at_least_one_kept() -> None:
    """ASIA-10."""
    state = holding()
    left = view(state, 0).ticket_pile
    events = play(state, 0, moves.DrawTickets())
    assert events[0] == ev.TicketsOffered(0, 4, TOP[:4])
    assert offered_to(state, 0) == TOP[:4]
    assert view(state, 0).ticket_pile == left - 4
    assert refused(state, 0, moves.KeepTickets(())) == "game.wrong_tickets"
    assert {len(move.tickets) for move in listed_as(state, 0, moves.KeepTickets)} == {1, 2, 3, 4}


def test_one_of_the_new_tickets_kept_goes_on_the_holder_and_the_others_stay_secret() -> None:
    """ASIA-10."""
    state = holding(*HELD)
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets(TOP[:3]))
    assert view(state, 0).pending == decisions.ShareTicket((0,), (3,))
    assert listed(state, 0) == [moves.ShareTickets((ticket,)) for ticket in TOP[:3]]
    play(state, 0, moves.ShareTickets(TOP[1:2]))
    assert shared_by(state, 0) == {TOP[1]}
    assert secret_of(state, 0) == {*HELD, TOP[0], TOP[2]}
    assert engine.owing(state) == (1,)


def test_the_ticket_shared_is_one_and_one_of_the_new_ones() -> None:
    """ASIA-10."""
    state = holding(*HELD)
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets(TOP[:2]))
    assert refused(state, 0, moves.ShareTickets(HELD[:1])) == "game.wrong_tickets"
    assert refused(state, 0, moves.ShareTickets(TOP[2:3])) == "game.wrong_tickets"
    assert refused(state, 0, moves.ShareTickets(TOP[:2])) == "game.wrong_tickets"
    for other in (moves.DrawCard(), moves.KeepTickets(TOP[:1]), moves.Pass(), moves.Stop()):
        assert refused(state, 0, other) == "game.wrong_move"


def test_a_single_new_ticket_goes_on_the_holder() -> None:
    """ASIA-10."""
    state = holding(*HELD)
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets(TOP[3:4]))
    assert listed(state, 0) == [moves.ShareTickets(TOP[3:4])]
    play(state, 0, moves.ShareTickets(TOP[3:4]))
    assert shared_by(state, 0) == {TOP[3]}
    assert secret_of(state, 0) == set(HELD)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_as_many_tickets_are_drawn_as_are_left(left: int) -> None:
    """ASIA-10."""
    state = holding()
    state.ticket_pile = state.ticket_pile[-left:]
    play(state, 0, moves.DrawTickets())
    assert offered_to(state, 0) == TOP[:left]
    assert view(state, 0).pending == decisions.KeepTickets((0,), left, 1)
    assert refused(state, 0, moves.KeepTickets(())) == "game.wrong_tickets"
    play(state, 0, moves.KeepTickets(TOP[:left]))
    play(state, 0, moves.ShareTickets(TOP[:1]))
    assert (shared_by(state, 0), secret_of(state, 0)) == ({TOP[0]}, set(TOP[1:left]))


def test_tickets_not_kept_go_under_the_pile() -> None:
    """ASIA-10."""
    state = holding()
    above = state.ticket_pile[:-4]
    ids = state.game.board.ticket_ids
    play(state, 0, moves.DrawTickets())
    play(state, 0, moves.KeepTickets(TOP[2:3]))
    assert state.ticket_pile == [ids[TOP[3]], ids[TOP[1]], ids[TOP[0]], *above]


# -- sharing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2])
def test_sharing_one_or_two_secret_tickets_is_a_whole_turn(number: int) -> None:
    """ASIA-11."""
    state = holding(*HELD)
    events = play(state, 0, moves.ShareTickets(HELD[:number]))
    assert [type(event) for event in events] == [ev.TicketsShared, ev.TurnStarted]
    assert shared_by(state, 0) == set(HELD[:number])
    assert secret_of(state, 0) == set(HELD[number:])
    assert engine.owing(state) == (1,)


def test_shared_tickets_are_the_teams_and_no_longer_the_players() -> None:
    """ASIA-11."""
    state = holding(*HELD)
    play(state, 0, moves.ShareTickets(HELD[:2]))
    seen = view(state, PUBLIC)
    assert isinstance(seen.teams, tuple)
    assert [player.ticket_count for player in seen.players] == [1, 0, 0, 0]
    assert [team.shared_count for team in seen.teams] == [2, 0]


def test_every_secret_ticket_and_every_two_are_offered() -> None:
    """ASIA-11."""
    state = holding(*HELD)
    assert {frozenset(move.tickets) for move in listed_as(state, 0, moves.ShareTickets)} == {
        frozenset(HELD[:1]),
        frozenset(HELD[1:2]),
        frozenset(HELD[2:]),
        frozenset(HELD[:2]),
        frozenset(HELD[1:]),
        frozenset((HELD[0], HELD[2])),
    }


@pytest.mark.parametrize("tickets", [(), HELD, (HELD[0], HELD[0]), (HELD[0], TOP[0])])
def test_neither_none_nor_three_nor_one_twice_nor_a_ticket_not_held_is_shared(tickets: TicketNames) -> None:
    """ASIA-11."""
    assert refused(holding(*HELD), 0, moves.ShareTickets(tickets)) == "game.wrong_tickets"


def test_a_ticket_that_no_board_knows_is_not_shared() -> None:
    """ASIA-11."""
    assert refused(holding(*HELD), 0, moves.ShareTickets(("berlin-peking",))) == "game.unknown_name"


def test_a_shared_ticket_and_the_partners_tickets_are_not_shared_again() -> None:
    """ASIA-11."""
    state = holding(*HELD)
    set_tickets(state, 1, TOP[0])
    play(state, 0, moves.ShareTickets(HELD[:1]))
    set_turn(state, 0)
    assert refused(state, 0, moves.ShareTickets(HELD[:1])) == "game.wrong_tickets"
    assert refused(state, 0, moves.ShareTickets(TOP[:1])) == "game.wrong_tickets"


def test_without_a_secret_ticket_there_is_nothing_to_share() -> None:
    """ASIA-11."""
    state = holding()
    state.shared_masks[0] = 1
    assert not listed_as(state, 0, moves.ShareTickets)
    assert refused(state, 0, moves.ShareTickets(TOP[:1])) == "game.not_available"


def test_with_a_single_secret_ticket_only_that_is_shared() -> None:
    """ASIA-11."""
    state = holding(HELD[0])
    assert listed_as(state, 0, moves.ShareTickets) == [moves.ShareTickets(HELD[:1])]


def test_two_of_very_many_tickets_can_be_shared_although_not_all_pairs_are_listed() -> None:
    """ASIA-11."""
    names = [ticket.name for ticket in started("team_asia", 4).game.board.tickets[:13]]
    state = holding(*names, top=())
    assert len(listed_as(state, 0, moves.ShareTickets)) == 13
    assert not engine.legal_complete(state, 0)
    play(state, 0, moves.ShareTickets((names[12], names[0])))
    assert shared_by(state, 0) == {names[0], names[12]}
