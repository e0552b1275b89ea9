"""Which routes may be claimed, by whom, and what they bring (UK-03, UK-08, UK-11 to UK-16, UK-28, UK-33)."""

from __future__ import annotations

import pytest

from stellwerk_engine.boards.board_file import shipped_board
from stellwerk_engine.core.state import State
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.support import (
    claim,
    final_result,
    give_technology,
    listed_as,
    own,
    play,
    refusal,
    refused,
    set_hand,
    set_market,
    set_tickets,
    set_turn,
    started,
)

BOARD = shipped_board("united_kingdom")
ROUTES = {route.id: route for route in BOARD.routes}
REGION = {city.id: city.region for city in BOARD.cities}
NEW_YORK = "new_york-southampton"
CONCESSIONS = ("wales_concession", "ireland_france_concession", "scotland_concession")
FOR_ROUTES = (*CONCESSIONS, "mechanical_stoker", "superheated_steam_boiler", "propellers")
DOUBLES = sorted({(route.a, route.b) for route in BOARD.routes if route.parallel == 2})

every_table = pytest.mark.parametrize("seats", [2, 3, 4])
larger_tables = pytest.mark.parametrize("seats", [3, 4])


def rich(seats: int, *technologies: str) -> State:
    """Seat 0 can pay for every route, and has these technologies."""
    state = started("united_kingdom", seats)
    set_market(state, "5 red")
    for seat in range(seats):
        set_hand(state, seat, "")
    set_hand(state, 0, "10 locomotive")
    give_technology(state, 0, *technologies)
    return state


def allowed(*technologies: str) -> set[str]:
    """Return the routes that a player with these technologies may claim, given the cards for each.

    Only a missing technology forbids the others.
    """
    state = rich(2, *technologies)
    refusals = {
        name: refusal(state, 0, claim(name, f"{route.length} locomotive")) for name, route in ROUTES.items()
    }
    assert set(refusals.values()) <= {None, "game.missing_technology"}
    return {name for name, code in refusals.items() if code is None}


def all_but(missing: str) -> tuple[str, ...]:
    return tuple(name for name in FOR_ROUTES if name != missing)


def touching(*regions: str) -> set[str]:
    return {name for name, route in ROUTES.items() if {REGION[route.a], REGION[route.b]} & set(regions)}


def inside(*regions: str) -> set[str]:
    return {name for name, route in ROUTES.items() if {REGION[route.a], REGION[route.b]} <= set(regions)}


def of_length(*lengths: int) -> set[str]:
    return {name for name, route in ROUTES.items() if route.length in lengths}


def cities(*regions: str) -> set[str]:
    return {city for city, region in REGION.items() if region in regions}


FERRIES = {name for name, route in ROUTES.items() if route.locomotives}
AT_FIRST = (inside("england") & of_length(1, 2)) - FERRIES | {NEW_YORK}


# -- what technologies open --------------------------------------------------------------------------


def test_without_technologies_only_short_english_routes_without_water_can_be_claimed() -> None:
    """UK-08."""
    assert allowed() == AT_FIRST
    assert {"london-reading", "dover-london", "penzance-plymouth"} <= AT_FIRST
    for closed in (
        "barrow-liverpool",
        "bristol-plymouth",
        "carlisle-edinburgh",
        "birmingham-llandrindod_wells",
    ):
        assert closed not in AT_FIRST


def test_new_york_needs_no_technology_at_any_time() -> None:
    """UK-08."""
    assert NEW_YORK in allowed()
    for missing in FOR_ROUTES:
        assert NEW_YORK in allowed(missing)
        assert NEW_YORK in allowed(*all_but(missing))


def test_the_technologies_for_routes_open_the_whole_map() -> None:
    """UK-08, UK-11, UK-12, UK-13, UK-14, UK-15, UK-16."""
    assert allowed(*FOR_ROUTES) == set(ROUTES)


def test_the_wales_concession_opens_the_routes_of_the_five_welsh_cities() -> None:
    """UK-11."""
    assert cities("wales") == {"aberystwyth", "cardiff", "carmarthen", "holyhead", "llandrindod_wells"}
    assert set(ROUTES) - allowed(*all_but("wales_concession")) == touching("wales")
    opened = (touching("wales") & inside("wales", "england") & of_length(1, 2)) - FERRIES
    assert allowed("wales_concession") == AT_FIRST | opened
    assert {"aberystwyth-carmarthen", "birmingham-llandrindod_wells"} <= opened


