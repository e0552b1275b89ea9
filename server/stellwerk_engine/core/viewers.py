"""Viewers: the seats, the public, and the organiser's spectator who sees all hands."""

from __future__ import annotations

from typing import Final

from stellwerk_engine.core.state import Game, Seat, ViewerId
from stellwerk_protocol.names import Viewer

PUBLIC: Final[ViewerId] = -1
ALL_HANDS: Final[ViewerId] = -2


def viewer_kind(viewer: ViewerId) -> Viewer:
    return "seat" if viewer >= 0 else "public" if viewer == PUBLIC else "all_hands"


def sees_seat(viewer: ViewerId, seat: Seat) -> bool:
    """Return whether the viewer may know what is private to the seat."""
    return viewer == seat or viewer == ALL_HANDS  # `in` would make a tuple


def sees_team(game: Game, viewer: ViewerId, team: int) -> bool:
    """Return whether the viewer may know what is private to the team."""
    return viewer == ALL_HANDS or (viewer >= 0 and game.team_of[viewer] == team)
