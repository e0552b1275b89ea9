"""The prices and points of a seat's claims. In most games it is the same for all; technologies change it."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk_protocol.names import TechnologyName


@dataclass(frozen=True, slots=True)
class Perks:
    names: tuple[TechnologyName, ...]  # of the technologies
    openable_mask: int  # routes for which no technology is missing
    substitute: int = 0  # so many cards count as a locomotive; 0: none do
    discount: int = 0  # cards less for a claim
    draws_three: bool = False
    route_points: int = 0
    ferry_points: int = 0
