"""The bot `planner`: thumb rules that look ahead.

It plans the routes that its tickets need, saves and draws the cards that these lack, and watches the end. The
rules stand in the engine (`map_worth.py`, `yard_worth.py`, `network_plan.py`), where they also move for the
other players whom a search imagines. They look only at what the seat may know, so one imagined state is as
good as any other.
"""

from __future__ import annotations

from stellwerk_bots.bot import Answer, Message, Player
from stellwerk_bots.policies import planner
from stellwerk_bots.searcher.imagined import dice_for, game_of, imagination_of
from stellwerk_engine import engine


class Planner:
    """Its moves follow from the ask alone: it uses no chance but to fill what it does not look at."""

    def __init__(self, start: Message, seed_text: str) -> None:
        self._game = game_of(start)
        self._seat: int = start["seat"]
        self._seed_text = seed_text

    def answer(self, ask: Message) -> Answer:
        state = imagination_of(self._game, ask).deal(dice_for(self._seed_text, ask))
        moves = engine.legal(state, self._seat)
        return {"index": moves.index(planner(state, self._seat, moves))}


def new_planner(start: Message, seed_text: str) -> Player:
    return Planner(start, seed_text)
