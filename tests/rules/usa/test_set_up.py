"""The set-up of the base game: players, cards, market, tickets (USA-01 to USA-03)."""

from __future__ import annotations

from itertools import combinations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.cards import as_list, of, to_wire
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Events
from stellwerk_engine.games.usa import USA
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from stellwerk_protocol.errors import IllegalMoveError
from tests.support import all_cards, cards, dealt, listed, play, refused, started

every_table = pytest.mark.parametrize("seats", [2, 3, 4, 5])


def offered(events: Events) -> list[tuple[str, ...]]:
    """Return the tickets of each seat, as the events report them."""
    dealt_tickets: list[tuple[str, ...]] = []
    for event in events:
        if isinstance(event, ev.TicketsOffered):
            assert event.seat == len(dealt_tickets)
            assert isinstance(event.tickets, tuple)
            dealt_tickets.append(event.tickets)
    return dealt_tickets


# -- players, cards, trains --------------------------------------------------------------------------


@every_table
def test_two_to_five_play(seats: int) -> None:
    """USA-01."""
    assert len(view(started("usa", seats), PUBLIC).players) == seats


@pytest.mark.parametrize("seats", [0, 1, 6])
def test_no_other_number_plays(seats: int) -> None:
    """USA-01."""
    with pytest.raises(GameError):
        make_game(USA, shipped_board("usa"), seats)


def test_there_are_twelve_train_cards_of_each_color_and_fourteen_locomotives() -> None:
    """USA-01."""
    deck = cards(
        "12 purple, 12 blue, 12 orange, 12 white, 12 green, 12 yellow, 12 black, 12 red, 14 locomotive"
    )
    assert len(as_list(deck)) == 110
    assert all_cards(dealt("usa", 2)) == deck


def test_there_are_thirty_tickets_and_none_twice() -> None:
    """USA-01."""
    events: Events = []
    state = dealt("usa", 5, events=events)
    in_pile = [state.game.board.tickets[ticket].name for ticket in state.ticket_pile]
    in_hands = [name for names in offered(events) for name in names]
    assert len(in_pile) == 15
    assert len(set(in_pile + in_hands)) == 30


@every_table
def test_everybody_has_forty_five_trains(seats: int) -> None:
    """USA-01."""
    assert [player.trains for player in view(started("usa", seats), PUBLIC).players] == [45] * seats


# -- train cards -------------------------------------------------------------------------------------


@every_table
def test_everybody_is_dealt_four_cards_and_five_lie_open(seats: int) -> None:
    """USA-02."""
    seen = view(dealt("usa", seats), PUBLIC)
    assert [player.hand_count for player in seen.players] == [4] * seats
    assert len(as_list(dealt("usa", seats).market)) == 5
    assert seen.pile == 110 - 4 * seats - 5


@every_table
def test_each_seat_gets_its_cards_at_once_in_seat_order_and_the_market_the_next_five(seats: int) -> None:
    """USA-02: as the shuffle of `train_cards/0` lays them, from the top."""
    game_cards = as_list(all_cards(dealt("usa", seats)))
    from_the_top = Dice(seed_from_text("test")).shuffled("train_cards/0", game_cards)[::-1]
    events: Events = []
    dealt("usa", seats, events=events)
    fours = [from_the_top[4 * seat : 4 * seat + 4] for seat in range(seats)]
    market = from_the_top[4 * seats : 4 * seats + 5]
    assert events[0] == ev.PileShuffled(110, to_wire(of(game_cards)))
    assert events[1 : seats + 1] == [
        ev.CardsDealt(seat, 4, to_wire(of(four))) for seat, four in enumerate(fours)
    ]
    assert events[seats + 1] == ev.CardsLaidOpen(to_wire(of(market)))


def test_the_train_cards_are_shuffled() -> None:
    """USA-02: hands and market differ from seed to seed."""
    states = [dealt("usa", 2, seed=f"deal {number}") for number in range(20)]
    assert len({tuple(state.hands) for state in states}) == 20
    assert len({state.market for state in states}) > 10


# -- tickets -----------------------------------------------------------------------------------------


