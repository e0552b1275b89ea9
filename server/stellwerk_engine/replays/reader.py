"""Replays as they are read: line by line, each checked before the next is looked at.

Law: whatever the bytes are, a reader gets sound lines in their right order and then, at most, one
`ReplayError` that names the line. A line is sound if it is not too long, its hash continues the chain, and
its text is the canonical JSON of a record that may be there. Whether the record is *true* is for
`verify.py` to say, which compares the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO, Final, Literal, NamedTuple, assert_never

import msgspec

from stellwerk_base.texts import shown
from stellwerk_protocol.canonical import CanonicalError, Chain, decode, decode_as, encode, gate
from stellwerk_protocol.replays import (
    CHAIN_LABEL,
    FORMAT,
    MAX_BYTES,
    MAX_LINE_BYTES,
    End,
    Header,
    Line,
    MoveMade,
    Reveal,
    SetUp,
)

Fault = Literal[
    "not_a_replay",  # the first line is not a header
    "foreign_format",  # another version of the format
    "foreign_rules",  # an unknown game or part, or other rules: its moves cannot be checked here
    "foreign_board",  # a board that is neither part of this version nor in the replay
    "truncated",  # breaks off before its end; sound until there
    "unrevealed",  # complete, but without the seed
    "differs",  # a line is not what it must be
]


class ReplayError(Exception):
    """A problem of a replay, and its line."""

    def __init__(self, fault: Fault, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.fault: Fault = fault
        self.line = line
        self.message = message


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Read the lines of a file. Of one that is too long it reads just enough to see that."""
    return iter(partial(stream.readline, MAX_LINE_BYTES + 1), b"")


def read_replay(lines: Iterable[bytes]) -> Iterator[Line]:
    """Yield the records of a replay, one a line, or `ReplayError` at the first line that is not sound."""
    return (line.record for line in read_sound_lines(read_bodies(lines)))


def read_bodies(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the canonical JSON of each line: only the chain has been checked."""
    chain = Chain(CHAIN_LABEL)
    number = size = 0
    for number, line in enumerate(lines, 1):
        if number == 1:
            _expect_format(line)
        if len(line) > MAX_LINE_BYTES:
            raise ReplayError("differs", number, f"longer than {MAX_LINE_BYTES} bytes")
        if not line.endswith(b"\n"):
            raise ReplayError("truncated", number, "the replay breaks off in the middle of this line")
        size += len(line)
        if size > MAX_BYTES:
            raise ReplayError("differs", number, f"the replay is longer than {MAX_BYTES} bytes")
        try:
            body = chain.follow(line)
        except CanonicalError as error:
            raise ReplayError("differs", number, str(error)) from None
        yield body
    if number == 0:
        raise ReplayError("not_a_replay", 1, "no replay: the file is empty")


class _AnyHeader(msgspec.Struct):
    format: str


_FORMAT_DECODER: Final = msgspec.json.Decoder(_AnyHeader)


def _expect_format(line: bytes) -> None:
    """Check the format before all else: another version may have other lines and another chain."""
    try:
        if len(line) > MAX_LINE_BYTES:
            raise CanonicalError(f"longer than {MAX_LINE_BYTES} bytes")
        gate(line)
        format = _FORMAT_DECODER.decode(line).format
    except (CanonicalError, msgspec.DecodeError) as error:
        raise ReplayError("not_a_replay", 1, f"no header of a replay: {shown(str(error), 120)}") from None
    if format == FORMAT:
        return
    if not format.startswith(FORMAT.rpartition("/")[0] + "/"):
        raise ReplayError("not_a_replay", 1, f"no header of a replay: its format is {shown(format)}")
    raise ReplayError(
        "foreign_format", 1, f"a replay in the format {shown(format)}; this version reads {FORMAT}"
    )


_LINE_DECODER: Final = msgspec.json.Decoder(Line)


class SoundLine(NamedTuple):
    """A line of a replay: its number from 1 on, its text without the hash, and the record in it."""

    number: int
    body: bytes
    record: Line


def read_sound_lines(bodies: Iterable[bytes]) -> Iterator[SoundLine]:
    """Yield the lines of a replay, from their texts, or `ReplayError` at the first that is not sound."""
    expected: tuple[type[Line], ...] = (Header,)
    is_revealed = has_ended = False
    number = 0
    for number, body in enumerate(bodies, 1):
        try:
            record = decode_as(body, _LINE_DECODER)
        except CanonicalError as error:
            if number == 1 and _has_unknown_parts(body):
                raise ReplayError("foreign_rules", 1, f"parts that are not known here: {error}") from None
            raise ReplayError("differs", number, str(error)) from None
        if not isinstance(record, expected):
            raise ReplayError(
                "differs", number, f"expected {_any_of(expected)}, found {_NAMES[type(record)]}"
            )
        match record:
            case Header():
                expected = (Reveal, SetUp)
            case Reveal():
                is_revealed = True
                expected = () if has_ended else (SetUp,)
            case SetUp() | MoveMade():
                expected = (MoveMade, End)
            case End():
                has_ended = True
                expected = () if is_revealed else (Reveal,)
            case _:
                assert_never(record)
        yield SoundLine(number, body, record)
    if not has_ended:
        raise ReplayError("truncated", number, f"the replay breaks off here: {_any_of(expected)} is missing")


def _has_unknown_parts(header: bytes) -> bool:
    """Return whether the parts are all that is wrong with a header: a later version may know them."""
    try:
        fields = decode(header)
        assert isinstance(fields, dict)  # the format was found in it
        known = {name: value for name, value in fields.items() if name != "parts"}
        is_sound = isinstance(decode_as(encode(known), _LINE_DECODER), Header)
        return is_sound and isinstance(fields.get("parts"), dict)
    except CanonicalError:
        return False


_NAMES: Final[dict[type[Line], str]] = {
    Header: "a header",
    Reveal: "the seed",
    SetUp: "the set-up",
    MoveMade: "a move",
    End: "the end",
}


def _any_of(kinds: tuple[type[Line], ...]) -> str:
    return " or ".join(_NAMES[kind] for kind in kinds) or "nothing more"
