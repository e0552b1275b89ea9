"""When the planner builds a station, and where."""

from __future__ import annotations

from stellwerk_bots.planner.network_plan import Stations, make_plan
from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine
from stellwerk_engine.core.board import mask_of
from stellwerk_engine.core.state import State
from stellwerk_protocol import moves
from tests.rules.europe.tables import at_turn, hold, stand
from tests.support import own, set_hand

ALL_CITIES = (1 << 47) - 1


def cut_off() -> State:
    """Seat 0 needs Brest, and seat 1 has all that leads there."""
    state = at_turn(2, "3 green")
    hold(state, 0, "brest-marseille")
    own(state, 0, "marseille-paris", "marseille-zurich")
    own(state, 1, "brest-paris", "brest-dieppe", "brest-pamplona")
    return state


def chosen(state: State) -> moves.Move:
    return planner(state, 0, engine.legal(state, 0)).wire


def test_a_ticket_that_others_have_cut_off_is_worth_a_station() -> None:
    move = chosen(cut_off())
    assert isinstance(move, moves.BuildStation)
    assert move.city in ("brest", "paris")


def test_with_the_station_the_ticket_is_done() -> None:
    state = cut_off()
    stand(state, 0, "paris")
    assert not isinstance(chosen(state), moves.BuildStation)


def test_a_ticket_that_can_be_connected_takes_no_station() -> None:
    state = at_turn(2, "3 green")
    hold(state, 0, "brest-marseille")
    own(state, 0, "marseille-paris")
    own(state, 1, "brest-dieppe")
    assert not isinstance(chosen(state), moves.BuildStation)


def test_the_routes_of_the_plan_are_claimed_first() -> None:
    """The way from Paris to Zürich is open, and the station can wait."""
    state = at_turn(2, "3 white, 2 locomotive")
    hold(state, 0, "brest-marseille")
    own(state, 1, "brest-paris", "brest-dieppe", "brest-pamplona", "marseille-paris")
    move = chosen(state)
    assert not isinstance(move, moves.BuildStation)


def test_a_plan_has_no_more_stations_than_are_left_and_free() -> None:
    state = cut_off()
    game = state.game
    tickets_mask = state.ticket_masks[0]
    lendable_mask = state.claimed_mask & ~state.owned_masks[0]
    cities = game.board.city_ids
    brest_and_paris = mask_of((cities["brest"], cities["paris"]))

    def planned(left: int, free_mask: int, idle_mask: int = 0) -> int | None:
        """Return where stations are planned; None if the ticket is given up."""
        stations = Stations(left, idle_mask, free_mask, lendable_mask)
        plan = make_plan(game, state.owned_masks[0], 0, tickets_mask, 0, 45, stations)
        return plan.cities_mask if plan.points > 0 else None

    both = planned(1, ALL_CITIES)
    assert both is not None
    assert both.bit_count() == 1
    assert both & brest_and_paris
    assert planned(0, ALL_CITIES) is None
    assert planned(1, ALL_CITIES & ~brest_and_paris) is None
    assert planned(0, 0, idle_mask=1 << cities["paris"]) == 0


def test_without_cards_the_planner_draws_and_builds_later() -> None:
    state = cut_off()
    set_hand(state, 0, "")
    assert isinstance(chosen(state), moves.DrawCard | moves.TakeCard | moves.DrawTickets)
