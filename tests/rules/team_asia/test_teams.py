"""Teams, what is theirs together, and what partners do not show each other (ASIA-01 to ASIA-04)."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Events, State
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import decisions, moves
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import NO_CARDS
from tests.support import (
    cards,
    claim,
    dealt,
    final_result,
    own,
    play,
    refused,
    set_hand,
    set_holder,
    set_market,
    set_pile_top,
    set_tickets,
    set_turn,
    started,
    wire,
)

both_tables = pytest.mark.parametrize("seats", [4, 6])


def at_table(seats: int = 4) -> State:
    state = started("team_asia", seats)
    for seat in range(seats):
        set_hand(state, seat, "")
    for team in range(seats // 2):
        set_holder(state, team, "")
    set_market(state, "red, blue, green, white, black")
    return state


def as_seen(events: Events, state: State, viewer: int) -> Events:
    return [redact(event, state.game, viewer) for event in events]


# -- teams -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [0, 1, 2, 3, 5, 7, 8])
def test_the_game_is_for_four_or_six(seats: int) -> None:
    """ASIA-01."""
    rules = RULE_SETS["team_asia"]
    with pytest.raises(GameError, match="4, 6"):
        make_game(rules, shipped_board(rules.board), seats)


@pytest.mark.parametrize(("seats", "teams"), [(4, [0, 0, 1, 1]), (6, [0, 0, 1, 1, 2, 2])])
def test_neighboring_seats_are_a_team(seats: int, teams: list[int]) -> None:
    """ASIA-01."""
    state = started("team_asia", seats)
    seen = view(state, 0)
    assert [player.team for player in seen.players] == teams
    assert isinstance(seen.teams, tuple)
    assert [team.team for team in seen.teams] == sorted(set(teams))
    result = final_result(state)
    assert [team.seats for team in result.teams] == [(2 * team, 2 * team + 1) for team in sorted(set(teams))]


@both_tables
def test_partners_move_one_after_the_other(seats: int) -> None:
    """ASIA-01."""
    state = started("team_asia", seats)
    teams: list[int] = []
    for _ in range(2 * seats):
        (seat,) = engine.owing(state)
        teams.append(view(state, PUBLIC).players[seat].team)
        play(state, seat, moves.DrawTickets())
        engine.apply(state, seat, engine.fallback(state, seat))
        engine.apply(state, seat, engine.fallback(state, seat))
    assert teams == [seat // 2 for seat in range(seats)] * 2


@both_tables
def test_everybody_has_27_trains(seats: int) -> None:
    """ASIA-02."""
    assert [player.trains for player in view(started("team_asia", seats), 0).players] == [27] * seats


def test_a_claim_takes_the_trains_of_its_player_and_none_of_the_partner() -> None:
    """ASIA-02, ASIA-08."""
    state = at_table()
    set_hand(state, 0, "3 red")
    play(state, 0, claim("junction_west-kashgar", "3 red"))
    assert [player.trains for player in view(state, PUBLIC).players] == [24, 27, 27, 27]
    assert [player.routes for player in view(state, PUBLIC).players] == [
        ("junction_west-kashgar",),
        (),
        (),
        (),
    ]


def test_the_partners_trains_cannot_be_used() -> None:
    """ASIA-02, ASIA-08."""
    state = at_table()
    set_hand(state, 0, "3 red")
    state.trains[0] = 2
    assert refused(state, 0, claim("junction_west-kashgar", "3 red")) == "game.not_enough_trains"


@both_tables
def test_the_team_scores_together(seats: int) -> None:
    """ASIA-02."""
    state = at_table(seats)
    for seat in range(seats):
        set_tickets(state, seat)
    state.shared_masks = [0] * (seats // 2)
    own(state, 0, "junction_west-kashgar")  # 4 points
    own(state, 1, "cawnpore-junction_south")  # 15
    own(state, 2, "canton-foochow-blue")  # 4
    result = final_result(state)
    assert len(result.teams) == seats // 2
    assert [team.route_points for team in result.teams[:2]] == [19, 4]
    assert result.ranks[:4] == (1, 1, 2, 2)


# -- the holders -------------------------------------------------------------------------------------


def test_both_partners_see_and_use_the_cards_on_their_holder() -> None:
    """ASIA-03."""
    state = at_table()
    set_holder(state, 0, "2 red, locomotive")
    for seat in (0, 1):
        teams = view(state, seat).teams
        assert isinstance(teams, tuple)
        assert teams[0].holder == wire("2 red, locomotive")
    for seat, route in enumerate(("delhi-lahore-red", "canton-hong_kong-red")):
        set_turn(state, seat)
        play(state, seat, moves.ClaimRoute(route, holder_cards=wire("red")))
    assert state.holders[0] == cards("locomotive")


def test_opponents_and_spectators_see_only_how_many_cards_are_on_a_holder() -> None:
    """ASIA-03."""
    state = at_table(6)
    set_holder(state, 1, "2 red, locomotive")
    for viewer in (0, 1, 4, 5, PUBLIC):
        teams = view(state, viewer).teams
        assert isinstance(teams, tuple)
        assert teams[1].holder_count == 3
        assert teams[1].holder is UNSET
        assert teams[1].known_holder == NO_CARDS
    teams = view(state, ALL_HANDS).teams
    assert isinstance(teams, tuple)
    assert teams[1].holder == wire("2 red, locomotive")


def test_the_holder_of_another_team_cannot_be_used() -> None:
    """ASIA-03, ASIA-08."""
    state = at_table()
    set_holder(state, 1, "2 red")
    payment = moves.ClaimRoute("delhi-lahore-red", holder_cards=wire("red"))
    assert refused(state, 0, payment) == "game.not_enough_cards"


def test_opponents_remember_what_everybody_saw_put_on_a_holder_until_it_is_played() -> None:
    """ASIA-03."""
    state = at_table()
    set_pile_top(state, "yellow", "yellow", "red")
    play(state, 0, moves.TakeCard("red"))
    play(state, 0, moves.PlaceCard("holder"))
    play(state, 0, moves.DrawCard())  # into the hand
    play(state, 1, moves.DrawCard())  # another red card, which nobody else sees
    play(state, 1, moves.PlaceCard("holder"))
    for viewer in (2, 3, PUBLIC):
        teams = view(state, viewer).teams
        assert isinstance(teams, tuple)
        assert (teams[0].holder_count, teams[0].known_holder) == (2, wire("red"))
    play(state, 1, moves.TakeCard("blue"))
    set_turn(state, 0)
    play(state, 0, moves.ClaimRoute("delhi-lahore-red", holder_cards=wire("red")))
    teams = view(state, 2).teams
    assert isinstance(teams, tuple)
    assert (teams[0].holder_count, teams[0].known_holder) == (1, NO_CARDS)


def test_a_card_drawn_blind_onto_the_holder_is_told_to_the_partner_only() -> None:
    """ASIA-03."""
    state = at_table()
    set_pile_top(state, "red", "blue")
    play(state, 0, moves.DrawCard())
    placed = play(state, 0, moves.PlaceCard("holder"))
    assert as_seen(placed, state, 1)[0] == ev.CardPlaced(0, "holder", open=False, card="red")
    for viewer in (2, 3, PUBLIC):
        assert as_seen(placed, state, viewer)[0] == ev.CardPlaced(0, "holder", open=False)


def test_the_second_card_drawn_blind_onto_the_holder_is_told_to_the_partner_only() -> None:
    """ASIA-03."""
    state = at_table()
    set_pile_top(state, "red", "blue")
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.PlaceCard("hand"))
    drawn = play(state, 0, moves.DrawCard())
    assert as_seen(drawn, state, 1)[0] == ev.CardDrawn(0, "holder", "blue")
    for viewer in (2, 3, PUBLIC):
        assert as_seen(drawn, state, viewer)[0] == ev.CardDrawn(0, "holder")


def test_both_partners_see_the_shared_tickets_and_the_others_how_many_there_are() -> None:
    """ASIA-03."""
    state = at_table()
    set_tickets(state, 0, "kabul-peking", "delhi-peking")
    state.shared_masks = [0, 0]
    shared = play(state, 0, moves.ShareTickets(("kabul-peking",)))
    for viewer in (0, 1, ALL_HANDS):
        teams = view(state, viewer).teams
        assert isinstance(teams, tuple)
        assert teams[0].shared_tickets == ("kabul-peking",)
        assert as_seen(shared, state, viewer)[0] == ev.TicketsShared(0, 1, ("kabul-peking",))
    for viewer in (2, 3, PUBLIC):
        teams = view(state, viewer).teams
        assert isinstance(teams, tuple)
        assert (teams[0].shared_count, teams[0].shared_tickets) == (1, UNSET)
        assert as_seen(shared, state, viewer)[0] == ev.TicketsShared(0, 1)


# -- secrets between partners ------------------------------------------------------------------------


def test_a_player_does_not_see_the_partners_hand_and_tickets() -> None:
    """ASIA-04."""
    state = at_table()
    set_hand(state, 0, "3 red, locomotive")
    play(state, 0, moves.DrawTickets())
    for viewer in (1, 2, 3, PUBLIC):
        seen = view(state, viewer).players[0]
        assert seen.hand_count == 4
        assert (seen.hand, seen.tickets, seen.offered, seen.returned) == (UNSET, UNSET, UNSET, UNSET)


def test_the_partners_hand_changes_nothing_that_a_player_sees() -> None:
    """ASIA-04."""
    state = at_table()
    set_hand(state, 0, "3 red, locomotive")
    set_tickets(state, 0, "kabul-peking", "delhi-peking", "dihua-lhasa")
    seen = view(state, 1)
    set_hand(state, 0, "2 green, 2 blue")
    set_tickets(state, 0, "karachi-hanoi", "canton-madras", "mukden-bombay")
    assert view(state, 1) == seen


def test_a_player_does_not_learn_which_tickets_the_partner_chooses_from_keeps_and_holds_back() -> None:
    """ASIA-04, ASIA-10."""
    state = at_table()
    events = play(state, 0, moves.DrawTickets())
    offered = view(state, 0).players[0].offered
    assert isinstance(offered, tuple)
    events += play(state, 0, moves.KeepTickets(offered[:3]))
    assert [event for event in as_seen(events, state, 1) if not isinstance(event, ev.Asked)] == [
        ev.TicketsOffered(0, 4),
        ev.TicketsKept(0, 3, 1),
        ev.TicketsToShare(0, 3),
    ]


def test_a_player_does_not_learn_which_cards_and_tickets_the_partner_is_dealt() -> None:
    """ASIA-04, ASIA-05, ASIA-09."""
    events: Events = []
    state = dealt("team_asia", 4, events=events)
    seen = as_seen(events, state, 1)
    hands = [event.cards for event in seen if isinstance(event, ev.CardsDealt) and event.seat != 1]
    tickets = [event.tickets for event in seen if isinstance(event, ev.TicketsOffered) and event.seat != 1]
    assert hands == tickets == [UNSET] * 3


def test_a_player_does_not_see_the_partners_first_card_before_it_lies_on_the_holder() -> None:
    """ASIA-04, ASIA-06."""
    state = at_table()
    set_pile_top(state, "red", "blue")
    drawn = play(state, 0, moves.DrawCard())
    assert as_seen(drawn, state, 0) == drawn
    asked = decisions.PlaceCard((0,), open=False)
    assert as_seen(drawn, state, 1) == [ev.CardDrawn(0), ev.Asked(asked)]
    assert view(state, 1).pending == asked
    placed = play(state, 0, moves.PlaceCard("hand"))
    assert as_seen(placed, state, 1)[0] == ev.CardPlaced(0, "hand", open=False)


def test_there_is_no_move_that_says_anything_to_the_partner() -> None:
    """ASIA-04."""
    state = at_table()
    set_hand(state, 0, "2 red")
    set_holder(state, 0, "red")
    set_tickets(state, 0, "kabul-peking")
    assert {type(move.wire) for move in engine.legal(state, 0)} == {
        moves.DrawCard,
        moves.TakeCard,
        moves.ClaimRoute,
        moves.DrawTickets,
        moves.ShareTickets,
    }
    assert refused(state, 1, moves.DrawCard()) == "game.not_asked"
