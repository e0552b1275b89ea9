"""An event as a viewer learns it: the same fact without what is private to others (GEN-09, ASIA-03).

Law: no event is shown before the code has decided what each viewer may know of it. The part that an event or
a decision belongs to decides that; those of every game are named here. A viewer that may know all of an event
gets the event itself. Folding what a viewer got (`fold.py`) gives the view that it would be shown
(`view.py`).
"""

from __future__ import annotations

from stellwerk_engine.core.state import Game, ViewerId
from stellwerk_engine.core.viewers import ALL_HANDS, sees_seat
from stellwerk_protocol import decisions
from stellwerk_protocol import events as ev


def redact(event: ev.Event, game: Game, viewer: ViewerId) -> ev.Event:
    """Return the event as the viewer may see it."""
    if viewer == ALL_HANDS:
        return event
    owner = game.owners.get(type(event))
    if owner is not None:
        return owner.redact(game, event, viewer)
    # Frequent events come first: this is done for each event and each viewer.
    match event:
        case ev.TurnStarted() | ev.CardsLaidOpen():
            return event
        case ev.Asked(decision):
            shown = _redact_decision(decision, game, viewer)
            return event if shown is decision else ev.Asked(shown)
        case ev.CardsDealt(seat, count):
            return event if sees_seat(viewer, seat) else ev.CardsDealt(seat, count)
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
        ):
            return event
        case _:
            raise NotImplementedError(f"nobody decided who may know of {type(event).__name__} in {game.id}")


def _redact_decision(decision: decisions.Decision, game: Game, viewer: ViewerId) -> decisions.Decision:
    """Return the decision as the view shows it."""
    match decision:
        case decisions.TakeTurn() | decisions.TakeAction():
            return decision
        case _:
            return game.owners[type(decision)].redact_decision(decision, viewer)
