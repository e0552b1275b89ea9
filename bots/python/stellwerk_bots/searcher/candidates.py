"""The moves that a search examines: the planner's choice, and a few others of each kind.

A list of legal moves has dozens of claims and sets. Most of them are of no use, or so similar to each other
that a search cannot find out which is better. So among moves that differ only in their payment, or in the
number of cards that they lay, only the one with the highest value is a candidate. And the number of
candidates of each kind is limited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Final

from stellwerk_bots.planner.map_worth import map_worth
from stellwerk_bots.planner.yard_worth import yard_worth
from stellwerk_engine.core.cards import PLAIN_CARDS_MASK, colors_present
from stellwerk_engine.core.state import Move, Seat, State
from stellwerk_engine.parts.claiming.claim_route import Claim
from stellwerk_engine.parts.draw_cards import TakeFirst
from stellwerk_engine.parts.rail_yards.lay_cards import Lay
from stellwerk_engine.parts.share_tickets import Share
from stellwerk_engine.parts.technologies.buy_technology import Buy

MOST_CANDIDATES: Final = 5
MOST_OF_A_KIND: Final[dict[type[Move], int]] = {Claim: 2, Lay: 3, TakeFirst: 2, Buy: 2, Share: 1}


def candidates(state: State, seat: Seat, moves: list[Move]) -> list[int]:
    """Return the indexes of at most this number of moves, the planner's choice first."""
    worth = yard_worth(state, seat) if state.yards else map_worth(state, seat)
    worths = [worth(move) for move in moves]
    ranked = sorted(range(len(moves)), key=lambda index: -worths[index])
    chosen: list[int] = []
    alike: set[Hashable] = set()
    of_kind: Counter[type[Move]] = Counter()
    for index in ranked:
        move = moves[index]
        kind = type(move)
        likeness = _likeness(move, index)
        if likeness not in alike and of_kind[kind] < MOST_OF_A_KIND.get(kind, MOST_CANDIDATES):
            chosen.append(index)
            alike.add(likeness)
            of_kind[kind] += 1
            if len(chosen) == MOST_CANDIDATES:
                break
    return chosen


def _likeness(move: Move, index: int) -> Hashable:
    match move:
        case Claim(route=route):
            return route.id
        case Lay(cards=cards):
            return colors_present(cards & PLAIN_CARDS_MASK)
        case _:
            return -1 - index
