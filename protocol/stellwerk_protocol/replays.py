"""The lines of a replay: one struct for each kind of line, distinguished by `type`.

A replay is a header, the set-up, the moves and the end, in this order, and one line that reveals the seed:
after the header or, if the seed is secret during the match, after the end. `protocol/REPLAYS.md` defines each
line, and `canonical.py` the chain that seals them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_protocol.canonical import chained, encode
from stellwerk_protocol.events import Event
from stellwerk_protocol.moves import Move
from stellwerk_protocol.names import END, MAX_SEATS, Digits64, GameName, OptionName, PlayerName, Seat
from stellwerk_protocol.parts import Parts
from stellwerk_protocol.results import Result

FORMAT: Final = "stellwerk-replay/1"
CHAIN_LABEL: Final = FORMAT  # the "previous hash" of the first line
COMMITMENT_LABEL: Final = "stellwerk-commitment/1"

MAX_LINE_BYTES: Final = 2**20
"""A line with its newline. The longest possible one, a header with the largest board, has about 100,000."""

MAX_BYTES: Final = 2**26
"""A complete replay; a game has about 100,000. The bound protects readers that must keep all lines until they
know the seed."""

MatchId = Annotated[str, Meta(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*" + END)]
Reason = Annotated[str, Meta(max_length=64, pattern=r"^[a-z][a-z0-9_.]*" + END)]
Note = Annotated[str, Meta(min_length=1, max_length=200)]
BoardText = Annotated[str, Meta(max_length=48_000)]  # as many bytes as a board may have
Events = Annotated[tuple[Event, ...], Meta(max_length=10_000)]


class BoardReference(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A board. `digest` is the SHA-256 of the board's canonical JSON, which is the `content`. The content is
    absent if the board comes with Stellwerk."""

    id: GameName
    digest: Digits64
    content: BoardText | UnsetType = UNSET


class Player(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: PlayerName | UnsetType = UNSET


class _Line(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True, omit_defaults=True):
    pass


class Header(_Line, frozen=True, tag="header"):
    """The conditions of a game, except the seed and the moves. `options` are in ascending order. `parts` are
    those of a game that is not in `protocol/games.json`."""

    format: Literal["stellwerk-replay/1"]
    game: GameName
    rules_version: Annotated[int, Meta(ge=1, le=1_000_000)]
    options: Annotated[tuple[OptionName, ...], Meta(max_length=32)]
    board: BoardReference
    seats: Annotated[tuple[Player, ...], Meta(min_length=1, max_length=MAX_SEATS)]
    match: MatchId | UnsetType = UNSET
    commitment: Digits64 | UnsetType = UNSET
    parts: Parts | UnsetType = UNSET


class Reveal(_Line, frozen=True, tag="reveal"):
    """The seed (see `protocol/DICE.md`); with a commitment, also the salt."""

    seed: Digits64
    salt: Digits64 | UnsetType = UNSET


class SetUp(_Line, frozen=True, tag="set_up"):
    events: Events


class MoveMade(_Line, frozen=True, tag="move"):
    """A move. `by` is present if the seat did not move itself, with a `reason` if it is known."""

    seat: Seat
    move: Move
    events: Events
    by: Literal["fallback"] | UnsetType = UNSET
    reason: Reason | UnsetType = UNSET
    note: Note | UnsetType = UNSET


class End(_Line, frozen=True, tag="end"):
    result: Result


Line = Header | Reveal | SetUp | MoveMade | End


class Commitment(Struct, frozen=True, omit_defaults=True):
    """The input of a commitment; the fields have the same meaning as in the header and in the reveal."""

    board: Digits64
    game: GameName
    options: tuple[OptionName, ...]
    seats: tuple[Player, ...]
    seed: Digits64
    match: MatchId | UnsetType = UNSET
    salt: Digits64 | UnsetType = UNSET
    parts: Parts | UnsetType = UNSET


def commitment(header: Header, reveal: Reveal) -> str:
    """Return the hash to publish before the first card is dealt, so that the deal cannot change
    afterwards."""
    committed = Commitment(
        board=header.board.digest,
        game=header.game,
        match=header.match,
        options=header.options,
        parts=header.parts,
        salt=reveal.salt,
        seats=header.seats,
        seed=reveal.seed,
    )
    return chained(COMMITMENT_LABEL, encode(committed))
