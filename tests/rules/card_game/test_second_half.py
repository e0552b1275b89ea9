"""Four players play a second half (CARD-15)."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.core.cards import ONE, as_list, of
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Events, Seat, State
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from stellwerk_protocol.results import Result
from tests.support import (
    cards,
    listed,
    play,
    play_last_turn,
    refused,
    set_hand,
    set_market,
    set_pile,
    set_stack,
    set_tickets,
    set_yard,
    started,
    wire,
)

DICE = Dice(seed_from_text("test"))  # those of `started`


def at_half_time(last: Seat = 3) -> State:
    """Ask all four which tickets to complete, after the last turn of this seat. On the stacks are nine cards,
    in the yards six. All cards that are not in hands and market are discarded."""
    state = started("card_game", 4)
    for seat, hand in enumerate(("red, 2 blue", "", "3 white", "locomotive")):
        set_hand(state, seat, hand)
        set_tickets(state, seat)
    set_market(state, "4 green, locomotive")
    set_stack(state, 0, "yellow, blue, 2 black")
    set_stack(state, 1, "blue, 4 locomotive")
    set_yard(state, 0, "2 orange", locomotives_on="2 orange")
    set_yard(state, 2, "2 purple")
    set_tickets(state, 0, "chicago-new_york-1", "chicago-new_york-2", "seattle-miami")
    set_tickets(state, 2, "dallas-helena")
    state.known[0] = cards("red")
    play_last_turn(state, last)
    return state


def with_cards_left(rest: str, market: str = "") -> State:
    """Ask all four. Seat 0's stack is this; all other cards are in the market and in seat 3's hand."""
    state = started("card_game", 4)
    for seat in range(4):
        set_hand(state, seat, "")
        set_tickets(state, seat)
    set_market(state, market)
    set_stack(state, 0, rest)
    set_pile(state)
    play_last_turn(state, 3)
    return state


def complete(state: State, *tickets: str) -> Events:
    """Seat 0 completes these tickets and nobody else any."""
    play(state, 0, moves.CompleteTickets(tickets))
    for seat in (1, 2):
        play(state, seat, moves.CompleteTickets(()))
    return play(state, 3, moves.CompleteTickets(()))


def hand_counts(state: State) -> list[int]:
    return [player.hand_count for player in view(state, PUBLIC).players]


def lay(text: str) -> moves.LayCards:
    return moves.LayCards(wire(text))


def result_of(state: State) -> Result:
    result = view(state, PUBLIC).result
    assert result is not UNSET
    return result


# -- what is kept ------------------------------------------------------------------------------------


def test_a_second_half_follows_the_first_scoring() -> None:
    """CARD-15."""
    state = at_half_time()
    assert view(state, PUBLIC).half == 1
    events = complete(state)
    assert ev.HalfStarted(2) in events
    shown = view(state, PUBLIC)
    assert shown.half == 2
    assert shown.result is UNSET
    assert shown.turns_left is UNSET
    assert engine.owing(state) == (0,)


def test_completed_tickets_stay_public_in_the_second_half() -> None:
    """CARD-13: the published rule turns them face down."""
    state = at_half_time()
    complete(state, "chicago-new_york-1")
    play(state, 0, moves.DrawCard())
    for viewer in (0, 1, 2, 3, PUBLIC):
        seen = view(state, viewer)
        assert seen.half == 2
        assert [player.completed for player in seen.players] == [("chicago-new_york-1",), (), (), ()]


def test_uncompleted_tickets_stay_in_hand_and_secret() -> None:
    """CARD-15."""
    state = at_half_time()
    complete(state, "chicago-new_york-1")
    held = view(state, 0).players[0].tickets
    assert isinstance(held, tuple)
    assert set(held) == {"chicago-new_york-2", "seattle-miami"}
    for viewer in (1, 2, 3, PUBLIC):
        shown = view(state, viewer).players[0]
        assert shown.tickets is UNSET
        assert shown.ticket_count == 2
        assert shown.completed == ("chicago-new_york-1",)


def test_hands_and_market_are_kept() -> None:
    """CARD-15."""
    state = at_half_time()
    hands = state.hands[:]
    complete(state)
    assert view(state, 0).market == wire("4 green, locomotive")
    assert hand_counts(state) == [7, 4, 7, 5]
    for seat in range(4):
        before, now = as_list(hands[seat]), as_list(state.hands[seat])
        for card in before:
            now.remove(card)
        assert len(now) == 4
    assert view(state, 1).players[0].known_cards == wire("red")


def test_all_other_cards_are_shuffled_into_the_new_pile() -> None:
    """CARD-15: used for tickets, left over on the stacks, in the yards, and the discards."""
    state = at_half_time()
    rest = state.game.board.deck - state.market - sum(state.hands)
    events = complete(state, "chicago-new_york-1", "chicago-new_york-2")
    shown = view(state, PUBLIC)
    assert shown.discards == wire("")
    assert [player.yard for player in shown.players] == [()] * 4
    assert [player.stack_count for player in shown.players] == [0] * 4
    shuffled = next(event for event in events if isinstance(event, ev.PileShuffled))
    assert shuffled.count == 96 - 5 - 7
    dealt = of(state.pile) + sum(state.hands) - cards("red, 2 blue, 3 white, locomotive")
    assert dealt == rest


def test_it_begins_with_the_second_shuffle_of_the_train_cards() -> None:
    """CARD-15, GEN-02: and the four cards are dealt one at a time, from the beginner on."""
    state = at_half_time(last=1)
    hands = state.hands[:]
    shuffled = DICE.shuffled("train_cards/1", as_list(state.game.board.deck - state.market - sum(hands)))
    complete(state)
    for number in range(16):
        hands[(2 + number) % 4] += ONE[shuffled.pop()]
    assert state.hands == hands
    assert state.pile == shuffled


def test_the_cards_dealt_are_private() -> None:
    """CARD-15."""
    state = at_half_time()
    events = complete(state)
    assert [(event.seat, event.count) for event in events if isinstance(event, ev.CardsDealt)] == [
        (0, 4),
        (1, 4),
        (2, 4),
        (3, 4),
    ]
    assert view(state, 0).players[1].hand is UNSET
    assert view(state, 0).players[1].known_cards == wire("")


def test_the_stacks_are_hidden_again() -> None:
    """CARD-15, CARD-05."""
    state = at_half_time()
    complete(state)
    set_stack(state, 0, "2 red")
    for viewer in (0, 1, PUBLIC, ALL_HANDS):
        assert view(state, viewer).players[0].stack is UNSET


# -- the market --------------------------------------------------------------------------------------


def test_the_market_is_filled_up_to_five_after_the_dealing() -> None:
    """CARD-15."""
    state = at_half_time()
    set_market(state, "2 green")
    state.discards += of(state.pile)
    state.pile = []
    rest = as_list(state.game.board.deck - state.market - sum(state.hands))
    shuffled = DICE.shuffled("train_cards/1", rest)
    complete(state)
    assert state.market == cards("2 green") + of(shuffled[-19:-16])
    assert state.pile == shuffled[:-19]


@pytest.mark.parametrize(
    ("rest", "dealt"),
    [
        ("10 red", [3, 3, 2, 2]),
        ("3 red", [1, 1, 1, 0]),
        ("10 red, 5 blue", [4, 4, 4, 3]),
        ("10 red, 6 blue", [4, 4, 4, 4]),
    ],
)
def test_the_cards_are_dealt_as_far_as_they_go(rest: str, dealt: list[int]) -> None:
    """CARD-15."""
    state = with_cards_left(rest, market="2 green")
    before = hand_counts(state)
    complete(state)
    assert [now - then for then, now in zip(before, hand_counts(state), strict=True)] == dealt
    assert view(state, 0).market == wire("2 green")
    assert view(state, 0).pile == 0


def test_the_market_is_filled_as_far_as_the_cards_go() -> None:
    """CARD-15."""
    state = with_cards_left("10 red, 8 blue", market="2 green")
    before = hand_counts(state)
    complete(state)
    assert [now - then for then, now in zip(before, hand_counts(state), strict=True)] == [4, 4, 4, 4]
    shown = view(state, 0).market
    assert shown.green == 2
    assert shown.red + shown.blue == 2


# -- who begins --------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [0, 1, 2, 3])
def test_the_left_neighbor_of_who_had_the_last_turn_begins(last: Seat) -> None:
    """CARD-15."""
    state = at_half_time(last)
    beginner = (last + 1) % 4
    events = complete(state)
    turn = next(event for event in events if isinstance(event, ev.TurnStarted))
    assert turn.seat == beginner
    order: list[Seat] = []
    for _ in range(5):
        (seat,) = engine.owing(state)
        order.append(seat)
        play(state, seat, moves.DrawCard())
        play(state, seat, moves.Stop())
    assert order == [(beginner + number) % 4 for number in range(5)]


def ended_by_a_pass() -> State:
    """Ask all four which tickets to complete, after seat 1 has passed in the last turn."""
    state = started("card_game", 4)
    for seat, hand in enumerate(("2 black, 2 red", "", "2 blue", "2 green")):
        set_hand(state, seat, hand)
    set_market(state, "")
    for seat in range(3):
        set_tickets(state, seat)
    set_tickets(state, 3, *(ticket.name for ticket in state.game.board.tickets))
    set_pile(state, "white")
    state.discards, state.hands[3] = state.hands[3] - cards("2 green"), cards("2 green")

    play(state, 0, lay("2 black"))
    play(state, 1, moves.DrawCard())
    play(state, 2, lay("2 blue"))
    play(state, 3, lay("2 green"))
    play(state, 0, lay("2 red"))
    assert listed(state, 1) == [moves.Pass()]
    play(state, 1, moves.Pass())
    return state


def test_a_pass_is_a_turn() -> None:
    """CARD-15, GEN-05: seat 1 passes in the last turn, so seat 2 begins."""
    state = ended_by_a_pass()
    complete(state)
    assert view(state, PUBLIC).half == 2
    assert engine.owing(state) == (2,)


def test_passes_and_idle_turns_are_counted_on_over_the_halves() -> None:
    """GEN-05, GEN-06: the pass that ends the first half counts in the second one, too."""
    state = ended_by_a_pass()
    before = view(state, PUBLIC)
    complete(state)
    after = view(state, PUBLIC)
    assert (before.half, after.half) == (1, 2)
    assert (before.passes, before.progress_turn) == (1, 5)
    assert (after.passes, after.progress_turn, after.turn) == (1, 5, 7)


# -- no pile -----------------------------------------------------------------------------------------


def test_if_no_pile_is_left_the_last_round_begins_at_once() -> None:
    """CARD-15."""
    state = with_cards_left("10 red, 9 blue", market="2 green")
    events = complete(state)
    assert events[-2:] == [ev.LastRound(4), ev.TurnStarted(0, 9, turns_left=4)]
    assert view(state, 0).market.green == 2
    assert view(state, 0).pile == 0
    order: list[Seat] = []
    while isinstance(view(state, PUBLIC).pending, decisions.TakeTurn):
        (seat,) = engine.owing(state)
        order.append(seat)
        play(state, seat, moves.DrawTickets())
        play(state, seat, moves.KeepTickets(()))
    assert order == [0, 1, 2, 3]
    complete(state)
    assert result_of(state).reason == "pile"


def test_with_a_pile_left_the_last_round_waits() -> None:
    """CARD-15."""
    state = with_cards_left("10 red, 10 blue", market="2 green")
    events = complete(state)
    assert not any(isinstance(event, ev.LastRound) for event in events)
    assert view(state, 0).pile == 1
    play(state, 0, moves.DrawCard())
    assert play(state, 0, moves.Stop())[-2:] == [ev.LastRound(4), ev.TurnStarted(1, 10, turns_left=4)]


# -- its end -----------------------------------------------------------------------------------------


def test_it_ends_like_the_first_and_the_game_with_it() -> None:
    """CARD-15, CARD-12, CARD-13."""
    state = at_half_time()
    complete(state)
    set_pile(state, "white")
    play(state, 0, moves.DrawCard())
    events = play(state, 0, moves.Stop())
    assert ev.LastRound(4) in events
    for seat in (1, 2, 3, 0):
        assert engine.owing(state) == (seat,)
        play(state, seat, moves.DrawTickets())
        play(state, seat, moves.KeepTickets(()))
    assert view(state, PUBLIC).pending == decisions.CompleteTickets((0, 1, 2, 3), "pile")
    events = complete(state)
    assert not any(isinstance(event, ev.HalfStarted) for event in events)
    assert result_of(state).reason == "pile"
    assert engine.owing(state) == ()


def test_the_points_of_both_halves_add_up() -> None:
    """CARD-15."""
    state = at_half_time()
    complete(state, "chicago-new_york-1")  # 5 points
    assert view(state, PUBLIC).players[0].points == 5
    set_stack(state, 0, "black, white, 2 red, orange")
    play_last_turn(state, 3)
    complete(state, "seattle-miami")  # 22 points
    shown = view(state, PUBLIC).players[0]
    assert shown.points == 27
    assert isinstance(shown.completed, tuple)
    assert set(shown.completed) == {"chicago-new_york-1", "seattle-miami"}
    scored = {ticket.ticket: ticket.points for ticket in result_of(state).teams[0].tickets}
    assert scored == {"chicago-new_york-1": 5, "chicago-new_york-2": -5, "seattle-miami": 22}


def test_cards_and_tickets_of_the_first_half_are_used_up() -> None:
    """CARD-15."""
    state = at_half_time()
    complete(state, "chicago-new_york-1")
    set_stack(state, 0, "yellow")
    play_last_turn(state, 3)
    for ticket in ("chicago-new_york-1", "chicago-new_york-2"):
        assert refused(state, 0, moves.CompleteTickets((ticket,))) == "game.wrong_tickets"


# -- no second half ----------------------------------------------------------------------------------


def test_a_game_that_stands_still_in_the_first_half_has_no_second_one() -> None:
    """CARD-15, GEN-06: tickets are scored, and that is the end."""
    state = started("card_game", 4)
    set_stack(state, 0, "yellow")
    set_tickets(state, 0, "chicago-new_york-1")
    for turn in range(40):
        assert engine.owing(state) == (turn % 4,)
        play(state, turn % 4, moves.DrawTickets())
        play(state, turn % 4, moves.KeepTickets(()))
    assert view(state, PUBLIC).pending == decisions.CompleteTickets((0, 1, 2, 3), "idle")
    events = complete(state, "chicago-new_york-1")
    assert not any(isinstance(event, ev.HalfStarted) for event in events)
    result = result_of(state)
    assert result.reason == "idle"
    assert result.teams[0].completed_tickets == 1


def test_when_all_pass_in_the_first_half_there_is_no_second_one() -> None:
    """CARD-15, GEN-05: that can only happen in the last round, and then it ends the whole game."""
    state = started("card_game", 4)
    for seat in range(3):
        set_hand(state, seat, "")
        set_tickets(state, seat)
    set_market(state, "")
    set_tickets(state, 3, *(ticket.name for ticket in state.game.board.tickets))
    set_hand(state, 3, "")
    set_pile(state, "white")
    state.discards, state.hands[3] = state.hands[3], 0
    play(state, 0, moves.DrawCard())
    for seat in (1, 2, 3, 0):
        play(state, seat, moves.Pass())
    assert view(state, PUBLIC).pending == decisions.CompleteTickets((0, 1, 2, 3), "all_passed")
    events = complete(state)
    assert not any(isinstance(event, ev.HalfStarted) for event in events)
    assert result_of(state).reason == "all_passed"
