"""Who may know what of stations and of tickets that left the game (EUR-17)."""

from __future__ import annotations

from msgspec import UNSET

from stellwerk_engine import engine
from stellwerk_engine.core.state import Events
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves
from tests.rules.europe.tables import LONG, at_turn, build, hold, offered, stand
from tests.support import dealt, final_result, play, started, wire


def test_everybody_sees_stations_those_left_and_the_cards_laid_for_them() -> None:
    """EUR-17."""
    state = at_turn(3, "red, locomotive")
    events = play(state, 0, build("wien", "locomotive"))
    for viewer in (0, 1, 2, PUBLIC, ALL_HANDS):
        assert redact(events[0], state.game, viewer) == ev.StationBuilt(0, "wien", wire("locomotive"))
        players = view(state, viewer).players
        assert [player.stations for player in players] == [("wien",), (), ()]
        assert [player.stations_left for player in players] == [2, 3, 3]
        assert view(state, viewer).discards == wire("locomotive")


def test_stations_stand_in_the_view_in_the_order_in_which_they_were_built() -> None:
    """EUR-17."""
    state = at_turn()
    stand(state, 1, "wien", "athina", "paris")
    assert view(state, 0).players[1].stations == ("wien", "athina", "paris")


def test_how_many_tickets_left_the_game_is_public_and_which_is_known_to_their_player_only() -> None:
    """EUR-17."""
    state = started("europe", 3)
    for viewer in (0, 1, 2, PUBLIC):
        seen = view(state, viewer)
        assert seen.removed_tickets == 3 + 3 * 2
        for player in seen.players:
            assert isinstance(player.removed, tuple) == (player.seat == viewer)


def test_of_the_tickets_that_left_the_game_each_seat_hears_only_which_were_its_own() -> None:
    """EUR-17."""
    events: Events = []
    state = dealt("europe", 2, events=events)
    for seat in (0, 1):
        engine.apply(state, seat, engine.fallback(state, seat), events)
    removed = [event for event in events if isinstance(event, ev.TicketsRemoved)]
    assert [event.seat for event in removed] == [UNSET, 0, 1]
    for viewer in (0, 1, PUBLIC):
        shown = [redact(event, state.game, viewer) for event in removed]
        assert shown == [
            event if event.seat == viewer else ev.TicketsRemoved(event.count, event.seat) for event in removed
        ]


def test_nobody_sees_whether_another_kept_the_long_ticket() -> None:
    """EUR-17: the same view, whichever tickets the others kept."""
    views: list[object] = []
    for first in (0, 1):
        state = dealt("europe", 2)
        tickets = offered(state, 1)
        assert [name in LONG for name in tickets] == [True, False, False, False]
        play(state, 1, moves.KeepTickets(tickets[first : first + 2]))
        engine.apply(state, 0, engine.fallback(state, 0))
        views.append([view(state, viewer) for viewer in (0, PUBLIC)])
    assert views[0] == views[1]


def test_the_tickets_held_are_shown_at_the_end_and_those_that_left_the_game_are_not() -> None:
    """EUR-17."""
    state = started("europe", 2)
    gone = [name for seat in (0, 1) for name in view(state, seat).players[seat].removed or ()]
    held = [view(state, seat).players[seat].tickets for seat in (0, 1)]
    result = final_result(state)
    for team, tickets in zip(result.teams, held, strict=True):
        assert tuple(ticket.ticket for ticket in team.tickets) == tickets
        assert not {ticket.ticket for ticket in team.tickets} & set(gone)
    assert [player.removed for player in view(state, PUBLIC).players] == [UNSET, UNSET]


def test_the_routes_that_stations_use_are_shown_at_the_end() -> None:
    """EUR-17, EUR-12."""
    state = at_turn()
    hold(state, 0, "paris-wien")
    stand(state, 0, "wien")
    result = final_result(state)
    for viewer in (0, 1, PUBLIC):
        assert view(state, viewer).result == result
    assert [len(team.stations or ()) for team in result.teams] == [1, 0]
