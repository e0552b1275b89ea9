"""Who may pass, and who must (GEN-05)."""

from __future__ import annotations

import pytest

from stellwerk_engine import engine
from stellwerk_engine.core.cards import CardSet
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import (
    buy,
    cards,
    claim,
    listed,
    play,
    refused,
    set_discards,
    set_hand,
    set_market,
    set_pile,
    set_tickets,
    set_turn,
    started,
)


def with_nothing_to_do(game: str, seats: int, options: tuple[str, ...] = ()) -> State:
    """Leave no card to draw, no ticket and no open route. The cards are in the hand of the last seat."""
    state = started(game, seats, options)
    for seat in range(seats - 1):
        set_hand(state, seat, "")
    set_market(state, "")
    set_discards(state, "")
    set_pile(state)
    state.open_mask = 0
    without_tickets(state)
    return state


def without_tickets(state: State) -> None:
    """Put every ticket on the first team's holder, or, without holders, into the last seat's hand."""
    for seat in range(state.game.seat_count):
        set_tickets(state, seat)
    everything = sum(1 << ticket for ticket in state.ticket_pile)
    state.ticket_pile = []
    if state.shared_masks:
        state.shared_masks[0] |= everything
        state.shared_masks[1:] = [0] * len(state.shared_masks[1:])
    else:
        state.ticket_masks[-1] = everything


# -- who passes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "seats"), [("usa", 2), ("usa", 5), ("team_asia", 4), ("united_kingdom", 3)])
def test_who_has_no_legal_action_passes(game: str, seats: int) -> None:
    """GEN-05."""
    state = with_nothing_to_do(game, seats)
    assert listed(state, 0) == [moves.Pass()]
    assert engine.fallback(state, 0).wire == moves.Pass()
    events = play(state, 0, moves.Pass())
    assert events[0] == ev.Passed(0)
    assert engine.owing(state) == (1,)


def test_in_the_card_game_too_who_has_no_legal_action_passes() -> None:
    """GEN-05: in the last round, with one card in hand."""
    state = started("card_game", 2)
    set_hand(state, 0, "red")
    set_market(state, "")
    set_pile(state)
    without_tickets(state)
    state.turns_left = 2
    assert listed(state, 0) == [moves.Pass()]
    assert play(state, 0, moves.Pass())[0] == ev.Passed(0)
    assert engine.owing(state) == (1,)


def test_who_can_draw_a_card_may_not_pass() -> None:
    """GEN-05."""
    state = with_nothing_to_do("usa", 2)
    state.hands[1] -= cards("locomotive")
    state.market = cards("locomotive")
    assert listed(state, 0) == [moves.TakeCard("locomotive")]
    assert refused(state, 0, moves.Pass()) == "game.not_available"


def test_who_can_claim_a_route_may_not_pass() -> None:
    """GEN-05."""
    state = with_nothing_to_do("usa", 2)
    set_turn(state, 1)
    assert listed(state, 1) == [moves.Pass()]
    state.open_mask = 1 << state.game.board.route_ids["chicago-duluth"]
    assert {move.route for move in listed(state, 1) if isinstance(move, moves.ClaimRoute)} == {
        "chicago-duluth"
    }
    assert moves.Pass() not in listed(state, 1)
    assert refused(state, 1, moves.Pass()) == "game.not_available"


def test_who_can_draw_tickets_may_not_pass() -> None:
    """GEN-05."""
    state = with_nothing_to_do("usa", 2)
    state.ticket_pile, state.ticket_masks[1] = [0], state.ticket_masks[1] & ~1
    assert listed(state, 0) == [moves.DrawTickets()]
    assert refused(state, 0, moves.Pass()) == "game.not_available"


def test_who_can_share_a_ticket_may_not_pass() -> None:
    """GEN-05."""
    state = with_nothing_to_do("team_asia", 4)
    state.ticket_masks[0], state.shared_masks[0] = 1, state.shared_masks[0] & ~1
    assert moves.Pass() not in listed(state, 0)
    assert refused(state, 0, moves.Pass()) == "game.not_available"


def test_who_can_lay_cards_may_not_pass() -> None:
    """GEN-05."""
    state = started("card_game", 2)
    set_hand(state, 0, "2 red")
    set_market(state, "")
    set_pile(state)
    without_tickets(state)
    assert [type(move) for move in listed(state, 0)] == [moves.LayCards]
    assert refused(state, 0, moves.Pass()) == "game.not_available"


