"""What stations are good for at the end: a route of another player each (EUR-12, EUR-13)."""

from __future__ import annotations

import pytest

from stellwerk_engine.core.state import State
from stellwerk_engine.knowledge.view import PUBLIC, view
from tests.rules.europe.tables import at_turn, completed, hold, stand, used
from tests.support import final_result, own


def cut_off(seats: int = 2, *stations: str) -> State:
    """Let seat 0 own all between Paris and Wien but the middle piece, which is seat 1's."""
    state = at_turn(seats)
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-paris-white", "munchen-wien")
    own(state, 1, "frankfurt-munchen")
    stand(state, 0, *stations)
    return state


@pytest.mark.parametrize("city", ["frankfurt", "munchen"])
def test_a_station_uses_a_route_that_begins_or_ends_in_its_city(city: str) -> None:
    """EUR-12, EUR-13."""
    result = final_result(cut_off(2, city))
    assert used(result) == {city: "frankfurt-munchen"}
    assert completed(result) == {"paris-wien"}
    assert result.teams[0].completed_tickets == 1
    assert result.teams[0].points == 4 + 4 + 8 + 2 * 4 + 10


@pytest.mark.parametrize("cities", [(), ("paris",), ("wien",), ("berlin", "zurich")])
def test_elsewhere_it_does_not(cities: tuple[str, ...]) -> None:
    """EUR-12."""
    result = final_result(cut_off(2, *cities))
    assert used(result) == dict.fromkeys(cities)
    assert completed(result) == set()
    assert [ticket.points for ticket in result.teams[0].tickets] == [-8]


def test_only_claimed_routes_are_used() -> None:
    """EUR-12."""
    state = at_turn()
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-paris-white", "munchen-wien")
    stand(state, 0, "frankfurt", "munchen")
    assert used(final_result(state)) == {"frankfurt": None, "munchen": None}


def test_only_the_stations_of_the_player_count() -> None:
    """EUR-12."""
    state = cut_off()
    stand(state, 1, "munchen")
    result = final_result(state)
    assert completed(result) == set()
    assert used(result, 1) == {"munchen": None}


def test_the_one_who_claimed_the_route_loses_nothing() -> None:
    """EUR-12."""
    state = cut_off(2, "munchen")
    hold(state, 1, "berlin-roma")
    own(state, 1, "berlin-frankfurt-red", "munchen-venezia", "roma-venezia")
    result = final_result(state)
    assert completed(result) == {"paris-wien"}
    assert completed(result, 1) == {"berlin-roma"}
    assert result.teams[1].route_points == 2 + 4 + 2 + 2


def test_several_players_may_use_one_route() -> None:
    """EUR-12."""
    state = cut_off(3, "munchen")
    hold(state, 2, "marseille-essen")
    own(state, 2, "essen-frankfurt", "munchen-zurich", "marseille-zurich")
    stand(state, 2, "frankfurt")
    result = final_result(state)
    assert used(result) == {"munchen": "frankfurt-munchen"}
    assert used(result, 2) == {"frankfurt": "frankfurt-munchen"}
    assert completed(result, 2) == {"marseille-essen"}


def test_a_station_uses_the_same_route_for_all_tickets() -> None:
    """EUR-12: Wien has two that would help, one ticket each; the one of more points wins."""
    state = at_turn()
    hold(state, 0, "stockholm-wien", "paris-wien")
    own(state, 0, "kobenhavn-stockholm-white", "essen-kobenhavn-1", "berlin-essen")
    own(state, 0, "frankfurt-paris-white", "frankfurt-munchen")
    own(state, 1, "berlin-wien", "munchen-wien")
    stand(state, 0, "wien")
    result = final_result(state)
    assert used(result) == {"wien": "berlin-wien"}
    assert completed(result) == {"stockholm-wien"}


def test_one_route_may_complete_several_tickets() -> None:
    """EUR-12."""
    state = cut_off(2, "munchen")
    hold(state, 0, "paris-wien", "london-wien")
    own(state, 0, "dieppe-london-1", "dieppe-paris")
    assert completed(final_result(state)) == {"paris-wien", "london-wien"}


def test_used_routes_may_lead_on_from_one_another_and_touch_no_route_of_the_owner() -> None:
    """EUR-12: every piece of the way is another's."""
    state = at_turn()
    hold(state, 0, "paris-wien")
    own(state, 1, "frankfurt-paris-white", "frankfurt-munchen", "munchen-wien")
    stand(state, 0, "paris", "frankfurt", "wien")
    result = final_result(state)
    assert completed(result) == {"paris-wien"}
    assert used(result) == {
        "paris": "frankfurt-paris-white",
        "frankfurt": "frankfurt-munchen",
        "wien": "munchen-wien",
    }


def test_each_station_uses_one_route() -> None:
    """EUR-12: two pieces are missing at one city, and one station there does not suffice."""
    state = at_turn()
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-paris-white")
    own(state, 1, "frankfurt-munchen", "munchen-wien")
    stand(state, 0, "munchen")
    assert completed(final_result(state)) == set()
    state = at_turn()
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-paris-white")
    own(state, 1, "frankfurt-munchen", "munchen-wien")
    stand(state, 0, "munchen", "wien")
    result = final_result(state)
    assert used(result) == {"munchen": "frankfurt-munchen", "wien": "munchen-wien"}


