"""A trained policy as a player over the wire: it answers asks as it answered its environment.

Law: an answer follows from `start`, the ask and the policy. It sees the observations and masks of the
environments, made of the same view and the same listed moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from stellwerk_bots.bot import IndexAnswer
from stellwerk_bots.imagined import game_of
from stellwerk_engine.core.state import Game
from stellwerk_learn.actions import action_map
from stellwerk_learn.observations import Vector, layout
from stellwerk_learn.stages import Stages
from stellwerk_learn.table import Mask
from stellwerk_protocol import moves
from stellwerk_protocol.views import View

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Move, Start

Choose = Callable[[Vector, Mask], int]
"""A policy: it returns one of the integers that the mask allows."""


class PolicyPlayer:
    """A player that answers by a policy. It needs views and legal moves in its asks, as they
    come unless a login asks otherwise."""

    def __init__(self, start: Start, choose: Choose) -> None:
        """Make a player of a match. `choose` gets what the environments of this game show."""
        self.game: Game = game_of(start)
        self._actions = action_map(self.game)
        self._layout = layout(self.game)
        self._choose = choose

    def answer(self, ask: Ask) -> IndexAnswer:
        view = msgspec.convert(ask["view"], View)
        stages = Stages(self._actions.paths([_Listed.of(move) for move in ask["legal"]]))
        while True:
            mask = np.zeros(len(self._actions), np.int8)
            mask[list(stages.choices)] = 1
            vector = self._layout.vector(view, stages.chosen)
            index = stages.choose(self._choose(vector, mask))
            if index is not None:
                return {"index": index}


@dataclass(frozen=True, slots=True)
class _Listed:
    """A move of a message."""

    wire: moves.Move
    json: bytes

    @staticmethod
    def of(move: Move) -> _Listed:
        wire: moves.Move = msgspec.convert(move, moves.Move)
        return _Listed(wire, msgspec.json.encode(wire))
