"""How long the answers of a match took: a file beside its replay.

Law: nothing depends on it. A replay proves the cards and the moves, and no hash can prove a clock. So times
are in no replay, and pages that show them say that they are not verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from stellwerk_protocol.messages import Milliseconds
from stellwerk_protocol.names import MAX_SEATS
from stellwerk_protocol.replays import MatchId

FORMAT: Final = "stellwerk-times/1"
ENDING: Final = ".times.json"
MAX_BYTES: Final = 2**20  # a match has about 100 answers a seat
NOT_TIMED: Final = -1  # what a server notes of a move that no client was asked for


class AnswerTimes(Struct, frozen=True, forbid_unknown_fields=True):
    """`seats` has a list for each seat: for each of its moves in the replay how long the server waited for
    it, in milliseconds, or null if it waited for no answer."""

    format: Literal["stellwerk-times/1"]
    match: MatchId
    seats: Annotated[tuple[tuple[Milliseconds | None, ...], ...], Meta(min_length=1, max_length=MAX_SEATS)]


def times_file(match: str, seats: Sequence[Sequence[int]]) -> bytes:
    """Return the text of the file. The numbers are what a server has noted, with `NOT_TIMED`."""
    noted = tuple(tuple(None if took == NOT_TIMED else took for took in seat) for seat in seats)
    return msgspec.json.encode(AnswerTimes(FORMAT, match, noted)) + b"\n"


def read_times(text: bytes) -> AnswerTimes:
    """Read the file; msgspec.DecodeError if it is not one."""
    return msgspec.json.decode(text, type=AnswerTimes)


def times_beside(replay: Path) -> Path:
    """Return the path of the times of a replay: `game.times.json` beside `game.jsonl`."""
    return replay.with_name(replay.name.removesuffix(".jsonl") + ENDING)