def test_a_pass_does_not_answer_another_question() -> None:
    """GEN-05."""
    state = started("usa", 2)
    play(state, 0, moves.DrawTickets())
    assert refused(state, 0, moves.Pass()) == "game.wrong_move"


# -- technologies ------------------------------------------------------------------------------------


def with_a_technology_to_buy() -> State:
    """Seat 0 has no action; it can buy the Stoker."""
    state = with_nothing_to_do("united_kingdom", 2)
    set_turn(state, 1)
    return state


def test_who_can_only_buy_a_technology_may_pass() -> None:
    """GEN-05: buying is not an action."""
    state = with_a_technology_to_buy()
    assert listed(state, 1)[0] == moves.Pass()
    assert any(isinstance(move, moves.BuyTechnology) for move in listed(state, 1))
    assert engine.fallback(state, 1).wire == moves.Pass()
    assert ev.Passed(1) in play(state, 1, moves.Pass())


def test_who_has_bought_a_technology_and_has_no_action_passes_then() -> None:
    """GEN-05: not while the price, which lies open now, can be taken."""
    state = with_a_technology_to_buy()
    play(state, 1, buy("mechanical_stoker", "locomotive"))
    assert view(state, PUBLIC).market.locomotive == 1
    assert refused(state, 1, moves.Pass()) == "game.not_available"
    set_market(state, "")
    set_pile(state)
    assert listed(state, 1) == [moves.Pass()]
    assert ev.Passed(1) in play(state, 1, moves.Pass())


# -- when all have passed ----------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "seats"), [("usa", 3), ("team_asia", 4), ("united_kingdom", 4)])
def test_the_game_ends_once_every_player_has_passed_in_a_row(game: str, seats: int) -> None:
    """GEN-05."""
    state = with_nothing_to_do(game, seats)
    for seat in range(seats - 1):
        play(state, seat, moves.Pass())
        assert view(state, PUBLIC).passes == seat + 1
    assert state.result is None
    ended = play(state, seats - 1, moves.Pass())[-1]
    assert isinstance(ended, ev.GameEnded)
    assert ended.result.reason == "all_passed"
    assert ended.result.turns == seats
    assert engine.owing(state) == ()


def test_in_the_card_game_passes_end_the_whole_game_in_its_first_half_too() -> None:
    """GEN-05: though the last round of the half ends with the same turn. The tickets are scored."""
    state = started("card_game", 4)
    for seat in range(4):
        set_hand(state, seat, "red")
    set_market(state, "")
    state.discards, state.pile = cards_out_of_play(state), []
    without_tickets(state)
    state.turns_left = 4
    for seat in range(4):
        play(state, seat, moves.Pass())
    assert engine.owing(state) == (0, 1, 2, 3)
    for seat in range(4):
        engine.apply(state, seat, engine.fallback(state, seat))
    assert view(state, PUBLIC).half == 1
    assert state.result
    assert state.result.reason == "all_passed"
    assert state.result.turns == 4
    assert state.result.teams[3].points < 0


def cards_out_of_play(state: State) -> CardSet:
    return state.game.board.deck - sum(state.hands)


def test_a_game_that_ends_in_passes_is_scored() -> None:
    """GEN-05."""
    state = with_nothing_to_do("usa", 2)
    set_tickets(state, 1, "seattle-new_york")
    state.ticket_pile = []
    state.points = [3, 30]
    for seat in (0, 1):
        play(state, seat, moves.Pass())
    assert state.result
    assert [team.points for team in state.result.teams] == [3, 30 - 22]
    assert state.result.ranks == (2, 1)


def test_passes_that_are_not_in_a_row_end_nothing() -> None:
    """GEN-05."""
    state = with_nothing_to_do("usa", 2)
    play(state, 0, moves.Pass())
    state.open_mask = 1 << state.game.board.route_ids["atlanta-nashville"]
    events = play(state, 1, claim("atlanta-nashville", "locomotive"))
    assert view(state, PUBLIC).passes == 0
    assert isinstance(events[-1], ev.TurnStarted)
    assert events[-1].passes == 0
