"""Holders: the cards and tickets that a team shares (ASIA-03, ASIA-06 to ASIA-11)."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk_engine.core.cards import CardSet
from stellwerk_engine.core.state import Part, Seat, State


class HolderFields:
    """Holders."""

    holders: list[CardSet]  # a team
    known_holders: list[CardSet]
    shared_masks: list[int]  # tickets


@dataclass(frozen=True, slots=True)
class Holders(Part):
    """A holder for each team."""

    def begin(self, state: State) -> None:
        teams = len(state.game.seats_of_team)
        state.holders = [0] * teams
        state.known_holders = [0] * teams
        state.shared_masks = [0] * teams


def holder_of(state: State, seat: Seat) -> CardSet:
    """Return what the team shares; nothing where there are no holders."""
    return state.holders[state.game.team_of[seat]] if state.holders else 0


def put_on_holder(state: State, seat: Seat, cards: CardSet, is_open: bool) -> None:
    """Add cards; everybody knows from then on of those that were taken openly."""
    team = state.game.team_of[seat]
    state.holders[team] += cards
    if is_open:
        state.known_holders[team] += cards