@every_table
def test_each_seat_is_dealt_three_tickets_at_once_in_seat_order(seats: int) -> None:
    """USA-02, USA-03: as the shuffle of `tickets/0` lays them, from the top."""
    events: Events = []
    tickets = dealt("usa", seats, events=events).game.board.tickets
    from_the_top = Dice(seed_from_text("test")).shuffled("tickets/0", range(30))[::-1]
    names = [tickets[ticket].name for ticket in from_the_top]
    assert offered(events) == [tuple(names[3 * seat : 3 * seat + 3]) for seat in range(seats)]


def test_the_tickets_are_shuffled() -> None:
    """USA-03."""
    assert len({tuple(dealt("usa", 2, seed=f"deal {number}").ticket_pile) for number in range(20)}) == 20


def test_any_two_or_all_three_of_the_first_tickets_may_be_kept() -> None:
    """USA-03."""
    events: Events = []
    state = dealt("usa", 2, events=events)
    first = offered(events)[0]
    choices = [*(moves.KeepTickets(pair) for pair in combinations(first, 2)), moves.KeepTickets(first)]
    assert listed(state, 0) == choices
    for choice in choices:
        assert engine.check(state.copy(), 0, choice).wire == choice


def test_fewer_than_two_of_the_first_tickets_may_not_be_kept() -> None:
    """USA-03."""
    events: Events = []
    state = dealt("usa", 2, events=events)
    first, second = offered(events)
    assert refused(state, 0, moves.KeepTickets(())) == "game.wrong_tickets"
    assert refused(state, 0, moves.KeepTickets(first[:1])) == "game.wrong_tickets"
    assert refused(state, 0, moves.KeepTickets((first[0], first[0]))) == "game.wrong_tickets"
    assert refused(state, 0, moves.KeepTickets((first[0], second[0]))) == "game.wrong_tickets"
    assert refused(state, 0, moves.KeepTickets((first[0], "atlantis-rome"))) == "game.unknown_name"


def test_the_tickets_not_kept_go_under_the_ticket_pile() -> None:
    """USA-03."""
    events: Events = []
    state = dealt("usa", 2, events=events)
    first, second = offered(events)
    above = list(state.ticket_pile)
    play(state, 0, moves.KeepTickets(first[1:]))
    play(state, 1, moves.KeepTickets(second))
    returned = state.game.board.ticket_ids[first[0]]
    assert state.ticket_pile == [returned, *above]
    assert view(state, PUBLIC).ticket_pile == 25


def test_all_choose_their_first_tickets_at_once() -> None:
    """USA-03."""
    state = dealt("usa", 5)
    assert engine.owing(state) == (0, 1, 2, 3, 4)
    for seat in (3, 0, 4, 1):
        engine.apply(state, seat, engine.fallback(state, seat))
        assert state.turn == 0
    assert engine.owing(state) == (2,)
    engine.apply(state, 2, engine.fallback(state, 2))
    assert state.turn == 1


def test_a_turn_begins_only_when_all_have_chosen() -> None:
    """USA-03."""
    state = dealt("usa", 2)
    with pytest.raises(IllegalMoveError) as raised:
        engine.check(state, 0, moves.DrawCard())
    assert raised.value.code == "game.wrong_move"


def test_what_a_ticket_says_is_secret_and_how_many_somebody_holds_is_public() -> None:
    """USA-03."""
    events: Events = []
    state = dealt("usa", 3, events=events)
    mine = offered(events)[1]
    play(state, 0, moves.KeepTickets(offered(events)[0]))
    play(state, 1, moves.KeepTickets(mine[:2]))
    play(state, 2, moves.KeepTickets(offered(events)[2]))
    assert view(state, 1).players[1].tickets == tuple(
        sorted(mine[:2], key=state.game.board.ticket_ids.__getitem__)
    )
    for viewer in (PUBLIC, 0, 2):
        assert not isinstance(view(state, viewer).players[1].tickets, tuple)
        assert not isinstance(view(state, viewer).players[1].returned, tuple)
        assert [player.ticket_count for player in view(state, viewer).players] == [3, 2, 3]


def test_tickets_are_shown_when_the_game_has_ended() -> None:
    """USA-03, USA-15."""
    state = started("usa", 2)
    held = view(state, 1).players[1].tickets
    state.turns_left = 1
    for _ in range(2):
        play(state, 0, moves.DrawCard())
    result = view(state, PUBLIC).result
    assert result
    assert {score.ticket for score in result.teams[1].tickets} == set(held or ())