def test_the_ireland_france_concession_opens_the_routes_of_ten_irish_cities_and_to_france() -> None:
    """UK-12."""
    assert len(cities("ireland")) == 10
    assert cities("france") == {"france_west", "france_east"}
    missing = set(ROUTES) - allowed(*all_but("ireland_france_concession"))
    assert missing == touching("ireland", "france")
    assert {"dover-france_east", "france_west-southampton-1", "france_west-southampton-2"} <= missing
    opened = (inside("ireland") & of_length(1, 2)) - FERRIES
    assert allowed("ireland_france_concession") == AT_FIRST | opened
    assert {"galway-limerick", "belfast-londonderry"} <= opened


def test_the_scotland_concession_opens_the_routes_of_the_ten_scottish_cities() -> None:
    """UK-13."""
    assert len(cities("scotland")) == 10
    assert set(ROUTES) - allowed(*all_but("scotland_concession")) == touching("scotland")
    opened = (touching("scotland") & inside("scotland", "england") & of_length(1, 2)) - FERRIES
    assert allowed("scotland_concession") == AT_FIRST | opened
    assert {"aberdeen-dundee", "carlisle-edinburgh"} <= opened


def test_a_route_that_touches_two_lands_needs_both_concessions() -> None:
    """UK-13."""
    of_land = {"wales_concession": ("wales",), "ireland_france_concession": ("ireland", "france")}
    of_land["scotland_concession"] = ("scotland",)
    others = ("mechanical_stoker", "superheated_steam_boiler", "propellers")
    two_lands = {"belfast-stranraer", "aberystwyth-rosslare", "dublin-holyhead", "londonderry-stranraer"}
    for one in CONCESSIONS:
        with_one = allowed(one, *others)
        assert with_one == inside("england", *of_land[one]) | {NEW_YORK}
        assert not two_lands & with_one
    assert "belfast-stranraer" in allowed("ireland_france_concession", "scotland_concession", "propellers")
    assert "dublin-holyhead" in allowed("wales_concession", "ireland_france_concession", "propellers")


def test_a_route_may_need_four_technologies() -> None:
    """UK-12, UK-13, UK-14, UK-16."""
    needed = ("scotland_concession", "ireland_france_concession", "mechanical_stoker", "propellers")
    assert "londonderry-stranraer" in allowed(*needed)
    for missing in needed:
        assert "londonderry-stranraer" not in allowed(*(name for name in needed if name != missing))


def test_the_mechanical_stoker_opens_routes_of_length_3() -> None:
    """UK-14."""
    assert set(ROUTES) - allowed(*all_but("mechanical_stoker")) == of_length(3)
    opened = inside("england") & of_length(3) - FERRIES
    assert allowed("mechanical_stoker") == AT_FIRST | opened
    assert "bristol-plymouth" in opened


def test_the_superheated_steam_boiler_opens_lengths_4_to_6_and_not_3() -> None:
    """UK-15."""
    assert set(ROUTES) - allowed(*all_but("superheated_steam_boiler")) == of_length(4, 5, 6)
    opened = inside("england") & of_length(4, 5, 6) - FERRIES
    assert allowed("superheated_steam_boiler") == AT_FIRST | opened
    assert "hull-norwich" in opened


def test_the_propellers_open_ferries() -> None:
    """UK-16."""
    assert set(ROUTES) - allowed(*all_but("propellers")) == FERRIES - {NEW_YORK}
    opened = inside("england") & of_length(1, 2) & FERRIES
    assert allowed("propellers") == AT_FIRST | opened
    assert opened == {"barrow-liverpool"}


def test_technologies_work_for_their_owner_only() -> None:
    """UK-08, UK-10."""
    state = rich(2, "mechanical_stoker")
    set_hand(state, 1, "3 locomotive")
    set_turn(state, 1)
    assert refused(state, 1, claim("bristol-plymouth", "3 locomotive")) == "game.missing_technology"


# -- double routes -----------------------------------------------------------------------------------


def halves(pair: tuple[str, str]) -> tuple[str, str]:
    first, second = [route.id for route in BOARD.routes if (route.a, route.b) == pair and route.parallel == 2]
    return first, second


