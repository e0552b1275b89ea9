"""From events to a view: a viewer that has all events from the first one on knows everything in the view.

Law: folding the events that a viewer got, one by one from the blank view, gives after every move exactly
what `view` shows that viewer. So a client may keep a view of its own instead of asking for one, and no event
lacks a fact. Only the game (rules and board) is needed besides, never a state.

Facts that the viewer may not know are absent from events and view alike. A field that the view has is kept up
to date. A field that it lacks stays absent.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from stellwerk_engine.core.cards import ONE_LOCOMOTIVE, to_wire
from stellwerk_engine.core.dice import SEED_SIZE, Dice
from stellwerk_engine.core.folding import into_hand, minus, plus, seen_leaving
from stellwerk_engine.core.set_up import empty_state
from stellwerk_engine.core.state import Game, ViewerId
from stellwerk_engine.knowledge.view import view as view_of
from stellwerk_protocol import decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import NO_CARDS
from stellwerk_protocol.views import View


def blank_view(game: Game, viewer: ViewerId) -> View:
    """Return what there is to see before the first event."""
    return view_of(empty_state(game, Dice(bytes(SEED_SIZE))), viewer)


def fold(game: Game, view: View, event: ev.Event) -> View:
    """Return the view after one more event, redacted for its viewer."""
    owner = game.owners.get(type(event))
    if owner is not None:
        return owner.fold(game, view, event)
    match event:
        # the piles
        case ev.PileShuffled(count, may_hold):
            return replace(view, pile=count, pile_may_hold=may_hold, discards=NO_CARDS)
        case ev.CardsLaidOpen(cards):
            return replace(seen_leaving(view, cards), market=plus(view.market, cards))
        case ev.MarketExchanged(cards):
            return replace(view, market=minus(view.market, cards), discards=plus(view.discards, cards))
        case ev.CardsRevealed(cards):
            return seen_leaving(view, cards)
        case ev.CardsDealt(seat, count, cards):
            return replace(into_hand(view, seat, count, cards), pile=view.pile - count)
        case ev.LocomotiveDealt(seat):
            return into_hand(view, seat, 1, to_wire(ONE_LOCOMOTIVE), is_open=True)
        case ev.TicketPileShuffled(count):
            return replace(view, ticket_pile=count)

        # turns
        case ev.TurnStarted(seat, turn, passes, turns_left):
            pending = decisions.TakeTurn((seat,))
            return replace(view, turn=turn, passes=passes, turns_left=turns_left, pending=pending)
        case ev.Asked(decision):
            return replace(view, pending=decision)
        case ev.Passed() | ev.Stopped():
            return view
        case ev.LastRound(turns_left):
            return replace(view, turns_left=turns_left)
        case ev.TurnsEnded(_, passes, turns_left):
            return replace(view, passes=passes, turns_left=turns_left)
        case ev.GameEnded(result):
            return replace(view, pending=UNSET, result=result)
        case _:
            raise NotImplementedError(f"nobody folds {type(event).__name__} in {game.id}")
