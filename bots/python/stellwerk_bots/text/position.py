"""All that a prompt can be made of: the ask, the game, and what happened since the turn before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from stellwerk_bots.bot import Message
from stellwerk_engine.core.state import Game, State

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, Start

Moves = Literal["shown", "hidden", "on_error"]
"""Whether the prompt lists the legal moves: always, never, or after an illegal answer."""

Memory = dict[str, Any]  # Any: what an author keeps
"""A dictionary of one match and seat, empty at first, for the functions of an author."""


@dataclass(frozen=True, slots=True)
class Position:
    """A position in which a model is asked for a move, and how it is to be asked.

    `start` and `ask` are the messages. `state` is the engine's state, imagined from the ask's view: what the
    seat may know is as it is, everything else is made up. `news` are the events since the seat's turn before,
    in sentences. `refused` says what was wrong with the answer before, and is empty at the first attempt.
    """

    game: Game
    start: Start
    ask: Ask
    state: State
    news: Sequence[str] = ()
    shows_moves: bool = True
    takes_numbers: bool = False
    refused: str = ""

    @property
    def seat(self) -> int:
        return self.ask["view"]["seat"]

    # What the prompt writes by the names of fields, whatever game they belong to.

    @property
    def view(self) -> Message:
        return cast("Message", self.ask["view"])

    @property
    def own(self) -> Message:
        return cast("Message", self.ask["view"]["players"][self.seat])

    @property
    def legal(self) -> list[Message]:
        return cast("list[Message]", self.ask["legal"])
