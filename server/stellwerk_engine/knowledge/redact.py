"""What a viewer learns of an event: the same fact without what is private to others (GEN-09, ASIA-03).

Law: every kind of event and of decision is named here, so that a new one is shown to nobody before it was
decided who may know what of it. Who may know all of an event gets the event itself. Folding what a viewer
got (`fold.py`) gives the view that it would be shown (`view.py`).
"""

from __future__ import annotations

from typing import assert_never

from msgspec import UnsetType

from stellwerk_engine.core.state import Game, Seat
from stellwerk_engine.knowledge.view import ALL_HANDS, ViewerId, sees_seat, sees_team
from stellwerk_protocol import decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol.names import Place


def redact(event: ev.Event, game: Game, viewer: ViewerId) -> ev.Event:
    """The event as the viewer may see it."""
    if viewer == ALL_HANDS:
        return event
    # Frequent events come first: this is done for each event and each viewer.
    match event:
        case (
            ev.TurnStarted()
            | ev.CardTaken()
            | ev.CardsLaidOpen()
            | ev.RouteClaimed()
            | ev.CardsSent()
            | ev.CardsLaid()
            | ev.Raided()
            | ev.TechnologyBought()
        ):
            return event
        case ev.CardDrawn(seat, place):
            return event if _sees_place(game, viewer, seat, place) else ev.CardDrawn(seat, place)
        case ev.Asked(decision):
            shown = _redact_decision(decision, viewer)
            return event if shown is decision else ev.Asked(shown)
        case ev.CardPlaced(seat, place, is_open):
            known = is_open or _sees_place(game, viewer, seat, place)
            return event if known else ev.CardPlaced(seat, place, is_open)
        case ev.TicketsOffered(seat, count):
            return event if sees_seat(viewer, seat) else ev.TicketsOffered(seat, count)
        case ev.TicketsKept(seat, count, returned_count):
            return event if sees_seat(viewer, seat) else ev.TicketsKept(seat, count, returned_count)
        case ev.TicketsToShare(seat, count):
            return event if sees_seat(viewer, seat) else ev.TicketsToShare(seat, count)
        case ev.TicketsShared(seat, count):
            return event if sees_team(game, viewer, game.team_of[seat]) else ev.TicketsShared(seat, count)
        case ev.CardsDealt(seat, count):
            return event if sees_seat(viewer, seat) else ev.CardsDealt(seat, count)
        case ev.StackTakenUp(seat, count):
            return event if sees_seat(viewer, seat) else ev.StackTakenUp(seat, count)
        case (
            ev.PileShuffled()
            | ev.MarketExchanged()
            | ev.CardsRevealed()
            | ev.LocomotiveDealt()
            | ev.TicketPileShuffled()
            | ev.Passed()
            | ev.Stopped()
            | ev.LastRound()
            | ev.TurnsEnded()
            | ev.GameEnded()
            | ev.TunnelTried()
            | ev.TunnelAbandoned()
            | ev.TicketsCompleted()
            | ev.HalfStarted()
            | ev.TechnologyReturned()
            | ev.TechnologiesWithdrawn()
        ):
            return event
        case _:
            assert_never(event)


def _redact_decision(decision: decisions.Decision, viewer: ViewerId) -> decisions.Decision:
    """As the view shows it."""
    match decision:
        case decisions.PlaceCard(seats, is_open):
            known = is_open or viewer in seats
            return decision if known else decisions.PlaceCard(seats, is_open)
        case (
            decisions.SecondCard()
            | decisions.TakeTurn()
            | decisions.TakeAction()
            | decisions.KeepTickets()
            | decisions.ShareTicket()
            | decisions.ClaimRoute()
            | decisions.PayTunnel()
            | decisions.CompleteTickets()
        ):
            return decision
        case _:
            assert_never(decision)


def _sees_place(game: Game, viewer: ViewerId, seat: Seat, place: Place | UnsetType) -> bool:
    """Partners see what lies on their holder; a card without a place is still its player's (ASIA-06)."""
    if place == "holder":
        return sees_team(game, viewer, game.team_of[seat])
    return sees_seat(viewer, seat)
