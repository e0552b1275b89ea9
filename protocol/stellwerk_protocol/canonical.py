"""Canonical JSON, and the chain of hashes over it: one value has one text, in every language.

The law: canonical JSON is RFC 8785 (JCS) where all numbers are integers of at most 2^53-1 and all names are
ASCII. So it has no blanks, its names are in ascending order and occur once, and it escapes only what it must.
`protocol/REPLAYS.md` describes it for implementers, with the chain.

Input from elsewhere passes `decode` or `decode_as`, which raise nothing but `CanonicalError`. msgspec alone
would keep the last of duplicate names, accept numbers of any size, skip broken UTF-8 in unknown fields, and
raise errors of four kinds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from stellwerk_base.texts import shown

JsonValue: TypeAlias = "bool | int | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
Hash: TypeAlias = str  # 64 hexadecimal digits, lower case

LARGEST_INT: Final = 2**53 - 1  # the largest integer that every language holds exactly (I-JSON)
MAX_DEPTH: Final = 64  # levels of brackets; no message or replay needs more than 10

T = TypeVar("T")

_encode = msgspec.json.Encoder(order="sorted").encode


class CanonicalError(ValueError):
    """A text that is not canonical JSON, or not of the expected type. The message is one line."""


# -- values and texts --------------------------------------------------------------------------------


def encode(value: Struct | JsonValue) -> bytes:
    """Return the canonical text of a value.

    Raise `CanonicalError` for a value that has none: fractions, large numbers, names that are not ASCII, half
    a surrogate pair. A struct is not checked: its field types must exclude all of these.
    """
    if not isinstance(value, Struct):
        _check(value, 0)
    return _encode(value)


def decode(text: bytes) -> JsonValue:
    """Return the value of a canonical text. Raise `CanonicalError` for any other text."""
    string = gate(text)
    try:
        value = json.loads(
            string,
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_refuse_fraction,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise CanonicalError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    if encode(value) != text:
        raise CanonicalError("not canonical: expected sorted names, no blanks and no needless escapes")
    checked: JsonValue = value
    return checked


def decode_as(text: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return the struct that a canonical text encodes, or raise `CanonicalError`.

    The text must have exactly the fields that the struct would write: unknown fields and default values are
    refused, except a default that is a struct (msgspec knows it by identity only). The types of the struct
    bound its numbers.
    """
    gate(text)
    try:
        value = decoder.decode(text)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        decode(text)  # has a better message if the text itself is wrong
        raise CanonicalError(shown(str(error), 200)) from None
    written = _encode(value)
    if written != text:
        raise CanonicalError(str(difference(decode(written), decode(text))))
    return value


def _check(value: JsonValue, depth: int) -> None:
    match value:
        case None | bool():
            pass
        case str():
            if any(0xD800 <= ord(character) <= 0xDFFF for character in value):
                raise CanonicalError("half a surrogate pair is not a character")
        case int():
            if abs(value) > LARGEST_INT:
                raise CanonicalError(f"a number beyond {LARGEST_INT}")
        case Mapping() | list() | tuple() if depth == MAX_DEPTH:
            raise CanonicalError(f"nested deeper than {MAX_DEPTH} levels")
        case Mapping():
            for name, member in value.items():
                if not name.isascii():
                    raise CanonicalError(f"the name {shown(name)} is not ASCII")
                _check(member, depth + 1)
        case list() | tuple():
            for item in value:
                _check(item, depth + 1)
        case _:
            raise CanonicalError(f"{shown(repr(value))} is not a value of canonical JSON")


