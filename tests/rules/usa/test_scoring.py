"""What counts at the end of the base game, and who wins (USA-15 to USA-17)."""

from __future__ import annotations

import pytest

from stellwerk_engine.core.state import State
from stellwerk_protocol.results import Bonus, TeamResult, TicketScore
from tests.support import final_result, own, set_tickets, started

LONGEST = Bonus("longest_path", 10)


def without_tickets(seats: int = 2) -> State:
    state = started("usa", seats)
    for seat in range(seats):
        set_tickets(state, seat)
    return state


def scores(state: State) -> tuple[TeamResult, ...]:
    return final_result(state).teams


# -- tickets -----------------------------------------------------------------------------------------


def test_a_completed_ticket_adds_its_value_and_another_takes_it_away() -> None:
    """USA-15."""
    state = without_tickets()
    set_tickets(state, 0, "denver-el_paso", "boston-miami")
    own(state, 0, "denver-santa_fe", "el_paso-santa_fe")
    score = scores(state)[0]
    assert score.tickets == (
        TicketScore("boston-miami", completed=False, points=-12),
        TicketScore("denver-el_paso", completed=True, points=4),
    )
    assert score.completed_tickets == 1
    assert score.route_points == 4
    assert score.points == 4 - 12 + 4 + LONGEST.points


def test_a_ticket_is_completed_only_by_the_own_routes() -> None:
    """USA-15."""
    state = without_tickets()
    set_tickets(state, 0, "denver-el_paso")
    own(state, 0, "denver-santa_fe")
    own(state, 1, "el_paso-santa_fe")
    assert scores(state)[0].tickets == (TicketScore("denver-el_paso", completed=False, points=-4),)


def test_two_networks_that_do_not_meet_complete_no_ticket() -> None:
    """USA-15."""
    state = without_tickets()
    set_tickets(state, 0, "dallas-new_york", "denver-el_paso")
    own(state, 0, "dallas-el_paso", "denver-santa_fe")
    assert not any(ticket.completed for ticket in scores(state)[0].tickets)


def test_networks_count_together_once_a_route_joins_them() -> None:
    """USA-15."""
    state = without_tickets()
    set_tickets(state, 0, "kansas_city-houston")
    own(state, 0, "dallas-houston-1", "kansas_city-oklahoma_city-1", "dallas-oklahoma_city-2")
    assert scores(state)[0].tickets == (TicketScore("kansas_city-houston", completed=True, points=5),)


def test_one_network_completes_several_tickets_by_any_way() -> None:
    """USA-15."""
    state = without_tickets()
    set_tickets(state, 0, "denver-el_paso", "dallas-new_york", "chicago-santa_fe")
    own(state, 0, "denver-oklahoma_city", "dallas-oklahoma_city-1", "dallas-el_paso")
    own(state, 0, "denver-kansas_city-black", "kansas_city-saint_louis-blue", "chicago-saint_louis-white")
    own(state, 0, "oklahoma_city-santa_fe")
    tickets = {score.ticket: score.completed for score in scores(state)[0].tickets}
    assert tickets == {"denver-el_paso": True, "dallas-new_york": False, "chicago-santa_fe": True}


def test_the_sum_may_be_negative() -> None:
    """USA-15."""
    state = without_tickets()
    set_tickets(state, 1, "seattle-new_york")
    assert scores(state)[1].points == -22


# -- the longest path --------------------------------------------------------------------------------


def test_ten_points_go_to_the_longest_path() -> None:
    """USA-16."""
    state = without_tickets(3)
    own(state, 0, "chicago-duluth")
    own(state, 1, "miami-new_orleans")
    own(state, 2, "dallas-el_paso")
    first, second, third = scores(state)
    assert (first.longest_path, second.longest_path, third.longest_path) == (3, 6, 4)
    assert (first.bonuses, second.bonuses, third.bonuses) == ((), (LONGEST,), ())
    assert second.points == 15 + 10


def test_ten_points_go_to_each_of_those_who_tie() -> None:
    """USA-16."""
    state = without_tickets(3)
    own(state, 0, "dallas-el_paso")
    own(state, 1, "chicago-duluth")
    own(state, 2, "denver-helena")
    assert [score.bonuses for score in scores(state)] == [(LONGEST,), (), (LONGEST,)]


def test_branches_do_not_count() -> None:
    """USA-16."""
    state = without_tickets()
    own(state, 0, "denver-helena", "denver-omaha", "denver-santa_fe", "denver-phoenix")
    assert scores(state)[0].longest_path == 4 + 5


