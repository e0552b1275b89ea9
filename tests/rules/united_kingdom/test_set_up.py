"""What the game is played with, and what everybody starts with (UK-01, UK-02, UK-05, UK-06)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.cards import COLOR_NAMES, counts, from_wire, to_wire
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from stellwerk_protocol.cards import Cards
from tests.support import (
    dealt,
    play,
    refused,
    set_market,
    set_pile_top,
    set_ticket_pile_top,
    started,
    wire,
)

SEAT_COUNTS = (2, 3, 4)
every_table = pytest.mark.parametrize("seats", SEAT_COUNTS)


@pytest.mark.parametrize("seats", [0, 1, 5, 6])
def test_the_game_is_for_two_to_four(seats: int) -> None:
    """UK-01."""
    rules = RULE_SETS["united_kingdom"]
    board = shipped_board(rules.board)
    assert rules.seat_counts == SEAT_COUNTS
    with pytest.raises(GameError, match="2, 3, 4"):
        make_game(rules, board, seats)


@every_table
def test_everybody_has_35_trains(seats: int) -> None:
    """UK-01."""
    state = started("united_kingdom", seats)
    assert [player.trains for player in view(state, 0).players] == [35] * seats


def test_the_deck_has_12_cards_of_each_color_and_20_locomotives() -> None:
    """UK-01."""
    deck = dict(zip(COLOR_NAMES, counts(started("united_kingdom", 2).game.board.deck), strict=True))
    assert deck.pop("locomotive") == 20
    assert set(deck.values()) == {12}
    assert len(deck) == 8


@every_table
def test_everybody_starts_with_a_locomotive_and_four_cards(seats: int) -> None:
    """UK-02."""
    state = dealt("united_kingdom", seats)
    players = view(state, 0).players
    assert [player.hand_count for player in players] == [5] * seats


@every_table
def test_everybody_knows_of_the_locomotive_that_each_starts_with(seats: int) -> None:
    """UK-02."""
    state = dealt("united_kingdom", seats)
    for viewer in (*range(seats), PUBLIC):
        known = [player.known_cards for player in view(state, viewer).players]
        assert known == [Cards(locomotive=1)] * seats


@every_table
def test_the_locomotives_are_handed_out_before_the_shuffle_and_missing_in_it(seats: int) -> None:
    """UK-02."""
    events: list[ev.Event] = []
    dealt("united_kingdom", seats, events=events)
    assert events[:seats] == [ev.LocomotiveDealt(seat) for seat in range(seats)]
    shuffle, *deals = events[seats : 2 * seats + 1]
    assert isinstance(shuffle, ev.PileShuffled)
    assert shuffle.count == 116 - seats
    assert shuffle.may_hold.locomotive == 20 - seats
    assert [deal.count for deal in deals if isinstance(deal, ev.CardsDealt)] == [4] * seats


@every_table
def test_five_cards_lie_open_and_the_rest_is_the_pile(seats: int) -> None:
    """UK-01, UK-02."""
    state = dealt("united_kingdom", seats)
    assert sum(counts(state.market)) == 5
    assert len(state.pile) == 116 - 5 * seats - 5


@pytest.mark.parametrize("open_locomotives", [2, 3, 4])
def test_three_open_locomotives_are_not_exchanged(open_locomotives: int) -> None:
    """UK-05."""
    state = started("united_kingdom", 2)
    set_market(state, f"{open_locomotives} locomotive, {5 - open_locomotives} red")
    set_pile_top(state, "locomotive")
    events = play(state, 0, moves.TakeCard("red"))
    assert not [event for event in events if isinstance(event, ev.MarketExchanged)]
    assert state.market == from_wire(wire(f"{open_locomotives + 1} locomotive, {4 - open_locomotives} red"))


def test_three_open_locomotives_are_not_exchanged_at_set_up_either() -> None:
    """UK-05."""
    openings = (dealt("united_kingdom", 2, seed=str(seed)) for seed in range(500))
    assert any(to_wire(state.market).locomotive >= 3 for state in openings)


def test_there_are_57_tickets() -> None:
    """UK-06."""
    state = dealt("united_kingdom", 3)
    assert len(state.game.board.tickets) == 57
    assert view(state, 0).ticket_pile == 57 - 3 * 5


@every_table
def test_five_tickets_are_dealt_and_at_least_three_kept(seats: int) -> None:
    """UK-06."""
    state = dealt("united_kingdom", seats)
    for seat in range(seats):
        offered = view(state, seat).players[seat].offered
        assert isinstance(offered, tuple)
        assert len(offered) == 5
        assert refused(state, seat, moves.KeepTickets(offered[:2])) == "game.wrong_tickets"
        play(state, seat, moves.KeepTickets(offered[: 3 + seat % 3]))
    kept = [3 + seat % 3 for seat in range(seats)]
    assert [player.ticket_count for player in view(state, 0).players] == kept
    assert view(state, 0).ticket_pile == 57 - sum(kept)


def test_three_tickets_are_drawn_and_at_least_one_kept() -> None:
    """UK-06."""
    state = started("united_kingdom", 2)
    board = state.game.board
    held = state.ticket_masks[0]
    drawn = tuple(board.tickets[ticket].name for ticket in state.ticket_pile[:3])
    set_ticket_pile_top(state, *drawn)
    play(state, 0, moves.DrawTickets())
    assert view(state, 0).players[0].offered == drawn
    assert refused(state, 0, moves.KeepTickets(())) == "game.wrong_tickets"
    play(state, 0, moves.KeepTickets(drawn[1:2]))
    assert state.ticket_masks[0] == held | 1 << board.ticket_ids[drawn[1]]
    assert engine.owing(state) == (1,)