_BRACKETS_AND_STRINGS = re.compile(rb'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


def gate(text: bytes) -> str:
    """Return the text as characters, if it is UTF-8 and its brackets are not too deep for a recursive
    decoder."""
    try:
        string = text.decode()
    except UnicodeDecodeError as error:
        raise CanonicalError(f"not UTF-8: byte {error.start + 1} is 0x{text[error.start]:02x}") from None
    if text.count(b"{") + text.count(b"[") > MAX_DEPTH:
        depth = 0
        for token in _BRACKETS_AND_STRINGS.finditer(text):
            match token.group():
                case b"{" | b"[":
                    depth += 1
                case b"}" | b"]":
                    depth -= 1
                case _:
                    pass
            if depth > MAX_DEPTH:
                raise CanonicalError(f"nested deeper than {MAX_DEPTH} levels")
    return string


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:  # Any: the type that json passes
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise CanonicalError(f"duplicate name {shown(twice)}")
    return members


def _integer(digits: str) -> int:
    if len(digits) > len(str(-LARGEST_INT)) or abs(int(digits)) > LARGEST_INT:
        raise CanonicalError(f"the number {shown(digits)} is beyond {LARGEST_INT}")
    return int(digits)


def _refuse_fraction(digits: str) -> NoReturn:
    raise CanonicalError(f"the number {shown(digits)} is not written as an integer")


def _refuse_constant(name: str) -> NoReturn:
    raise CanonicalError(f"{name} is not a JSON number")


# -- what differs ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two values differ, and both values there, formatted for messages."""

    place: str  # `events[2].cards.red`; "" for the whole
    expected: str
    found: str

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}expected {self.expected}, found {self.found}"


def difference(expected: JsonValue, found: JsonValue, place: str = "") -> Difference | None:
    """Return the first difference of two values, in the order of the text, or None. `place` is where they
    are."""
    return _difference(place, expected, found)


def _difference(place: str, expected: JsonValue, found: JsonValue) -> Difference | None:
    match expected, found:
        case Mapping(), Mapping():
            for name in sorted({*expected, *found}):
                inner = f"{place}.{name}" if place else name
                if name not in expected:
                    return Difference(shown(inner), "nothing", _value(found[name]))
                if name not in found:
                    return Difference(shown(inner), _value(expected[name]), "nothing")
                differs = _difference(inner, expected[name], found[name])
                if differs is not None:
                    return differs
            return None
        case (str(), _) | (_, str()):
            pass
        case Sequence(), Sequence():
            for number, (one, other) in enumerate(zip(expected, found, strict=False)):
                differs = _difference(f"{place}[{number}]", one, other)
                if differs is not None:
                    return differs
            if len(expected) == len(found):
                return None
            more = f"{place}[{min(len(expected), len(found))}]"
            if len(expected) > len(found):
                return Difference(shown(more), _value(expected[len(found)]), "the end of the list")
            return Difference(shown(more), "the end of the list", _value(found[len(expected)]))
        case _:
            pass
    if type(expected) is type(found) and expected == found:
        return None
    return Difference(shown(place), _value(expected), _value(found))


def _value(value: JsonValue) -> str:
    return shown(_encode(value).decode())


# -- the chain ---------------------------------------------------------------------------------------

_SEAL = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n')
_SEAL_SIZE: Final = len(',"hash":"') + 64 + len('"}\n')


def chained(previous: Hash, body: bytes) -> Hash:
    """Return the hash of a line: over the previous hash, a newline, and the line's canonical JSON without its
    hash.

    For the first line, the previous hash is the chain's label.
    """
    return sha256(previous.encode() + b"\n" + body).hexdigest()


def seal(body: bytes, hash: Hash) -> bytes:
    """Return the complete line: the canonical JSON of an object, with the hash as its last member, and a
    newline."""
    return b'%b,"hash":"%b"}\n' % (body[:-1], hash.encode())


def unseal(line: bytes) -> tuple[bytes, Hash]:
    """Return the canonical JSON of a line and the hash in it, without checking either."""
    match = _SEAL.fullmatch(line[-_SEAL_SIZE:])
    if match is None or not line.startswith(b"{"):
        raise CanonicalError('expected an object whose last member is "hash", and a newline after it')
    return line[:-_SEAL_SIZE] + b"}", match.group(1).decode()


class Chain:
    """A chain whose lines are being written or checked. It stores only the last hash."""

    __slots__ = ("last",)

    def __init__(self, last: str) -> None:
        """Start from `last`: the label of a new chain, or the last hash of an existing one."""
        self.last = last

    def add(self, record: Struct) -> bytes:
        """Return the next line, for a record."""
        body = _encode(record)
        self.last = chained(self.last, body)
        return seal(body, self.last)

    def follow(self, line: bytes) -> bytes:
        """Return the canonical JSON of the next line. Raise `CanonicalError` if its hash does not continue
        the chain."""
        body, stated = unseal(line)
        expected = chained(self.last, body)
        if stated != expected:
            raise CanonicalError(
                f"hash: expected {expected[:16]}..., found {stated[:16]}...: "
                "this line was changed, or one before it was changed, removed or added"
            )
        self.last = expected
        return body
