"""What a set of technologies lets its owner do, all added up."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk_engine.boards.board import Board
from stellwerk_engine.core.rule_set import RuleSet
from stellwerk_protocol.names import TechnologyName


@dataclass(frozen=True, slots=True)
class Perks:
    names: tuple[TechnologyName, ...]  # of the technologies
    openable_mask: int  # routes for which no technology is missing
    substitute: int  # so many cards count as a locomotive; 0: none do
    discount: int  # cards less for a claim
    draws_three: bool
    route_points: int
    ferry_points: int


class PerksTable(dict[int, Perks]):
    """Technologies held -> perks; filled as sets of technologies come up."""

    def __init__(self, rules: RuleSet, board: Board) -> None:
        super().__init__()
        self._rules = rules
        self._board = board

    def __missing__(self, technologies_mask: int) -> Perks:
        held = [
            technology
            for number, technology in enumerate(self._rules.technologies)
            if technologies_mask >> number & 1
        ]
        openable_mask = 0
        for route in self._board.routes:
            if not route.needs_mask & ~technologies_mask:
                openable_mask |= route.bit
        substitutes = [technology.substitute for technology in held if technology.substitute]
        perks = Perks(
            names=tuple(technology.id for technology in held),
            openable_mask=openable_mask,
            substitute=min([self._rules.substitute, *substitutes]),
            discount=sum(technology.discount for technology in held),
            draws_three=any(technology.draws_three for technology in held),
            route_points=sum(technology.route_points for technology in held),
            ferry_points=sum(technology.ferry_points for technology in held),
        )
        self[technologies_mask] = perks
        return perks
