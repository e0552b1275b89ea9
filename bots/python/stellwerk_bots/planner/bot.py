"""The bot `planner`: rules of thumb that look ahead.

It plans the routes that its tickets need, saves and draws the cards that these lack, and watches for the end.
The rules are in `map_worth.py`, `yard_worth.py` and `network_plan.py`; a search also uses them for the other
players that it imagines. They look only at what the seat may know, so all states imagined from a view give
the same move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stellwerk_bots.bot import Answer, Player
from stellwerk_bots.imagined import dice_for, game_of, imagination_of
from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Start


class Planner:
    """A player whose moves follow from the ask alone. It uses random numbers only to fill in what it does not
    look at."""

    def __init__(self, start: Start, seed_text: str) -> None:
        self._game = game_of(start)
        self._seat = start["seat"]
        self._seed_text = seed_text

    def answer(self, ask: Ask) -> Answer:
        state = imagination_of(self._game, ask).deal(dice_for(self._seed_text, ask))
        moves = engine.legal(state, self._seat)
        return {"index": moves.index(planner(state, self._seat, moves))}


def new_planner(start: Start, seed_text: str) -> Player:
    return Planner(start, seed_text)
