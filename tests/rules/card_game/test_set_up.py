"""What lies on the table when the card game begins (CARD-01 to CARD-03)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.cards import LOCOMOTIVE, ONE, as_list, from_wire, of, total
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Events, Seat, State
from stellwerk_engine.games.card_game import CARD_GAME
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from tests.support import all_cards, cards, dealt, listed_as, play, refused, table, wire

DECK = "10 purple, 10 blue, 10 orange, 10 white, 10 green, 10 yellow, 10 black, 10 red, 16 locomotive"
DICE = Dice(seed_from_text("test"))  # those of `dealt`

each_table = pytest.mark.parametrize("seats", [2, 3, 4])


def names(state: State, tickets: list[int]) -> list[str]:
    return [state.game.board.tickets[ticket].name for ticket in tickets]


def keep(state: State, seat: Seat, *places: int) -> Events:
    """Keep, of the tickets offered, those at these places."""
    offered = view(state, seat).players[seat].offered
    assert offered
    return play(state, seat, moves.KeepTickets(tuple(offered[place] for place in places)))


# -- what there is -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [0, 1, 5, 6])
def test_it_is_played_by_two_to_four(seats: int) -> None:
    """CARD-01."""
    assert [dealt("card_game", number).game.seat_count for number in (2, 3, 4)] == [2, 3, 4]
    with pytest.raises(GameError):
        make_game(CARD_GAME, shipped_board("card_game"), seats)


@each_table
def test_the_deck_has_ten_cards_of_each_color_and_sixteen_locomotives(seats: int) -> None:
    """CARD-01."""
    assert all_cards(dealt("card_game", seats)) == cards(DECK)


@each_table
def test_there_are_46_tickets(seats: int) -> None:
    """CARD-01."""
    state = dealt("card_game", seats)
    offered = sum(len(tickets) for tickets in state.offered)
    assert view(state, PUBLIC).ticket_pile + offered == 46
    assert len({ticket.name for ticket in state.game.board.tickets}) == 46


def test_the_six_big_cities_and_their_bonuses_are_there_for_all_to_see() -> None:
    """CARD-01: on the board, which everybody is sent."""
    bonuses = {"seattle": 8, "los_angeles": 12, "chicago": 12, "dallas": 10, "new_york": 15, "miami": 8}
    assert dict(shipped_board("card_game").big_cities) == bonuses
    assert {city.name: city.points for city in table("card_game", 2).board.big_cities} == bonuses


# -- train cards -------------------------------------------------------------------------------------


@each_table
def test_a_locomotive_and_seven_cards_are_dealt_to_each_and_five_are_laid_open(seats: int) -> None:
    """CARD-02."""
    state = dealt("card_game", seats)
    shown = view(state, PUBLIC)
    assert [player.hand_count for player in shown.players] == [8] * seats
    assert total(from_wire(shown.market)) == 5
    assert shown.pile == 96 - 8 * seats - 5
    assert shown.discards == wire("")


@each_table
def test_the_locomotives_are_dealt_before_the_others_are_shuffled(seats: int) -> None:
    """CARD-02."""
    events: Events = []
    dealt("card_game", seats, events=events)
    rest = wire(f"{DECK.removesuffix(', 16 locomotive')}, {16 - seats} locomotive")
    assert events[: seats + 1] == [
        *(ev.LocomotiveDealt(seat) for seat in range(seats)),
        ev.PileShuffled(96 - seats, rest),
    ]


@each_table
def test_everybody_knows_of_the_locomotive_and_of_nothing_else_in_a_hand(seats: int) -> None:
    """CARD-02."""
    state = dealt("card_game", seats)
    for viewer in (*range(seats), PUBLIC):
        assert [player.known_cards for player in view(state, viewer).players] == [wire("locomotive")] * seats


@each_table
def test_each_seat_gets_all_its_cards_at_once_in_seat_order_and_then_the_market_is_laid(seats: int) -> None:
    """CARD-02."""
    state = dealt("card_game", seats)
    shuffled = DICE.shuffled("train_cards/0", as_list(cards(DECK) - seats * ONE[LOCOMOTIVE]))
    for seat in range(seats):
        seven = [shuffled.pop() for _ in range(7)]
        assert state.hands[seat] == of([LOCOMOTIVE, *seven])
    assert state.market == of(shuffled.pop() for _ in range(5))
    assert state.pile == shuffled


@each_table
def test_tickets_are_dealt_six_at_once_in_seat_order(seats: int) -> None:
    """CARD-02, CARD-03."""
    state = dealt("card_game", seats)
    shuffled = DICE.shuffled("tickets/0", range(46))
    for seat in range(seats):
        six = [shuffled.pop() for _ in range(6)]
        assert view(state, seat).players[seat].offered == tuple(names(state, six))
    assert state.ticket_pile == shuffled


# -- the first tickets -------------------------------------------------------------------------------


@each_table
def test_all_choose_their_tickets_at_once(seats: int) -> None:
    """CARD-03, GEN-03."""
    state = dealt("card_game", seats)
    everybody = tuple(range(seats))
    assert engine.owing(state) == everybody
    keep(state, seats - 1, 0, 1)
    assert engine.owing(state) == everybody[:-1]
    assert view(state, 0).pending == decisions.KeepTickets(everybody, 6, 1)


@each_table
def test_nobody_learns_of_a_choice_before_all_have_chosen(seats: int) -> None:
    """CARD-03, GEN-03."""
    state = dealt("card_game", seats)
    viewers = (*range(1, seats), PUBLIC, ALL_HANDS)
    before = [view(state, viewer) for viewer in viewers]
    assert keep(state, 0, 0, 1, 2) == []
    assert [view(state, viewer) for viewer in viewers] == before


def test_the_tickets_offered_are_secret() -> None:
    """CARD-03."""
    state = dealt("card_game", 3)
    for viewer in (0, 1, PUBLIC):
        assert not view(state, viewer).players[2].offered
    keep(state, 0, 0)
    keep(state, 1, 0)
    keep(state, 2, 0, 5)
    for viewer in (0, 1, PUBLIC):
        shown = view(state, viewer).players[2]
        assert not shown.tickets
        assert shown.ticket_count == 2


@pytest.mark.parametrize("kept", [1, 2, 3, 4, 5, 6])
def test_one_to_six_tickets_are_kept_and_the_others_go_back(kept: int) -> None:
    """CARD-03."""
    state = dealt("card_game", 2)
    offered = view(state, 0).players[0].offered
    assert offered
    keep(state, 0, *range(6 - kept, 6))
    keep(state, 1, 0)
    me = view(state, 0).players[0]
    assert isinstance(me.tickets, tuple)
    assert isinstance(me.returned, tuple)
    assert set(me.tickets) == set(offered[6 - kept :])
    assert set(me.returned) == set(offered[: 6 - kept])
    assert view(state, 0).ticket_pile == 46 - 12 + (6 - kept) + 5


def test_every_choice_of_one_or_more_is_listed() -> None:
    """CARD-03."""
    state = dealt("card_game", 2)
    chosen = {frozenset(move.tickets) for move in listed_as(state, 1, moves.KeepTickets)}
    assert len(chosen) == 2**6 - 1
    assert frozenset[str]() not in chosen


def test_one_ticket_has_to_be_kept() -> None:
    """CARD-03."""
    assert refused(dealt("card_game", 2), 0, moves.KeepTickets(())) == "game.wrong_tickets"


def test_only_offered_tickets_can_be_kept_each_once() -> None:
    """CARD-03."""
    state = dealt("card_game", 2)
    own, other = state.offered[0][0], state.offered[1][0]
    mine, others = names(state, [own, other])
    assert refused(state, 0, moves.KeepTickets((others,))) == "game.wrong_tickets"
    assert refused(state, 0, moves.KeepTickets((mine, mine))) == "game.wrong_tickets"
    assert refused(state, 0, moves.KeepTickets((mine, "paris-brest"))) == "game.unknown_name"


def test_a_choice_of_tickets_is_final() -> None:
    """CARD-03."""
    state = dealt("card_game", 2)
    keep(state, 0, 0)
    tickets = names(state, list(state.offered[0]))
    assert refused(state, 0, moves.KeepTickets(tuple(tickets))) == "game.not_asked"


def test_the_ticket_pile_is_shuffled_again_once_after_all_have_chosen() -> None:
    """CARD-03."""
    state = dealt("card_game", 3)
    left = sorted([*state.ticket_pile, *state.offered[0][1:], *state.offered[1][2:], *state.offered[2][3:]])
    keep(state, 0, 0)
    keep(state, 2, 0, 1, 2)
    events = keep(state, 1, 0, 1)
    in_order = [event for event in events if isinstance(event, ev.TicketsKept | ev.TicketPileShuffled)]
    assert [(type(event), getattr(event, "seat", None)) for event in in_order] == [
        (ev.TicketsKept, 0),
        (ev.TicketsKept, 1),
        (ev.TicketsKept, 2),
        (ev.TicketPileShuffled, None),
    ]
    assert in_order[-1] == ev.TicketPileShuffled(46 - 6)
    assert state.ticket_pile == DICE.shuffled("tickets/1", left)


def test_the_ticket_pile_is_shuffled_again_when_nothing_came_back() -> None:
    """CARD-03."""
    state = dealt("card_game", 2)
    left = sorted(state.ticket_pile)
    keep(state, 0, *range(6))
    events = keep(state, 1, *range(6))
    assert ev.TicketPileShuffled(46 - 12) in events
    assert state.ticket_pile == DICE.shuffled("tickets/1", left)


@each_table
def test_after_the_tickets_seat_0_begins(seats: int) -> None:
    """CARD-03, GEN-01."""
    state = dealt("card_game", seats)
    for seat in range(seats - 1):
        keep(state, seat, 0)
    events = keep(state, seats - 1, 0)
    assert events[-1] == ev.TurnStarted(0, 1)
    assert engine.owing(state) == (0,)
