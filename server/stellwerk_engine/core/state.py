"""A game at one moment, and the contracts of everything that reads and changes it.

These types refer to each other: a state holds the decision that is pending, a decision lists moves, a move
changes a state, and rules name actions that offer moves. So they share one module, and there is no cycle of
modules.

- A *state* is all that a game is at one moment.
- A *move* has been found legal, or comes from `legal`: it holds ints and is applied without a further look.
- A *decision* is what the game waits for: it lists and checks the moves of the seats that owe it.
- A *part* is a chapter of a rule book. An *action* is a part that a turn offers: it lists and checks its own
  kinds of moves.
- A *rule set* lists the parts of a game with their numbers. A *game* is a rule set with a board, options and
  seats.

A struct from the wire becomes a move only through `check`, which is the law; `legal` is a service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

import msgspec

from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.boards.board_file import Route as RouteRecord
from stellwerk_engine.core.board import Board, RouteId, TicketId
from stellwerk_engine.core.cards import CardColor, CardSet, describe
from stellwerk_engine.core.dice import Dice
from stellwerk_engine.core.perks import Perks
from stellwerk_engine.core.words import Words
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.events import Event
from stellwerk_protocol.names import EndReason, RouteName
from stellwerk_protocol.results import Result, TeamResult
from stellwerk_protocol.views import View

Seat = int
ViewerId = int  # a seat, or one of those in viewers.py
Events = list[Event]
P = TypeVar("P", bound="Part")

NOT_LAST_ROUND = -1

_encode = msgspec.json.Encoder().encode


class State:
    """All that a game is at one moment.

    One flat, slotted record: the fields that every game has, then those of the parts, empty where the game
    has no such part. The parts that never change (board, tables, decisions without content) are shared, and
    sets are ints. A copy copies only short lists of ints.
    """

    # Written by write_state.py from here
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
        "removed_masks",
        "result",
        "returned_masks",
        "route_names",
        "shared_masks",
        "stacks",
        "stacks_seen",
        "stations",
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

    # the turn
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
    completed_masks: list[int]  # before the end, a seat
    points: list[int]  # scored so far, a seat
    # the map
    trains: list[int]
    open_mask: int  # routes that are neither claimed nor closed
    claimed_mask: int
    barred_masks: list[int]  # tracks beside a seat's own
    owned_masks: list[int]  # routes, a seat
    route_names: list[tuple[RouteName, ...]]  # the same, in the order of the claims, as views show them
    networks: list[tuple[int, ...]]  # a team's connected cities, one mask a network
    technologies: list[int]  # masks, a seat; 0 where the game has none
    # holders
    holders: list[CardSet]  # a team
    known_holders: list[CardSet]
    shared_masks: list[int]  # tickets
    # long tickets
    removed_masks: tuple[int, ...]
    # rail yards
    yards: list[CardSet]  # plain cards, a seat
    yard_locomotives: list[CardSet]  # locomotives, by the color they lie on
    stacks: list[CardSet]  # on-track stacks
    stacks_seen: bool  # each player has taken up their own one
    half: int
    # stations
    stations: tuple[tuple[int, ...], ...]  # cities, a seat, in the order of building
    # technologies
    supply: tuple[int, ...]  # how many are left of each

    def clear(self, game: Game, dice: Dice) -> None:
        """Make every field empty. No constructor, for `copy` has to make a bare state."""
        self.game = game
        self.dice = dice
        self.pending = None
        self.choices = ()
        self.turn = 0
        self.turns_left = 0
        self.progress_turn = 0
        self.passes = 0
        self.end_reason = None
        self.result = None
        self.pile = []
        self.market = 0
        self.discards = 0
        self.may_hold = 0
        self.train_shuffles = 0
        self.hands = []
        self.known = []
        self.ticket_pile = []
        self.ticket_shuffles = 0
        self.ticket_masks = []
        self.offered = []
        self.returned_masks = []
        self.completed_masks = []
        self.points = []
        self.trains = []
        self.open_mask = 0
        self.claimed_mask = 0
        self.barred_masks = []
        self.owned_masks = []
        self.route_names = []
        self.networks = []
        self.technologies = []
        self.holders = []
        self.known_holders = []
        self.shared_masks = []
        self.removed_masks = ()
        self.yards = []
        self.yard_locomotives = []
        self.stacks = []
        self.stacks_seen = False
        self.half = 0
        self.stations = ()
        self.supply = ()

    def copy(self) -> State:
        """Return an independent state; what never changes is shared."""
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
        twin.pile = self.pile.copy()
        twin.market = self.market
        twin.discards = self.discards
        twin.may_hold = self.may_hold
        twin.train_shuffles = self.train_shuffles
        twin.hands = self.hands.copy()
        twin.known = self.known.copy()
        twin.ticket_pile = self.ticket_pile.copy()
        twin.ticket_shuffles = self.ticket_shuffles
        twin.ticket_masks = self.ticket_masks.copy()
        twin.offered = self.offered.copy()
        twin.returned_masks = self.returned_masks.copy()
        twin.completed_masks = self.completed_masks.copy()
        twin.points = self.points.copy()
        twin.trains = self.trains.copy()
        twin.open_mask = self.open_mask
        twin.claimed_mask = self.claimed_mask
        twin.barred_masks = self.barred_masks.copy()
        twin.owned_masks = self.owned_masks.copy()
        twin.route_names = self.route_names.copy()
        twin.networks = self.networks.copy()
        twin.technologies = self.technologies.copy()
        twin.holders = self.holders and self.holders.copy()
        twin.known_holders = self.known_holders and self.known_holders.copy()
        twin.shared_masks = self.shared_masks and self.shared_masks.copy()
        twin.removed_masks = self.removed_masks
        twin.yards = self.yards and self.yards.copy()
        twin.yard_locomotives = self.yard_locomotives and self.yard_locomotives.copy()
        twin.stacks = self.stacks and self.stacks.copy()
        twin.stacks_seen = self.stacks_seen
        twin.half = self.half
        twin.stations = self.stations
        twin.supply = self.supply
        return twin

    # to here.

    def __repr__(self) -> str:
        """Show what one looks for first; `view` shows the rest by name."""
        seats = range(self.game.seat_count)
        hands = ", ".join(f"{seat}: {describe(self.hands[seat])}" for seat in seats)
        asked = "over" if self.pending is None else f"{type(self.pending).__name__} of {self.pending.seats}"
        return (
            f"<State of {self.game.id}, turn {self.turn}, {asked}; points {self.points}; "
            f"hands {{{hands}}}; market {describe(self.market)}; pile {len(self.pile)}>"
        )


# -- moves and decisions -----------------------------------------------------------------------------


class Move:
    """A legal move. Shared and never changed; its struct and its JSON text are made once, when first
    asked for."""

    __slots__ = ("_json", "_wire")

    _wire: wire_moves.Move
    _json: bytes

    @property
    def wire(self) -> wire_moves.Move:
        try:
            return self._wire
        except AttributeError:
            self._wire = self.to_wire()
            return self._wire

    @property
    def json(self) -> bytes:
        try:
            return self._json
        except AttributeError:
            self._json = _encode(self.wire)
            return self._json

    @staticmethod
    def texts(moves: Sequence[Move]) -> list[bytes]:
        """Return the JSON text of each move. Nearly always all of them have one already."""
        try:
            return [move._json for move in moves]
        except AttributeError:
            return [move.json for move in moves]

    def to_wire(self) -> wire_moves.Move:
        raise NotImplementedError  # every kind of move has its own

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        raise NotImplementedError  # every kind of move has its own

    def __repr__(self) -> str:
        return repr(self.wire)


class Decision(Protocol):
    @property
    def seats(self) -> tuple[Seat, ...]: ...

    def legal(self, state: State, seat: Seat) -> list[Move]:
        """List moves: at least one, in a fixed order, a bounded number."""
        ...

    def legal_complete(self, state: State, seat: Seat) -> bool:
        """Return whether `legal` lists every move that `check` accepts."""
        ...

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        """Return the move that the struct describes. Raise IllegalMoveError if it is not legal."""
        ...

    def fallback(self, state: State, seat: Seat) -> Move:
        """Return the harmless move that is made for a seat that fails to answer."""
        ...

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision: ...


# -- what viewers do not see -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardGap:
    """So many cards of an owner that the viewer does not see, all in one place."""

    owner: int  # a seat, or a team
    count: int
    put: Callable[[State, int, Sequence[CardColor]], None]  # puts cards there, of this owner
    payers: tuple[Seat, ...] = ()  # who pays with the cards there


@dataclass(frozen=True, slots=True)
class TicketGap:
    """So many tickets of an owner that the viewer does not see, all in one place."""

    place: str
    owner: int  # a seat, or a team
    count: int
    put: Callable[[State, int, Sequence[TicketId]], None]
    is_team: bool = False
    is_kept: bool = False  # these are among the tickets that the view counts as the seat's


@dataclass(frozen=True, slots=True)
class Gaps:
    """All that a viewer does not see, except the piles."""

    cards: list[CardGap] = field(default_factory=list[CardGap])
    tickets: list[TicketGap] = field(default_factory=list[TicketGap])


class HiddenCards(Protocol):
    """The cards that a viewer does not see."""

    def count_of(self, seat: Seat) -> int:
        """Return with how many of them the seat pays."""
        ...

    def fit(self, cards: CardSet, seat: Seat) -> bool:
        """Return whether the seat may have all these, and enough are left for the pile."""
        ...


# -- rules -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of a team at the end, before bonuses."""

    team: int
    completed_mask: int  # tickets
    completed_count: int
    longest_path: int


