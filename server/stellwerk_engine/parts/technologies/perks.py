"""The perks of a set of technologies, all added up."""

from __future__ import annotations

from stellwerk_engine.core.board import Board
from stellwerk_engine.core.perks import Perks
from stellwerk_engine.parts.technologies.technology import Technology


class PerksTable(dict[int, Perks]):
    """Technologies held -> perks; filled as sets of technologies come up."""

    def __init__(self, technologies: tuple[Technology, ...], substitute: int, board: Board) -> None:
        super().__init__()
        self._technologies = technologies
        self._substitute = substitute
        self._board = board

    def __missing__(self, technologies_mask: int) -> Perks:
        held = [
            technology
            for number, technology in enumerate(self._technologies)
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
            substitute=min([self._substitute, *substitutes]),
            discount=sum(technology.discount for technology in held),
            draws_three=any(technology.draws_three for technology in held),
            route_points=sum(technology.route_points for technology in held),
            ferry_points=sum(technology.ferry_points for technology in held),
        )
        self[technologies_mask] = perks
        return perks
