"""The set-up of every game: cards, market, tickets, and the choices before the first turn (USA-02,
USA-03, ...)."""

from __future__ import annotations

from stellwerk_engine.core.cards import ONE, ONE_LOCOMOTIVE, CardSet, to_wire
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.piles import refill_market, shuffle_into_pile
from stellwerk_engine.core.state import NOT_LAST_ROUND, Events, Game, State
from stellwerk_protocol import events as ev


def new_game(game: Game, dice: Dice, events: Events | None = None) -> State:
    """Return the game's first state: train cards and market are dealt, and each part has dealt its own."""
    state = empty_state(game, dice)
    _deal_cards(state, events)
    refill_market(state, events)
    for part in game.parts:
        part.deal(state, events)
    return state


def _deal_cards(state: State, events: Events | None) -> None:
    """Deal open locomotives, then shuffle, then deal all cards of a seat at once, in seat order."""
    game = state.game
    train_cards = game.rules.train_cards
    for seat in range(game.seat_count):
        for _ in range(train_cards.locomotives_dealt):
            state.hands[seat] += ONE_LOCOMOTIVE
            state.known[seat] += ONE_LOCOMOTIVE
            if events is not None:
                events.append(ev.LocomotiveDealt(seat))
    deck = game.board.deck - sum(state.hands)
    shuffle_into_pile(state, deck, deck, events)
    for seat in range(game.seat_count):
        dealt: CardSet = 0
        for _ in range(train_cards.dealt):
            dealt += ONE[state.pile.pop()]
        state.hands[seat] += dealt
        if events is not None:
            events.append(ev.CardsDealt(seat, train_cards.dealt, to_wire(dealt)))


def empty_state(game: Game, dice: Dice) -> State:
    """Return a state in which nothing has been dealt."""
    seats = game.seat_count
    state = State()
    state.clear(game, dice)
    state.turns_left = NOT_LAST_ROUND
    state.hands = [0] * seats
    state.known = [0] * seats
    state.ticket_masks = [0] * seats
    state.offered = [()] * seats
    state.returned_masks = [0] * seats
    state.completed_masks = [0] * seats
    state.points = [0] * seats
    state.trains = [game.board.trains] * seats
    state.open_mask = game.board.routes_mask
    state.barred_masks = [0] * seats
    state.owned_masks = [0] * seats
    state.route_names = [()] * seats
    state.networks = [()] * len(game.seats_of_team)
    state.technologies = [0] * seats
    for part in game.parts:
        part.begin(state)
    return state