@pytest.mark.parametrize("track", ["frankfurt-paris-orange", "frankfurt-paris-white"])
def test_of_a_double_route_the_claimed_track_is_used(track: str) -> None:
    """EUR-12."""
    state = at_turn()
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-munchen", "munchen-wien")
    own(state, 1, track)
    stand(state, 0, "paris")
    assert used(final_result(state)) == {"paris": track}


def test_of_two_tracks_of_others_the_first_of_the_board_is_used() -> None:
    """EUR-12."""
    state = at_turn(4)
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-munchen", "munchen-wien")
    own(state, 1, "frankfurt-paris-white")
    own(state, 2, "frankfurt-paris-orange")
    stand(state, 0, "paris")
    assert used(final_result(state)) == {"paris": "frankfurt-paris-orange"}


def test_tickets_that_the_own_routes_complete_use_no_station() -> None:
    """EUR-12: the fewest stations that use a route."""
    state = at_turn()
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-paris-white", "frankfurt-munchen", "munchen-wien")
    own(state, 1, "berlin-frankfurt-red", "paris-zurich")
    stand(state, 0, "paris", "frankfurt")
    assert used(final_result(state)) == {"paris": None, "frankfurt": None}


# -- the choice --------------------------------------------------------------------------------------


def test_the_most_points_come_before_the_most_tickets() -> None:
    """EUR-12: one ticket of 20 rather than two of 7 and 8."""
    state = at_turn()
    hold(state, 0, "brest-petrograd", "brest-marseille", "madrid-dieppe")
    own(state, 0, "petrograd-wilno", "warszawa-wilno", "berlin-warszawa-purple", "berlin-frankfurt-red")
    own(state, 0, "brest-paris", "dieppe-paris", "barcelona-marseille", "barcelona-madrid")
    own(state, 1, "frankfurt-paris-white", "marseille-paris")
    stand(state, 0, "paris")
    result = final_result(state)
    assert used(result) == {"paris": "frankfurt-paris-white"}
    assert completed(result) == {"brest-petrograd"}


def test_of_equal_points_the_most_tickets_are_completed() -> None:
    """EUR-12: two tickets of 5 rather than one of 10, whose route comes first on the board."""
    state = at_turn()
    hold(state, 0, "angora-kharkov", "sofia-smyrna", "rostov-erzurum")
    own(state, 0, "kharkov-kyiv", "budapest-kyiv", "budapest-sarajevo", "athina-sarajevo", "angora-smyrna")
    own(state, 0, "constantinople-sofia", "rostov-sevastopol", "constantinople-sevastopol", "angora-erzurum")
    own(state, 1, "athina-smyrna", "constantinople-smyrna")
    stand(state, 0, "smyrna")
    result = final_result(state)
    assert used(result) == {"smyrna": "constantinople-smyrna"}
    assert completed(result) == {"sofia-smyrna", "rostov-erzurum"}


def test_then_as_few_stations_as_possible_use_a_route() -> None:
    """EUR-12: the way by Wien and Zagrab would take two."""
    state = at_turn()
    hold(state, 0, "berlin-roma")
    own(state, 0, "berlin-wien", "roma-venezia", "munchen-venezia")
    own(state, 1, "munchen-wien", "venezia-zagrab", "wien-zagrab")
    stand(state, 0, "munchen", "wien", "zagrab")
    result = final_result(state)
    assert used(result) == {"munchen": "munchen-wien", "wien": None, "zagrab": None}
    assert completed(result) == {"berlin-roma"}


def test_of_two_routes_at_a_station_the_first_of_the_board_is_used() -> None:
    """EUR-12."""
    state = at_turn()
    hold(state, 0, "paris-wien")
    own(state, 0, "frankfurt-paris-white", "berlin-frankfurt-red", "frankfurt-munchen")
    own(state, 1, "munchen-wien", "berlin-wien")
    stand(state, 0, "wien")
    assert used(final_result(state)) == {"wien": "berlin-wien"}


def test_the_first_station_of_the_board_that_differs_decides() -> None:
    """EUR-12: by Wien and Zagrab, or by München and Zagrab? Each way uses two stations."""
    state = at_turn()
    hold(state, 0, "berlin-roma")
    own(state, 0, "berlin-wien", "roma-venezia")
    own(state, 1, "munchen-wien", "munchen-venezia", "venezia-zagrab", "wien-zagrab")
    stand(state, 0, "zagrab", "wien", "munchen")
    result = final_result(state)
    assert used(result) == {"munchen": "munchen-venezia", "wien": "munchen-wien", "zagrab": None}


def test_any_route_comes_before_none() -> None:
    """EUR-12: either station suffices, and that of the first city on the board uses the route."""
    result = final_result(cut_off(2, "munchen", "frankfurt"))
    assert used(result) == {"frankfurt": "frankfurt-munchen", "munchen": None}


def test_what_is_used_is_settled_and_shown_only_at_the_end() -> None:
    """EUR-12, EUR-17."""
    state = cut_off(2, "munchen")
    own(state, 1, "berlin-wien")
    assert not view(state, PUBLIC).result
    result = final_result(state)
    assert view(state, PUBLIC).result == result
    assert used(result) == {"munchen": "frankfurt-munchen"}