@dataclass(frozen=True, slots=True)
class Award:
    team: int
    bonus: str
    points: int
    is_card: bool = False  # counts for the tie-break by bonus cards


class Bonus(Protocol):
    def awards(self, standings: list[Standing], owners: list[Standing], board: Board) -> list[Award]:
        """Return what it brings to whom. `owners` are all teams, or those that hold the technology that has
        the bonus."""
        ...

    def rule(self, board: Board) -> str:
        """State what it brings to whom, without a full stop: `10 points for the longest path`."""
        ...


TieBreak = Callable[["State", Standing, list[Award]], int]
"""A team's figure, of which more is better; the awards are its own."""


class Claims(Protocol):
    """The claims of a board, made once: see parts/claiming/claim_table.py."""

    @property
    def track_limits(self) -> dict[RouteId, int]:
        """Routes of which only so many beside each other can be claimed."""
        ...

    def add_claims(
        self, open_mask: int, hand: CardSet, holder: CardSet, discount: int, moves: list[Move]
    ) -> None: ...

    def lists_all(self, open_mask: int, hand: CardSet, discount: int) -> bool: ...


class Part:
    """A chapter of a rule book, with its numbers. A game has a part or not; nothing asks which game it is.

    Each method is a moment at which a part may have something to do, or a fact that only the part knows. Most
    parts have little of this, so a part defines only what it needs. Parts are called in the order of
    `RuleSet.parts`.
    """

    __slots__ = ()

    @property
    def events(self) -> tuple[type[object], ...]:
        """The kinds of events that belong to this part: it says who may know what of them, folds them, and
        has their sentences."""
        return ()

    @property
    def decisions(self) -> tuple[type[object], ...]:
        """The kinds of decisions on the wire that belong to this part."""
        return ()

    # when a game is made of rules and a board

    def check_board(self, file: BoardFile, rules: RuleSet) -> None:
        """Raise BoardError where the board does not fit this part."""

    def needs(self, file: BoardFile, route: RouteRecord) -> int:
        """Return the technologies without which nobody claims the route, as a mask."""
        return 0

    def perks(self, board: Board) -> dict[int, Perks] | None:
        """Return a table from technologies held to what they bring; None if this part changes nothing."""
        return None

    def claims(self, board: Board, seat_count: int) -> Claims | None:
        """Return the claims of the board; None if this part claims no routes."""
        return None

    def on_board(self, board: Board) -> Self:
        """Return the part with the tables that only itself needs, made for this board."""
        return self

    # when a match begins

    def begin(self, state: State) -> None:
        """Set the part's fields of the state, before anything is dealt."""

    def deal(self, state: State, events: Events | None) -> None:
        """Deal, after the train cards and the market, and ask for the first choices."""

    # while it is played

    def after_reshuffle(self, state: State, events: Events | None) -> None:
        """Do what the rules say when the discards have become the pile."""

    # what viewers know

    def redact(self, game: Game, event: Event, viewer: ViewerId) -> Event:
        """Return one of the part's events without what the viewer may not know."""
        raise NotImplementedError(f"nobody decided who may know of {type(event).__name__}")

    def redact_decision(self, decision: wire_decisions.Decision, viewer: ViewerId) -> wire_decisions.Decision:
        """Return one of the part's decisions without what the viewer may not know."""
        raise NotImplementedError(f"nobody decided who may know of {type(decision).__name__}")

    def fold(self, game: Game, view: View, event: Event) -> View:
        """Return the view after one of the part's events."""
        raise NotImplementedError(f"nobody folds {type(event).__name__}")

    def see(self, state: State, view: View) -> None:
        """Set the part's fields to what the view shows of them."""

    def see_pending(self, state: State, pending: wire_decisions.Decision) -> None:
        """Make one of the part's decisions the pending one, as far as the view shows it."""
        raise NotImplementedError(f"nobody makes a decision of {type(pending).__name__}")

    # what they do not know

    def cards_lying(self, state: State) -> CardSet:
        """Return the cards in the part's places, as far as the state knows them."""
        return 0

    def tickets_lying(self, state: State) -> int:
        """Return the tickets in the part's places, as far as the state knows them, as a mask."""
        return 0

    def add_gaps(self, state: State, view: View, gaps: Gaps) -> None:
        """Add the part's places of which the view shows only how much is there, and the state has less."""

    def add_gaps_of_choice(self, state: State, pending: wire_decisions.Decision, gaps: Gaps) -> None:
        """Add what the seats asked by one of the part's decisions have before them and the view hides."""

    def demands(self, state: State, hidden: HiddenCards) -> Iterable[CardSet]:
        """Return sets of hidden cards, one of which the asked seat has, or it would not have been asked; none
        if nothing follows from one of the part's decisions."""
        return ()

    def apart_mask(self, game: Game) -> int:
        """Return the tickets that never lie in the ticket pile, as a mask."""
        return 0

    def deal_apart(
        self, state: State, tickets: Sequence[TicketId], gaps: Sequence[TicketGap]
    ) -> list[tuple[TicketGap, TicketId]]:
        """Choose the gaps of all hidden tickets that never lie in the ticket pile, by the state's dice."""
        raise NotImplementedError  # every part that keeps tickets apart has its own

    # how long messages get

    def view_bytes(self, game: Game) -> int:
        """Return how many bytes the part adds to a view at most."""
        return 0

    def moves_bytes(self, game: Game) -> tuple[int, int]:
        """Return how many bytes the moves take that the part lists besides draws and claims, and how many
        moves these are, at most."""
        return 0, 0

    # for people who read what happened, and players that know no rules

    def rule(self, game: Game) -> str:
        """State the part's rule in a few sentences, with its numbers; empty if another part says it."""
        return ""

    def sentence(self, event: Event, words: Words) -> str:
        """Describe one of the part's events, without who acts and without a full stop: `passes`."""
        raise NotImplementedError(f"nobody describes {type(event).__name__}")

    def question(self, decision: wire_decisions.Decision, words: Words) -> str:
        """Return what one of the part's decisions asks: `which second card?`."""
        raise NotImplementedError(f"nobody describes {type(decision).__name__}")

    # at the end

    def asks_before_scoring(self, state: State, reason: EndReason, events: Events | None) -> bool:
        """Ask what must be asked before the game is scored, and return whether there is anything to ask."""
        return False

    def completes(self, state: State, team: int) -> int:
        """Return the tickets that the team completes otherwise than by its own network, as a mask."""
        return 0

    def awards(self, state: State, standings: list[Standing]) -> list[Award]:
        """Return the points that the part brings at the end."""
        return []

    def in_result(self, state: State, result: TeamResult) -> TeamResult:
        """Return the result of a team with what the part has to add."""
        return result


