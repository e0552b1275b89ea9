"""The fields of a state that every game has.

A class whose name ends in `Fields`, here or in a part's file, declares fields of `State`: each once, with its
type and its meaning. `write_state.py` writes them into `state.py`, and a test compares the two. A field is
empty (0, False, None, no items) until `empty_state` or the part's `begin` sets it. In a game without the part
its lists stay empty, so copies share them. A field's type is made of names that `state.py` imports.
"""

from __future__ import annotations

from stellwerk_engine.core.cards import CardSet
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.state import Decision, Game, Move
from stellwerk_protocol.names import EndReason, RouteName
from stellwerk_protocol.results import Result


class TurnFields:
    """The turn."""

    game: Game
    dice: Dice
    pending: Decision | None  # None: the game is over
    choices: tuple[Move | None, ...]  # answers to a simultaneous decision, in the order of its seats
    turn: int  # 0 during the set-up
    turns_left: int  # in the last round, with the running turn; else NOT_LAST_ROUND
    progress_turn: int  # the last turn with something that counts for GEN-06
    passes: int  # turns passed in a row
    end_reason: EndReason | None
    result: Result | None


class TrainCardFields:
    """Train cards."""

    pile: list[int]  # the last one is the top
    market: CardSet
    discards: CardSet
    may_hold: CardSet  # what was shuffled into the pile less what everybody saw leave it
    train_shuffles: int
    hands: list[CardSet]
    known: list[CardSet]  # the part of each hand that everybody saw taken


class TicketFields:
    """Tickets."""

    ticket_pile: list[int]  # the last one is the top
    ticket_shuffles: int
    ticket_masks: list[int]  # secret, a seat
    offered: list[tuple[int, ...]]  # to choose from, a seat
    returned_masks: list[int]  # put back by a seat and not seen by it since
    completed_masks: list[int]  # before the end, a seat
    points: list[int]  # scored so far, a seat


class MapFields:
    """The map."""

    trains: list[int]
    open_mask: int  # routes that are neither claimed nor closed
    claimed_mask: int
    barred_masks: list[int]  # tracks beside a seat's own
    owned_masks: list[int]  # routes, a seat
    route_names: list[tuple[RouteName, ...]]  # the same, in the order of the claims, as views show them
    networks: list[tuple[int, ...]]  # a team's connected cities, one mask a network
    technologies: list[int]  # masks, a seat; 0 where the game has none
