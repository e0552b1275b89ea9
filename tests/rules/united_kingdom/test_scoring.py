"""Points and the end of the game (UK-18 to UK-20, UK-24, UK-25, UK-28, UK-29, UK-31)."""

from __future__ import annotations

import pytest

from stellwerk_engine.core.state import State
from stellwerk_protocol import moves
from stellwerk_protocol.results import TeamResult
from tests.support import (
    buy,
    claim,
    final_result,
    give_technology,
    own,
    play,
    set_hand,
    set_market,
    set_tickets,
    set_turn,
    started,
)

NEW_YORK = "new_york-southampton"
FOR_ROUTES = (
    "wales_concession",
    "ireland_france_concession",
    "scotland_concession",
    "mechanical_stoker",
    "superheated_steam_boiler",
    "propellers",
)


def at_table(*technologies: str, hand: str = "10 locomotive", seats: int = 2) -> State:
    """Start seat 0's turn; nobody has tickets."""
    state = started("united_kingdom", seats, ("advanced_technologies",))
    set_market(state, "red, blue, green, white, black")
    for seat in range(seats):
        set_hand(state, seat, "")
        set_tickets(state, seat)
    set_hand(state, 0, hand)
    give_technology(state, 0, *technologies)
    return state


def points_for(route: str, length: int, *technologies: str) -> int:
    state = at_table(*FOR_ROUTES, *technologies)
    play(state, 0, claim(route, f"{length} locomotive"))
    return state.points[0]


def bonuses(team: TeamResult) -> dict[str, int]:
    return {bonus.bonus: bonus.points for bonus in team.bonuses}


# -- more points for routes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "length", "points", "is_ferry"),
    [
        ("london-reading", 1, 1, False),
        ("hull-norwich", 4, 7, False),
        ("barrow-liverpool", 1, 1, True),
        ("stornoway-wick", 5, 10, True),  # two symbols, and still one ferry
        ("cork-penzance", 6, 15, True),
    ],
)
def test_lagging_brings_1_for_each_route_and_turbines_2_for_each_ferry(
    route: str, length: int, points: int, is_ferry: bool
) -> None:
    """UK-18, UK-19."""
    assert points_for(route, length) == points
    assert points_for(route, length, "boiler_lagging") == points + 1
    assert points_for(route, length, "steam_turbines") == points + (2 if is_ferry else 0)
    both = points_for(route, length, "boiler_lagging", "steam_turbines")
    assert both == points + (3 if is_ferry else 1)


def test_lagging_and_turbines_count_for_new_york() -> None:
    """UK-31."""
    assert points_for(NEW_YORK, 10) == 40
    assert points_for(NEW_YORK, 10, "boiler_lagging") == 41
    assert points_for(NEW_YORK, 10, "steam_turbines") == 42
    assert points_for(NEW_YORK, 10, "boiler_lagging", "steam_turbines") == 43


def test_routes_claimed_before_bring_nothing_more() -> None:
    """UK-18, UK-19."""
    state = at_table("propellers", hand="8 locomotive")
    play(state, 0, claim("barrow-liverpool", "locomotive"))
    assert state.points[0] == 1
    set_turn(state, 0)
    play(state, 0, buy("boiler_lagging", "2 locomotive"))
    assert state.points[0] == 1
    play(state, 0, claim("london-reading", "locomotive"))
    assert state.points[0] == 1 + 2
    set_turn(state, 0)
    play(state, 0, buy("steam_turbines", "2 locomotive"))
    assert state.points[0] == 1 + 2
    play(state, 0, claim("brighton-london", "locomotive"))
    assert state.points[0] == 1 + 2 + 2
    assert final_result(state).teams[0].points == 5


@pytest.mark.parametrize(("bought", "points"), [("boiler_lagging", 2), ("steam_turbines", 3)])
def test_they_count_already_in_the_turn_in_which_they_are_bought(bought: str, points: int) -> None:
    """UK-18, UK-19."""
    state = at_table("propellers", hand="3 locomotive")
    play(state, 0, buy(bought, "2 locomotive"))
    play(state, 0, claim("barrow-liverpool", "locomotive"))
    assert state.points[0] == points


def test_only_their_owner_gets_the_points() -> None:
    """UK-18, UK-19."""
    state = at_table("propellers")
    give_technology(state, 1, "boiler_lagging", "steam_turbines")
    play(state, 0, claim("barrow-liverpool", "locomotive"))
    assert state.points == [1, 0]