class Action(Part):
    """A part that a turn offers."""

    __slots__ = ()

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        """Append the moves listed; none only if the action is not available at all."""
        raise NotImplementedError  # every action has its own

    def legal_complete(self, state: State, seat: Seat) -> bool:
        raise NotImplementedError  # every action has its own

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        """Return the move that the struct describes; None if it is not a move of this action. Raise
        IllegalMoveError if it is one, but not a legal one."""
        raise NotImplementedError  # every action has its own

    def fallback(self, state: State, seat: Seat) -> Move | None:
        """Return the harmless move of this action, if there is one."""
        raise NotImplementedError  # every action has its own


@dataclass(frozen=True, slots=True)
class TrainCards:
    """How train cards are dealt and go round."""

    dealt: int
    locomotives_dealt: int = 0  # open, before the shuffle
    exchange_at: int = 0  # so many open locomotives make the market be exchanged; 0: none do
    reshuffled: bool = True  # the discards become the pile when it is empty


class LastRound(Protocol):
    """The condition that makes the last round begin."""

    @property
    def reason(self) -> EndReason: ...

    def is_due(self, state: State, seat: Seat) -> bool:
        """Return whether it begins now that the seat's turn is over."""
        ...

    def rule(self) -> str:
        """State the condition, after `When`: `the pile is empty`."""
        ...


