"""Rail yards, on-track stacks, and the tickets that they complete (CARD-04, CARD-05, CARD-13 to CARD-15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stellwerk_engine.core.cards import CardSet
from stellwerk_engine.core.state import Game, Part, State


class RailYardFields:
    """Rail yards."""

    yards: list[CardSet]  # plain cards, a seat
    yard_locomotives: list[CardSet]  # locomotives, by the color they lie on
    stacks: list[CardSet]  # on-track stacks
    stacks_seen: bool  # each player has taken up their own one
    half: int


@dataclass(frozen=True, slots=True)
class RailYards(Part):
    """A rail yard and an on-track stack for each player.

    `halves`: for a number of players, how many halves a game has; one, where it has nothing. With
    `open_stacks` players may look at their own on-track stack.
    """

    halves: Mapping[int, int] = field(default_factory=dict[int, int])
    open_stacks: bool = False

    def begin(self, state: State) -> None:
        seats = state.game.seat_count
        state.yards = [0] * seats
        state.yard_locomotives = [0] * seats
        state.stacks = [0] * seats
        state.half = 1

    def completes(self, state: State, team: int) -> int:
        """Return the tickets completed with cards."""
        completed_mask = 0
        for seat in state.game.seats_of_team[team]:
            completed_mask |= state.completed_masks[seat]
        return completed_mask


def has_open_stacks(game: Game) -> bool:
    part = game.part(RailYards)
    return part is not None and part.open_stacks


def halves_of(game: Game) -> int:
    part = game.part(RailYards)
    return 1 if part is None else part.halves.get(game.seat_count, 1)