def test_they_count_for_a_route_that_is_shared_too() -> None:
    """UK-18, UK-19, UK-21."""
    state = at_table("propellers", "boiler_lagging", "steam_turbines")
    own(state, 1, "barrow-liverpool")
    play(state, 0, buy("right_of_way", "4 locomotive"))
    play(state, 0, claim("barrow-liverpool", "locomotive"))
    assert state.points == [4, 1]


def test_they_count_for_both_claims_of_one_turn() -> None:
    """UK-18, UK-22."""
    state = at_table("boiler_lagging")
    play(state, 0, buy("thermocompressor", "locomotive"))
    play(state, 0, claim("london-reading", "locomotive"))
    play(state, 0, claim("ipswich-norwich", "locomotive"))
    assert state.points[0] == 4


# -- Double Heading ----------------------------------------------------------------------------------


def test_double_heading_brings_2_for_each_completed_ticket() -> None:
    """UK-20."""
    state = at_table("double_heading")
    set_tickets(state, 0, "london-brighton", "cambridge-london", "plymouth-reading")
    own(state, 0, "brighton-london", "cambridge-london-orange")
    team = final_result(state).teams[0]
    assert bonuses(team) == {"double_heading": 4}
    assert team.points == 1 + 1 + 3 + 3 - 5 + 4


def test_double_heading_brings_nothing_for_failed_tickets() -> None:
    """UK-20."""
    state = at_table("double_heading")
    set_tickets(state, 0, "plymouth-reading")
    team = final_result(state).teams[0]
    assert sum(bonuses(team).values()) == 0
    assert team.points == -5


def test_each_owner_has_double_heading_and_nobody_else() -> None:
    """UK-20."""
    state = at_table("double_heading", seats=3)
    give_technology(state, 1, "double_heading")
    own(state, 0, "brighton-london", "cambridge-london-orange")
    own(state, 1, "leeds-manchester-red")
    own(state, 2, "ipswich-norwich")
    set_tickets(state, 0, "london-brighton", "cambridge-london")
    set_tickets(state, 1, "leeds-manchester")
    set_tickets(state, 2, "norwich-ipswich")
    teams = final_result(state).teams
    assert [sum(bonuses(team).values()) for team in teams] == [4, 2, 0]
    assert [team.points for team in teams] == [2 + 6 + 4, 1 + 1 + 2, 1 + 1]


# -- Risky Contracts ---------------------------------------------------------------------------------


def with_completed(first: int, second: int) -> State:
    """Let seats 0 and 1 complete so many tickets, up to 2. Each has a failed one, too."""
    state = at_table()
    own(state, 0, "brighton-london", "cambridge-london-orange")
    own(state, 1, "leeds-manchester-red", "ipswich-norwich")
    set_tickets(state, 0, "plymouth-reading", *("london-brighton", "cambridge-london")[:first])
    set_tickets(state, 1, "penzance-london", *("leeds-manchester", "norwich-ipswich")[:second])
    return state


@pytest.mark.parametrize(
    ("own_tickets", "other_tickets", "points"),
    [(2, 1, 20), (1, 0, 20), (1, 1, 20), (2, 2, 20), (1, 2, -20), (0, 1, -20), (0, 0, -20)],
)
def test_risky_contracts_win_or_lose_20_by_completed_tickets(
    own_tickets: int, other_tickets: int, points: int
) -> None:
    """UK-24."""
    without = final_result(with_completed(own_tickets, other_tickets)).teams
    state = with_completed(own_tickets, other_tickets)
    give_technology(state, 0, "risky_contracts")
    team, other = final_result(state).teams
    assert bonuses(team) == {"risky_contracts": points}
    assert team.points == without[0].points + points
    assert other.points == without[1].points
    assert bonuses(other) == {}


def test_risky_contracts_count_completed_tickets_and_not_held_ones() -> None:
    """UK-24."""
    state = at_table("risky_contracts")
    own(state, 0, "brighton-london")
    set_tickets(state, 0, "london-brighton")
    set_tickets(state, 1, "penzance-london", "cork-leeds", "leeds-france")
    assert bonuses(final_result(state).teams[0]) == {"risky_contracts": 20}


def test_risky_contracts_are_lost_to_any_player_with_more_tickets() -> None:
    """UK-24."""
    state = at_table("risky_contracts", seats=4)
    own(state, 0, "brighton-london")
    set_tickets(state, 0, "london-brighton")
    own(state, 3, "leeds-manchester-red", "ipswich-norwich")
    set_tickets(state, 3, "leeds-manchester", "norwich-ipswich")
    assert [bonuses(team) for team in final_result(state).teams] == [{"risky_contracts": -20}, {}, {}, {}]


