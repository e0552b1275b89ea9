"""A game written down as it is played, line by line (`protocol/REPLAYS.md`).

Law: the lines depend on nothing but the header, the seed and the moves. Choices that several owe at once are
held back until the last is in, and are then written in the order of the seats (GEN-03), so that a reader can
see neither the order in which they came nor which came last.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from stellwerk_engine.boards.board_file import SHIPPED, BoardFile, canonical_text, shipped_board
from stellwerk_engine.games.described import parts_on_wire
from stellwerk_protocol.canonical import Chain
from stellwerk_protocol.replays import (
    CHAIN_LABEL,
    FORMAT,
    BoardReference,
    End,
    Header,
    MoveMade,
    Player,
    Reveal,
    SetUp,
)

if TYPE_CHECKING:
    from stellwerk_engine.core.state import Events, Game, Move, Seat, State
    from stellwerk_protocol.results import Result


class ReplayWriter:
    """Makes the lines of one replay: the header, the set-up, each move, the end, in this order, and the seed
    either after the header or after the end. Every method returns the bytes to be written next."""

    __slots__ = ("_chain", "_waiting")

    def __init__(self, last_hash: str = CHAIN_LABEL) -> None:
        """Start a writer. `last_hash` is the last line's hash, if a replay that was broken off continues."""
        self._chain = Chain(last_hash)
        self._waiting: list[MoveMade] = []

    @property
    def last_hash(self) -> str:
        return self._chain.last

    def header(self, header: Header) -> bytes:
        return self._chain.add(header)

    def reveal(self, seed: bytes, salt: bytes | None = None) -> bytes:
        return self._chain.add(Reveal(seed.hex(), UNSET if salt is None else salt.hex()))

    def set_up(self, events: Events) -> bytes:
        """Record the set-up. `events` come from `engine.new_game`."""
        return self._chain.add(SetUp(tuple(events)))

    def move(
        self,
        state: State,
        seat: Seat,
        move: Move,
        events: Events,
        *,
        by_fallback: bool = False,
        reason: str | None = None,
        note: str | None = None,
    ) -> bytes:
        """Write a move that was applied: `state` is the one after it, `events` are those of this move alone.

        Nothing comes back while others still owe the same decision; then all their moves do.
        """
        record = MoveMade(
            seat=seat,
            move=move.wire,
            events=tuple(events),
            by="fallback" if by_fallback else UNSET,
            reason=UNSET if reason is None else reason,
            note=UNSET if note is None else note,
        )
        if state.choices.count(None) < len(state.choices):
            self._waiting.append(record)
            return b""
        if not self._waiting:
            return self._chain.add(record)
        return b"".join(map(self._chain.add, self._in_seat_order(record)))

    def end(self, result: Result) -> bytes:
        return self._chain.add(End(result))

    def _in_seat_order(self, last: MoveMade) -> list[MoveMade]:
        """Return what the last choice set off belongs to the last line, whoever made it."""
        silent = msgspec.structs.replace(last, events=())
        moves = sorted([*self._waiting, silent], key=attrgetter("seat"))
        self._waiting.clear()
        return [*moves[:-1], msgspec.structs.replace(moves[-1], events=last.events)]


def header_of(
    game: Game, names: Sequence[str] = (), match: str | None = None, commitment: str | None = None
) -> Header:
    """Return the header of a game's replay. `names` are the players' by seat, or none at all."""
    if len(names) not in (0, game.seat_count):
        raise ValueError(f"{len(names)} names for {game.seat_count} seats")
    return Header(
        format=FORMAT,
        game=game.id,
        rules_version=game.rules.rules_version,
        options=game.options,
        board=_reference(game.board.file),
        seats=tuple(Player(name) for name in names) or (Player(),) * game.seat_count,
        match=UNSET if match is None else match,
        commitment=UNSET if commitment is None else commitment,
        parts=parts_on_wire(game),
    )


def _reference(board: BoardFile) -> BoardReference:
    """Name a board that comes with Stellwerk; put any other into the replay itself."""
    if board.id in SHIPPED and shipped_board(board.id).digest == board.digest:
        return BoardReference(board.id, board.digest)
    return BoardReference(board.id, board.digest, canonical_text(board))
