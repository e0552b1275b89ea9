"""What the game is played with, and what everybody starts with (EUR-01 to EUR-03)."""

from __future__ import annotations

from itertools import combinations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.cards import as_list
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Events
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from stellwerk_protocol.names import TicketNames
from tests.rules.europe.tables import BOARD, LONG, REGULAR, offered
from tests.support import all_cards, cards, dealt, listed, play, refused, started

SEAT_COUNTS = (2, 3, 4, 5)
every_table = pytest.mark.parametrize("seats", SEAT_COUNTS)


def offers(events: Events) -> list[tuple[int, TicketNames]]:
    """Seat and tickets of each offer."""
    all_offers: list[tuple[int, TicketNames]] = []
    for event in events:
        if isinstance(event, ev.TicketsOffered):
            assert isinstance(event.tickets, tuple)
            all_offers.append((event.seat, event.tickets))
    return all_offers


def from_the_top(label: str, names: tuple[str, ...]) -> list[str]:
    """Return the tickets in the order of the shuffle with this label."""
    ids = [number for number, ticket in enumerate(BOARD.tickets) if ticket.id in names]
    shuffled = Dice(seed_from_text("test")).shuffled(label, ids)
    return [BOARD.tickets[number].id for number in reversed(shuffled)]


# -- players, cards, pieces --------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [0, 1, 6])
def test_the_game_is_for_two_to_five(seats: int) -> None:
    """EUR-01."""
    rules = RULE_SETS["europe"]
    assert rules.seat_counts == SEAT_COUNTS
    with pytest.raises(GameError, match="2, 3, 4, 5"):
        make_game(rules, BOARD, seats)


@every_table
def test_everybody_has_45_trains_and_3_stations(seats: int) -> None:
    """EUR-01."""
    players = view(started("europe", seats), PUBLIC).players
    assert [player.trains for player in players] == [45] * seats
    assert [player.stations_left for player in players] == [3] * seats
    assert [player.stations for player in players] == [()] * seats


def test_the_deck_has_12_cards_of_each_color_and_14_locomotives() -> None:
    """EUR-01."""
    deck = cards(
        "12 purple, 12 blue, 12 orange, 12 white, 12 green, 12 yellow, 12 black, 12 red, 14 locomotive"
    )
    assert all_cards(dealt("europe", 2)) == deck


def test_there_are_40_regular_tickets_and_6_long_ones() -> None:
    """EUR-01."""
    assert (len(REGULAR), len(LONG), len(set(REGULAR + LONG))) == (40, 6, 46)
    points = {ticket.id: ticket.points for ticket in BOARD.tickets}
    assert min(points[name] for name in LONG) > max(points[name] for name in REGULAR)


@every_table
def test_everybody_is_dealt_four_cards_and_five_lie_open(seats: int) -> None:
    """EUR-02."""
    events: Events = []
    state = dealt("europe", seats, events=events)
    assert [player.hand_count for player in view(state, PUBLIC).players] == [4] * seats
    assert len(as_list(state.market)) == 5
    assert [event.seat for event in events if isinstance(event, ev.CardsDealt)] == list(range(seats))


# -- the first tickets -------------------------------------------------------------------------------


@every_table
def test_every_seat_is_dealt_a_long_ticket_and_then_three_regular_ones(seats: int) -> None:
    """EUR-03: from two shuffles, of the long tickets and of the regular ones."""
    events: Events = []
    dealt("europe", seats, events=events)
    long, regular = from_the_top("tickets/0", LONG), from_the_top("tickets/1", REGULAR)
    threes = [tuple(regular[3 * seat : 3 * seat + 3]) for seat in range(seats)]
    assert offers(events) == [
        *((seat, (long[seat],)) for seat in range(seats)),
        *((seat, three) for seat, three in enumerate(threes)),
    ]


@every_table
def test_the_train_cards_come_before_the_tickets_and_each_shuffle_before_its_deal(seats: int) -> None:
    """EUR-03."""
    events: Events = []
    dealt("europe", seats, events=events)
    kinds = [type(event) for event in events]
    set_up = [kind for kind in kinds if kind not in (ev.CardsLaidOpen, ev.MarketExchanged, ev.PileShuffled)]
    assert set_up == [
        *[ev.CardsDealt] * seats,
        ev.TicketPileShuffled,
        *[ev.TicketsOffered] * seats,
        ev.TicketsRemoved,
        ev.TicketPileShuffled,
        *[ev.TicketsOffered] * seats,
        ev.Asked,
    ]
    shuffled = [event.count for event in events if isinstance(event, ev.TicketPileShuffled)]
    assert shuffled == [6, 40]


