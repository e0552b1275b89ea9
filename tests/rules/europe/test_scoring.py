"""The last round, the points and the winner (EUR-11, EUR-13 to EUR-16)."""

from __future__ import annotations

import pytest

from stellwerk_engine.core.state import State
from stellwerk_protocol import moves
from stellwerk_protocol.results import Bonus, TicketScore
from tests.rules.europe.tables import at_turn, completed, hold, stand
from tests.support import final_result, own, play

LONGEST = Bonus("longest_path", 10)


def left(number: int) -> Bonus:
    """Return the points for stations that were not built."""
    return Bonus("stations_left", 4 * number)


# -- the last round ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("trains", "begins"), [(3, False), (2, True), (0, True)])
def test_the_last_round_begins_with_two_trains_left(trains: int, begins: bool) -> None:
    """EUR-11."""
    state = at_turn()
    state.trains[0] = trains
    play(state, 0, moves.DrawCard())
    play(state, 0, moves.DrawCard())
    assert state.turns_left == (2 if begins else -1)


# -- points ------------------------------------------------------------------------------------------


def test_a_completed_ticket_adds_its_value_and_another_takes_it_away() -> None:
    """EUR-13."""
    state = at_turn()
    hold(state, 0, "cadiz-stockholm", "zagrab-brindisi")
    own(state, 0, "venezia-zagrab", "roma-venezia", "brindisi-roma")
    score = final_result(state).teams[0]
    assert score.tickets == (
        TicketScore("zagrab-brindisi", completed=True, points=6),
        TicketScore("cadiz-stockholm", completed=False, points=-21),
    )
    assert score.points == 3 * 2 + 6 - 21 + 12 + 10


@pytest.mark.parametrize("built", [0, 1, 2, 3])
def test_each_station_that_was_not_built_brings_four_points(built: int) -> None:
    """EUR-14: whether or not those built are of any use."""
    state = at_turn()
    stand(state, 0, *("riga", "roma", "paris")[:built])
    first, second = final_result(state).teams
    assert first.bonuses == ((left(3 - built),) if built < 3 else ())
    assert first.points == 4 * (3 - built)
    assert second.bonuses == (left(3),)


def test_they_count_only_when_the_game_is_scored() -> None:
    """EUR-14."""
    assert at_turn().points == [0, 0]


def test_ten_points_go_to_the_longest_path_and_to_each_of_those_who_tie() -> None:
    """EUR-15."""
    state = at_turn(3)
    own(state, 0, "athina-sarajevo")
    own(state, 1, "danzig-riga")
    own(state, 2, "brest-pamplona")
    result = final_result(state)
    assert [team.longest_path for team in result.teams] == [4, 3, 4]
    assert [team.bonuses for team in result.teams] == [(LONGEST, left(3)), (left(3),), (LONGEST, left(3))]


def test_a_route_that_a_station_uses_adds_nothing_to_a_path() -> None:
    """EUR-15."""
    state = at_turn()
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-paris-white", "munchen-wien")
    own(state, 1, "frankfurt-munchen")
    stand(state, 0, "munchen")
    result = final_result(state)
    assert completed(result) == {"paris-wien"}
    assert [team.longest_path for team in result.teams] == [3, 2]


@pytest.mark.parametrize("owner", [0, 1])
def test_a_station_does_not_break_a_path(owner: int) -> None:
    """EUR-15."""
    state = at_turn()
    own(state, 0, "frankfurt-paris-white", "frankfurt-munchen", "munchen-wien")
    stand(state, owner, "frankfurt", "munchen")
    assert final_result(state).teams[0].longest_path == 3 + 2 + 3


# -- the winner --------------------------------------------------------------------------------------


def level(points: list[int]) -> State:
    """Give each team so many points before anything else is counted."""
    state = at_turn(len(points))
    state.points = points
    return state


def test_most_points_win() -> None:
    """EUR-16."""
    assert final_result(level([10, 30, 20, 40, 0])).ranks == (4, 2, 3, 1, 5)


def test_then_most_completed_tickets() -> None:
    """EUR-16: those of EUR-12 too, and though the other one built fewer stations."""
    state = level([0, 0])
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-paris-white", "munchen-wien")
    own(state, 1, "frankfurt-munchen", "athina-sarajevo")
    stand(state, 0, "munchen")
    state.points = [100 - 8 - 8, 100 - 12 - 10]
    result = final_result(state)
    assert [team.points for team in result.teams] == [100, 100]
    assert result.ranks == (1, 2)


def test_then_fewest_stations_built_used_or_not() -> None:
    """EUR-16: though the other one has the longer path."""
    state = level([0, 0])
    stand(state, 0, "riga")
    stand(state, 1, "roma", "paris")
    own(state, 1, "danzig-riga")
    state.points = [20, 20 + 4 - 10]
    result = final_result(state)
    assert [team.points for team in result.teams] == [28, 28]
    assert result.ranks == (1, 2)


@pytest.mark.parametrize("leader", ["athina-sarajevo", "brest-pamplona"])
def test_then_the_longer_path_whoever_has_the_bonus(leader: str) -> None:
    """EUR-16: the tied players' own lengths are compared."""
    state = level([0, 0, 0])
    own(state, 0, "danzig-riga")
    own(state, 1, "berlin-essen")
    own(state, 2, leader)
    state.points = [20, 20, 40]
    assert final_result(state).ranks == (2, 3, 1)


def test_who_is_level_in_all_of_it_shares_the_victory() -> None:
    """EUR-16."""
    assert final_result(level([5, 7, 7])).ranks == (3, 1, 1)