@dataclass(frozen=True, slots=True)
class Option:
    """A variant that a match may choose: the fields of the rule set that it changes."""

    id: str
    text: str
    changes: Mapping[str, Any]  # the arguments of dataclasses.replace


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules that every game has. Rules that only some games have are parts with their own numbers."""

    id: str
    title: str
    rules_version: int  # raised whenever an outcome can change
    board: str  # the shipped board it is played on
    board_features: frozenset[str]  # see fit.py; a board with others does not fit these rules
    seat_counts: tuple[int, ...]
    train_cards: TrainCards
    set_up: tuple[Part, ...]  # what is dealt after the train cards, and the choices before the first turn
    menu: tuple[Action, ...]  # the actions of a turn, in the order in which the fallback looks for a move
    last_round: LastRound
    team_size: int = 1
    start_of_turn: tuple[Callable[[State, Seat, Events | None], None], ...] = ()
    before_action: tuple[Action, ...] = ()  # at most one of these, before the action
    other_parts: tuple[Part, ...] = ()
    bonuses: tuple[Bonus, ...] = ()
    tie_breaks: tuple[TieBreak, ...] = ()
    options: tuple[Option, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        return (*self.set_up, *self.menu, *self.before_action, *self.other_parts)

    def part(self, kind: type[P]) -> P | None:
        """Return the part of this kind, if the game has it. For moments when speed does not matter."""
        return next((part for part in self.parts if isinstance(part, kind)), None)


@dataclass(frozen=True, eq=False)
class Game:
    """A game before its first shuffle, with all tables: made once, shared by every state of every match."""

    rules: RuleSet  # as the options changed them; its parts are on the board
    options: tuple[str, ...]
    board: Board
    seat_count: int
    team_of: tuple[int, ...]
    seats_of_team: tuple[tuple[Seat, ...], ...]
    parts: tuple[Part, ...]
    by_kind: dict[type[Part], Part]
    owners: dict[type[object], Part]  # of kinds of events and of decisions on the wire
    perks: dict[int, Perks]  # by the technologies held
    claims: Claims
    # decisions without content
    take_turn: tuple[Decision, ...]
    take_action: tuple[Decision, ...]  # after a purchase

    @property
    def id(self) -> str:
        return self.rules.id

    def part(self, kind: type[P]) -> P | None:
        """Return the part of this kind, if the game has it."""
        part = self.by_kind.get(kind)
        assert part is None or isinstance(part, kind)
        return part
