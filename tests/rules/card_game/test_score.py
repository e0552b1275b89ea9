"""The score of the card game and who wins it (CARD-16 to CARD-18)."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from stellwerk_protocol import moves
from stellwerk_protocol.results import Bonus, Result, TeamResult, TicketScore
from tests.support import play, play_last_turn, set_hand, set_stack, set_tickets, started

Tickets = tuple[str, ...]


def at_the_table(seats: int) -> State:
    """Start a game in which nobody holds anything."""
    state = started("card_game", seats)
    for seat in range(seats):
        set_hand(state, seat, "")
        set_tickets(state, seat)
    return state


def finish_half(state: State, completed: list[Tickets]) -> None:
    """Play to the scoring, where each seat completes these tickets with exactly the cards that they show."""
    board = state.game.board
    seats = range(state.game.seat_count)
    for seat in seats:
        needs = [board.tickets[board.ticket_ids[name]].needs for name in completed[seat]]
        colors = ("purple", "blue", "orange", "white", "green", "yellow", "black", "red")
        stack = [f"{sum(need[n] for need in needs)} {color}" for n, color in enumerate(colors)]
        set_stack(state, seat, ", ".join(text for text in stack if not text.startswith("0")))
    play_last_turn(state, len(seats) - 1)
    for seat in engine.owing(state):
        play(state, seat, moves.CompleteTickets(completed[seat]))


def scored(completed: list[Tickets], failed: list[Tickets] | None = None) -> Result:
    """Return the result of a game in which each seat completed some tickets and failed others."""
    state = at_the_table(len(completed))
    for seat, tickets in enumerate(completed):
        set_tickets(state, seat, *tickets, *(failed[seat] if failed else ()))
    finish_half(state, completed)
    return result_of(state)


def result_of(state: State) -> Result:
    result = view(state, PUBLIC).result
    assert result is not UNSET
    return result


def points(result: Result) -> list[int]:
    return [team.points for team in result.teams]


def big_cities(team: TeamResult) -> dict[str, int]:
    return {bonus.bonus.removeprefix("big_city:"): bonus.points for bonus in team.bonuses}


# -- tickets -----------------------------------------------------------------------------------------


def test_completed_tickets_count_for_their_value_and_the_others_against_it() -> None:
    """CARD-16."""
    result = scored([("miami-omaha",), ()], [("seattle-miami", "chicago-dallas"), ("dallas-helena",)])
    first, second = result.teams
    assert set(first.tickets) == {
        TicketScore("miami-omaha", completed=True, points=11),
        TicketScore("seattle-miami", completed=False, points=-22),
        TicketScore("chicago-dallas", completed=False, points=-6),
    }
    assert second.tickets == (TicketScore("dallas-helena", completed=False, points=-10),)
    assert first.bonuses == (Bonus("big_city:miami", 8),)
    assert points(result) == [11 - 22 - 6 + 8, -10]
    assert [team.completed_tickets for team in result.teams] == [1, 0]


def test_a_ticket_that_could_have_been_completed_and_was_not_counts_against() -> None:
    """CARD-16."""
    state = at_the_table(2)
    set_stack(state, 0, "yellow, blue")
    set_tickets(state, 0, "chicago-new_york-1")
    play_last_turn(state, 1)
    play(state, 0, moves.CompleteTickets(()))
    play(state, 1, moves.CompleteTickets(()))
    assert points(result_of(state)) == [-5, 0]


def test_only_at_the_end_do_uncompleted_tickets_count() -> None:
    """CARD-16: not after the first half, and only once."""
    state = at_the_table(4)
    set_tickets(state, 0, "miami-omaha", "seattle-toronto")
    finish_half(state, [(), (), (), ()])
    assert view(state, PUBLIC).players[0].points == 0
    finish_half(state, [("miami-omaha",), (), (), ()])
    assert points(result_of(state)) == [11 + 8 - 17, 0, 0, 0]


# -- big cities --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ticket", "city", "bonus"),
    [
        ("seattle-toronto", "seattle", 8),
        ("los_angeles-houston", "los_angeles", 12),
        ("chicago-charleston", "chicago", 12),
        ("dallas-raleigh", "dallas", 10),
        ("new_york-portland", "new_york", 15),
        ("miami-boston", "miami", 8),
    ],
)
def test_the_bonus_of_a_big_city_goes_to_who_completed_a_ticket_that_names_it(
    ticket: str, city: str, bonus: int
) -> None:
    """CARD-17."""
    first, second = scored([(), (ticket,)]).teams
    assert first.bonuses == ()
    assert second.bonuses == (Bonus(f"big_city:{city}", bonus),)
    assert second.points == bonus + second.tickets[0].points


def test_it_goes_to_who_completed_most_of_them() -> None:
    """CARD-17: the player with the most valuable one does not get it."""
    result = scored([("los_angeles-pittsburgh",), ("los_angeles-houston", "los_angeles-vancouver"), ()])
    assert [big_cities(team) for team in result.teams] == [{}, {"los_angeles": 12}, {}]
    assert points(result) == [18, 11 + 10 + 12, 0]


def test_each_of_those_who_tie_gets_all_of_it() -> None:
    """CARD-17."""
    result = scored([("seattle-toronto",), ("miami-omaha",), ("seattle-atlanta",)])
    assert [big_cities(team) for team in result.teams] == [{"seattle": 8}, {"miami": 8}, {"seattle": 8}]
    assert points(result) == [17 + 8, 11 + 8, 17 + 8]


def test_a_ticket_with_two_big_cities_counts_for_both() -> None:
    """CARD-17."""
    result = scored([("los_angeles-new_york",), ("new_york-portland",)])
    assert [big_cities(team) for team in result.teams] == [
        {"los_angeles": 12, "new_york": 15},
        {"new_york": 15},
    ]


def test_uncompleted_tickets_do_not_count_for_a_big_city() -> None:
    """CARD-17."""
    result = scored(
        [("dallas-raleigh",), ("miami-boston",)],
        [(), ("dallas-helena", "dallas-washington", "dallas-winnipeg")],
    )
    assert [big_cities(team) for team in result.teams] == [{"dallas": 10}, {"miami": 8}]


def test_nobody_gets_a_bonus_for_no_ticket() -> None:
    """CARD-17."""
    result = scored([(), ()], [("dallas-raleigh",), ()])
    assert [team.bonuses for team in result.teams] == [(), ()]
    assert points(result) == [-8, 0]


def test_the_tickets_of_both_halves_count_together() -> None:
    """CARD-17: seat 0 one in each half, seat 1 one in the second."""
    state = at_the_table(4)
    set_tickets(state, 0, "dallas-raleigh", "dallas-helena")
    set_tickets(state, 1, "dallas-winnipeg")
    finish_half(state, [("dallas-raleigh",), (), (), ()])
    assert view(state, PUBLIC).result is UNSET
    finish_half(state, [("dallas-helena",), ("dallas-winnipeg",), (), ()])
    result = result_of(state)
    assert [big_cities(team) for team in result.teams] == [{"dallas": 10}, {}, {}, {}]
    assert points(result) == [8 + 10 + 10, 11, 0, 0]


# -- who wins ----------------------------------------------------------------------------------------


def test_most_points_win() -> None:
    """CARD-18: the tie-breaks do not matter then."""
    result = scored([("chicago-dallas", "chicago-charleston"), ("new_york-portland",), ("seattle-miami",)])
    assert points(result) == [6 + 7 + 12 + 10, 21 + 15, 22 + 8 + 8]
    assert result.ranks == (3, 2, 1)


@pytest.mark.parametrize("winner", [0, 1])
def test_of_equal_points_most_completed_tickets_win(winner: int) -> None:
    """CARD-18: even with fewer bonus cards."""
    two, one = ("miami-omaha", "miami-salt_lake_city"), ("dallas-new_york",)
    result = scored([two, one] if winner == 0 else [one, two])
    assert points(result) == [36, 36]
    assert [len(team.bonuses) for team in result.teams] == ([1, 2] if winner == 0 else [2, 1])
    assert result.ranks == ((1, 2) if winner == 0 else (2, 1))


@pytest.mark.parametrize("winner", [0, 1])
def test_of_equally_many_tickets_most_bonus_cards_win(winner: int) -> None:
    """CARD-18: two bonuses against one."""
    two_bonuses, one_bonus = ("chicago-dallas",), ("miami-las_vegas",)
    result = scored([two_bonuses, one_bonus] if winner == 0 else [one_bonus, two_bonuses])
    assert points(result) == [28, 28]
    assert [team.completed_tickets for team in result.teams] == [1, 1]
    assert result.ranks == ((1, 2) if winner == 0 else (2, 1))


def test_who_is_level_in_all_of_that_shares_the_victory() -> None:
    """CARD-18, GEN-07."""
    result = scored([("dallas-winnipeg",), (), ("miami-el_paso",)])
    assert points(result) == [21, 0, 21]
    assert result.ranks == (1, 3, 1)


def test_completed_tickets_are_counted_not_all_of_them() -> None:
    """CARD-18: tickets left in hand do not break a tie."""
    result = scored([("dallas-winnipeg",), ("miami-las_vegas",)], [(), ("chicago-montreal",)])
    assert points(result) == [21, 21]
    assert result.ranks == (1, 1)