@every_table
def test_the_long_tickets_that_are_not_dealt_leave_the_game_unseen(seats: int) -> None:
    """EUR-03."""
    events: Events = []
    state = dealt("europe", seats, events=events)
    undealt = tuple(from_the_top("tickets/0", LONG)[seats:])
    (removed,) = [event for event in events if isinstance(event, ev.TicketsRemoved)]
    assert removed.count == len(undealt) == 6 - seats
    assert set(removed.tickets or ()) == set(undealt)
    for viewer in (*range(seats), PUBLIC):
        assert redact(removed, state.game, viewer) == ev.TicketsRemoved(6 - seats)
    assert redact(removed, state.game, ALL_HANDS) == removed
    assert view(state, PUBLIC).removed_tickets == 6 - seats
    assert view(state, PUBLIC).ticket_pile == 40 - 3 * seats


def test_any_two_three_or_all_four_may_be_kept_long_or_regular() -> None:
    """EUR-03."""
    state = dealt("europe", 2)
    first = offered(state, 0)
    assert [name in LONG for name in first] == [True, False, False, False]
    choices = [moves.KeepTickets(kept) for number in (2, 3, 4) for kept in combinations(first, number)]
    assert listed(state, 0) == choices
    assert moves.KeepTickets(first[1:3]) in choices
    for kept in ((), first[:1], first[3:]):
        assert refused(state, 0, moves.KeepTickets(kept)) == "game.wrong_tickets"


def test_those_not_kept_leave_the_game_and_only_their_player_has_seen_them() -> None:
    """EUR-03: GEN-04 has no say, for nothing goes back."""
    state = dealt("europe", 2)
    pile = list(state.ticket_pile)
    first, second = offered(state, 0), offered(state, 1)
    play(state, 0, moves.KeepTickets(first[1:3]))
    events = play(state, 1, moves.KeepTickets(second))
    assert state.ticket_pile == pile
    assert events[:3] == [
        ev.TicketsKept(0, 2, 0, first[1:3], ()),
        ev.TicketsRemoved(2, 0, (first[0], first[3])),
        ev.TicketsKept(1, 4, 0, second, ()),
    ]
    assert not isinstance(events[3], ev.TicketsRemoved)
    gone = (first[0], first[3])
    assert set(view(state, 0).players[0].removed or ()) == set(gone)
    assert view(state, 1).players[1].removed == ()
    for viewer in (1, PUBLIC):
        assert not isinstance(view(state, viewer).players[0].removed, tuple)
        assert redact(events[1], state.game, viewer) == ev.TicketsRemoved(2, 0)
    assert view(state, PUBLIC).removed_tickets == 4 + 2


def test_tickets_that_left_the_game_are_never_drawn() -> None:
    """EUR-03."""
    state = started("europe", 2)
    gone = [name for seat in (0, 1) for name in view(state, seat).players[seat].removed or ()]
    assert len(gone) == 4
    drawn: list[str] = []
    while state.ticket_pile:
        seat = engine.owing(state)[0]
        play(state, seat, moves.DrawTickets())
        drawn += offered(state, seat)
        play(state, seat, moves.KeepTickets(offered(state, seat)))
    assert not set(gone) & set(drawn)
    assert not set(LONG) & set(drawn)
    assert len(drawn) == 40 - 6


def test_all_choose_their_first_tickets_at_once() -> None:
    """EUR-03, GEN-03."""
    state = dealt("europe", 5)
    assert engine.owing(state) == (0, 1, 2, 3, 4)
    for seat in (3, 0, 4, 1):
        engine.apply(state, seat, engine.fallback(state, seat))
        assert (state.turn, view(state, PUBLIC).removed_tickets) == (0, 1)
    engine.apply(state, 2, engine.fallback(state, 2))
    assert (state.turn, view(state, PUBLIC).removed_tickets) == (1, 1 + 5 * 2)


def test_what_a_ticket_says_is_secret_and_how_many_somebody_holds_is_public() -> None:
    """EUR-03."""
    state = dealt("europe", 3)
    for seat in range(3):
        play(state, seat, moves.KeepTickets(offered(state, seat)[: 2 + seat]))
    for viewer in (PUBLIC, 0, 2):
        assert not isinstance(view(state, viewer).players[1].tickets, tuple)
        assert [player.ticket_count for player in view(state, viewer).players] == [2, 3, 4]
