"""What the engine's parts agree on: moves, decisions and actions.

A *move* has been found legal, or comes from `legal`: it holds ints and is applied without a further look.
A *decision* is what the game waits for: it lists and checks the moves of who owes it. An *action* is an
entry of a turn's menu and does the same for its own kinds of moves. A struct from the wire becomes a
move only through `check`, which is the law; `legal` is a service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.events import Event

if TYPE_CHECKING:
    from stellwerk_engine.core.state import State

Seat = int
Events = list[Event]

_encode = msgspec.json.Encoder().encode


class Move:
    """A legal move. Shared and never changed; its struct and its JSON text are made once, when first
    asked for, and are plain slots from then on."""

    __slots__ = ("json", "wire")

    wire: wire_moves.Move
    json: bytes

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Called while a slot is empty."""
            if name == "wire":
                self.wire = self.to_wire()
                return self.wire
            if name == "json":
                self.json = _encode(self.wire)
                return self.json
            raise AttributeError(f"{type(self).__name__} has no {name}")

    def to_wire(self) -> wire_moves.Move:
        raise NotImplementedError  # every kind of move has its own

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        raise NotImplementedError  # every kind of move has its own

    def __repr__(self) -> str:
        return repr(self.wire)


class Decision(Protocol):
    @property
    def seats(self) -> tuple[Seat, ...]: ...

    def legal(self, state: State, seat: Seat) -> list[Move]:
        """Never empty, in a fixed order, bounded in length."""
        ...

    def legal_complete(self, state: State, seat: Seat) -> bool:
        """Whether `legal` lists every move that `check` accepts."""
        ...

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        """The move that the struct stands for, or IllegalMoveError."""
        ...

    def fallback(self, state: State, seat: Seat) -> Move:
        """The harmless move that is made for who fails to answer."""
        ...

    def after_claim(self, state: State, seat: Seat, events: Events | None) -> None:
        """How the turn goes on when a claim made in answer to this decision has succeeded or failed."""
        ...

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision: ...


class Action(Protocol):
    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        """Nothing is added only if the action is not available at all."""
        ...

    def legal_complete(self, state: State, seat: Seat) -> bool: ...

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        """None: not a move of this action. Raises IllegalMoveError: it is, but not a legal one."""
        ...

    def fallback(self, state: State, seat: Seat) -> Move | None: ...