# -- Equalising Beam ---------------------------------------------------------------------------------

SHORT, LONG = ("brighton-london",), ("leeds-liverpool", "barrow-liverpool")  # 1; 2 + 1 in a row
OF_THREE = ("dover-london", "london-reading")


@pytest.mark.parametrize(
    ("mine", "theirs", "points"),
    [
        (OF_THREE, SHORT, -15),
        (SHORT, (), 15),
        (("dover-london",), ("leeds-liverpool",), 15),
        (SHORT, ("leeds-liverpool",), -15),
        ((), SHORT, -15),
        ((), (), -15),
    ],
)
def test_the_equalising_beam_wins_or_loses_15_by_the_longest_path(
    mine: tuple[str, ...], theirs: tuple[str, ...], points: int
) -> None:
    """UK-25."""
    state = at_table("equalising_beam")
    own(state, 0, *mine)
    own(state, 1, *theirs)
    if mine == OF_THREE:
        own(state, 1, "cambridge-london-orange", "cambridge-nottingham")  # 1 + 1 + 2
    team, other = final_result(state).teams
    assert bonuses(team) == {"equalising_beam": points}
    assert team.points == team.route_points + points
    assert bonuses(other) == {}


def test_the_equalising_beam_asks_for_a_continuous_path() -> None:
    """UK-25."""
    state = at_table("equalising_beam")
    own(state, 0, "dover-london", "leeds-liverpool", "penzance-plymouth")  # 6 trains, in three places
    own(state, 1, "brighton-london", "london-southampton-black")  # 1 + 2 in a row
    assert bonuses(final_result(state).teams[0]) == {"equalising_beam": -15}


def test_both_stakes_may_be_held_and_are_scored_apart() -> None:
    """UK-24, UK-25."""
    state = at_table("risky_contracts", "equalising_beam")
    own(state, 0, "brighton-london")
    set_tickets(state, 0, "london-brighton")
    own(state, 1, "leeds-liverpool")
    assert bonuses(final_result(state).teams[0]) == {"risky_contracts": 20, "equalising_beam": -15}


# -- no other bonus, and ties ------------------------------------------------------------------------


def test_there_is_no_bonus_for_the_longest_path_or_anything_else() -> None:
    """UK-29."""
    state = at_table()
    own(state, 0, "leeds-liverpool", "brighton-london", "dover-london", "london-reading")
    set_tickets(state, 0, "london-brighton")
    team, other = final_result(state).teams
    assert (bonuses(team), bonuses(other)) == ({}, {})
    assert team.points == 2 + 1 + 2 + 1 + 3
    assert team.longest_path == 3


def test_of_equal_points_more_completed_tickets_win() -> None:
    """UK-29."""
    state = at_table()
    own(state, 0, "brighton-london")  # 1 + 3
    set_tickets(state, 0, "london-brighton")
    own(state, 1, "leeds-liverpool", "dover-london")  # 2 + 2, and the longer path
    result = final_result(state)
    assert [team.points for team in result.teams] == [4, 4]
    assert result.ranks == (1, 2)


def test_of_equal_points_and_tickets_the_longer_path_wins() -> None:
    """UK-29."""
    state = at_table()
    own(state, 0, "leeds-liverpool", "penzance-plymouth")
    own(state, 1, "dover-london", "london-southampton-black")
    result = final_result(state)
    assert [team.points for team in result.teams] == [4, 4]
    assert [team.longest_path for team in result.teams] == [2, 4]
    assert result.ranks == (2, 1)


def test_what_no_tie_break_parts_is_shared() -> None:
    """UK-29."""
    state = at_table(seats=3)
    own(state, 1, "dover-london")
    own(state, 2, "leeds-liverpool")
    assert final_result(state).ranks == (3, 1, 1)


def test_technologies_count_before_the_tie_breaks() -> None:
    """UK-29, UK-20."""
    state = at_table("double_heading")
    own(state, 0, "brighton-london")
    set_tickets(state, 0, "london-brighton")  # 1 + 3 + 2
    own(state, 1, "leeds-liverpool", "dover-london", "ipswich-norwich")  # 5
    assert final_result(state).ranks == (1, 2)


def test_points_that_technologies_bring_are_counted_once() -> None:
    """UK-18, UK-28."""
    state = at_table("boiler_lagging", hand="3 locomotive")
    play(state, 0, claim("dover-london", "2 locomotive"))
    play(state, 1, moves.DrawTickets())
    team = final_result(state).teams[0]
    assert (team.route_points, team.points) == (3, 3)
