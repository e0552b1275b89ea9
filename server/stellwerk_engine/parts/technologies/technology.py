"""Technologies: cards that open routes or change what claims cost and bring (UK-11 to UK-27)."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk_base.texts import counted
from stellwerk_engine.core.board import Board
from stellwerk_engine.core.state import Bonus


class TechnologyFields:
    """Technologies."""

    supply: tuple[int, ...]  # how many are left of each


@dataclass(frozen=True, slots=True)
class Technology:
    """One kind of technology, with its numbers."""

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

    def rule(self, board: Board) -> str:
        """State what it brings, without a full stop: `opens wales`."""
        opens = [*self.opens_regions]
        opens += [f"length {', '.join(map(str, self.opens_lengths))}"] if self.opens_lengths else []
        opens += ["ferries"] if self.opens_ferries else []
        brings = [f"opens {' and '.join(opens)}"] if opens else []
        brings += [f"{self.substitute} cards count as a locomotive"] if self.substitute else []
        brings += [f"claims cost {counted(self.discount, 'card')} less"] if self.discount else []
        brings += ["draw_three blind cards as an action"] if self.draws_three else []
        brings += ["claim a route of another player at once"] if self.claims_taken else []
        brings += [f"{counted(self.claims, 'claim')} in this turn"] if self.claims else []
        brings += [f"+{self.route_points} for each later claim"] if self.route_points else []
        brings += [f"+{self.ferry_points} for each later ferry"] if self.ferry_points else []
        brings += [self.bonus.rule(board)] if self.bonus is not None else []
        brings += ["for sale until the pile is shuffled again"] if self.until_shuffle else []
        return ", ".join(brings)