@pytest.mark.parametrize("pair", DOUBLES, ids="-".join)
def test_with_two_players_one_half_of_a_double_route_closes_the_other(pair: tuple[str, str]) -> None:
    """UK-03."""
    for taken, other in (halves(pair), halves(pair)[::-1]):
        for owner in (0, 1):
            state = rich(2, *FOR_ROUTES)
            own(state, owner, taken)
            move = claim(other, f"{ROUTES[other].length} locomotive")
            assert refused(state, 0, move) == "game.route_taken"
            assert other not in {listed.route for listed in listed_as(state, 0, moves.ClaimRoute)}


@larger_tables
@pytest.mark.parametrize("pair", DOUBLES, ids="-".join)
def test_with_three_or_four_players_both_halves_can_be_claimed_by_different_ones(
    seats: int, pair: tuple[str, str]
) -> None:
    """UK-03."""
    first, second = halves(pair)
    state = rich(seats, *FOR_ROUTES)
    own(state, 1, first)
    play(state, 0, claim(second, f"{ROUTES[second].length} locomotive"))
    assert state.owned_masks[0] == 1 << state.game.board.route_ids[second]


@larger_tables
@pytest.mark.parametrize("pair", DOUBLES, ids="-".join)
def test_nobody_claims_both_halves_of_a_double_route(seats: int, pair: tuple[str, str]) -> None:
    """UK-03."""
    first, second = halves(pair)
    state = rich(seats, *FOR_ROUTES)
    own(state, 0, first)
    assert refused(state, 0, claim(second, f"{ROUTES[second].length} locomotive")) == "game.route_taken"


@every_table
@pytest.mark.parametrize("owner", [0, 1])
def test_the_two_routes_from_penzance_to_plymouth_are_no_double_route(seats: int, owner: int) -> None:
    """UK-33."""
    land, ferry = "penzance-plymouth", "penzance-plymouth-ferry"
    for taken, other in ((land, ferry), (ferry, land)):
        state = rich(seats, *FOR_ROUTES)
        own(state, owner, taken)
        play(state, 0, claim(other, f"{ROUTES[other].length} locomotive"))
        assert state.claimed_mask.bit_count() == 2
    assert (ROUTES[land].length, ROUTES[land].color, ROUTES[land].locomotives) == (2, "black", 0)
    assert (ROUTES[ferry].length, ROUTES[ferry].color, ROUTES[ferry].locomotives) == (3, "gray", 1)


# -- France ------------------------------------------------------------------------------------------

WEST = ("london-southampton-black", "france_west-southampton-1")
EAST = ("dover-london", "dover-france_east")


@pytest.mark.parametrize("routes", [WEST, EAST, WEST + EAST], ids=["west", "east", "both"])
def test_a_ticket_to_france_is_completed_by_reaching_either_place(routes: tuple[str, ...]) -> None:
    """UK-33."""
    state = started("united_kingdom", 2)
    set_tickets(state, 0, "london-france", "leeds-france")
    own(state, 0, *routes)
    scored = {ticket.ticket: ticket.points for ticket in final_result(state).teams[0].tickets}
    assert scored == {"london-france": 7, "leeds-france": -10}


def test_no_path_leads_from_the_west_of_france_to_the_east() -> None:
    """UK-33."""
    state = started("united_kingdom", 2)
    set_tickets(state, 0, "northampton-dover", "london-france")
    own(state, 0, "london-northampton-blue", *WEST, "dover-france_east")
    result = final_result(state).teams[0]
    assert {ticket.ticket: ticket.completed for ticket in result.tickets} == {
        "northampton-dover": False,
        "london-france": True,
    }
    assert result.longest_path == 1 + 2 + 3


# -- points ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("london-reading", 1),
        ("dover-london", 2),
        ("bristol-plymouth", 4),
        ("hull-norwich", 7),
        ("plymouth-southampton", 10),
        ("cork-penzance", 15),
        (NEW_YORK, 40),
    ],
)
def test_a_route_brings_points_by_its_length_and_new_york_40(name: str, points: int) -> None:
    """UK-28."""
    events = play(rich(2, *FOR_ROUTES), 0, claim(name, f"{ROUTES[name].length} locomotive"))
    (claimed,) = [event for event in events if isinstance(event, ev.RouteClaimed)]
    assert (claimed.points, claimed.trains) == (points, ROUTES[name].length)


def test_points_for_routes_stand_in_the_score() -> None:
    """UK-28."""
    state = rich(2)
    play(state, 0, claim(NEW_YORK, "10 locomotive"))
    assert state.points == [40, 0]
    assert state.trains == [25, 35]
    assert final_result(state).teams[0].route_points == 40
