"""A rule set is a frozen value: what is dealt, which actions a turn offers, how the game ends and scores.

The four games are four such values (`games.py`). Nothing in the engine asks which game it plays: what
differs stands in these fields, and what a field switches off is not there at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from stellwerk_engine.core.decision import Action, Events, Seat
from stellwerk_protocol.names import EndReason

if TYPE_CHECKING:
    from stellwerk_engine.boards.board import Board
    from stellwerk_engine.core.state import State

PileEnd = Literal["shuffle_discards", "last_round"]
TieBreak = Literal["completed_tickets", "longest_path", "bonus_cards"]


@dataclass(frozen=True, slots=True)
class Technology:
    """A card that opens routes or changes what claims cost and bring (UK-11 to UK-27)."""

    id: str
    supply: int
    cost: int  # in locomotives
    opens_regions: tuple[str, ...] = ()
    opens_lengths: tuple[int, ...] = ()
    opens_ferries: bool = False
    substitute: int = 0  # so many cards count as a locomotive; 0: no change
    discount: int = 0  # cards less for a claim
    draws_three: bool = False
    claims_taken: bool = False  # bought for one claim of a route that another holds, then returned
    claims: int = 0  # bought for so many claims in this turn, then returned
    route_points: int = 0  # more for each route claimed from now on
    ferry_points: int = 0
    until_shuffle: bool = False  # leaves the supply when the discards become the pile (UK-26)
    bonus: Bonus | None = None  # what it brings its owner at the end

    @property
    def is_for_claims(self) -> bool:
        """Bought for claims in the same turn, and returned after them."""
        return self.claims_taken or self.claims > 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What a team has at the end, before bonuses."""

    team: int
    technologies_mask: int
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
        """What it brings to whom. `owners` are all teams, or those that hold the technology it stands on."""
        ...


@dataclass(frozen=True, slots=True)
class Option:
    """A variant that a match may choose: the fields of the rule set that it changes."""

    id: str
    text: str
    changes: Mapping[str, Any]  # the arguments of dataclasses.replace


@dataclass(frozen=True, slots=True)
class RuleSet:
    id: str
    title: str
    rules_version: int  # raised whenever an outcome can change
    board: str  # the shipped board it is played on
    board_features: frozenset[str]  # see board.py; a board with others does not fit these rules
    seat_counts: tuple[int, ...]
    menu: tuple[Action, ...]  # in the order in which the fallback looks for a move
    team_size: int = 1

    # set-up
    locomotives_dealt: int = 0  # open, before the shuffle
    cards_dealt: int = 4
    tickets_dealt: int = 3
    tickets_kept_at_start: int = 2
    shuffle_returned_tickets: bool = False  # at the start (CARD-03); else they go under the pile (GEN-04)

    # the turn
    before_action: tuple[Action, ...] = ()
    start_of_turn: tuple[Callable[[State, Seat, Events | None], None], ...] = ()
    tickets_drawn: int = 3
    tickets_kept: int = 1
    second_card_optional: bool = False
    exchange_at: int = 0  # so many open locomotives make the market be exchanged; 0: none do
    pile_end: PileEnd = "shuffle_discards"
    holders: bool = False  # a team's shared cards and tickets
    rail_yards: bool = False
    open_stacks: bool = False

    # claims
    open_tracks: Mapping[int, Mapping[int, int]] = field(default_factory=dict[int, Mapping[int, int]])
    # seats -> tracks between two cities -> how many of them can be claimed; all, where it says nothing
    substitute: int = 0  # so many cards count as a locomotive; 0: none do
    technologies: tuple[Technology, ...] = ()
    home_regions: frozenset[str] = frozenset()  # with technologies: need no concession
    overseas_regions: frozenset[str] = frozenset()  # routes there need no technology at all
    home_lengths: frozenset[int] = frozenset()  # with technologies: lengths that need none

    # the end
    last_round_at_trains: int = 0  # a team with so few trains at the end of a turn triggers it
    before_scoring: Callable[[State, EndReason, Events | None], None] | None = None
    halves: Mapping[int, int] = field(
        default_factory=dict[int, int]
    )  # seats -> halves; one, where it says nothing
    bonuses: tuple[Bonus, ...] = ()
    tie_breaks: tuple[TieBreak, ...] = ("completed_tickets", "longest_path")

    options: tuple[Option, ...] = ()

    def with_options(self, chosen: tuple[str, ...]) -> RuleSet:
        """The rule set as the options change it; the names have been checked."""
        changed = self
        for option in self.options:
            if option.id in chosen:
                changed = replace(changed, **option.changes)
        return changed
