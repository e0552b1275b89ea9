"""The set-up of every game: cards, market, tickets, and the choices before the first turn (USA-02,
USA-03, ...)."""

from __future__ import annotations

from stellwerk_engine.core.cards import ONE, ONE_LOCOMOTIVE, CardSet, to_wire
from stellwerk_engine.core.decision import Events, Seat
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.game import Game
from stellwerk_engine.core.piles import refill_market, shuffle_into_pile
from stellwerk_engine.core.state import NOT_LAST_ROUND, State
from stellwerk_engine.core.turn import start_turn
from stellwerk_engine.parts.tickets import ask_to_keep, ask_to_share, offer, shuffle_tickets
from stellwerk_protocol import events as ev


def new_game(game: Game, dice: Dice, events: Events | None = None) -> State:
    """The game's first state: everybody is asked which tickets to keep."""
    state = empty_state(game, dice)
    _deal_cards(state, events)
    refill_market(state, events)
    state.ticket_pile = list(range(len(game.board.tickets)))
    shuffle_tickets(state, events)
    seats = tuple(range(game.seat_count))
    for seat in seats:
        offer(state, seat, game.rules.tickets_dealt, events)
    ask_to_keep(
        state, seats, game.rules.tickets_dealt, game.rules.tickets_kept_at_start, after_first_tickets, events
    )
    return state


def _deal_cards(state: State, events: Events | None) -> None:
    """Open locomotives, then the shuffle, then all cards of a seat at once, in seat order."""
    game = state.game
    for seat in range(game.seat_count):
        for _ in range(game.rules.locomotives_dealt):
            state.hands[seat] += ONE_LOCOMOTIVE
            state.known[seat] += ONE_LOCOMOTIVE
            if events is not None:
                events.append(ev.LocomotiveDealt(seat))
    deck = game.board.deck - sum(state.hands)
    shuffle_into_pile(state, deck, deck, events)
    for seat in range(game.seat_count):
        dealt: CardSet = 0
        for _ in range(game.rules.cards_dealt):
            dealt += ONE[state.pile.pop()]
        state.hands[seat] += dealt
        if events is not None:
            events.append(ev.CardsDealt(seat, game.rules.cards_dealt, to_wire(dealt)))


def after_first_tickets(state: State, seat: Seat, events: Events | None) -> None:
    if state.game.rules.holders:
        ask_to_share(state, tuple(range(state.game.seat_count)), start_first_turn, events)
    else:
        start_first_turn(state, 0, events)


def start_first_turn(state: State, seat: Seat, events: Events | None) -> None:
    """GEN-01."""
    start_turn(state, 0, events)


def empty_state(game: Game, dice: Dice) -> State:
    """Before anything has been dealt."""
    seats = game.seat_count
    teams = len(game.seats_of_team)
    holders = teams if game.rules.holders else 0
    yards = seats if game.rules.rail_yards else 0
    state = State()
    state.game = game
    state.dice = dice
    state.pending = None
    state.choices = ()
    state.turn = 0
    state.turns_left = NOT_LAST_ROUND
    state.progress_turn = 0
    state.passes = 0
    state.end_reason = None
    state.result = None
    state.pile = []
    state.market = 0
    state.discards = 0
    state.may_hold = 0
    state.train_shuffles = 0
    state.hands = [0] * seats
    state.known = [0] * seats
    state.ticket_pile = []
    state.ticket_shuffles = 0
    state.ticket_masks = [0] * seats
    state.offered = [()] * seats
    state.returned_masks = [0] * seats
    state.points = [0] * seats
    state.trains = [game.board.trains] * seats
    state.open_mask = game.board.routes_mask
    state.claimed_mask = 0
    state.barred_masks = [0] * seats
    state.owned_masks = [0] * seats
    state.route_names = [()] * seats
    state.networks = [()] * teams
    state.holders = [0] * holders
    state.known_holders = [0] * holders
    state.shared_masks = [0] * holders
    state.technologies = [0] * seats
    state.supply = tuple(technology.supply for technology in game.rules.technologies)
    state.yards = [0] * yards
    state.yard_locomotives = [0] * yards
    state.stacks = [0] * yards
    state.stacks_seen = False
    state.completed_masks = [0] * seats
    state.half = 1
    return state