def test_a_path_is_continuous() -> None:
    """USA-16: more trains in two pieces are no longer path."""
    state = without_tickets()
    own(state, 0, "chicago-duluth", "dallas-el_paso", "montreal-new_york")
    own(state, 1, "helena-omaha")
    first, second = scores(state)
    assert (first.longest_path, second.longest_path) == (4, 5)
    assert second.bonuses == (LONGEST,)


def test_a_path_may_pass_a_city_more_than_once() -> None:
    """USA-16: two rings through Denver, and a tail from it."""
    state = without_tickets()
    own(state, 0, "denver-santa_fe", "oklahoma_city-santa_fe", "denver-oklahoma_city")
    own(state, 0, "denver-helena", "helena-salt_lake_city", "denver-salt_lake_city-red")
    own(state, 0, "denver-phoenix")
    assert scores(state)[0].longest_path == (2 + 3 + 4) + (4 + 3 + 3) + 5


def test_a_ring_counts_whole() -> None:
    """USA-16."""
    state = without_tickets()
    own(state, 0, "denver-santa_fe", "oklahoma_city-santa_fe", "denver-oklahoma_city")
    assert scores(state)[0].longest_path == 9


def test_no_train_counts_twice() -> None:
    """USA-16: of the arms of a star two, however short the way back would be."""
    state = without_tickets()
    own(state, 0, "atlanta-nashville", "nashville-raleigh", "nashville-pittsburgh")
    assert scores(state)[0].longest_path == 3 + 4


def test_the_path_is_counted_in_trains_and_not_in_routes() -> None:
    """USA-16."""
    state = without_tickets()
    own(state, 0, "miami-new_orleans")
    own(state, 1, "dallas-houston-1", "dallas-oklahoma_city-1", "little_rock-oklahoma_city")
    assert [score.longest_path for score in scores(state)] == [6, 5]


def test_the_paths_of_two_players_are_not_added() -> None:
    """USA-16."""
    state = without_tickets()
    own(state, 0, "denver-helena")
    own(state, 1, "denver-santa_fe")
    assert [score.longest_path for score in scores(state)] == [4, 2]


def test_nobody_gets_the_bonus_for_length_zero() -> None:
    """USA-16."""
    assert [(score.longest_path, score.bonuses) for score in scores(without_tickets())] == [(0, ()), (0, ())]


# -- the winner --------------------------------------------------------------------------------------


def test_most_points_win() -> None:
    """USA-17."""
    state = without_tickets(4)
    state.points = [10, 30, 20, 40]
    assert final_result(state).ranks == (4, 2, 3, 1)


def test_points_count_with_tickets_and_bonus() -> None:
    """USA-17."""
    state = without_tickets()
    set_tickets(state, 1, "denver-el_paso")
    own(state, 1, "denver-santa_fe", "el_paso-santa_fe")
    state.points = [17, 4]
    result = final_result(state)
    assert [team.points for team in result.teams] == [17, 4 + 4 + 10]
    assert result.ranks == (2, 1)


def test_of_equal_points_the_one_with_more_completed_tickets_is_ahead() -> None:
    """USA-17: though the other one has the longer path."""
    state = without_tickets()
    set_tickets(state, 0, "denver-el_paso")
    own(state, 0, "denver-santa_fe", "el_paso-santa_fe")
    own(state, 1, "dallas-el_paso", "dallas-houston-1")
    state.points = [26, 20]
    result = final_result(state)
    assert [team.points for team in result.teams] == [30, 30]
    assert [team.longest_path for team in result.teams] == [4, 5]
    assert result.ranks == (1, 2)


def test_tickets_held_and_not_completed_part_nobody() -> None:
    """USA-17."""
    state = without_tickets()
    set_tickets(state, 0, "denver-el_paso")
    state.points = [24, 20]
    assert final_result(state).ranks == (1, 1)


@pytest.mark.parametrize("leader", ["miami-new_orleans", "dallas-el_paso"])
def test_then_the_one_with_the_longer_path_is_ahead_whoever_has_the_bonus(leader: str) -> None:
    """USA-17: the tied players' own lengths are compared."""
    state = without_tickets(3)
    own(state, 0, "chicago-duluth")
    own(state, 1, "denver-santa_fe")
    own(state, 2, leader)
    state.points = [20, 20, 40]
    result = final_result(state)
    assert [team.points for team in result.teams] == [20, 20, 50]
    assert result.ranks == (2, 3, 1)


def test_who_is_level_in_all_of_it_shares_the_victory() -> None:
    """USA-17."""
    state = without_tickets(3)
    own(state, 0, "chicago-duluth")
    own(state, 1, "montreal-new_york")
    own(state, 2, "denver-santa_fe")
    state.points = [20, 20, 20]
    assert final_result(state).ranks == (1, 1, 3)
