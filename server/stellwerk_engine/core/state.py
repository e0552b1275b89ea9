"""All that a game is at one moment.

One flat, slotted record: a core that every game has, then a section for each component, empty where
the game has none. Flat, because a search copies it tens of thousands of times a second: what never
changes (board, tables, decisions without content) is shared, sets are ints, and what is left to copy
are short lists of ints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stellwerk_engine.core.cards import CardSet

if TYPE_CHECKING:
    from stellwerk_engine.core.decision import Decision, Move
    from stellwerk_engine.core.dice import Dice
    from stellwerk_engine.core.game import Game
    from stellwerk_protocol.names import EndReason, RouteName
    from stellwerk_protocol.results import Result

NOT_LAST_ROUND = -1


class State:
    __slots__ = (
        "barred_masks",
        "choices",
        "claimed_mask",
        "completed_masks",
        "dice",
        "discards",
        "end_reason",
        "game",
        "half",
        "hands",
        "holders",
        "known",
        "known_holders",
        "market",
        "may_hold",
        "networks",
        "offered",
        "open_mask",
        "owned_masks",
        "passes",
        "pending",
        "pile",
        "points",
        "progress_turn",
        "result",
        "returned_masks",
        "route_names",
        "shared_masks",
        "stacks",
        "stacks_seen",
        "supply",
        "technologies",
        "ticket_masks",
        "ticket_pile",
        "ticket_shuffles",
        "train_shuffles",
        "trains",
        "turn",
        "turns_left",
        "yard_locomotives",
        "yards",
    )

    game: Game
    dice: Dice
    # the turn
    pending: Decision | None  # None: the game is over
    choices: tuple[Move | None, ...]  # answers to a simultaneous decision, in the order of its seats
    turn: int  # 0 during the set-up
    turns_left: int  # in the last round, with the running turn; else NOT_LAST_ROUND
    progress_turn: int  # the last turn with something that counts for GEN-06
    passes: int  # turns passed in a row
    end_reason: EndReason | None
    result: Result | None
    # train cards
    pile: list[int]  # the last one is the top
    market: CardSet
    discards: CardSet
    may_hold: CardSet  # what was shuffled into the pile less what everybody saw leave it
    train_shuffles: int
    hands: list[CardSet]
    known: list[CardSet]  # the part of each hand that everybody saw taken
    # tickets
    ticket_pile: list[int]  # the last one is the top
    ticket_shuffles: int
    ticket_masks: list[int]  # secret, a seat
    offered: list[tuple[int, ...]]  # to choose from, a seat
    returned_masks: list[int]  # put back by a seat and not seen by it since
    points: list[int]  # scored so far, a seat
    # the map
    trains: list[int]
    open_mask: int  # routes that are neither claimed nor closed
    claimed_mask: int
    barred_masks: list[int]  # tracks beside a seat's own
    owned_masks: list[int]  # routes, a seat
    route_names: list[tuple[RouteName, ...]]  # the same, in the order of the claims, as views show them
    networks: list[tuple[int, ...]]  # a team's connected cities, one mask a network
    # holders
    holders: list[CardSet]  # a team
    known_holders: list[CardSet]
    shared_masks: list[int]  # tickets
    # technologies
    technologies: list[int]  # masks, a seat
    supply: tuple[int, ...]
    # rail yards
    yards: list[CardSet]  # plain cards, a seat
    yard_locomotives: list[CardSet]  # locomotives, by the color they lie on
    stacks: list[CardSet]  # on-track stacks
    stacks_seen: bool  # each player has taken up the own one
    completed_masks: list[int]  # tickets, a seat
    half: int

    def copy(self) -> State:
        """An independent state; what never changes is shared."""
        twin = State.__new__(State)
        twin.game = self.game
        twin.dice = self.dice
        twin.pending = self.pending
        twin.choices = self.choices
        twin.turn = self.turn
        twin.turns_left = self.turns_left
        twin.progress_turn = self.progress_turn
        twin.passes = self.passes
        twin.end_reason = self.end_reason
        twin.result = self.result
        twin.pile = self.pile[:]
        twin.market = self.market
        twin.discards = self.discards
        twin.may_hold = self.may_hold
        twin.train_shuffles = self.train_shuffles
        twin.hands = self.hands[:]
        twin.known = self.known[:]
        twin.ticket_pile = self.ticket_pile[:]
        twin.ticket_shuffles = self.ticket_shuffles
        twin.ticket_masks = self.ticket_masks[:]
        twin.offered = self.offered[:]
        twin.returned_masks = self.returned_masks[:]
        twin.points = self.points[:]
        twin.trains = self.trains[:]
        twin.open_mask = self.open_mask
        twin.claimed_mask = self.claimed_mask
        twin.barred_masks = self.barred_masks[:]
        twin.owned_masks = self.owned_masks[:]
        twin.route_names = self.route_names[:]
        twin.networks = self.networks[:]
        twin.holders = self.holders[:]
        twin.known_holders = self.known_holders[:]
        twin.shared_masks = self.shared_masks[:]
        twin.technologies = self.technologies[:]
        twin.supply = self.supply
        twin.yards = self.yards[:]
        twin.yard_locomotives = self.yard_locomotives[:]
        twin.stacks = self.stacks[:]
        twin.stacks_seen = self.stacks_seen
        twin.completed_masks = self.completed_masks[:]
        twin.half = self.half
        return twin
